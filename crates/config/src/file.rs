//! Reading files that the configuration names.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;

/// Reads a file of at most `max_bytes`. A larger one was named by mistake.
pub fn read_limited(path: &Path, max_bytes: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let read = File::open(path)?
        .take(max_bytes + 1)
        .read_to_end(&mut bytes)?;
    if read as u64 > max_bytes {
        return Err(io::Error::other(format!(
            "the file is larger than {max_bytes} bytes"
        )));
    }
    Ok(bytes)
}
