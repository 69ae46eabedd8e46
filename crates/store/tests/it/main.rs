//! Tests of the store on a real file.
#![allow(clippy::unwrap_used, reason = "all of this is test code")]

mod changes;
mod files;
mod laws;
mod memory;

use std::sync::Arc;

use tempfile::TempDir;
use tidegate_store::Store;

/// A store in a folder of its own, which goes away with it.
struct Place {
    folder: TempDir,
    store: Arc<Store>,
}

impl Place {
    fn new() -> Self {
        let folder = TempDir::with_prefix("tidegate-store-").unwrap();
        let store = Arc::new(Store::in_folder(folder.path()));
        Self { folder, store }
    }

    /// Another one on the same folder, as another process has it.
    fn beside(&self) -> Arc<Store> {
        Arc::new(Store::in_folder(self.folder.path()))
    }
}
