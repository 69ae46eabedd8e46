//! Clocks.

use serde_json::json;

use super::super::actor::Actor;

pub(super) fn play(actor: &mut Actor) {
    actor.call("get_current_time", json!({ "timezone": "Europe/Paris" }));
    actor.call("get_current_time", json!({ "timezone": "Atlantis/Center" }));
    actor.call("get_current_time", json!({}));
    let noon = json!({
        "source_timezone": "Etc/UTC", "time": "12:00", "target_timezone": "Asia/Kathmandu",
    });
    actor.call("convert_time", noon);
    let never = json!({
        "source_timezone": "Etc/UTC", "time": "25:00", "target_timezone": "Asia/Tokyo",
    });
    actor.call("convert_time", never);
    super::unknown(actor);
}
