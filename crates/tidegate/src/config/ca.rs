//! The file with the authorities that a source trusts.
//!
//! Knows nothing of how a connection is encrypted.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use tidegate_upstream::CertificateAuthorities;

/// No such file is larger; one that is was named by mistake.
const MOST_BYTES: u64 = 1 << 20;

/// A file of certificates.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CaFile {
    path: PathBuf,
    /// What it holds, once it has been read.
    pub authorities: Option<CertificateAuthorities>,
}

impl CaFile {
    pub(crate) fn at(path: PathBuf) -> Self {
        Self {
            path,
            authorities: None,
        }
    }

    /// Reads the file. A relative path starts at `folder`.
    pub(crate) fn read(&mut self, folder: &Path) -> Result<(), String> {
        let name = self.path.display();
        let mut pem = Vec::new();
        File::open(folder.join(&self.path))
            .and_then(|file| file.take(MOST_BYTES).read_to_end(&mut pem))
            .map_err(|error| format!("cannot read the file `{name}`: {error}"))?;
        let authorities = CertificateAuthorities::read(&pem);
        let authorities = authorities.map_err(|wrong| format!("the file `{name}` {wrong}"))?;
        self.authorities = Some(authorities);
        Ok(())
    }
}
