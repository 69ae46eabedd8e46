//! Lists that change while they are read, never end, or contain foreign URIs.

use std::collections::HashSet;

use serde_json::{Value, json};

use super::rig::{Rig, ServerKind};
use crate::support::messages::HEALTH;
use crate::support::proc::poll_for;

on!(templates_that_are_expensive_to_match: stdio_modern = StdioModern, http_legacy = HttpLegacy);

over_all_transports!(
    list_that_changes_between_pages,
    pages_without_end,
    claims_of_foreign_uris
);

/// How many tools are added while the list is read.
const GROWN: usize = 3;

/// The names of the faulty server's tools.
fn tools(rig: &Rig) -> Vec<String> {
    let list = rig.gateway.modern("tools/list", json!({})).result();
    let tools = list["tools"].as_array().unwrap().iter();
    let names = tools.filter_map(|tool| tool["name"].as_str());
    names
        .filter(|name| name.starts_with("faulty__"))
        .map(str::to_owned)
        .collect()
}

fn list_that_changes_between_pages(kind: ServerKind) {
    let rig = Rig::start(kind, &["--growing-list", "--page-size", "5"], &json!({}));
    poll_for("a complete list", || {
        let names = tools(&rig);
        let once: HashSet<_> = names.iter().collect();
        assert_eq!(
            once.len(),
            names.len(),
            "no tool is listed twice: {names:?}"
        );
        let grown = names.iter().filter(|name| name.contains("grown")).count();
        (grown == GROWN && names.iter().any(|name| name == "faulty__echo")).then_some(())
    });
    rig.end();
}

fn pages_without_end(kind: ServerKind) {
    for cursors in ["endless", "repeated"] {
        let flags = ["--page-size", "7", "--cursors", cursors];
        let rig = Rig::start_without(kind, &flags, &json!({}));
        let names = poll_for("a part of the list", || {
            Some(tools(&rig)).filter(|names| !names.is_empty())
        });
        let once: HashSet<_> = names.iter().collect();
        assert_eq!(once.len(), names.len(), "{names:?}");
        rig.end();
    }
}

/// Templates over the limits are not listed, and no URI takes long to match against the others.
fn templates_that_are_expensive_to_match(kind: ServerKind) {
    let rig = Rig::start(kind, &["--expensive-templates", "2000"], &json!({}));
    let list = rig.gateway.modern("resources/templates/list", json!({}));
    let list = list.result();
    let listed = list["resourceTemplates"].as_array().unwrap();
    assert!(listed.len() < 100, "{}", listed.len());
    assert!(list["_meta"].to_string().contains("are not listed"));
    let health = rig
        .gateway
        .modern("resources/read", json!({ "uri": HEALTH }));
    let health = health.result()["contents"][0]["text"].to_string();
    assert!(
        health.contains("it has more than 32 expressions"),
        "{health}"
    );
    let long = ["a", "a/", "aa/", "/a"].map(|text| text.repeat(8000 / text.len()));
    let schemes = ["test://", "costly://", ""].into_iter();
    for (scheme, path) in schemes.flat_map(|scheme| long.each_ref().map(|path| (scheme, path))) {
        for uri in [
            format!("{scheme}{path}"),
            format!("gateway://gateway/explain/{scheme}{path}"),
        ] {
            rig.gateway
                .modern("resources/read", json!({ "uri": uri }))
                .json();
        }
    }
    let file = rig
        .gateway
        .modern("resources/read", json!({ "uri": "test://files/a" }));
    assert_eq!(file.result()["contents"][0]["text"], "The file a.");
    rig.end();
}

/// URIs of built-in sources and of earlier sources keep their owner.
fn claims_of_foreign_uris(kind: ServerKind) {
    let shared_uri = "test://static-text";
    let flags = ["--claim", HEALTH, "--claim", "resource://system/other"];
    let rig = Rig::start(kind, &flags, &json!({}));
    let list = rig.gateway.modern("resources/list", json!({})).result();
    let listed = list["resources"].as_array().unwrap();
    let listed = |uri: &str| {
        listed
            .iter()
            .filter(|resource| resource["uri"] == uri)
            .count()
    };
    assert_eq!((listed(HEALTH), listed(shared_uri)), (1, 1));
    assert_eq!(listed("resource://system/other"), 0);
    assert_eq!(listed(&format!("gateway://faulty/{shared_uri}")), 1);
    let read = |uri: &str| -> Value {
        let answer = rig.gateway.modern("resources/read", json!({ "uri": uri }));
        answer.json()
    };
    let text_of = |uri: &str| read(uri)["result"]["contents"][0]["text"].to_string();
    assert!(text_of(HEALTH).contains("overallStatus"));
    assert!(text_of(shared_uri).contains("healthy keeps"));
    assert!(text_of(&format!("gateway://faulty/{shared_uri}")).contains("faulty keeps"));
    for claimed in [
        "resource://system/other",
        &format!("gateway://faulty/{HEALTH}"),
    ] {
        assert_eq!(
            read(claimed)["error"]["data"]["kind"],
            "resource_not_found",
            "{claimed}"
        );
    }
    assert!(rig.logged("source claims a URI that another source owns") > 0);
    rig.end();
}
