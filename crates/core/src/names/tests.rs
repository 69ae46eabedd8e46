//! Every listed name resolves to its entry, in every kind of view.

use std::sync::Arc;

use proptest::prelude::*;

use super::*;
use crate::CatalogEntry;

fn entry(key: &str) -> CatalogEntry {
    CatalogEntry {
        key: key.to_owned(),
        definition: serde_json::json!({ "key": key }).into(),
    }
}

fn source(id: &str, keys: &[&str]) -> SourceCatalog {
    let entries: Vec<_> = keys.iter().map(|key| entry(key)).collect();
    SourceCatalog {
        id: id.parse().unwrap(),
        catalog: Arc::new(Catalog {
            tools: entries.clone(),
            prompts: entries.clone(),
            resources: entries.clone(),
            templates: entries,
            ..Catalog::default()
        }),
    }
}

fn assert_listed_names_lead_back(names: &NameMap) {
    for list in List::ALL {
        for listed in names.entries(list) {
            let resolved = match list {
                List::Tools => names.tool(&listed.name),
                List::Prompts => names.prompt(&listed.name),
                List::Resources => names.resource(&listed.name),
                List::Templates => names.template(&listed.name),
            };
            let resolved = resolved.unwrap();
            let source = &names.sources()[listed.source()];
            let native = &source.catalog.list(list)[listed.position as usize].key;
            assert_eq!(
                (resolved.source, &resolved.native),
                (listed.source(), native),
                "{list:?} {}",
                listed.name
            );
        }
    }
}

fn built_in(id: &str, keys: &[&str], owned: &[&str]) -> SourceCatalog {
    let SourceCatalog { id, catalog } = source(id, keys);
    let catalog = Catalog {
        is_built_in: true,
        owned: owned.iter().map(|uri| (*uri).to_owned()).collect(),
        ..Catalog::clone(&catalog)
    };
    SourceCatalog {
        id,
        catalog: Arc::new(catalog),
    }
}

fn listed(names: &NameMap, list: List) -> Vec<&str> {
    let entries = names.entries(list).iter();
    entries.map(|entry| &*entry.name).collect()
}

/// A source cannot take over the qualified URIs of another by listing them as its own.
#[test]
fn a_uri_that_names_a_source_is_not_listed_by_another() {
    let sources = vec![
        source("ada", &["x://1"]),
        source("bob", &["gateway://ada/x://1", "ui://ada/page", "x://1"]),
    ];
    let names = NameMap::new(sources, Some(Naming::Prefixed));
    assert_eq!(
        listed(&names, List::Resources),
        ["x://1", "ui://bob/ada/page", "gateway://bob/x://1"]
    );
    assert_listed_names_lead_back(&names);
}

const RESERVED: [&str; 9] = [
    "gateway://nobody/x",
    "GATEWAY://gateway/explain/x",
    "capability-index://summary",
    "requirements://all",
    "resource://knowledge/a",
    "Resource://Knowledge",
    "resource://system/health",
    "plugin://memory/entries/a",
    "plugin://anything",
];

#[test]
fn reserved_uris_are_not_listed_or_served_by_servers() {
    for naming in [Some(Naming::Prefixed), Some(Naming::Native)] {
        let names = NameMap::new(vec![source("bob", &RESERVED)], naming);
        for list in [List::Resources, List::Templates] {
            assert_eq!(listed(&names, list), [""; 0]);
            assert!(names.withheld(list, &"bob".parse().unwrap()).is_some());
        }
        for uri in RESERVED {
            assert_eq!(names.resource(uri), None, "{uri}");
            assert_eq!(
                names.resource(&format!("gateway://bob/{uri}")),
                None,
                "{uri}"
            );
            assert!(names.subscribable(uri).is_none(), "{uri}");
        }
        assert!(
            names
                .conflicts()
                .iter()
                .any(|conflict| conflict.problem().is_some())
        );
    }
    let names = NameMap::new(
        vec![source(
            "bob",
            &["{+uri}", "plugin:{+x}", "resource://{a}/{b}"],
        )],
        Some(Naming::Prefixed),
    );
    for uri in RESERVED {
        assert_eq!(names.resource(uri), None, "{uri}");
    }
}

/// A client of that endpoint means this server.
#[test]
fn at_the_endpoint_of_one_source_nothing_is_reserved() {
    let names = NameMap::new(vec![source("bob", &RESERVED)], None);
    assert_eq!(listed(&names, List::Resources), RESERVED);
    assert_listed_names_lead_back(&names);
}

#[test]
fn a_built_in_source_serves_the_reserved_uris_that_it_owns() {
    let uris = ["plugin://notes/entries/{key}", "plugin://notes/stats"];
    let sources = vec![
        source("bob", &["plugin://notes/stats", "plugin://other/x"]),
        built_in("notes", &uris, &["plugin://notes"]),
    ];
    let names = NameMap::new(sources, Some(Naming::Prefixed));
    assert_eq!(listed(&names, List::Resources), uris);
    let resolved = names.resource("plugin://notes/entries/a").unwrap();
    assert_eq!(resolved.source, 1);
}

#[test]
fn names_of_the_gateway_and_of_built_in_sources_are_reserved() {
    let sources = || {
        vec![
            source(
                "bob",
                &[
                    "gateway__call_tool",
                    "memory__store",
                    "store",
                    "system.health",
                    "own",
                ],
            ),
            built_in("memory", &["store"], &[]),
            built_in("gateway", &["call_tool"], &[]),
        ]
    };
    let names = NameMap::new(sources(), Some(Naming::Native));
    assert_eq!(
        listed(&names, List::Tools),
        [
            "bob__gateway__call_tool",
            "bob__memory__store",
            "bob__store",
            "bob__system.health",
            "own",
            "store",
            "gateway__call_tool",
        ]
    );
    assert_listed_names_lead_back(&names);
    for (name, source) in [
        ("gateway__call_tool", 2),
        ("gateway.call_tool", 2),
        ("memory__store", 1),
        ("store", 1),
        ("own", 0),
    ] {
        assert_eq!(names.tool(name).unwrap().source, source, "{name}");
    }
    let problems = names.conflicts().iter();
    assert_eq!(problems.filter_map(NameConflict::problem).count(), 5);

    let names = NameMap::new(sources(), Some(Naming::Prefixed));
    assert_eq!(names.tool("memory__store").unwrap().source, 1);
    // At the endpoint of one source.
    let mut one = sources();
    one.remove(1);
    let names = NameMap::new(one, None);
    assert_eq!(
        listed(&names, List::Tools),
        [
            "bob__gateway__call_tool",
            "memory__store",
            "store",
            "system.health",
            "own",
            "gateway__call_tool",
        ]
    );
}

/// Without the gateway tools, their names still do not lead to a server.
#[test]
fn a_reserved_name_is_not_resolved_as_a_native_name() {
    let sources = vec![
        source("bob", &["gateway__call_tool"]),
        built_in("gateway", &[], &[]),
    ];
    let names = NameMap::new(sources, Some(Naming::Prefixed));
    assert_eq!(names.tool("gateway__call_tool"), None);
    assert!(names.tool("bob__gateway__call_tool").is_some());
}

/// Links of a source lead back to it, or stay as they are.
#[test]
fn only_links_that_their_source_may_read_are_qualified() {
    let sources = vec![
        source("ada", &["x://1", "file:///shared/a"]),
        source("bob", &["y://1"]),
        source("tools", &[]),
    ];
    let names = NameMap::new(sources, Some(Naming::Prefixed));
    for (source, uri, expected) in [
        (0, "x://2", None),
        (0, "file:///elsewhere", None),
        (1, "x://2", Some("gateway://bob/x://2")),
        (1, "z://unlisted", Some("gateway://bob/z://unlisted")),
        (1, "file:///tmp/picture.png", None),
        (1, "https://example.com/", None),
        (2, "x://1", None),
        (2, "z://unlisted", None),
        (2, "file:///shared/a", None),
    ] {
        assert_eq!(
            names.client_uri(source, uri).as_deref(),
            expected,
            "{source} {uri}"
        );
    }
}

proptest! {
    #[test]
    fn everything_that_is_listed_leads_back(
        keys in prop::collection::vec(prop::collection::vec(
            "(gateway://|ui://|x://)?(ada|bob|c)(/|__|\\.)?(x://)?[a-c]", 0..6), 3),
        naming in prop::sample::select(vec![None, Some(Naming::Prefixed), Some(Naming::Native)]),
    ) {
        let ids = ["ada", "bob", "c"].into_iter().take(if naming.is_some() { 3 } else { 1 });
        let sources = ids.zip(&keys).map(|(id, keys)| {
            let keys: Vec<_> = keys.iter().map(String::as_str).collect();
            source(id, &keys)
        });
        assert_listed_names_lead_back(&NameMap::new(sources.collect(), naming));
    }
}
