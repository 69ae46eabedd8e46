//! What is at a place, for whoever reads it.

use std::io::{self, Read as _};

use super::root::What;
use super::walk::Level;
use super::{Absent, Place, Walk, Walked, media};

/// Something that was read.
pub(crate) enum Contents {
    File { bytes: Vec<u8>, mime: &'static str },
    Folder(Level),
}

/// Why something cannot be read.
#[derive(Debug)]
pub(crate) enum Unread {
    /// There is nothing, or nothing that is shown.
    Nothing,
    TooLarge {
        size: u64,
    },
    Refused(io::Error),
}

impl From<Absent> for Unread {
    fn from(absent: Absent) -> Self {
        match absent {
            Absent::Nothing => Self::Nothing,
            Absent::Refused(error) => Self::Refused(error),
        }
    }
}

impl Walk<'_> {
    /// Reads a file of at most so many bytes, or a folder, if both where it is asked for and where
    /// it is are shown.
    pub(crate) fn read(self, place: &Place, most_bytes: u64) -> Result<Contents, Unread> {
        let found = self.root.open(place)?;
        let is_folder = matches!(found.what, What::Folder(_));
        let shown = |place: &Place| self.rules.way_to(self.root, place, is_folder);
        let held = shown(&found.at).ok_or(Unread::Nothing)?;
        if found.at != *place {
            shown(place).ok_or(Unread::Nothing)?;
        }
        match found.what {
            What::File(_) if found.stamp.size > most_bytes => Err(Unread::TooLarge {
                size: found.stamp.size,
            }),
            What::File(file) => {
                let bytes = read_up_to(file, most_bytes)?;
                let head = &bytes[..bytes.len().min(media::HEAD as usize)];
                let mime = media::of(place.name().unwrap_or_default(), head);
                Ok(Contents::File { bytes, mime })
            }
            What::Folder(folder) => {
                let level = self.level(&found.at, &folder, &held, &Walked::default());
                level.map(Contents::Folder).map_err(Unread::Refused)
            }
        }
    }
}

/// A file may grow while it is read.
fn read_up_to(file: std::fs::File, most: u64) -> Result<Vec<u8>, Unread> {
    let mut bytes = Vec::new();
    file.take(most.saturating_add(1))
        .read_to_end(&mut bytes)
        .map_err(Unread::Refused)?;
    let size = bytes.len() as u64;
    match size > most {
        true => Err(Unread::TooLarge { size }),
        false => Ok(bytes),
    }
}
