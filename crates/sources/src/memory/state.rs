//! The state that the declarations of a memory source operate on.

use std::sync::Arc;

use tidegate_core::Caller;
use tidegate_store::StoreError;
use tidegate_store::memory::{EntryOwner, MemoryStore};

use super::limits::Limits;
use super::uris::MemoryUris;
use crate::declarations::ToolError;

pub(super) struct MemoryState {
    /// The id of the source.
    pub(super) id: String,
    pub(super) uris: MemoryUris,
    pub(super) entries: Arc<dyn MemoryStore>,
    pub(super) limits: Limits,
}

impl MemoryState {
    /// The caller as the owner of entries.
    pub(super) fn owner(&self, caller: &Caller) -> EntryOwner {
        EntryOwner {
            source: self.id.clone(),
            principal: caller.principal.as_str().to_owned(),
        }
    }
}

impl From<StoreError> for ToolError {
    fn from(error: StoreError) -> Self {
        Self::Internal(error.into())
    }
}
