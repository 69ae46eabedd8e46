//! The keys that seal what clients carry for us: those of the configuration, or of a file in the
//! data folder that only its owner can read. A key of ours is followed by a new one after a month,
//! and opens what it sealed for two more.

use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use tidegate_core::{Seal, random_bytes, sha256};

use crate::config::Settings;

const FILE: &str = "seal-keys";

/// How long a key seals, and how many are kept.
const GOOD_FOR: Duration = Duration::from_secs(30 * 24 * 3600);
const KEPT: usize = 3;

/// What seals and opens from now on.
pub(super) fn seal(settings: &Settings) -> Seal {
    let named = settings.seal_keys.iter();
    let named: Vec<_> = named.map(|key| sha256(key.expose())).collect();
    if let [first, older @ ..] = &named[..] {
        return Seal::new(*first, older.iter().copied());
    }
    match kept(&settings.data_dir, SystemTime::now()) {
        Ok(keys) => Seal::new(keys[0].secret, keys[1..].iter().map(|key| key.secret)),
        Err(error) => {
            tracing::warn!(
                %error,
                "no keys can be kept in the data folder: what clients carry is good until the end \
                 of this process"
            );
            Seal::random()
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Key {
    /// When it was made, in seconds.
    made: u64,
    secret: [u8; 32],
}

/// The keys of the data folder, the newest first. A new one is made where it is time for it.
fn kept(folder: &Path, now: SystemTime) -> io::Result<Vec<Key>> {
    let file = folder.join(FILE);
    let now = now.duration_since(UNIX_EPOCH).unwrap_or_default();
    let mut keys = match fs::read_to_string(&file) {
        Ok(text) => text.lines().filter_map(Key::read).collect(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
        Err(error) => return Err(error),
    };
    let newest = keys.first().map(|key: &Key| Duration::from_secs(key.made));
    if newest.is_some_and(|made| made + GOOD_FOR > now) {
        return Ok(keys);
    }
    let fresh = Key {
        made: now.as_secs(),
        secret: random_bytes(),
    };
    keys.insert(0, fresh);
    keys.truncate(KEPT);
    write(folder, &file, &keys)?;
    Ok(keys)
}

fn write(folder: &Path, file: &Path, keys: &[Key]) -> io::Result<()> {
    DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(folder)?;
    let fresh = folder.join(format!("{FILE}.{}", std::process::id()));
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(true).mode(0o600);
    let mut out = options.open(&fresh)?;
    for key in keys {
        writeln!(out, "{}", key.line())?;
    }
    out.sync_all()?;
    fs::rename(fresh, file)
}

impl Key {
    fn line(&self) -> String {
        let hex = self.secret.iter().map(|byte| format!("{byte:02x}"));
        format!("{} {}", self.made, hex.collect::<String>())
    }

    fn read(line: &str) -> Option<Self> {
        let (made, hex) = line.split_once(' ')?;
        let byte = |at: usize| u8::from_str_radix(hex.get(2 * at..2 * at + 2)?, 16).ok();
        let bytes = (0..32).map(byte).collect::<Option<Vec<_>>>()?;
        Some(Self {
            made: made.parse().ok()?,
            secret: bytes.try_into().ok()?,
        })
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn keys_are_kept_and_followed_by_new_ones() {
        let home = tempfile::tempdir().unwrap();
        let folder = home.path().join("data");
        let now = SystemTime::now();
        let first = kept(&folder, now).unwrap();
        assert_eq!(kept(&folder, now).unwrap(), first, "they stay");
        let mode = fs::metadata(folder.join(FILE))
            .unwrap()
            .permissions()
            .mode();
        assert_eq!(mode & 0o777, 0o600);
        let second = kept(&folder, now + GOOD_FOR).unwrap();
        assert_ne!(second[0], first[0]);
        assert_eq!(second[1], first[0], "the old one still opens");
        let later = now + GOOD_FOR * 10;
        for month in 0..5 {
            kept(&folder, later + GOOD_FOR * month).unwrap();
        }
        let last = kept(&folder, later + GOOD_FOR * 4).unwrap();
        assert_eq!(last.len(), KEPT);
        assert!(!last.contains(&first[0]));
    }
}
