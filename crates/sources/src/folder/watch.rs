//! Rescans a folder when something may have changed: on events of the operating system, and at
//! intervals, because network file systems report only some changes.
//!
//! Must not know what changed: the rescan determines that.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use notify::event::{AccessKind, AccessMode, EventKind};
use notify::{RecommendedWatcher, RecursiveMode, Watcher as _};
use tokio::sync::Notify;
use tokio::task::spawn_blocking;
use tokio::time::{sleep, timeout};

use super::{FolderRoot, FolderTree};

/// How long to wait for further events after an event.
const DEBOUNCE: Duration = Duration::from_millis(100);

/// The interval between scans without events, and with them.
const POLL_INTERVAL: Duration = Duration::from_secs(2);
const POLL_INTERVAL_WITH_EVENTS: Duration = Duration::from_secs(30);

/// The pause after a scan is this many times its duration, up to a limit.
const PAUSE_FACTOR: u32 = 10;
const MAX_PAUSE: Duration = Duration::from_secs(60);

/// Watches cost kernel memory.
const MAX_WATCHED_FOLDERS: usize = 8192;

/// A scan is repeated while it finds new folders, whose earlier events were missed.
const MAX_REPEATED_SCANS: usize = 5;

/// The paths of folders with their device and inode: a folder that was recreated is a new one.
#[derive(Default)]
pub(crate) struct WatchedFolders(BTreeMap<PathBuf, (u64, u64)>);

impl WatchedFolders {
    pub(super) fn of(root: &FolderRoot, tree: &FolderTree) -> Self {
        let folders = tree.folders.iter();
        let folders =
            folders.map(|(path, stamp)| (root.path().join(path.as_path()), stamp.identity));
        Self(folders.collect())
    }
}

/// Scans immediately and after changes, for as long as it is polled. `scan` runs on a blocking
/// thread and returns the folders to watch.
pub(super) async fn rescan_on_changes(scan: impl Fn() -> WatchedFolders + Send + Sync + 'static) {
    let scan = Arc::new(scan);
    let mut watcher = FolderWatcher::new();
    loop {
        let (started, scan) = (Instant::now(), Arc::clone(&scan));
        let scanned = spawn_blocking(move || {
            let mut repeated = 0;
            while watcher.watch(&scan()) && repeated < MAX_REPEATED_SCANS {
                repeated += 1;
            }
            watcher
        });
        watcher = scanned.await.unwrap_or_else(|error| {
            tracing::error!(%error, "folder scan panicked");
            FolderWatcher::new()
        });
        watcher.wait(started.elapsed()).await;
    }
}

/// Receives events about the folders that it watches.
struct FolderWatcher {
    /// `None` if the operating system reports no events.
    watcher: Option<RecommendedWatcher>,
    watched: BTreeMap<PathBuf, (u64, u64)>,
    changed: Arc<Notify>,
}

impl FolderWatcher {
    fn new() -> Self {
        let changed = Arc::new(Notify::new());
        let notify = Arc::clone(&changed);
        let watcher = notify::recommended_watcher(move |event: notify::Result<notify::Event>| {
            if event.map_or(true, |event| is_change(event.kind)) {
                notify.notify_one();
            }
        });
        if let Err(error) = &watcher {
            tracing::warn!(%error, "cannot watch folders; polling instead");
        }
        Self {
            watcher: watcher.ok(),
            watched: BTreeMap::new(),
            changed,
        }
    }

    /// Watches exactly these folders. Returns whether some are new: their earlier events were
    /// missed.
    fn watch(&mut self, folders: &WatchedFolders) -> bool {
        let Some(watcher) = &mut self.watcher else {
            return false;
        };
        self.watched.retain(|folder, identity| {
            let stays = folders.0.get(folder) == Some(identity);
            if !stays {
                // Fails for a removed folder, which is no longer watched anyway.
                watcher.unwatch(folder).ok();
            }
            stays
        });
        let mut has_new = false;
        for (folder, identity) in &folders.0 {
            if self.watched.contains_key(folder) {
                continue;
            }
            let result = match self.watched.len() < MAX_WATCHED_FOLDERS {
                true => watcher.watch(folder, RecursiveMode::NonRecursive),
                false => Err(notify::Error::new(notify::ErrorKind::MaxFilesWatch)),
            };
            match result {
                Ok(()) => has_new |= self.watched.insert(folder.clone(), *identity).is_none(),
                // It was removed meanwhile; its parent reports that.
                Err(error) if is_not_found(&error) => {}
                Err(error) => {
                    tracing::warn!(%error, "cannot watch all folders; polling instead");
                    self.watcher = None;
                    return false;
                }
            }
        }
        has_new
    }

    /// Waits until the next scan is due.
    async fn wait(&self, scan_duration: Duration) {
        let has_events = self.watcher.is_some() && !self.watched.is_empty();
        let interval = match has_events {
            true => POLL_INTERVAL_WITH_EVENTS,
            false => POLL_INTERVAL,
        };
        sleep((scan_duration * PAUSE_FACTOR).clamp(DEBOUNCE, MAX_PAUSE)).await;
        if timeout(interval, self.changed.notified()).await.is_ok() {
            sleep(DEBOUNCE).await;
        }
    }
}

/// Reads are not changes; otherwise each scan would cause the next.
fn is_change(kind: EventKind) -> bool {
    match kind {
        EventKind::Access(AccessKind::Close(AccessMode::Write)) => true,
        EventKind::Access(_) => false,
        _ => true,
    }
}

fn is_not_found(error: &notify::Error) -> bool {
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

    #[tokio::test(start_paused = true)]
    async fn polls_without_events() {
        let scans = Arc::new(AtomicUsize::new(0));
        let counter = Arc::clone(&scans);
        let scan = move || {
            counter.fetch_add(1, Ordering::Relaxed);
            WatchedFolders::default()
        };
        let duration = POLL_INTERVAL_WITH_EVENTS;
        timeout(duration, rescan_on_changes(scan)).await.ok();
        let scans = scans.load(Ordering::Relaxed);
        assert!(scans > 5, "{scans}");
    }

    #[test]
    fn ignores_read_events() {
        use notify::event::{CreateKind, DataChange, ModifyKind};
        let open = AccessKind::Open(AccessMode::Any);
        assert!(!is_change(EventKind::Access(open)));
        let written = AccessKind::Close(AccessMode::Write);
        assert!(is_change(EventKind::Access(written)));
        assert!(is_change(EventKind::Create(CreateKind::File)));
        let data = ModifyKind::Data(DataChange::Any);
        assert!(is_change(EventKind::Modify(data)));
    }
}
