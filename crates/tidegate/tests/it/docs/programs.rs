//! The programs that a page may use: `tidegate` as it was built, and the package runners `npx` and
//! `uvx`, which start the pinned packages that the tests installed.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use crate::support::home::program;
use crate::support::tools::Tools;

/// Makes a folder with these programs, to be first on the search path.
pub(super) fn install(folder: &Path) -> PathBuf {
    let bin = folder.join("bin");
    fs::create_dir(&bin).unwrap();
    symlink(program(), bin.join("tidegate")).unwrap();
    let tools = Tools::find();
    script(&bin.join("cargo"), CARGO);
    script(&bin.join("npx"), &npx(&tools));
    script(&bin.join("uvx"), &uvx(&tools));
    bin
}

/// Runs what was built instead of building it again. The other two commands are stages of
/// `cargo xtask test` itself.
const CARGO: &str = r#"case "$*" in
  "run --release -- "*) shift 3; exec tidegate "$@" ;;
  "xtask test" | "install --path crates/tidegate") exit 0 ;;
  *) echo "unexpected: cargo $*" >&2; exit 1 ;;
esac"#;

fn npx(tools: &Tools) -> String {
    let packages = tools.dir().join("node/node_modules");
    format!(
        r#"[ "$1" = -y ] && shift
package=$1; shift
entry=$("{node}" -p 'const p = require(process.argv[1] + "/package.json"); typeof p.bin === "string" ? p.bin : Object.values(p.bin)[0]' "{packages}/$package")
exec "{node}" "{packages}/$package/$entry" "$@""#,
        node = tools.node().display(),
        packages = packages.display(),
    )
}

fn uvx(tools: &Tools) -> String {
    let python = tools.python("python-servers");
    let bin = python.parent().unwrap();
    format!(r#"name=$1; shift; exec "{}/$name" "$@""#, bin.display())
}

fn script(path: &Path, text: &str) {
    fs::write(path, format!("#!/bin/sh\n{text}\n")).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}
