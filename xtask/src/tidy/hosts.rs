//! No file names the host of a package registry: where packages come from is configured on the
//! machine.
//!
//! Must not know: what a file is for.

use super::Problem;
use super::sources::Source;

/// In pieces, so that this file does not name them itself.
const HOSTS: [&str; 9] = [
    concat!("crates", ".io"),
    concat!("npmjs", ".org"),
    concat!("npmjs", ".com"),
    concat!("npm.pkg", ".github.com"),
    concat!("yarnpkg", ".com"),
    concat!("pypi", ".org"),
    concat!("pythonhosted", ".org"),
    concat!("rubygems", ".org"),
    concat!("proxy", ".golang.org"),
];

pub(super) fn check(file: &Source) -> Vec<Problem> {
    // Cargo always writes the registry into its lock file.
    if file.path.ends_with("Cargo.lock") {
        return Vec::new();
    }
    let mut problems = Vec::new();
    for (line, text) in file.lines() {
        let text = text.to_ascii_lowercase();
        if let Some(host) = HOSTS.into_iter().find(|host| text.contains(host)) {
            let what = format!("names the registry host {host}; name only the package");
            problems.push(Problem::new(&file.path, line, what));
        }
    }
    problems
}

#[cfg(test)]
mod tests {
    use super::super::sources::tests::source;
    use super::*;

    #[test]
    fn reports_every_host_except_in_a_lock_file() {
        for host in HOSTS {
            let text = format!("ok\nsee https://www.{}/x\n", host.to_uppercase());
            assert_eq!(check(&source("docs/a.md", &text)).len(), 1, "{host}");
            assert_eq!(check(&source("docs/a.md", &text))[0].line, 2);
            assert_eq!(check(&source("fuzz/Cargo.lock", &text)).len(), 0);
        }
    }

    #[test]
    fn this_file_names_no_host() {
        assert_eq!(
            check(&source("xtask/src/tidy/hosts.rs", include_str!("hosts.rs"))),
            []
        );
    }
}
