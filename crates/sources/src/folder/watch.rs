//! Rings when something may have changed in a folder: at once where the system tells, and now and
//! then in any case, for systems that tell only part of it (folders of other machines do not).
//!
//! Says nothing about what changed: whoever listens looks.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use notify::event::{AccessKind, AccessMode, EventKind};
use notify::{RecommendedWatcher, RecursiveMode, Watcher as _};
use tokio::sync::Notify;
use tokio::time::{sleep, timeout};

/// Changes come in flocks: one waits for the rest of it.
const SETTLE: Duration = Duration::from_millis(100);
/// How often one looks where the system does not tell, and where it does.
const POLL: Duration = Duration::from_secs(2);
const POLL_ANYWAY: Duration = Duration::from_secs(30);
/// Looking takes at most this part of the time.
const SHARE: u32 = 10;
const LONGEST_PAUSE: Duration = Duration::from_secs(60);
/// Folders that the system is asked to tell of. Each costs it memory.
const MOST_FOLDERS: usize = 8192;

/// Tells of the folders it covers.
pub(crate) struct Bell {
    watcher: Option<RecommendedWatcher>,
    covered: BTreeSet<PathBuf>,
    rung: Arc<Notify>,
}

impl Bell {
    pub(crate) fn new() -> Self {
        let rung = Arc::new(Notify::new());
        let ring = Arc::clone(&rung);
        let watcher = notify::recommended_watcher(move |event: notify::Result<notify::Event>| {
            if event.map_or(true, |event| changes_something(event.kind)) {
                ring.notify_one();
            }
        });
        if let Err(error) = &watcher {
            tracing::warn!(%error, "the system does not tell what changes; looking now and then");
        }
        Self {
            watcher: watcher.ok(),
            covered: BTreeSet::new(),
            rung,
        }
    }

    /// Covers these folders and no others. True if some are new: what happened in them until now was
    /// not told.
    pub(crate) fn cover(&mut self, folders: BTreeSet<PathBuf>) -> bool {
        let Some(watcher) = &mut self.watcher else {
            return false;
        };
        for gone in self.covered.difference(&folders) {
            // One that has gone from the disk is not watched any more.
            watcher.unwatch(gone).ok();
        }
        self.covered = self.covered.intersection(&folders).cloned().collect();
        let new: Vec<_> = folders.difference(&self.covered).cloned().collect();
        let mut is_new = false;
        for folder in new {
            let full = self.covered.len() >= MOST_FOLDERS;
            let watched = match full {
                true => Err(notify::Error::new(notify::ErrorKind::MaxFilesWatch)),
                false => watcher.watch(&folder, RecursiveMode::NonRecursive),
            };
            match watched {
                Ok(()) => is_new |= self.covered.insert(folder),
                // It has gone meanwhile, which is told by the folder above.
                Err(error) if is_gone(&error) => {}
                Err(error) => {
                    tracing::warn!(%error, "not all folders can be watched; looking now and then");
                    self.watcher = None;
                    self.covered.clear();
                    return false;
                }
            }
        }
        is_new
    }

    /// Waits until it is worth looking again. `took` is how long the last look took.
    pub(crate) async fn wait(&self, took: Duration) {
        let pause = (took * SHARE).clamp(SETTLE, LONGEST_PAUSE);
        let longest = match self.watcher {
            Some(_) => POLL_ANYWAY,
            None => POLL,
        };
        sleep(pause).await;
        if timeout(longest, self.rung.notified()).await.is_ok() {
            sleep(SETTLE).await;
        }
    }
}

/// Reading is no change; our own looking would ring for ever.
fn changes_something(kind: EventKind) -> bool {
    match kind {
        EventKind::Access(AccessKind::Close(AccessMode::Write)) => true,
        EventKind::Access(_) => false,
        _ => true,
    }
}

fn is_gone(error: &notify::Error) -> bool {
    match &error.kind {
        notify::ErrorKind::PathNotFound | notify::ErrorKind::WatchNotFound => true,
        notify::ErrorKind::Io(error) => error.kind() == std::io::ErrorKind::NotFound,
        _ => false,
    }
}
