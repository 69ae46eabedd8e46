//! The keys that encrypt the state that clients carry: from the configuration, or from a file in
//! the data folder that only its owner can read. A generated key encrypts for a month and decrypts
//! for two more.

use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use tidegate_core::{Seal, random_bytes, sha256};

use crate::config::Settings;

const FILE: &str = "seal-keys";

/// How long a generated key encrypts.
const KEY_LIFETIME: Duration = Duration::from_secs(30 * 24 * 3600);
/// How many generated keys the file has, the newest first.
const MAX_KEYS: usize = 3;

/// The seal with the configured keys, or with the keys of the data folder.
pub(super) fn seal(settings: &Settings) -> Seal {
    let configured = settings.seal_keys.iter();
    let configured: Vec<_> = configured.map(|key| sha256(key.expose())).collect();
    if let [first, older @ ..] = &configured[..] {
        return Seal::new(*first, older.iter().copied());
    }
    match stored_keys(&settings.data_dir, SystemTime::now()) {
        Ok(keys) => Seal::new(keys[0].secret, keys[1..].iter().map(|key| key.secret)),
        Err(error) => {
            tracing::warn!(
                %error,
                "cannot save sealing keys in the data folder; cursors and parked calls will not \
                 survive a restart"
            );
            Seal::generate()
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Key {
    /// When it was generated, in seconds since 1970.
    created: u64,
    secret: [u8; 32],
}

/// The keys of the data folder, the newest first. Adds a new key if the newest has expired.
fn stored_keys(folder: &Path, now: SystemTime) -> io::Result<Vec<Key>> {
    let file = folder.join(FILE);
    let now = now.duration_since(UNIX_EPOCH).unwrap_or_default();
    let mut keys = match fs::read_to_string(&file) {
        Ok(text) => text.lines().filter_map(Key::parse).collect(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
        Err(error) => return Err(error),
    };
    let newest = keys
        .first()
        .map(|key: &Key| Duration::from_secs(key.created));
    if newest.is_some_and(|created| created + KEY_LIFETIME > now) {
        return Ok(keys);
    }
    let new = Key {
        created: now.as_secs(),
        secret: random_bytes(),
    };
    keys.insert(0, new);
    keys.truncate(MAX_KEYS);
    write(folder, &file, &keys)?;
    Ok(keys)
}

fn write(folder: &Path, file: &Path, keys: &[Key]) -> io::Result<()> {
    DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(folder)?;
    let temporary = folder.join(format!("{FILE}.{}", std::process::id()));
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(true).mode(0o600);
    let mut output = options.open(&temporary)?;
    for key in keys {
        writeln!(output, "{}", key.line())?;
    }
    output.sync_all()?;
    fs::rename(temporary, file)
}

impl Key {
    fn line(&self) -> String {
        let hex = self.secret.iter().map(|byte| format!("{byte:02x}"));
        format!("{} {}", self.created, hex.collect::<String>())
    }

    fn parse(line: &str) -> Option<Self> {
        let (created, hex) = line.split_once(' ')?;
        let byte = |at: usize| u8::from_str_radix(hex.get(2 * at..2 * at + 2)?, 16).ok();
        let bytes = (0..32).map(byte).collect::<Option<Vec<_>>>()?;
        Some(Self {
            created: created.parse().ok()?,
            secret: bytes.try_into().ok()?,
        })
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn stores_keys_and_rotates_them() {
        let home = tempfile::tempdir().unwrap();
        let folder = home.path().join("data");
        let now = SystemTime::now();
        let first = stored_keys(&folder, now).unwrap();
        assert_eq!(
            stored_keys(&folder, now).unwrap(),
            first,
            "the keys do not change"
        );
        let mode = fs::metadata(folder.join(FILE))
            .unwrap()
            .permissions()
            .mode();
        assert_eq!(mode & 0o777, 0o600);
        let second = stored_keys(&folder, now + KEY_LIFETIME).unwrap();
        assert_ne!(second[0], first[0]);
        assert_eq!(second[1], first[0], "the old key still decrypts");
        let later = now + KEY_LIFETIME * 10;
        for month in 0..5 {
            stored_keys(&folder, later + KEY_LIFETIME * month).unwrap();
        }
        let last = stored_keys(&folder, later + KEY_LIFETIME * 4).unwrap();
        assert_eq!(last.len(), MAX_KEYS);
        assert!(!last.contains(&first[0]));
    }
}
