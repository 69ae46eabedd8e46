//! The configuration of a `prompts` source.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::Deserialize;
use tidegate_config::{Checker, Section};

use super::{Prompts, build};
use crate::kind::{BuildContext, BuiltSource, SourceConfig, SourceSection};

/// A folder of Markdown files as prompts, and of skills as prompts and resources.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a mapping of fields")]
pub struct PromptsSection {
    /// The folder. Its Markdown files are prompts; folders that contain a `SKILL.md` are skills. A
    /// relative path starts at the folder of this file.
    #[schemars(extend("examples" = ["./prompts"], "minLength" = 1))]
    folder: PathBuf,
}

/// Which prompts are served.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PromptsConfig {
    /// The folder, an absolute path.
    pub folder: PathBuf,
}

impl Section for PromptsSection {
    type Config = PromptsConfig;

    fn check(self, checker: &mut Checker<'_>) -> Option<PromptsConfig> {
        Some(PromptsConfig {
            folder: checker.folder("folder", &self.folder),
        })
    }
}

impl SourceSection for PromptsSection {
    const KIND: &'static str = "prompts";
}

impl SourceConfig for PromptsConfig {
    fn build(&self, context: &BuildContext<'_>) -> Option<BuiltSource> {
        let prompts = build(context.id.as_str(), self.clone());
        Some(BuiltSource::new(prompts, Prompts::run))
    }
}
