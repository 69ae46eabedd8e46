//! The identity and version of a file.

use std::time::{Duration, SystemTime};

use rustix::fs::Stat;

/// Two equal stamps mean that a file has not changed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct FileStamp {
    pub(crate) size: u64,
    /// Seconds and nanoseconds.
    modified: (i64, i64),
    changed: (i64, i64),
    /// Device and inode.
    pub(crate) identity: (u64, u64),
}

impl FileStamp {
    // The types of these fields differ between platforms.
    #[allow(
        clippy::unnecessary_cast,
        clippy::cast_possible_wrap,
        reason = "only compared with each other"
    )]
    pub(super) fn of(stat: &Stat) -> Self {
        Self {
            size: u64::try_from(stat.st_size).unwrap_or_default(),
            modified: (stat.st_mtime as i64, stat.st_mtime_nsec as i64),
            changed: (stat.st_ctime as i64, stat.st_ctime_nsec as i64),
            identity: (stat.st_dev as u64, stat.st_ino as u64),
        }
    }

    /// The modification time of the contents.
    pub(crate) fn modified(&self) -> SystemTime {
        let (seconds, nanos) = self.modified;
        let nanos = Duration::from_nanos(u64::try_from(nanos).unwrap_or_default());
        let whole = Duration::from_secs(seconds.unsigned_abs());
        let start = match seconds {
            0.. => SystemTime::UNIX_EPOCH.checked_add(whole),
            _ => SystemTime::UNIX_EPOCH.checked_sub(whole),
        };
        start
            .and_then(|start| start.checked_add(nanos))
            .unwrap_or(SystemTime::UNIX_EPOCH)
    }
}
