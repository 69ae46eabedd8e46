//! Declarations of resources, templates, prompts and tools by built-in sources. Each element is
//! declared once; the declaration yields the catalog entry, the lookup, the completion, the MIME
//! type and the reply (S4.13).
//!
//! Must not know any source.

mod argument_schema;
pub(crate) mod completion;
mod contents;
mod params;
mod prompt;
mod resource;
mod template;
mod tool;
mod tool_call;
mod value_type;

use std::sync::Arc;

use tidegate_core::{
    CacheScope, Call, Caller, Catalog, Code, Error, Features, Operation, Outcome, Reference, Reply,
    Result, Viewer,
};

pub(crate) use argument_schema::ArgumentSchema;
pub(crate) use completion::{Completer, CompletionInput};
pub(crate) use contents::ResourceContents;
pub(crate) use params::{
    arguments_text, catalog_entry, unknown_method, unknown_name, wrong_source,
};
pub(crate) use prompt::{DeclaredPrompt, PromptArgument, PromptCall, PromptMessage};
pub(crate) use resource::DeclaredResource;
pub(crate) use template::{DeclaredTemplate, TemplateInfo, TemplateMatch};
pub(crate) use tool::{DeclaredTool, ToolEffect, ToolError, ToolInfo, error_result};
pub(crate) use tool_call::ToolCall;

/// Everything that a source with the state `S` declares.
pub(crate) struct Declarations<S: 'static> {
    /// URIs that only this source may serve, with everything below them.
    pub(crate) owned: Vec<String>,
    pub(crate) resources: Vec<DeclaredResource<S>>,
    pub(crate) templates: Vec<DeclaredTemplate<S>>,
    pub(crate) prompts: Vec<DeclaredPrompt<S>>,
    pub(crate) tools: Vec<DeclaredTool<S>>,
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

/// The catalogs and the call dispatch that follow from the declarations.
pub(crate) struct DeclaredSource<S: 'static> {
    declarations: Declarations<S>,
    user_catalog: Arc<Catalog>,
    admin_catalog: Arc<Catalog>,
}

impl<S: Send + Sync> DeclaredSource<S> {
    pub(crate) fn new(declarations: Declarations<S>) -> Self {
        let mut user_catalog = declarations.catalog(false);
        let mut admin_catalog = declarations.catalog(true);
        // A catalog that depends on the caller must not be cached as public (X21).
        if user_catalog != admin_catalog {
            user_catalog.scope = CacheScope::Private;
            admin_catalog.scope = CacheScope::Private;
        }
        Self {
            declarations,
            user_catalog: Arc::new(user_catalog),
            admin_catalog: Arc::new(admin_catalog),
        }
    }

    pub(crate) fn catalog(&self, viewer: &Viewer<'_>) -> Arc<Catalog> {
        Arc::clone(match viewer.caller.admin {
            true => &self.admin_catalog,
            false => &self.user_catalog,
        })
    }

    /// Dispatches a call to the declaration that it names.
    pub(crate) async fn call(&self, state: &S, call: &Call) -> Result<Reply> {
        let outcome = match &call.operation {
            Operation::Resource { uri } => self.read(state, &call.caller, uri).await?,
            Operation::Tool { name } => {
                let mut tools = self.declarations.tools.iter();
                let tool = tools.find(|tool| tool.info.name == name);
                let tool = tool.ok_or_else(|| unknown_name(name))?;
                return tool.call(state, call).await;
            }
            Operation::Prompt { name } => self.prompt(name)?.get(state, call).await?,
            Operation::Completion { reference } => {
                let completer = self.completer(reference, call)?;
                completion::complete(state, call, completer).await?
            }
            Operation::Gateway(_) | Operation::Task { .. } => return Err(wrong_source()),
            Operation::Skill(_) | Operation::Extension { .. } => return Err(unknown_method()),
        };
        Ok(Reply::Done(outcome))
    }

    async fn read(&self, state: &S, caller: &Caller, uri: &str) -> Result<Outcome> {
        if let Some(resource) = self.resource(caller, uri) {
            return resource.read(state, caller).await;
        }
        for template in &self.declarations.templates {
            if let Some(matched) = template.match_uri(caller, uri) {
                return template.read(state, matched).await;
            }
        }
        Err(Error::resource_not_found(uri))
    }

    /// The resource with this URI, if the caller may read it.
    fn resource(&self, caller: &Caller, uri: &str) -> Option<&DeclaredResource<S>> {
        let mut resources = self.declarations.resources.iter();
        resources.find(|resource| resource.uri == uri && (caller.admin || !resource.admin_only))
    }

    fn prompt(&self, name: &str) -> Result<&DeclaredPrompt<S>> {
        let mut prompts = self.declarations.prompts.iter();
        let prompt = prompts.find(|prompt| prompt.name == name);
        prompt.ok_or_else(|| unknown_name(name))
    }

    /// The completer of the argument that a call names.
    fn completer(&self, reference: &Reference, call: &Call) -> Result<Option<Completer<S>>> {
        let argument = completion::argument_name(call)?;
        match reference {
            Reference::Prompt(name) => self.prompt(name)?.completer(&argument),
            Reference::Resource(text) => {
                let mut templates = self.declarations.templates.iter();
                match templates.find(|template| template.matches_reference(text)) {
                    Some(template) => template.completer(&argument),
                    None if self.resource(&call.caller, text).is_some() => Err(Error::client(
                        Code::InvalidParams,
                        "this is a resource, not a template: it has no variables to complete",
                    )),
                    None => Err(unknown_name(text)),
                }
            }
        }
    }
}

impl<S: Send + Sync> Declarations<S> {
    fn catalog(&self, for_admin: bool) -> Catalog {
        let resources = self.resources.iter();
        let resources = resources.filter(|resource| for_admin || !resource.admin_only);
        Catalog {
            is_built_in: true,
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
            tools: self.tools.iter().map(DeclaredTool::entry).collect(),
            prompts: self.prompts.iter().map(DeclaredPrompt::entry).collect(),
            resources: resources.map(DeclaredResource::entry).collect(),
            templates: self.templates.iter().map(DeclaredTemplate::entry).collect(),
            ..Catalog::default()
        }
    }
}
