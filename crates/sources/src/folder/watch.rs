//! Looks into a folder again whenever something may have changed: at once where the system tells,
//! and now and then in any case, for systems that tell only part of it (folders of other machines
//! do not).
//!
//! Knows nothing about what changed: whoever looks finds out.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use notify::event::{AccessKind, AccessMode, EventKind};
use notify::{RecommendedWatcher, RecursiveMode, Watcher as _};
use tokio::sync::Notify;
use tokio::task::spawn_blocking;
use tokio::time::{sleep, timeout};

use super::{Root, Stamp, Walked};

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
/// While folders are new, what happened in them may have been missed. At some time it is enough.
const MOST_LOOKS: usize = 5;

/// Folders, and which ones they are: one that was made anew under the old name is another.
pub(crate) type Folders = BTreeMap<PathBuf, (u64, u64)>;

/// Someone who wants to know what is in a folder.
pub(crate) trait Look: Send + Sync + 'static {
    /// Takes in all that is there now, and says in which folders changes matter. May take its time.
    fn look(&self) -> Folders;
}

/// The folders of a walk.
pub(crate) fn folders(root: &Root, walked: &Walked) -> Folders {
    let path =
        |(place, stamp): (&super::Place, &Stamp)| (root.path().join(place.path()), stamp.file);
    walked.folders.iter().map(path).collect()
}

/// Looks at once, and again whenever it is worth it, for as long as it is polled.
pub(crate) async fn keep_looking(looker: &Arc<impl Look>) {
    let mut bell = Bell::new();
    loop {
        let (began, looker) = (Instant::now(), Arc::clone(looker));
        let looked = spawn_blocking(move || {
            let mut looks = 0;
            while bell.cover(&looker.look()) && looks < MOST_LOOKS {
                looks += 1;
            }
            bell
        });
        bell = looked.await.unwrap_or_else(|error| {
            tracing::error!(%error, "looking into a folder failed inside the gateway");
            Bell::new()
        });
        bell.wait(began.elapsed()).await;
    }
}

/// Tells of the folders it covers.
struct Bell {
    watcher: Option<RecommendedWatcher>,
    covered: Folders,
    rung: Arc<Notify>,
}

impl Bell {
    fn new() -> Self {
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
            covered: Folders::new(),
            rung,
        }
    }

    /// Covers these folders and no others. True if some are new: what happened in them until now was
    /// not told.
    fn cover(&mut self, folders: &Folders) -> bool {
        let Some(watcher) = &mut self.watcher else {
            return false;
        };
        self.covered.retain(|folder, which| {
            let stays = folders.get(folder) == Some(which);
            if !stays {
                // The system forgets by itself what has gone from the disk.
                watcher.unwatch(folder).ok();
            }
            stays
        });
        let mut is_new = false;
        for (folder, which) in folders {
            if self.covered.contains_key(folder) {
                continue;
            }
            let watched = match self.covered.len() < MOST_FOLDERS {
                true => watcher.watch(folder, RecursiveMode::NonRecursive),
                false => Err(notify::Error::new(notify::ErrorKind::MaxFilesWatch)),
            };
            match watched {
                Ok(()) => is_new |= self.covered.insert(folder.clone(), *which).is_none(),
                // It has gone meanwhile, which the folder above tells.
                Err(error) if is_gone(&error) => {}
                Err(error) => {
                    tracing::warn!(%error, "not all folders can be watched; looking now and then");
                    self.watcher = None;
                    return false;
                }
            }
        }
        is_new
    }

    /// Waits until it is worth looking again. `took` is how long the last look took.
    async fn wait(&self, took: Duration) {
        let is_told = self.watcher.is_some() && !self.covered.is_empty();
        let longest = if is_told { POLL_ANYWAY } else { POLL };
        sleep((took * SHARE).clamp(SETTLE, LONGEST_PAUSE)).await;
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

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    /// A folder that the system tells nothing about.
    #[derive(Default)]
    struct Untold(AtomicUsize);

    impl Look for Untold {
        fn look(&self) -> Folders {
            self.0.fetch_add(1, Ordering::Relaxed);
            Folders::new()
        }
    }

    #[tokio::test(start_paused = true)]
    async fn what_is_not_told_is_looked_at_now_and_then() {
        let untold = Arc::new(Untold::default());
        timeout(POLL_ANYWAY, keep_looking(&untold)).await.ok();
        let looks = untold.0.load(Ordering::Relaxed);
        assert!(looks > 5, "{looks}");
    }

    /// Nothing is told twice, and what our own looking does is no change.
    #[test]
    fn reading_is_no_change() {
        use notify::event::{CreateKind, DataChange, ModifyKind};
        let open = AccessKind::Open(AccessMode::Any);
        assert!(!changes_something(EventKind::Access(open)));
        let written = AccessKind::Close(AccessMode::Write);
        assert!(changes_something(EventKind::Access(written)));
        assert!(changes_something(EventKind::Create(CreateKind::File)));
        let data = ModifyKind::Data(DataChange::Any);
        assert!(changes_something(EventKind::Modify(data)));
    }
}
