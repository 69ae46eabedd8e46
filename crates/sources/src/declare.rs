//! How a built-in source says what it offers: each thing once (S4.13). One declaration yields the
//! list entry, the lookup, the completion, the MIME type and the answer.

mod asking;
mod body;
pub(crate) mod completing;
mod input;
mod prompt;
mod resource;
mod shape;
mod template;
mod tool;

use std::sync::Arc;

use tidegate_core::{
    CacheScope, Call, Caller, Catalog, CatalogEntry, Code, Error, Features, Object, Operation,
    Outcome, Reference, Reply, Result, Viewer,
};

pub(crate) use asking::Asking;
pub(crate) use body::Body;
pub(crate) use completing::{Completer, Typed};
pub(crate) use input::Input;
pub(crate) use prompt::{Argument, Given, Message, Prompt};
pub(crate) use resource::Resource;
pub(crate) use template::{About, Expanded, Template};
pub(crate) use tool::{Hint, Stop, Tool, fault};

/// Everything a source declares, over its state `S`.
pub(crate) struct Declarations<S: 'static> {
    /// URIs that are this source's alone, with all that lies below.
    pub(crate) owned: Vec<String>,
    pub(crate) resources: Vec<Resource<S>>,
    pub(crate) templates: Vec<Template<S>>,
    pub(crate) prompts: Vec<Prompt<S>>,
    pub(crate) tools: Vec<Tool<S>>,
}

impl<S> Default for Declarations<S> {
    fn default() -> Self {
        Self {
            owned: Vec::new(),
            resources: Vec::new(),
            templates: Vec::new(),
            prompts: Vec::new(),
            tools: Vec::new(),
        }
    }
}

/// What comes of the declarations: a catalog for each kind of caller, and an answer for each call.
pub(crate) struct Offer<S: 'static> {
    declared: Declarations<S>,
    for_everyone: Arc<Catalog>,
    for_admins: Arc<Catalog>,
}

impl<S: Send + Sync> Offer<S> {
    pub(crate) fn new(declared: Declarations<S>) -> Self {
        let (mut for_everyone, mut for_admins) = (declared.catalog(false), declared.catalog(true));
        // What is not the same for all must not be kept for all (X21).
        if for_everyone != for_admins {
            for_everyone.scope = CacheScope::Private;
            for_admins.scope = CacheScope::Private;
        }
        Self {
            for_everyone: Arc::new(for_everyone),
            for_admins: Arc::new(for_admins),
            declared,
        }
    }

    pub(crate) fn catalog(&self, viewer: &Viewer<'_>) -> Arc<Catalog> {
        Arc::clone(match viewer.caller.admin {
            true => &self.for_admins,
            false => &self.for_everyone,
        })
    }

    /// Serves a call from the declaration it names.
    pub(crate) async fn serve(&self, state: &S, call: &Call) -> Result<Reply> {
        let outcome = match &call.operation {
            Operation::Resource { uri } => self.read(state, &call.caller, uri).await?,
            Operation::Tool { name } => {
                let tool = self.declared.tools.iter().find(|one| one.name == name);
                let tool = tool.ok_or_else(|| nothing_called(name))?;
                return tool.call(state, call).await;
            }
            Operation::Prompt { name } => self.prompt(name)?.get(state, call).await?,
            Operation::Completion { reference } => {
                let completer = self.completer(reference, call)?;
                completing::complete(state, call, completer).await?
            }
            Operation::Gateway(_) | Operation::Task { .. } => {
                return Err(Error::internal("a call went to the wrong source"));
            }
        };
        Ok(Reply::Done(outcome))
    }

    async fn read(&self, state: &S, caller: &Caller, uri: &str) -> Result<Outcome> {
        if let Some(resource) = self.resource(caller, uri) {
            return resource.read(state, caller).await;
        }
        for template in &self.declared.templates {
            if let Some(expanded) = template.expanded(caller, uri) {
                return template.read(state, expanded).await;
            }
        }
        Err(Error::resource_not_found(uri))
    }

    /// The resource that has this URI for this caller.
    fn resource(&self, caller: &Caller, uri: &str) -> Option<&Resource<S>> {
        let of_this = |one: &&Resource<S>| one.uri == uri && (caller.admin || !one.admin_only);
        self.declared.resources.iter().find(of_this)
    }

    fn prompt(&self, name: &str) -> Result<&Prompt<S>> {
        let prompt = self.declared.prompts.iter().find(|one| one.name == name);
        prompt.ok_or_else(|| nothing_called(name))
    }

    /// What completes the argument that a call names.
    fn completer(&self, reference: &Reference, call: &Call) -> Result<Option<Completer<S>>> {
        let argument = completing::argument(call)?;
        match reference {
            Reference::Prompt(name) => self.prompt(name)?.completer(&argument),
            Reference::Resource(text) => {
                let mut templates = self.declared.templates.iter();
                match templates.find(|one| one.is_meant_by(text)) {
                    Some(template) => template.completer(&argument),
                    None if self.resource(&call.caller, text).is_some() => Err(Error::client(
                        Code::InvalidParams,
                        "this is a resource, not a template: it has no variables to complete",
                    )),
                    None => Err(nothing_called(text)),
                }
            }
        }
    }
}

impl<S: Send + Sync> Declarations<S> {
    fn catalog(&self, admin: bool) -> Catalog {
        let resources = self.resources.iter();
        let resources = resources.filter(|one| admin || !one.admin_only);
        Catalog {
            features: Features {
                tools: !self.tools.is_empty(),
                prompts: !self.prompts.is_empty(),
                resources: true,
                subscribe: true,
                completions: !(self.templates.is_empty() && self.prompts.is_empty()),
                ..Features::default()
            },
            scope: CacheScope::Public,
            owned: self.owned.clone(),
            tools: self.tools.iter().map(Tool::entry).collect(),
            prompts: self.prompts.iter().map(Prompt::entry).collect(),
            resources: resources.map(Resource::entry).collect(),
            templates: self.templates.iter().map(Template::entry).collect(),
            ..Catalog::default()
        }
    }
}

pub(crate) fn nothing_called(name: &str) -> Error {
    Error::client(
        Code::UnknownTarget,
        format!(
            "this source has nothing called `{}`",
            tidegate_core::truncate_for_message(name)
        ),
    )
}

/// The arguments of a call as text; none are an empty object.
pub(crate) fn arguments(call: &Call) -> String {
    let params = call.params.object().unwrap_or_default();
    params.get("arguments").unwrap_or("{}").to_owned()
}

/// A member of the parameters that is an object.
fn member<'a>(params: &'a Object<'_>, name: &str) -> Object<'a> {
    let text = params.get(name);
    text.and_then(|text| Object::parse(text).ok())
        .unwrap_or_default()
}

/// A definition with its key.
pub(crate) fn entry(key: &str, definition: serde_json::Value) -> CatalogEntry {
    CatalogEntry {
        key: key.to_owned(),
        definition: definition.into(),
    }
}
