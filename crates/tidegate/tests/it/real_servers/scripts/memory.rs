//! The memory server, whose graph can be subscribed to.

use serde_json::json;

use super::super::recorder::Recorder;

const GRAPH: &str = "memory://knowledge-graph";

pub(super) fn run_script(recorder: &mut Recorder) {
    recorder.subscribe(GRAPH);
    let brest = json!({ "name": "brest", "entityType": "port", "observations": ["windy"] });
    recorder.call("create_entities", json!({ "entities": [brest] }));
    recorder.notification("notifications/resources/updated");
    recorder.forget();
    let near = json!({ "from": "dover", "to": "brest", "relationType": "faces" });
    recorder.call("create_relations", json!({ "relations": [near] }));
    recorder.notification("notifications/resources/updated");
    recorder.unsubscribe(GRAPH);
    let more = json!({ "entityName": "brest", "contents": ["wet", "windy"] });
    recorder.call("add_observations", json!({ "observations": [more] }));
    let none = json!({ "entityName": "atlantis", "contents": ["wet"] });
    recorder.call("add_observations", json!({ "observations": [none] }));
    recorder.call("search_nodes", json!({ "query": "wind" }));
    recorder.call("open_nodes", json!({ "names": ["dover", "nowhere"] }));
    recorder.call("create_entities", json!({ "entities": "none" }));
    recorder.read(GRAPH);
    recorder.call("delete_entities", json!({ "entityNames": ["brest"] }));
    recorder.call("read_graph", json!({}));
    super::unknown(recorder);
}
