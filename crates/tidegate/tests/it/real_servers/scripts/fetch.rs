//! The fetch server, with local web pages.

use serde_json::json;

use super::super::recorder::Recorder;
use super::super::web_pages::WebPages;

pub(super) fn run_script(recorder: &mut Recorder, pages: &WebPages) {
    recorder.call("fetch", json!({ "url": pages.url("/tides.html") }));
    recorder.call(
        "fetch",
        json!({ "url": pages.url("/tides.html"), "raw": true }),
    );
    let part = json!({ "url": pages.url("/table.txt"), "max_length": 4, "start_index": 2 });
    recorder.call("fetch", part);
    recorder.call(
        "fetch",
        json!({ "url": pages.url("/table.txt"), "start_index": 1000 }),
    );
    recorder.call("fetch", json!({ "url": pages.url("/private/page") }));
    recorder.call("fetch", json!({ "url": pages.url("/no-such-page") }));
    recorder.call("fetch", json!({ "url": "no url" }));
    recorder.call("fetch", json!({}));
    recorder.get("fetch", json!({ "url": pages.url("/tides.html") }));
    recorder.get("fetch", json!({ "url": pages.url("/no-such-page") }));
    recorder.get("fetch", json!({}));
    super::unknown(recorder);
}
