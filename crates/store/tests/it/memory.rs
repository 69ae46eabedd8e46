//! The laws of memories, on SQLite.

use tidegate_store::memory::memories;

use crate::Place;
use crate::laws::{self, Law};

async fn holds(law: Law) {
    let place = Place::new();
    law(memories(&place.store)).await;
}

macro_rules! laws {
    ($($law:ident),* $(,)?) => {$(
        #[tokio::test]
        async fn $law() {
            holds(|memories| Box::pin(laws::$law(memories))).await;
        }
    )*};
}

laws![
    a_value_keeps_its_text,
    what_is_put_is_got_until_it_is_deleted,
    what_is_put_again_is_replaced_and_keeps_its_age,
    times_that_are_given_are_kept,
    owners_see_only_their_own,
    what_expired_is_nowhere,
    expiry_frees_its_place,
    sweeping_says_when_to_come_again,
    quotas_hold_and_are_freed_again,
    scans_go_through_everything_in_order,
    a_prefix_is_text,
    words_are_found_in_keys_values_and_tags,
    all_words_are_better_than_any,
    what_is_replaced_or_deleted_is_not_found,
    no_question_breaks_the_search,
    clearing_takes_what_it_says,
    what_is_kept_is_counted_by_namespace,
    what_changed_last_comes_first,
    a_dump_has_everyones,
    many_write_at_once,
];
