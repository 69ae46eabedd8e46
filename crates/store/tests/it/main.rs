//! Tests of the store on a real file.
#![allow(clippy::unwrap_used, reason = "all of this is test code")]

mod events;
mod files;
mod laws;
mod memory;

use std::path::PathBuf;
use std::sync::Arc;

use tempfile::TempDir;
use tidegate_store::Store;

/// A store in its own temporary folder.
struct TestStore {
    folder: TempDir,
    store: Arc<Store>,
}

impl TestStore {
    fn new() -> Self {
        let folder = TempDir::with_prefix("tidegate-store-").unwrap();
        let store = Arc::new(Store::in_folder(folder.path()));
        Self { folder, store }
    }

    /// Another store on the same folder, as in another process.
    fn second_process(&self) -> Arc<Store> {
        Arc::new(Store::in_folder(self.folder.path()))
    }

    fn file(&self) -> PathBuf {
        self.folder.path().join("tidegate.db")
    }
}
