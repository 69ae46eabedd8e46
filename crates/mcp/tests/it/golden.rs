//! Golden files: reading them, comparing, and rewriting them when asked to.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use tidegate_mcp::Revision;

const COMMAND: &str = "UPDATE_GOLDEN=1 cargo test -p tidegate-mcp --test it";
const TITLE: &str = "==== ";
const OUTCOME: &str = "----";

/// Which half of the wire a file is about.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Lift,
    Lower,
}

/// One file of one revision.
pub(crate) struct File {
    pub(crate) path: PathBuf,
    pub(crate) kind: Kind,
    pub(crate) revision: Revision,
    /// What the file is about, for people.
    preamble: String,
    pub(crate) cases: Vec<Case>,
}

/// One input and what comes of it.
pub(crate) struct Case {
    pub(crate) title: String,
    pub(crate) input: String,
    pub(crate) expected: String,
}

/// Compares every case of a kind with what `outcome` says, or writes it down when asked to.
pub(crate) fn check(kind: Kind, outcome: fn(Revision, &str) -> String) {
    let update = std::env::var_os("UPDATE_GOLDEN").is_some();
    let mut problems = String::new();
    for mut file in files(kind) {
        let before = file.write();
        for case in &mut file.cases {
            let actual = outcome(file.revision, &case.input);
            if actual != case.expected && !update {
                let path = short(&file.path);
                write!(problems, "\n{path}: {}\n", case.title).ok();
                problems.push_str(&difference(&case.expected, &actual));
            }
            case.expected = actual;
        }
        if update && file.write() != before {
            fs::write(&file.path, file.write()).expect("a golden file can be written");
        }
    }
    assert!(
        problems.is_empty(),
        "\n{problems}\n(- expected, + actual; if the actual is right: {COMMAND})\n"
    );
}

/// Every file of a kind. What is in the folder and is no golden file is an error, not a file that
/// nobody looks at.
pub(crate) fn files(kind: Kind) -> Vec<File> {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data");
    let mut files = Vec::new();
    for folder in entries(&data) {
        let revision = Revision::parse(&name(&folder))
            .unwrap_or_else(|| panic!("{} is not named after a revision", short(&folder)));
        files.extend(
            entries(&folder)
                .into_iter()
                .map(|path| read(path, revision)),
        );
    }
    files.retain(|file| file.kind == kind);
    files
}

fn read(path: PathBuf, revision: Revision) -> File {
    let name = name(&path);
    let kind = match name.split_once('-') {
        Some(("lift", topic)) if topic.ends_with(".txt") => Kind::Lift,
        Some(("lower", topic)) if topic.ends_with(".txt") => Kind::Lower,
        _ => panic!("{} is no golden file", short(&path)),
    };
    let text = fs::read_to_string(&path).expect("a golden file can be read");
    let (text, title) = (format!("\n{text}"), format!("\n{TITLE}"));
    let mut parts = text.split(&title);
    let preamble = parts.next().unwrap_or_default().trim().to_owned();
    let cases = parts.map(|part| case(&path, part)).collect();
    File {
        path,
        kind,
        revision,
        preamble,
        cases,
    }
}

fn case(path: &Path, text: &str) -> Case {
    let (title, rest) = text.split_once('\n').unwrap_or((text, ""));
    let (input, expected) = rest
        .split_once(&format!("\n{OUTCOME}\n"))
        .or_else(|| {
            rest.trim_end()
                .strip_suffix(OUTCOME)
                .map(|input| (input, ""))
        })
        .unwrap_or_else(|| panic!("{}: `{title}` has no line {OUTCOME}", short(path)));
    Case {
        title: title.trim().to_owned(),
        input: input.trim_end().to_owned(),
        expected: expected.trim_end().to_owned(),
    }
}

impl File {
    fn write(&self) -> String {
        let mut text = format!("{}\n", self.preamble);
        for case in &self.cases {
            let Case {
                title,
                input,
                expected,
            } = case;
            write!(text, "\n{TITLE}{title}\n{input}\n{OUTCOME}\n{expected}\n").ok();
        }
        text
    }
}

/// What differs, between the lines that are the same at the start and at the end.
fn difference(expected: &str, actual: &str) -> String {
    let expected: Vec<_> = expected.lines().collect();
    let actual: Vec<_> = actual.lines().collect();
    let same = |pair: &(&&str, &&str)| pair.0 == pair.1;
    let head = expected.iter().zip(&actual).take_while(same).count();
    let (old, new) = (&expected[head..], &actual[head..]);
    let tail = old
        .iter()
        .rev()
        .zip(new.iter().rev())
        .take_while(same)
        .count();
    let mut text = String::new();
    let mut push = |mark: &str, lines: &[&str]| {
        for line in lines {
            writeln!(text, "{mark} {line}").ok();
        }
    };
    push(" ", &expected[..head]);
    push("-", &old[..old.len() - tail]);
    push("+", &new[..new.len() - tail]);
    push(" ", &old[old.len() - tail..]);
    text
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let mut paths: Vec<_> = fs::read_dir(folder)
        .expect("the folder of golden files is there")
        .map(|entry| entry.expect("an entry can be read").path())
        .collect();
    paths.sort();
    paths
}

fn name(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default();
    name.to_string_lossy().into_owned()
}

/// From the root of the repository, as an editor opens it.
fn short(path: &Path) -> String {
    let data = Path::new(env!("CARGO_MANIFEST_DIR"));
    let path = path.strip_prefix(data).unwrap_or(path);
    format!("crates/mcp/{}", path.display())
}
