//! The time server.

use serde_json::json;

use super::super::recorder::Recorder;

pub(super) fn run_script(recorder: &mut Recorder) {
    recorder.call("get_current_time", json!({ "timezone": "Europe/Paris" }));
    recorder.call("get_current_time", json!({ "timezone": "Atlantis/Center" }));
    recorder.call("get_current_time", json!({}));
    let noon = json!({
        "source_timezone": "Etc/UTC", "time": "12:00", "target_timezone": "Asia/Kathmandu",
    });
    recorder.call("convert_time", noon);
    let never = json!({
        "source_timezone": "Etc/UTC", "time": "25:00", "target_timezone": "Asia/Tokyo",
    });
    recorder.call("convert_time", never);
    super::unknown(recorder);
}
