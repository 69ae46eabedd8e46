//! Saves the default catalog whenever it has changed.

use std::sync::Arc;

use super::Supervisor;
use crate::catalog::saved::SavedCatalog;

impl Supervisor {
    /// Saves the catalog after each refresh that changed it, for as long as it is polled.
    pub(super) async fn save_catalog(&self) {
        let Some(file) = &self.config.saved_catalog else {
            return;
        };
        let mut refreshes = self.refresher.refreshes();
        let mut last_saved = None;
        while refreshes.changed().await.is_ok() {
            let snapshot = self.refresher.snapshots.load();
            let is_complete = snapshot.catalog.gap.is_none() && snapshot.catalog.defects.is_empty();
            let is_saved = last_saved.as_ref() == Some(&snapshot.catalog);
            let (true, false, Some(facts)) = (is_complete, is_saved, &snapshot.facts) else {
                continue;
            };
            let saved = SavedCatalog {
                facts: facts.as_ref().clone(),
                catalog: snapshot.catalog.as_ref().clone(),
                needs_session: self.era_memory.needs_session(),
            };
            last_saved = Some(Arc::clone(&snapshot.catalog));
            let file = file.clone();
            let (path, source) = (file.path.clone(), &self.config.name);
            let done = tokio::task::spawn_blocking(move || file.save(&saved)).await;
            if let Ok(Err(error)) = done {
                let path = path.display();
                tracing::warn!(source, %path, %error, "cannot save the catalog");
            }
        }
    }
}
