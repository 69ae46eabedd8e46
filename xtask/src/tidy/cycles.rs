//! Module cycles inside a crate: sibling modules that use each other, directly or through others.
//!
//! A cycle is allowed when ARCHITECTURE.md lists it, with a reason, under "Module cycles". A parent
//! and its children may use each other; that is what nesting is for.
//! Must not know: what the modules do.

use std::collections::{BTreeMap, BTreeSet};

use super::Problem;
use super::module_paths::{ModulePath, module_of, reexports, referenced_paths};
use super::sources::Source;

/// The heading in ARCHITECTURE.md under which the allowed cycles are listed.
const HEADING: &str = "## Module cycles";

/// For each module its uses of sibling modules.
type Graph = BTreeMap<ModulePath, BTreeSet<ModulePath>>;

pub(super) fn check(files: &[Source], architecture: &Source) -> Vec<Problem> {
    let mut allowed = allowed_cycles(architecture);
    let mut problems = Vec::new();
    for (krate, files) in product_files(files) {
        for cycle in cycles(&sibling_graph(&files)) {
            let name = |module: &ModulePath| format!("{krate}/{}", module.join("/"));
            let members: BTreeSet<String> = cycle.iter().map(name).collect();
            if let Some(entry) = allowed.iter_mut().find(|entry| entry.members == members) {
                entry.is_used = true;
                continue;
            }
            let list: Vec<_> = members.iter().map(|member| format!("`{member}`")).collect();
            let text = format!(
                "modules use each other: {}; move what they share below both, or list the cycle \
                 with its reason in ARCHITECTURE.md",
                list.join(", ")
            );
            problems.push(Problem::new(&format!("crates/{krate}/src"), 1, text));
        }
    }
    for entry in allowed.iter().filter(|entry| !entry.is_used) {
        let text = "lists a module cycle that does not exist; remove the line";
        problems.push(Problem::new(&architecture.path, entry.line, text));
    }
    problems
}

/// A cycle that ARCHITECTURE.md allows: `` - `core/a`, `core/b`: reason ``.
struct AllowedCycle {
    line: usize,
    members: BTreeSet<String>,
    is_used: bool,
}

fn allowed_cycles(architecture: &Source) -> Vec<AllowedCycle> {
    architecture
        .lines()
        .skip_while(|(_, text)| *text != HEADING)
        .skip(1)
        .take_while(|(_, text)| !text.starts_with("## "))
        .filter_map(|(line, text)| {
            let (members, _reason) = text.strip_prefix("- ")?.split_once(": ")?;
            let names = members.split(", ");
            let members = names
                .map(|name| name.trim_matches('`').to_owned())
                .collect();
            Some(AllowedCycle {
                line,
                members,
                is_used: false,
            })
        })
        .collect()
}

fn product_files(files: &[Source]) -> BTreeMap<&str, Vec<&Source>> {
    let mut by_crate: BTreeMap<&str, Vec<&Source>> = BTreeMap::new();
    for file in files.iter().filter(|file| file.is_product()) {
        if let Some((krate, _)) = file.in_crate() {
            by_crate.entry(krate).or_default().push(file);
        }
    }
    by_crate
}

fn sibling_graph(files: &[&Source]) -> Graph {
    let modules: BTreeMap<ModulePath, &Source> = files
        .iter()
        .filter_map(|file| Some((module_of(file.in_crate()?.1)?, *file)))
        .collect();
    let root = ModulePath::new();
    let names = modules
        .get(&root)
        .map(|file| reexports(file))
        .unwrap_or_default();
    let mut graph = Graph::new();
    for (module, file) in &modules {
        for mut path in referenced_paths(file, module) {
            // `crate::Name` stands for the module that the crate root re-exports it from.
            if let [name] = &path[..]
                && let Some(origin) = names.get(name)
            {
                path.clone_from(origin);
            }
            let shared = module.iter().zip(&path).take_while(|(a, b)| a == b).count();
            if shared < module.len() && shared < path.len() {
                let user = module[..=shared].to_vec();
                let used = path[..=shared].to_vec();
                if modules.contains_key(&used) {
                    graph.entry(user).or_default().insert(used);
                }
            }
        }
    }
    graph
}

/// The sets of modules that reach each other.
fn cycles(graph: &Graph) -> BTreeSet<BTreeSet<ModulePath>> {
    let reach: BTreeMap<_, _> = graph
        .keys()
        .map(|from| (from, reachable(graph, from)))
        .collect();
    let mut cycles = BTreeSet::new();
    for (from, targets) in &reach {
        let back = targets
            .iter()
            .filter(|to| reach.get(to).is_some_and(|back| back.contains(*from)));
        let mut members: BTreeSet<ModulePath> = back.cloned().collect();
        members.insert((*from).clone());
        if members.len() > 1 {
            cycles.insert(members);
        }
    }
    cycles
}

fn reachable(graph: &Graph, from: &ModulePath) -> BTreeSet<ModulePath> {
    let mut seen = BTreeSet::new();
    let mut queue = vec![from];
    while let Some(next) = queue.pop() {
        for to in graph.get(next).into_iter().flatten() {
            if seen.insert(to.clone()) {
                queue.push(to);
            }
        }
    }
    seen
}

#[cfg(test)]
mod tests {
    use super::super::sources::tests::source;
    use super::*;

    fn problems(files: &[(&str, &str)], architecture: &str) -> Vec<String> {
        let files: Vec<_> = files
            .iter()
            .map(|(path, text)| source(&format!("crates/core/src/{path}"), text))
            .collect();
        let architecture = source("ARCHITECTURE.md", architecture);
        let problems = check(&files, &architecture).into_iter();
        problems.map(|problem| problem.text).collect()
    }

    const CYCLE: [(&str, &str); 3] = [
        ("lib.rs", "mod a;\nmod b;\npub use b::Thing;\n"),
        ("a.rs", "use crate::Thing;\n"),
        ("b/inner.rs", "use super::super::a::Other;\n"),
    ];

    fn with_parent() -> Vec<(&'static str, &'static str)> {
        let mut files = CYCLE.to_vec();
        files.push(("b.rs", "mod inner;\n"));
        files
    }

    #[test]
    fn reports_modules_that_use_each_other() {
        let found = problems(&with_parent(), "");
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].contains("`core/a`, `core/b`"), "{found:?}");
    }

    #[test]
    fn accepts_a_listed_cycle_and_reports_a_stale_one() {
        let listed = "## Module cycles\n\n- `core/a`, `core/b`: they share a table.\n";
        assert_eq!(problems(&with_parent(), listed), Vec::<String>::new());
        let stale = problems(&[("lib.rs", "")], listed);
        assert_eq!(stale.len(), 1, "{stale:?}");
        assert!(stale[0].contains("does not exist"), "{stale:?}");
    }

    #[test]
    fn parents_and_children_may_use_each_other() {
        let files = [
            ("lib.rs", "mod a;\n"),
            ("a.rs", "mod b;\nuse b::Thing;\npub struct Up;\n"),
            ("a/b.rs", "use super::Up;\n"),
        ];
        assert_eq!(problems(&files, ""), Vec::<String>::new());
    }
}
