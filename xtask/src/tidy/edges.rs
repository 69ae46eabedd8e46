//! The allowed dependencies between crates.
//!
//! Must not know: the reasons; ARCHITECTURE.md has them.

use super::Problem;
use super::sources::Source;

const PRODUCT: [&str; 10] = [
    "config",
    "core",
    "mcp",
    "interaction",
    "policy",
    "store",
    "upstream",
    "sources",
    "server",
    "admin",
];

/// The crates that a crate may depend on, by folder; `None` for an unknown crate.
fn allowed(krate: &str) -> Option<&'static [&'static str]> {
    Some(match krate {
        "config" | "core" => &[],
        "mcp" | "store" => &["core"],
        "policy" => &["config", "core"],
        "interaction" => &["core", "mcp"],
        "upstream" | "server" => &["config", "core", "mcp", "interaction"],
        "sources" => &["config", "core", "store"],
        "admin" => &["core", "store"],
        "tidegate" | "testkit" => &PRODUCT,
        _ => return None,
    })
}

pub(super) fn check(manifest: &Source) -> Vec<Problem> {
    let Some((krate, _)) = manifest.in_crate() else {
        return Vec::new();
    };
    let Some(allowed) = allowed(krate) else {
        let text =
            format!("the crate {krate} has no workspace among the edges; add it to xtask's tidy");
        return vec![Problem::new(&manifest.path, 1, text)];
    };
    let mut section = Section::Other;
    let mut problems = Vec::new();
    for (line, text) in manifest.lines() {
        let mut used = None;
        if text.starts_with('[') {
            (section, used) = header(text);
        } else if section != Section::Other {
            used = entry(text);
        }
        let Some(used) = used.and_then(folder) else {
            continue;
        };
        let in_tests = section == Section::Dev && used == "testkit";
        if !allowed.contains(&used) && !in_tests {
            problems.push(Problem::new(
                &manifest.path,
                line,
                refusal(krate, used, allowed),
            ));
        }
    }
    problems
}

fn refusal(krate: &str, used: &str, allowed: &[&str]) -> String {
    let may = if allowed.is_empty() {
        "nothing".to_owned()
    } else {
        allowed.join(", ")
    };
    format!(
        "{krate} must not depend on {used}, only on {may}; move shared code to a crate that both may use"
    )
}

#[derive(Clone, Copy, PartialEq)]
enum Section {
    Normal,
    Dev,
    Other,
}

/// The kind of a section and, for `[dependencies.name]`, the dependency.
fn header(line: &str) -> (Section, Option<&str>) {
    let name = line.trim_matches(['[', ']', ' ']);
    // `target.'cfg(…)'.dependencies` counts as `dependencies`.
    let name = name.rfind("'.").map_or(name, |end| &name[end + 2..]);
    let (kind, own) = match name.split_once('.') {
        Some((kind, own)) => (kind, Some(own)),
        None => (name, None),
    };
    match kind {
        "dependencies" | "build-dependencies" => (Section::Normal, own),
        "dev-dependencies" => (Section::Dev, own),
        _ => (Section::Other, None),
    }
}

/// The package that a line of a dependency section declares.
fn entry(line: &str) -> Option<&str> {
    if let Some((_, renamed)) = line.split_once("package = \"") {
        return renamed.split('"').next();
    }
    let name = line.split(['=', '.']).next()?.trim();
    (!name.is_empty() && !name.starts_with('#')).then(|| name.trim_matches('"'))
}

/// The folder of a package of this workspace.
fn folder(package: &str) -> Option<&str> {
    if package == "tidegate" {
        Some(package)
    } else {
        package.strip_prefix("tidegate-")
    }
}

#[cfg(test)]
mod tests {
    use super::super::sources::tests::source;
    use super::*;

    fn lines(krate: &str, text: &str) -> Vec<usize> {
        let manifest = source(&format!("crates/{krate}/Cargo.toml"), text);
        check(&manifest)
            .into_iter()
            .map(|problem| problem.line)
            .collect()
    }

    #[test]
    fn accepts_allowed_dependencies() {
        let text = "[package]\nname = \"tidegate-server\"\n[dependencies]\n\
                    tidegate-core.workspace = true\ntidegate-mcp = { workspace = true }\n\
                    axum.workspace = true\n[dev-dependencies]\ntidegate-testkit.workspace = true\n";
        assert_eq!(lines("server", text), []);
    }

    #[test]
    fn reports_other_dependencies_with_their_line() {
        let text = "[dependencies]\ntidegate-store.workspace = true\n\
                    tidegate-testkit.workspace = true\n[dev-dependencies]\n\
                    tidegate-server = { path = \"../server\" }\n";
        assert_eq!(lines("policy", text), [2, 3, 5]);
        assert_eq!(
            lines("testkit", "[dependencies]\ntidegate.workspace = true\n"),
            [2]
        );
    }

    #[test]
    fn recognizes_every_spelling() {
        for text in [
            "[dependencies.tidegate-store]\nworkspace = true\n",
            "[dependencies]\n\"tidegate-store\" = \"1\"\n",
            "[dependencies]\nkept = { package = \"tidegate-store\", path = \"x\" }\n",
            "[target.'cfg(unix)'.dependencies]\ntidegate-store.workspace = true\n",
            "[build-dependencies]\ntidegate-store.workspace = true\n",
        ] {
            assert_eq!(lines("mcp", text).len(), 1, "{text}");
        }
    }

    #[test]
    fn reports_an_unknown_crate() {
        assert_eq!(lines("extra", "[dependencies]\n"), [1]);
    }
}
