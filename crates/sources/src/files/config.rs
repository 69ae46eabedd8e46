//! The configuration of a `files` source.

use std::ops::RangeInclusive;
use std::path::PathBuf;

use schemars::JsonSchema;
use serde::Deserialize;
use tidegate_config::{ByteSize, Checker, Section, in_range};

use super::{Files, build};
use crate::folder::Patterns;
use crate::kind::{BuildContext, BuiltSource, SourceConfig, SourceSection};

const MAX_FILE_BYTES: ByteSize = ByteSize::mib(4);
const MAX_FILES: usize = 10_000;

const FILE_BYTES_RANGE: RangeInclusive<ByteSize> = ByteSize(1)..=ByteSize::mib(256);
const FILES_RANGE: RangeInclusive<usize> = 1..=1_000_000;

/// The files of a folder as resources, read-only and watched for changes.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a mapping of fields")]
pub struct FilesSection {
    /// The folder whose files are served. A relative path starts at the folder of this file.
    #[schemars(extend("examples" = ["./docs"], "minLength" = 1))]
    folder: PathBuf,
    /// Serve only files that match one of these patterns, in the syntax of `.gitignore`. Without
    /// patterns, all files are served.
    #[schemars(extend("default" = [], "examples" = [["*.md", "*.txt"]]))]
    include: Option<Vec<String>>,
    /// Do not serve files and folders that match one of these patterns, in the syntax of
    /// `.gitignore`.
    #[schemars(extend("default" = [], "examples" = [["drafts/"]]))]
    exclude: Option<Vec<String>>,
    /// Serve files and folders whose names begin with a dot. `.git` is never served.
    #[schemars(extend("default" = false))]
    include_hidden: Option<bool>,
    /// Do not serve what `.gitignore` files exclude.
    #[schemars(extend("default" = true))]
    gitignore: Option<bool>,
    /// Maximum size of a file. Larger files are neither listed nor read.
    #[schemars(extend("default" = MAX_FILE_BYTES), transform = in_range(FILE_BYTES_RANGE))]
    max_file_bytes: Option<ByteSize>,
    /// Maximum number of listed files. Files beyond it can still be read by their URI.
    #[schemars(extend("default" = MAX_FILES), transform = in_range(FILES_RANGE))]
    max_files: Option<usize>,
}

/// Which files are served.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FilesConfig {
    /// The folder, an absolute path.
    pub folder: PathBuf,
    /// Serve names that begin with a dot.
    pub include_hidden: bool,
    /// Leave out what `.gitignore` files exclude.
    pub gitignore: bool,
    /// If not empty, files must match one of these.
    pub include: Patterns,
    pub exclude: Patterns,
    pub max_file_bytes: u64,
    /// Maximum number of listed files.
    pub max_files: usize,
}

impl Section for FilesSection {
    type Config = FilesConfig;

    fn check(self, checker: &mut Checker<'_>) -> Option<FilesConfig> {
        Some(FilesConfig {
            folder: checker.folder("folder", &self.folder),
            include_hidden: self.include_hidden.unwrap_or(false),
            gitignore: self.gitignore.unwrap_or(true),
            include: check_patterns("include", self.include, checker),
            exclude: check_patterns("exclude", self.exclude, checker),
            max_file_bytes: checker.in_range(
                "max_file_bytes",
                self.max_file_bytes,
                MAX_FILE_BYTES.into(),
                FILE_BYTES_RANGE,
            ),
            max_files: checker.in_range("max_files", self.max_files, MAX_FILES, FILES_RANGE),
        })
    }
}

fn check_patterns(
    field: &str,
    written: Option<Vec<String>>,
    checker: &mut Checker<'_>,
) -> Patterns {
    Patterns::parse(&written.unwrap_or_default()).unwrap_or_else(|invalid| {
        let message = format!(
            "`{}` is not a valid pattern: {}",
            invalid.pattern, invalid.reason
        );
        checker.item_problem(&[field], &invalid.pattern, message);
        Patterns::default()
    })
}

impl SourceSection for FilesSection {
    const KIND: &'static str = "files";
}

impl SourceConfig for FilesConfig {
    fn build(&self, context: &BuildContext<'_>) -> Option<BuiltSource> {
        let files = build(context.id.as_str(), self.clone());
        Some(BuiltSource::new(files, Files::run))
    }
}
