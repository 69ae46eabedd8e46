//! Reads which modules a Rust file names: a small reader of paths, not a parser of Rust.
//!
//! Must not know: which paths are allowed.

use std::collections::BTreeMap;

use super::sources::Source;

/// A module by its path from the crate root; empty for the root itself.
pub(super) type ModulePath = Vec<String>;

/// The module that a file of a crate is, by its path inside the crate.
pub(super) fn module_of(path: &str) -> Option<ModulePath> {
    let path = path.strip_prefix("src/")?.strip_suffix(".rs")?;
    if matches!(path, "lib" | "main") {
        return Some(ModulePath::new());
    }
    let path = path.strip_suffix("/mod").unwrap_or(path);
    Some(path.split('/').map(ToOwned::to_owned).collect())
}

/// The names that the crate root re-exports, with the module each comes from.
pub(super) fn reexports(root: &Source) -> BTreeMap<String, ModulePath> {
    let text = code_of(root);
    let mut names = BTreeMap::new();
    for statement in text.split(';') {
        let Some((_, path)) = statement.split_once(" use ") else {
            continue;
        };
        for path in Reader::new(path).tree(&ModulePath::new()) {
            if let Some((name, module)) = path.split_last() {
                names.insert(name.clone(), module.to_vec());
            }
        }
    }
    names
}

/// The paths below the crate root that a file names, as `crate::…`, `super::…` or `self::…`.
pub(super) fn referenced_paths(file: &Source, module: &ModulePath) -> Vec<ModulePath> {
    let text = code_of(file);
    let mut paths = Vec::new();
    for keyword in ["crate::", "super::", "self::"] {
        for (at, _) in text.match_indices(keyword) {
            let before = text[..at].chars().next_back();
            if before.is_some_and(|c| c.is_alphanumeric() || c == '_' || c == ':') {
                continue;
            }
            paths.extend(resolve(&text[at..], module));
        }
    }
    paths
}

fn resolve(text: &str, module: &ModulePath) -> Vec<ModulePath> {
    let mut base = module.clone();
    let mut rest = text;
    if let Some(after) = rest.strip_prefix("crate::") {
        base.clear();
        rest = after;
    } else if let Some(after) = rest.strip_prefix("self::") {
        rest = after;
    }
    while let Some(after) = rest.strip_prefix("super::") {
        base.pop();
        rest = after;
    }
    Reader::new(rest).tree(&base)
}

/// The code of a file without comments and without its inline tests.
fn code_of(file: &Source) -> String {
    let lines = file.product_lines().map(|(_, line)| {
        let code = line.split("//").next().unwrap_or_default();
        format!("{code}\n")
    });
    lines.collect()
}

/// Reads one use tree, such as `a::{b, c::D}`.
struct Reader<'a> {
    rest: &'a str,
}

impl<'a> Reader<'a> {
    fn new(text: &'a str) -> Self {
        Self { rest: text }
    }

    fn tree(&mut self, base: &ModulePath) -> Vec<ModulePath> {
        let mut path = base.clone();
        loop {
            self.rest = self.rest.trim_start();
            if let Some(after) = self.rest.strip_prefix('{') {
                self.rest = after;
                return self.list(&path);
            }
            let name = self.identifier();
            if name.is_empty() {
                return vec![path];
            }
            if name != "self" {
                path.push(name.to_owned());
            }
            match self.rest.strip_prefix("::") {
                Some(after) => self.rest = after,
                None => return vec![path],
            }
        }
    }

    fn list(&mut self, base: &ModulePath) -> Vec<ModulePath> {
        let mut paths = Vec::new();
        loop {
            paths.extend(self.tree(base));
            // An alias, `as name`, changes nothing about the module.
            let end = self.rest.find([',', '}']).unwrap_or(self.rest.len());
            let is_last = !self.rest[end..].starts_with(',');
            self.rest = self.rest.get(end + 1..).unwrap_or_default();
            if is_last {
                return paths;
            }
            self.rest = self.rest.trim_start();
            if let Some(after) = self.rest.strip_prefix('}') {
                self.rest = after;
                return paths;
            }
        }
    }

    fn identifier(&mut self) -> &'a str {
        let is_part = |c: char| c.is_alphanumeric() || c == '_';
        let end = self.rest.find(|c| !is_part(c)).unwrap_or(self.rest.len());
        let (name, rest) = self.rest.split_at(end);
        self.rest = rest;
        name
    }
}

#[cfg(test)]
mod tests {
    use super::super::sources::tests::source;
    use super::*;

    fn paths(module: &str, text: &str) -> Vec<String> {
        let module: ModulePath = module.split('/').map(ToOwned::to_owned).collect();
        let file = source("crates/core/src/x.rs", text);
        let mut paths: Vec<_> = referenced_paths(&file, &module)
            .into_iter()
            .map(|path| path.join("/"))
            .collect();
        paths.sort();
        paths
    }

    #[test]
    fn reads_nested_use_trees() {
        let text = "use crate::{\n    a::{B, c::D},\n    e::F as G,\n};\nuse crate::h;\n";
        assert_eq!(paths("x", text), ["a/B", "a/c/D", "e/F", "h"]);
    }

    #[test]
    fn resolves_relative_paths() {
        assert_eq!(
            paths("a/b", "super::c::D; self::e::F;"),
            ["a/b/e/F", "a/c/D"]
        );
        assert_eq!(paths("a/b", "super::super::g()"), ["g"]);
    }

    #[test]
    fn ignores_comments_and_other_crates() {
        assert_eq!(
            paths("x", "// crate::a\nmycrate::b; std::c"),
            Vec::<String>::new()
        );
    }

    #[test]
    fn reads_reexports_of_the_root() {
        let root = source(
            "crates/core/src/lib.rs",
            "pub use a::b::{C, D};\npub(crate) use e::F;\n",
        );
        let names = reexports(&root);
        assert_eq!(names["C"], ["a", "b"]);
        assert_eq!(names["F"], ["e"]);
    }

    #[test]
    fn names_the_module_of_a_file() {
        assert_eq!(module_of("src/lib.rs").unwrap(), Vec::<String>::new());
        assert_eq!(module_of("src/a/b.rs").unwrap(), ["a", "b"]);
        assert_eq!(module_of("tests/it/main.rs"), None);
    }
}
