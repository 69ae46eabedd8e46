//! Our own server of FastMCP: `tests/peers/fastmcp_server.py`.

use serde_json::json;

use super::super::actor::Actor;

const TIDES: &str = "harbour://tides/{port}";
const LOG: &str = "harbour://log/{year}/{page*}{?lines}";

pub(super) fn play(actor: &mut Actor) {
    calls(actor);
    actor.get("voyage", json!({ "start": "dover" }));
    actor.get("voyage", json!({}));
    actor.complete_prompt("voyage", ["start", ""], json!({}));
    actor.complete_prompt("voyage", ["end", ""], json!({ "start": "dover" }));
    actor.complete_prompt("greet", ["no-such", ""], json!({}));
    actor.complete_template(TIDES, ["port", "s"]);
    actor.complete_template(LOG, ["year", ""]);
    actor.read("harbour://tides/dover");
    actor.read("harbour://tides/atlantis");
    actor.read("harbour://log/1912/april/14?lines=3");
    actor.read("harbour://log/1912/april");
    actor.read("harbour://log/no-year/april");
    super::unknown(actor);
}

fn calls(actor: &mut Actor) {
    actor.call("tide", json!({ "port": "dover" }));
    actor.call("tide", json!({ "port": "atlantis" }));
    actor.call("tide", json!({}));
    actor.call("tide", json!({ "port": "dover", "no-such": 1 }));
    actor.call("depth", json!({ "soundings": [3, 1.5] }));
    actor.call("depth", json!({ "soundings": [] }));
    actor.call("chart", json!({}));
    actor.call("both", json!({}));
    actor.call("broken", json!({}));
    actor.call_with_progress("load", json!({ "crates": 3 }));
    actor.call_with_logs("load", json!({ "crates": 2 }), "debug");
    actor.call_with_logs("load", json!({ "crates": 2 }), "info");
    actor.call_with_logs("load", json!({ "crates": 2 }), "error");
}
