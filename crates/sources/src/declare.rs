//! How a built-in source says what it offers: each thing once (S4.13). One declaration yields the
//! list entry, the lookup, the MIME type and the answer.

mod resource;
mod tool;

use std::sync::Arc;

use tidegate_core::{
    Ask, CacheScope, Call, Catalog, Code, Entry, Error, Features, Outcome, Reply, Result,
};

pub(crate) use resource::{Body, Resource};
pub(crate) use tool::{Fault, Tool};

/// Everything a source declares, over its state `S`.
pub(crate) struct Declarations<S: 'static> {
    /// URIs that are this source's alone, with all that lies below.
    pub(crate) owned: Vec<&'static str>,
    pub(crate) resources: Vec<Resource<S>>,
    pub(crate) tools: Vec<Tool<S>>,
}

impl<S: Send + Sync> Declarations<S> {
    /// The catalog these declarations make.
    pub(crate) fn catalog(&self) -> Arc<Catalog> {
        Arc::new(Catalog {
            features: Features {
                tools: true,
                resources: true,
                subscribe: true,
                ..Features::default()
            },
            scope: CacheScope::Public,
            owned: self.owned.clone(),
            tools: self.tools.iter().map(Tool::entry).collect(),
            resources: self.resources.iter().map(Resource::entry).collect(),
            ..Catalog::default()
        })
    }

    /// Serves a call from the declaration it names.
    pub(crate) async fn serve(&self, state: &S, call: &Call) -> Result<Reply> {
        let outcome = match &call.ask {
            Ask::Resource { uri } => {
                let resource = self.resources.iter().find(|one| one.uri == uri);
                resource
                    .ok_or_else(|| Error::resource_not_found(uri))?
                    .read(state)
                    .await?
            }
            Ask::Tool { name } => {
                let tool = self.tools.iter().find(|one| one.name == name);
                let tool = tool.ok_or_else(|| nothing_called(name))?;
                Outcome::complete(tool.call(state, call).await?)
            }
            Ask::Prompt { name } => return Err(nothing_called(name)),
            Ask::Completion { .. } => return Err(nothing_to_complete()),
            Ask::Own(_) | Ask::Task { .. } => {
                return Err(Error::internal("a call went to the wrong source"));
            }
        };
        Ok(Reply::Done(outcome))
    }
}

fn nothing_called(name: &str) -> Error {
    Error::client(
        Code::UnknownTarget,
        format!("this source has nothing called `{name}`"),
    )
}

fn nothing_to_complete() -> Error {
    Error::client(Code::UnknownTarget, "this has no arguments to complete")
}

/// A definition with its key.
fn entry(key: &str, definition: serde_json::Value) -> Entry {
    Entry {
        key: key.to_owned(),
        definition: definition.into(),
    }
}
