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

/// A source cannot take over the qualified URIs of another by listing them as its own.
#[test]
fn a_uri_that_names_a_source_is_listed_under_its_qualified_form() {
    let sources = vec![
        source("ada", &["x://1"]),
        source("bob", &["gateway://ada/x://1", "ui://ada/page", "x://1"]),
    ];
    let names = NameMap::new(sources, Some(Naming::Prefixed));
    let listed = names.entries(List::Resources).iter();
    let listed: Vec<_> = listed.map(|entry| &*entry.name).collect();
    assert_eq!(
        listed,
        [
            "x://1",
            "gateway://bob/gateway://ada/x://1",
            "ui://bob/ada/page",
            "gateway://bob/x://1",
        ]
    );
    assert_listed_names_lead_back(&names);
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
