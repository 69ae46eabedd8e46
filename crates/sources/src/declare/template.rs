//! The declaration of one resource template.

use std::time::Duration;

use serde_json::json;
use tidegate_core::{
    BoxFuture, CacheScope, Caller, CatalogEntry, Code, Error, Outcome, RawJson, Result,
    TemplateValues, UriTemplate,
};

use super::{Body, Completer, entry};

/// Resources whose URIs have variables.
pub(crate) struct Template<S: 'static> {
    text: String,
    uris: UriTemplate,
    about: About,
    completers: Vec<(&'static str, Completer<S>)>,
    read: Read<S>,
}

type Read<S> = for<'a> fn(&'a S, Expanded<'a>) -> BoxFuture<'a, Result<Body>>;

/// What a list says of a template.
pub(crate) struct About {
    pub(crate) name: &'static str,
    pub(crate) title: &'static str,
    pub(crate) description: &'static str,
    /// Where all that it expands to are of one type.
    pub(crate) mime: Option<&'static str>,
}

/// A template with its variables filled in.
pub(crate) struct Expanded<'a> {
    pub(crate) caller: &'a Caller,
    pub(crate) uri: &'a str,
    values: TemplateValues,
}

impl Expanded<'_> {
    pub(crate) fn get(&self, variable: &str) -> Option<&str> {
        self.values.get(variable).map(String::as_str)
    }

    /// A variable that the template has in its path.
    pub(crate) fn value(&self, variable: &str) -> &str {
        self.get(variable).unwrap_or_default()
    }

    pub(crate) fn not_found(&self) -> Error {
        Error::resource_not_found(self.uri)
    }
}

impl<S> Template<S> {
    pub(crate) fn new(text: String, about: About, read: Read<S>) -> Self {
        Self {
            uris: UriTemplate::parse(&text).expect("a declared template is valid"),
            text,
            about,
            completers: Vec::new(),
            read,
        }
    }

    /// Says what completes a variable.
    #[must_use]
    pub(crate) fn completed(mut self, variable: &'static str, by: Completer<S>) -> Self {
        self.completers.push((variable, by));
        self
    }

    pub(super) fn entry(&self) -> CatalogEntry {
        let mut definition = json!({
            "uriTemplate": self.text,
            "name": self.about.name,
            "title": self.about.title,
            "description": self.about.description,
        });
        if let Some(mime) = self.about.mime {
            definition["mimeType"] = mime.into();
        }
        entry(&self.text, definition)
    }

    pub(super) fn expanded<'a>(&self, caller: &'a Caller, uri: &'a str) -> Option<Expanded<'a>> {
        let values = self.uris.capture(uri)?;
        Some(Expanded {
            caller,
            uri,
            values,
        })
    }

    pub(super) async fn read(&self, state: &S, expanded: Expanded<'_>) -> Result<Outcome> {
        let uri = expanded.uri.to_owned();
        let body = (self.read)(state, expanded).await?;
        let usual = (Duration::ZERO, CacheScope::Private);
        let (ttl, scope) = body.hint().unwrap_or(usual);
        let declared = self.about.mime.unwrap_or("text/plain");
        let result = json!({ "contents": [body.item(&uri, declared)] });
        let result = RawJson::from(result);
        Ok(Outcome::cacheable(result, ttl, scope))
    }

    /// By its text, or by a URI that it expands to. A text with variables of its own is another
    /// template's.
    pub(super) fn is_meant_by(&self, text: &str) -> bool {
        self.text == text || (!text.contains('{') && self.uris.capture(text).is_some())
    }

    /// What completes a variable, if anything does.
    pub(super) fn completer(&self, variable: &str) -> Result<Option<Completer<S>>> {
        if !self.uris.variables().any(|name| name == variable) {
            let message = format!("this template has no variable `{variable}`");
            return Err(Error::client(Code::InvalidParams, message));
        }
        let mut known = self.completers.iter();
        let completer = known.find(|(name, _)| *name == variable);
        Ok(completer.map(|(_, completer)| *completer))
    }
}
