//! Lists that change under one's hands, never end, or hold what is another's.

use std::collections::HashSet;

use serde_json::{Value, json};

use super::rig::{Kind, Rig};
use crate::support::messages::HEALTH;
use crate::support::proc::poll_for;

everywhere!(
    a_list_that_changes_between_pages,
    pages_without_end,
    what_is_anothers
);

/// How many tools a list gets while it is read.
const GROWN: usize = 3;

/// The names of the tools of the server that misbehaves.
fn tools(rig: &Rig) -> Vec<String> {
    let list = rig.gateway.modern("tools/list", json!({})).result();
    let tools = list["tools"].as_array().unwrap().iter();
    let names = tools.filter_map(|tool| tool["name"].as_str());
    names
        .filter(|name| name.starts_with("faulty__"))
        .map(str::to_owned)
        .collect()
}

fn a_list_that_changes_between_pages(kind: Kind) {
    let rig = Rig::start(kind, &["--growing-list", "--page-size", "5"], &json!({}));
    poll_for("a list that is whole", || {
        let names = tools(&rig);
        let once: HashSet<_> = names.iter().collect();
        assert_eq!(
            once.len(),
            names.len(),
            "nothing is listed twice: {names:?}"
        );
        let grown = names.iter().filter(|name| name.contains("grown")).count();
        (grown == GROWN && names.iter().any(|name| name == "faulty__echo")).then_some(())
    });
    rig.end();
}

fn pages_without_end(kind: Kind) {
    for cursors in ["endless", "repeated"] {
        let flags = ["--page-size", "7", "--cursors", cursors];
        let rig = Rig::start_without(kind, &flags, &json!({}));
        let names = poll_for("some of the list", || {
            Some(tools(&rig)).filter(|names| !names.is_empty())
        });
        let once: HashSet<_> = names.iter().collect();
        assert_eq!(once.len(), names.len(), "{names:?}");
        rig.end();
    }
}

/// What a built-in source has, and what an earlier source has, stays theirs.
fn what_is_anothers(kind: Kind) {
    let theirs = "test://static-text";
    let flags = ["--claim", HEALTH, "--claim", "resource://system/other"];
    let rig = Rig::start(kind, &flags, &json!({}));
    let list = rig.gateway.modern("resources/list", json!({})).result();
    let listed = list["resources"].as_array().unwrap();
    let listed = |uri: &str| listed.iter().filter(|one| one["uri"] == uri).count();
    assert_eq!((listed(HEALTH), listed(theirs)), (1, 1));
    assert_eq!(listed("resource://system/other"), 0);
    assert_eq!(listed(&format!("gateway://faulty/{theirs}")), 1);
    let read = |uri: &str| -> Value {
        let answer = rig.gateway.modern("resources/read", json!({ "uri": uri }));
        answer.json()
    };
    let said = |uri: &str| read(uri)["result"]["contents"][0]["text"].to_string();
    assert!(said(HEALTH).contains("overallStatus"));
    assert!(said(theirs).contains("healthy keeps"));
    assert!(said(&format!("gateway://faulty/{theirs}")).contains("faulty keeps"));
    for stolen in [
        "resource://system/other",
        &format!("gateway://faulty/{HEALTH}"),
    ] {
        assert_eq!(
            read(stolen)["error"]["data"]["kind"],
            "resource_not_found",
            "{stolen}"
        );
    }
    assert!(rig.logged("claims what is another's") > 0);
    rig.end();
}
