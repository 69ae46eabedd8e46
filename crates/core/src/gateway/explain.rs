//! Explains how a URI is resolved: to which source, by which rule, and which other sources have it.

use serde_json::{Value, json};

use crate::names::{NameMap, ResolutionRule, Resolved, qualified_uri, split_qualified};
use crate::{List, truncate_for_message};

impl NameMap {
    pub(super) fn explain(&self, uri: &str) -> Value {
        let Some((resolved, rule)) = self.resource_with_rule(uri) else {
            let shadowed: Vec<_> = self.shadowed(uri, None).collect();
            return json!({
                "uri": uri,
                "found": false,
                "because": self.why_not_found(uri),
                "shadowed": shadowed,
            });
        };
        let source = self.sources()[resolved.source].id.as_str();
        let shadowed: Vec<_> = self.shadowed(uri, Some(&resolved)).collect();
        json!({
            "uri": uri,
            "found": true,
            "source": source,
            "uriThere": resolved.native,
            "rule": rule_name(&rule),
            "because": reason(&rule, source),
            "shadowed": shadowed,
        })
    }

    fn why_not_found(&self, uri: &str) -> String {
        match split_qualified(uri) {
            Some((source, _)) if self.source_named(source).is_none() => {
                format!("no source is named `{}`", truncate_for_message(source))
            }
            Some((source, _)) => {
                format!("the URI after `gateway://{source}/` belongs to another source")
            }
            None => "no source lists it, has a template that matches it, or is the only one with \
                     URIs of its scheme"
                .to_owned(),
        }
    }

    /// The other sources that have this URI, and the URI under which each is reached.
    fn shadowed<'a>(
        &'a self,
        uri: &'a str,
        resolved: Option<&Resolved>,
    ) -> impl Iterator<Item = Value> + 'a {
        let native = resolved.map_or(uri, |resolved| &resolved.native).to_owned();
        let winner = resolved.map(|resolved| resolved.source);
        let sources = self.sources().iter().enumerate();
        let others = sources.filter(move |(number, _)| Some(*number) != winner);
        others.filter_map(move |(number, source)| {
            let because = self.how_listed(number, &native)?;
            let qualified = qualified_uri(&source.id, &native);
            let reached_as = self.resource(&qualified).map(|_| qualified);
            Some(json!({
                "source": source.id.as_str(),
                "because": because,
                "reachedAs": reached_as,
            }))
        })
    }

    fn how_listed(&self, source: usize, uri: &str) -> Option<String> {
        if self.sources()[source].catalog.has(List::Resources, uri) {
            return Some(format!("also lists `{uri}`"));
        }
        let template = self.matching_template(source, uri)?;
        Some(format!("has the template `{template}`, which also matches"))
    }
}

fn rule_name(rule: &ResolutionRule) -> &'static str {
    match rule {
        ResolutionRule::Qualified => "qualified",
        ResolutionRule::Owned => "owned",
        ResolutionRule::Listed => "listed",
        ResolutionRule::Page => "page",
        ResolutionRule::Skill => "skill",
        ResolutionRule::Template(_) => "template",
        ResolutionRule::Scheme => "scheme",
        ResolutionRule::OnlySource => "asked",
    }
}

fn reason(rule: &ResolutionRule, source: &str) -> String {
    match rule {
        ResolutionRule::Qualified => format!("the URI names the source `{source}`"),
        ResolutionRule::Owned => format!("`{source}` is a built-in source and owns this URI"),
        ResolutionRule::Listed => {
            format!("`{source}` is the first source in the configuration that lists it")
        }
        ResolutionRule::Page => format!(
            "it is a page of an app that names `{source}`, or that only tools of `{source}` name"
        ),
        ResolutionRule::Skill => {
            format!("it is below the folder of a skill that `{source}` lists")
        }
        ResolutionRule::Template(template) => format!(
            "it matches the template `{template}` of `{source}`, which has the most literal \
             characters of all templates that match"
        ),
        ResolutionRule::Scheme => {
            format!("`{source}` does not list it, but is the only source with URIs of this scheme")
        }
        ResolutionRule::OnlySource => {
            format!("`{source}` does not list it, but is the only source of this endpoint")
        }
    }
}
