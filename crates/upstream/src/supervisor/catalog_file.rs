//! Saves what is known about a server whenever it has changed.

use super::Supervisor;

impl Supervisor {
    /// Saves the default catalog and what is known about client classes and sessions, whenever one of
    /// them has changed, for as long as it is polled.
    pub(super) async fn save_catalog(&self) {
        let Some(file) = &self.config.saved_catalog else {
            return;
        };
        let mut learned = self.refresher.learned();
        let mut last_saved = None;
        while learned.changed().await.is_ok() {
            let snapshot = self.refresher.snapshots.load();
            let saved = snapshot.to_saved(self.era_memory.needs_session());
            let Some(saved) = saved.filter(|saved| last_saved.as_ref() != Some(saved)) else {
                continue;
            };
            last_saved = Some(saved.clone());
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
