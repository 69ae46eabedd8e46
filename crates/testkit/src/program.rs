//! Where the programs of this crate are, for tests that start them as processes.
//!
//! Must not know: how they are started.

use std::path::PathBuf;

/// A program of this crate, beside the test that runs. Fails, and says what to do, where it is not
/// built.
#[track_caller]
pub(crate) fn beside_the_test(name: &str) -> PathBuf {
    let test = std::env::current_exe().expect("a test knows its own path");
    let file = format!("{name}{}", std::env::consts::EXE_SUFFIX);
    let found = test.ancestors().skip(1).map(|dir| dir.join(&file));
    let found = found.take(2).find(|path| path.is_file());
    found.unwrap_or_else(|| {
        panic!("{name} is not built; run `cargo build -p tidegate-testkit --bin {name}`")
    })
}
