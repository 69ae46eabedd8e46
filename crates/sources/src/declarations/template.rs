//! The declaration of a resource template.

use std::time::Duration;

use serde_json::json;
use tidegate_core::{
    BoxFuture, CacheScope, Caller, CatalogEntry, Code, Error, Outcome, RawJson, Result,
    TemplateValues, UriTemplate,
};

use super::{Completer, ResourceContents, catalog_entry};

/// A family of resources whose URIs contain variables.
pub(crate) struct DeclaredTemplate<S: 'static> {
    text: String,
    template: UriTemplate,
    info: TemplateInfo,
    completers: Vec<(&'static str, Completer<S>)>,
    read: ReadTemplate<S>,
}

type ReadTemplate<S> =
    for<'a> fn(&'a S, TemplateMatch<'a>) -> BoxFuture<'a, Result<ResourceContents>>;

/// The descriptive fields of a template.
pub(crate) struct TemplateInfo {
    pub(crate) name: &'static str,
    pub(crate) title: &'static str,
    pub(crate) description: &'static str,
    /// Set if all resources of the template have the same type.
    pub(crate) mime: Option<&'static str>,
}

/// A URI that matches a template, with the values of its variables.
pub(crate) struct TemplateMatch<'a> {
    pub(crate) caller: &'a Caller,
    pub(crate) uri: &'a str,
    values: TemplateValues,
}

impl TemplateMatch<'_> {
    pub(crate) fn get(&self, variable: &str) -> Option<&str> {
        self.values.get(variable).map(String::as_str)
    }

    /// A variable of the path, which every match has.
    pub(crate) fn path_variable(&self, variable: &str) -> &str {
        self.get(variable).unwrap_or_default()
    }

    pub(crate) fn not_found(&self) -> Error {
        Error::resource_not_found(self.uri)
    }
}

impl<S> DeclaredTemplate<S> {
    pub(crate) fn new(text: String, info: TemplateInfo, read: ReadTemplate<S>) -> Self {
        Self {
            template: UriTemplate::parse(&text).expect("a declared template is valid"),
            text,
            info,
            completers: Vec::new(),
            read,
        }
    }

    #[must_use]
    pub(crate) fn with_completer(
        mut self,
        variable: &'static str,
        completer: Completer<S>,
    ) -> Self {
        self.completers.push((variable, completer));
        self
    }

    pub(super) fn entry(&self) -> CatalogEntry {
        let mut definition = json!({
            "uriTemplate": self.text,
            "name": self.info.name,
            "title": self.info.title,
            "description": self.info.description,
        });
        if let Some(mime) = self.info.mime {
            definition["mimeType"] = mime.into();
        }
        catalog_entry(&self.text, definition)
    }

    pub(super) fn match_uri<'a>(
        &self,
        caller: &'a Caller,
        uri: &'a str,
    ) -> Option<TemplateMatch<'a>> {
        let values = self.template.capture(uri)?;
        Some(TemplateMatch {
            caller,
            uri,
            values,
        })
    }

    pub(super) async fn read(&self, state: &S, matched: TemplateMatch<'_>) -> Result<Outcome> {
        let uri = matched.uri.to_owned();
        let contents = (self.read)(state, matched).await?;
        let uncached = (Duration::ZERO, CacheScope::Private);
        let (ttl, scope) = contents.cache_hint().unwrap_or(uncached);
        let declared_mime = self.info.mime.unwrap_or("text/plain");
        let result = json!({ "contents": [contents.into_item(&uri, declared_mime)] });
        Ok(Outcome::cacheable(RawJson::from(result), ttl, scope))
    }

    /// Whether a completion reference means this template: by its text, or by a URI that matches
    /// it. A different text with variables is another template.
    pub(super) fn matches_reference(&self, text: &str) -> bool {
        self.text == text || (!text.contains('{') && self.template.capture(text).is_some())
    }

    /// The completer of a variable, if it has one.
    pub(super) fn completer(&self, variable: &str) -> Result<Option<Completer<S>>> {
        if !self.template.variables().any(|name| name == variable) {
            let message = format!("this template has no variable `{variable}`");
            return Err(Error::client(Code::InvalidParams, message));
        }
        let mut completers = self.completers.iter();
        let completer = completers.find(|(name, _)| *name == variable);
        Ok(completer.map(|(_, completer)| *completer))
    }
}
