//! Golden files: parsing, comparing and updating.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use tidegate_mcp::Revision;

const COMMAND: &str = "UPDATE_GOLDEN=1 cargo test -p tidegate-mcp --test it";
const TITLE: &str = "==== ";
const SEPARATOR: &str = "----";

/// The step that a file tests.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum GoldenKind {
    Lift,
    Lower,
}

/// One golden file.
pub(crate) struct GoldenFile {
    pub(crate) path: PathBuf,
    pub(crate) kind: GoldenKind,
    pub(crate) revision: Revision,
    /// The text before the first case.
    preamble: String,
    pub(crate) cases: Vec<GoldenCase>,
}

/// An input and its expected output.
pub(crate) struct GoldenCase {
    pub(crate) title: String,
    pub(crate) input: String,
    pub(crate) expected: String,
}

/// Compares the expected output of every case with that of `run`, or updates it.
pub(crate) fn check(kind: GoldenKind, run: fn(Revision, &str) -> String) {
    let update = std::env::var_os("UPDATE_GOLDEN").is_some();
    let mut problems = String::new();
    for mut file in files(kind) {
        let before = file.encode();
        for case in &mut file.cases {
            let actual = run(file.revision, &case.input);
            if actual != case.expected && !update {
                let path = repository_path(&file.path);
                write!(problems, "\n{path}: {}\n", case.title).ok();
                problems.push_str(&difference(&case.expected, &actual));
            }
            case.expected = actual;
        }
        if update && file.encode() != before {
            fs::write(&file.path, file.encode()).expect("cannot write the golden file");
        }
    }
    assert!(
        problems.is_empty(),
        "\n{problems}\n(- expected, + actual; to accept the actual output: {COMMAND})\n"
    );
}

/// All files of a kind. Any other file in the folder is an error, so that none is overlooked.
pub(crate) fn files(kind: GoldenKind) -> Vec<GoldenFile> {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data");
    let mut files = Vec::new();
    for folder in entries(&data) {
        let revision = Revision::parse(&name(&folder)).unwrap_or_else(|| {
            panic!("{} is not named after a revision", repository_path(&folder))
        });
        files.extend(
            entries(&folder)
                .into_iter()
                .map(|path| parse(path, revision)),
        );
    }
    files.retain(|file| file.kind == kind);
    files
}

fn parse(path: PathBuf, revision: Revision) -> GoldenFile {
    let name = name(&path);
    let kind = match name.split_once('-') {
        Some(("lift", topic)) if topic.ends_with(".txt") => GoldenKind::Lift,
        Some(("lower", topic)) if topic.ends_with(".txt") => GoldenKind::Lower,
        _ => panic!("{} is not a golden file", repository_path(&path)),
    };
    let text = fs::read_to_string(&path).expect("cannot read the golden file");
    let (text, title) = (format!("\n{text}"), format!("\n{TITLE}"));
    let mut parts = text.split(&title);
    let preamble = parts.next().unwrap_or_default().trim().to_owned();
    let cases = parts.map(|part| parse_case(&path, part)).collect();
    GoldenFile {
        path,
        kind,
        revision,
        preamble,
        cases,
    }
}

fn parse_case(path: &Path, text: &str) -> GoldenCase {
    let (title, rest) = text.split_once('\n').unwrap_or((text, ""));
    let (input, expected) = rest
        .split_once(&format!("\n{SEPARATOR}\n"))
        .or_else(|| {
            rest.trim_end()
                .strip_suffix(SEPARATOR)
                .map(|input| (input, ""))
        })
        .unwrap_or_else(|| {
            panic!(
                "{}: `{title}` has no line `{SEPARATOR}`",
                repository_path(path)
            )
        });
    GoldenCase {
        title: title.trim().to_owned(),
        input: input.trim_end().to_owned(),
        expected: expected.trim_end().to_owned(),
    }
}

impl GoldenFile {
    fn encode(&self) -> String {
        let mut text = format!("{}\n", self.preamble);
        for case in &self.cases {
            let GoldenCase {
                title,
                input,
                expected,
            } = case;
            write!(text, "\n{TITLE}{title}\n{input}\n{SEPARATOR}\n{expected}\n").ok();
        }
        text
    }
}

/// The lines that differ, between the common lines at the start and at the end.
fn difference(expected: &str, actual: &str) -> String {
    let expected: Vec<_> = expected.lines().collect();
    let actual: Vec<_> = actual.lines().collect();
    let is_same = |pair: &(&&str, &&str)| pair.0 == pair.1;
    let head = expected.iter().zip(&actual).take_while(is_same).count();
    let (old, new) = (&expected[head..], &actual[head..]);
    let tail = old
        .iter()
        .rev()
        .zip(new.iter().rev())
        .take_while(is_same)
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
        .expect("cannot read the folder of golden files")
        .map(|entry| entry.expect("cannot read a folder entry").path())
        .collect();
    paths.sort();
    paths
}

fn name(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default();
    name.to_string_lossy().into_owned()
}

/// The path from the root of the repository.
fn repository_path(path: &Path) -> String {
    let manifest_dir = Path::new(env!("CARGO_MANIFEST_DIR"));
    let path = path.strip_prefix(manifest_dir).unwrap_or(path);
    format!("crates/mcp/{}", path.display())
}
