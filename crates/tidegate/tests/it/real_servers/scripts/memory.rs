//! A graph of what is known, which can be watched.

use serde_json::json;

use super::super::actor::Actor;

const GRAPH: &str = "memory://knowledge-graph";

pub(super) fn play(actor: &mut Actor) {
    actor.subscribe(GRAPH);
    let brest = json!({ "name": "brest", "entityType": "port", "observations": ["windy"] });
    actor.call("create_entities", json!({ "entities": [brest] }));
    actor.hear("notifications/resources/updated");
    actor.forget();
    let near = json!({ "from": "dover", "to": "brest", "relationType": "faces" });
    actor.call("create_relations", json!({ "relations": [near] }));
    actor.hear("notifications/resources/updated");
    actor.unsubscribe(GRAPH);
    let more = json!({ "entityName": "brest", "contents": ["wet", "windy"] });
    actor.call("add_observations", json!({ "observations": [more] }));
    let none = json!({ "entityName": "atlantis", "contents": ["wet"] });
    actor.call("add_observations", json!({ "observations": [none] }));
    actor.call("search_nodes", json!({ "query": "wind" }));
    actor.call("open_nodes", json!({ "names": ["dover", "nowhere"] }));
    actor.call("create_entities", json!({ "entities": "none" }));
    actor.read(GRAPH);
    actor.call("delete_entities", json!({ "entityNames": ["brest"] }));
    actor.call("read_graph", json!({}));
    super::unknown(actor);
}
