//! The contract of a memory store, on SQLite.

use tidegate_store::memory::memory_store;

use crate::TestStore;
use crate::laws::{self, Law, TEST_TIMEOUT};

async fn check(law: Law) {
    let test = TestStore::new();
    let checked = law(memory_store(&test.store));
    let checked = tokio::time::timeout(TEST_TIMEOUT, checked).await;
    checked.expect("the test ends in time");
}

macro_rules! laws {
    ($($group:ident::$law:ident),* $(,)?) => {$(
        #[tokio::test]
        async fn $law() {
            check(|memory| Box::pin(laws::$group::$law(memory))).await;
        }
    )*};
}

laws![
    entries::preserves_the_exact_text_of_values,
    entries::returns_an_entry_until_it_is_deleted,
    entries::replacing_keeps_the_creation_time,
    entries::stores_given_timestamps,
    entries::separates_owners,
    entries::accepts_concurrent_writes,
    expiry::never_returns_expired_entries,
    expiry::expired_entries_do_not_count_towards_the_quota,
    expiry::deleting_expired_entries_returns_the_next_expiry,
    quota::enforces_quotas_and_frees_them_on_deletion,
    quota::clears_one_namespace_or_all,
    quota::reports_usage_by_namespace,
    listing::pages_through_all_entries_in_order,
    listing::treats_a_key_prefix_as_literal_text,
    listing::lists_recent_entries_newest_first,
    listing::dumps_the_entries_of_all_owners,
    search::finds_words_in_keys_values_and_tags,
    search::prefers_entries_with_all_words,
    search::does_not_find_replaced_or_deleted_text,
    search::accepts_any_query_text,
];
