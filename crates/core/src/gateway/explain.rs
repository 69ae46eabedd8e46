//! Says where a URI leads, by which rule, and who else would have had it.

use serde_json::{Value, json};

use super::view::{Found, Part, QUALIFIED, Rule, View};
use crate::UriTemplate;
use crate::{List, SourceId, truncate_for_message};

impl View {
    /// Everything there is to say about a URI.
    pub(super) fn explain(&self, uri: &str) -> Value {
        let Some((found, rule)) = self.explained(uri) else {
            let others: Vec<_> = self.others(uri, None).collect();
            return json!({
                "uri": uri,
                "found": false,
                "because": self.nowhere(uri),
                "shadowed": others,
            });
        };
        let source = self.part(found.source).map(|part| &part.id);
        let others: Vec<_> = self.others(uri, Some(&found)).collect();
        json!({
            "uri": uri,
            "found": true,
            "source": source.map(SourceId::as_str),
            "uriThere": found.native,
            "rule": name(&rule),
            "because": because(&rule, source),
            "shadowed": others,
        })
    }

    /// Why a URI leads nowhere.
    fn nowhere(&self, uri: &str) -> String {
        let named = uri
            .strip_prefix(QUALIFIED)
            .map(|rest| rest.split('/').next());
        match named.flatten() {
            Some(source) if !self.parts().iter().any(|part| part.id.as_str() == source) => {
                format!("there is no source `{}`", truncate_for_message(source))
            }
            Some(source) => format!("what it names is not `{source}`'s own"),
            None => {
                "no source lists it, has a template that it fits, or is the only one with URIs \
                     of its scheme"
                    .to_owned()
            }
        }
    }

    /// The other sources that have something of this URI, and how it is reached there.
    fn others<'a>(
        &'a self,
        uri: &'a str,
        found: Option<&Found>,
    ) -> impl Iterator<Item = Value> + 'a {
        let native = found.map_or(uri, |found| &found.native).to_owned();
        let keeper = found.map(|found| found.source);
        let others = move |part: &&Part| Some(part.source) != keeper;
        self.parts().iter().filter(others).filter_map(move |part| {
            let how = has(part, &native)?;
            let qualified = format!("{QUALIFIED}{}/{native}", part.id);
            let reached_as = self.resource(&qualified).map(|_| qualified);
            Some(json!({ "source": part.id.as_str(), "because": how, "reachedAs": reached_as }))
        })
    }
}

/// What a source has of a URI.
fn has(part: &Part, uri: &str) -> Option<String> {
    if part.catalog.has(List::Resources, uri) {
        return Some(format!("lists `{uri}` too"));
    }
    let templates = part.catalog.list(List::Templates).iter();
    let mut fitting = templates
        .filter(|entry| UriTemplate::parse(&entry.key).is_ok_and(|template| template.matches(uri)));
    fitting
        .next()
        .map(|entry| format!("has the template `{}`, which fits too", entry.key))
}

fn name(rule: &Rule) -> &'static str {
    match rule {
        Rule::Qualified => "qualified",
        Rule::Owned => "owned",
        Rule::Listed => "listed",
        Rule::Template(_) => "template",
        Rule::Scheme => "scheme",
        Rule::Asked => "asked",
    }
}

fn because(rule: &Rule, source: Option<&SourceId>) -> String {
    let source = source.map_or("?", SourceId::as_str);
    match rule {
        Rule::Qualified => format!("the URI itself names `{source}`"),
        Rule::Owned => format!("`{source}` is built in and owns all URIs of this kind"),
        Rule::Listed => format!("`{source}` lists it, as the first in the configuration"),
        Rule::Template(text) => {
            format!("it fits the template `{text}` of `{source}`, which says most of all that fit")
        }
        Rule::Scheme => {
            format!("only `{source}` has URIs of this scheme; it does not list this one")
        }
        Rule::Asked => format!("`{source}` is the only source here; it does not list this one"),
    }
}
