//! Parses `tests/servers.txt`.

const TABLE: &str = include_str!("../../../servers.txt");

/// A server.
pub(super) struct Row {
    /// Its source id.
    pub(super) name: &'static str,
    pub(super) sdk: &'static str,
    /// The set of tools that contains it.
    pub(super) set: &'static str,
    /// The path of its script in the set, and its arguments.
    pub(super) command: Vec<&'static str>,
    pub(super) env: Vec<(&'static str, &'static str)>,
    /// Files in its home folder.
    pub(super) files: Vec<(&'static str, &'static str)>,
    /// Whether it supports both eras.
    pub(super) is_modern: bool,
    /// Whether it keeps state in its process, which each client must see alone.
    pub(super) has_state: bool,
    /// Whether the client declares all capabilities.
    pub(super) asks_client: bool,
    /// Tools that are not called without their required arguments.
    pub(super) unchecked: Vec<&'static str>,
    /// Whether listed resources are not read.
    pub(super) has_unread_resources: bool,
    /// The written steps.
    pub(super) steps: Vec<&'static str>,
}

pub(super) fn rows() -> Vec<Row> {
    let mut rows: Vec<Row> = Vec::new();
    for line in TABLE.lines() {
        match (line.strip_prefix("  "), rows.last_mut()) {
            _ if line.is_empty() || line.starts_with('#') => {}
            (Some(setting), Some(row)) => row.add(setting),
            (None, _) => rows.push(Row::parse(line)),
            (Some(_), None) => panic!("before the first server: {line}"),
        }
    }
    rows
}

impl Row {
    fn parse(line: &'static str) -> Self {
        let columns: Vec<_> = line.split(" | ").map(str::trim).collect();
        let [name, sdk, set, command] = columns[..] else {
            panic!("expected four columns: {line}");
        };
        Self {
            name,
            sdk,
            set,
            command: command.split(' ').collect(),
            env: Vec::new(),
            files: Vec::new(),
            is_modern: false,
            has_state: false,
            asks_client: false,
            unchecked: Vec::new(),
            has_unread_resources: false,
            steps: Vec::new(),
        }
    }

    /// Adds a setting or a step.
    fn add(&mut self, line: &'static str) {
        match line.split_once(' ').unwrap_or((line, "")) {
            ("modern", "") => self.is_modern = true,
            ("state", "") => self.has_state = true,
            ("capabilities", "") => self.asks_client = true,
            ("unread", "") => self.has_unread_resources = true,
            ("unchecked", tools) => self.unchecked.extend(tools.split(' ')),
            ("file", file) => self.files.extend(file.split_once(' ')),
            ("env", variable) => self.env.extend(variable.split_once('=')),
            _ => self.steps.push(line),
        }
    }
}

#[test]
fn names_are_unique() {
    let mut names: Vec<_> = rows().iter().map(|row| row.name).collect();
    names.sort_unstable();
    assert!(names.windows(2).all(|pair| pair[0] != pair[1]), "{names:?}");
}
