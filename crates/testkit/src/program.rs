//! Finds the executables of this crate, for tests that start them as processes.
//!
//! Must not know: how they are started.

use std::path::PathBuf;

/// The path of an executable of this crate, next to the running test. Panics with build
/// instructions if it is not built.
#[track_caller]
pub(crate) fn path_of(name: &str) -> PathBuf {
    let test = std::env::current_exe().expect("the path of the test executable");
    let file = format!("{name}{}", std::env::consts::EXE_SUFFIX);
    let candidates = test.ancestors().skip(1).map(|dir| dir.join(&file));
    let program = candidates.take(2).find(|path| path.is_file());
    program.unwrap_or_else(|| {
        panic!("{name} is not built; run `cargo build -p tidegate-testkit --bin {name}`")
    })
}
