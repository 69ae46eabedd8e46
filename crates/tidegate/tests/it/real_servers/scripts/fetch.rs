//! Pages, which are served here.

use serde_json::json;

use super::super::actor::Actor;
use super::super::page::Pages;

pub(super) fn play(actor: &mut Actor, pages: &Pages) {
    actor.call("fetch", json!({ "url": pages.url("/tides.html") }));
    actor.call(
        "fetch",
        json!({ "url": pages.url("/tides.html"), "raw": true }),
    );
    let part = json!({ "url": pages.url("/table.txt"), "max_length": 4, "start_index": 2 });
    actor.call("fetch", part);
    actor.call(
        "fetch",
        json!({ "url": pages.url("/table.txt"), "start_index": 1000 }),
    );
    actor.call("fetch", json!({ "url": pages.url("/private/page") }));
    actor.call("fetch", json!({ "url": pages.url("/no-such-page") }));
    actor.call("fetch", json!({ "url": "no url" }));
    actor.call("fetch", json!({}));
    actor.get("fetch", json!({ "url": pages.url("/tides.html") }));
    actor.get("fetch", json!({ "url": pages.url("/no-such-page") }));
    actor.get("fetch", json!({}));
    super::unknown(actor);
}
