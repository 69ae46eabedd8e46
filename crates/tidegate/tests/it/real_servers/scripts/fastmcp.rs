//! Our own FastMCP server, `tests/peers/fastmcp_server.py`.

use serde_json::json;

use super::super::recorder::Recorder;

const TIDES: &str = "harbour://tides/{port}";
const LOG: &str = "harbour://log/{year}/{page*}{?lines}";

pub(super) fn run_script(recorder: &mut Recorder) {
    calls(recorder);
    recorder.get("voyage", json!({ "start": "dover" }));
    recorder.get("voyage", json!({}));
    recorder.complete_prompt("voyage", ["start", ""], json!({}));
    recorder.complete_prompt("voyage", ["end", ""], json!({ "start": "dover" }));
    recorder.complete_prompt("greet", ["no-such", ""], json!({}));
    recorder.complete_template(TIDES, ["port", "s"]);
    recorder.complete_template(LOG, ["year", ""]);
    recorder.read("harbour://tides/dover");
    recorder.read("harbour://tides/atlantis");
    recorder.read("harbour://log/1912/april/14?lines=3");
    recorder.read("harbour://log/1912/april");
    recorder.read("harbour://log/no-year/april");
    super::unknown(recorder);
}

fn calls(recorder: &mut Recorder) {
    recorder.call("tide", json!({ "port": "dover" }));
    recorder.call("tide", json!({ "port": "atlantis" }));
    recorder.call("tide", json!({}));
    recorder.call("tide", json!({ "port": "dover", "no-such": 1 }));
    recorder.call("depth", json!({ "soundings": [3, 1.5] }));
    recorder.call("depth", json!({ "soundings": [] }));
    recorder.call("chart", json!({}));
    recorder.call("both", json!({}));
    recorder.call("broken", json!({}));
    recorder.call_with_progress("load", json!({ "crates": 3 }));
    recorder.call_with_logs("load", json!({ "crates": 2 }), "debug");
    recorder.call_with_logs("load", json!({ "crates": 2 }), "info");
    recorder.call_with_logs("load", json!({ "crates": 2 }), "error");
}
