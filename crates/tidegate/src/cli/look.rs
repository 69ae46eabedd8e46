//! The commands that look into a gateway: their arguments and help.
//!
//! Knows what may be asked, not how it is answered. The doc comments are the help.

use clap::{Args, Subcommand, ValueEnum};

use super::ConfigArgs;
use crate::config::{self, Environment, Flags, LogLevel};

/// How much these commands log where no flag or variable says it. What the file says is meant for
/// the gateway that serves.
pub(super) const LOG_LEVEL: LogLevel = LogLevel::Warn;

/// The endpoint of a gateway, where an address names only the machine.
const ENDPOINT: &str = "/mcp";

// No doc comment: it would become the help of the whole program.
#[derive(Debug, Subcommand)]
pub enum Look {
    /// List the sources, how they are and how much they offer
    #[command(after_help = "Examples:\n  \
        tidegate sources\n  \
        tidegate sources --url http://127.0.0.1:8080/mcp --json")]
    Sources {
        #[command(flatten)]
        look: LookArgs,
    },

    /// List resources, templates, prompts and tools
    #[command(after_help = "Examples:\n  \
        tidegate ls\n  \
        tidegate ls tools --config team.yaml\n  \
        tidegate ls resources --url http://127.0.0.1:8080/mcp --json")]
    Ls {
        /// What to list; without it, everything
        #[arg(value_name = "KIND")]
        kind: Option<Kind>,

        #[command(flatten)]
        look: LookArgs,
    },

    /// Print a resource: text as it is, anything else as its bytes
    #[command(after_help = "Examples:\n  \
        tidegate read resource://system/health\n  \
        tidegate read file:///logo.png --config team.yaml > logo.png")]
    Read {
        /// The URI of the resource
        #[arg(value_name = "URI")]
        uri: String,

        #[command(flatten)]
        look: LookArgs,
    },

    /// Print the messages of a prompt
    #[command(after_help = "Examples:\n  \
        tidegate get demo/greet name=Ada\n  \
        tidegate get demo/greet name=Ada --url http://127.0.0.1:8080/mcp --json")]
    Get {
        /// The name of the prompt
        #[arg(value_name = "PROMPT")]
        prompt: String,

        /// The arguments of the prompt
        #[arg(value_name = "NAME=VALUE")]
        arguments: Vec<String>,

        #[command(flatten)]
        look: LookArgs,
    },

    /// Call a tool and print what it answers
    #[command(after_help = "Examples:\n  \
        tidegate call system__health\n  \
        tidegate call demo__add a=2 b=3\n  \
        tidegate call demo__add '{\"a\": 2, \"b\": 3}' --json\n\n\
        A value that is JSON is taken as such, unless the tool wants a string there; any other is a\n\
        string. any='\"2\"' is always the string 2.\n\
        Exit codes: 0 done, 1 the tool failed or there is none, 2 wrong usage or configuration.")]
    Call {
        /// The name of the tool
        #[arg(value_name = "TOOL")]
        tool: String,

        /// The arguments of the tool: one JSON object, or each by its name
        #[arg(value_name = "JSON | NAME=VALUE")]
        arguments: Vec<String>,

        #[command(flatten)]
        look: LookArgs,
    },

    /// Find tools, prompts, resources and templates by words, the best fit first
    #[command(after_help = "Examples:\n  \
        tidegate search create an issue\n  \
        tidegate search invoice --url http://127.0.0.1:8080/mcp --json\n\n\
        Exit codes: 0 something fits, 1 nothing does, 2 wrong usage or configuration.")]
    Search {
        /// What to look for
        #[arg(value_name = "WORDS", required = true)]
        words: Vec<String>,

        #[command(flatten)]
        look: LookArgs,
    },

    /// Tell which source answers for a URI, by which rule, and which others would have had it
    #[command(after_help = "Examples:\n  \
        tidegate explain resource://system/health\n  \
        tidegate explain note://of/ada --config team.yaml --json\n\n\
        Exit codes: 0 it leads somewhere, 1 it does not, 2 wrong usage or configuration.")]
    Explain {
        /// The URI
        #[arg(value_name = "URI")]
        uri: String,

        #[command(flatten)]
        look: LookArgs,
    },
}

/// Where to look, and how to print what is seen.
#[derive(Clone, Debug, Default, Args)]
pub struct LookArgs {
    /// Look into the gateway that runs at this address; without it, into the one that runs with
    /// this configuration, or else one that is put together for as long as the command takes.
    /// Where keys are needed, the variable TIDEGATE_KEY is used
    #[arg(long, value_name = "URL", value_parser = address, conflicts_with_all = ["config", "data_dir"])]
    pub url: Option<http::Uri>,

    /// Put a gateway together here, even if one runs
    #[arg(long, conflicts_with = "url")]
    pub here: bool,

    /// Print JSON
    #[arg(long)]
    pub json: bool,

    #[command(flatten)]
    pub config: ConfigArgs,
}

// No doc comments: they would become the help of the argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Kind {
    Resources,
    Templates,
    Prompts,
    Tools,
}

impl Look {
    /// What all of them take.
    pub fn args(&self) -> &LookArgs {
        match self {
            Self::Sources { look }
            | Self::Ls { look, .. }
            | Self::Read { look, .. }
            | Self::Get { look, .. }
            | Self::Call { look, .. }
            | Self::Search { look, .. }
            | Self::Explain { look, .. } => look,
        }
    }
}

impl LookArgs {
    /// What they say of the configuration.
    pub fn flags(&self, environment: &Environment<'_>) -> Flags {
        quiet(self.config.flags(), environment)
    }
}

/// The flags of a command that runs for a moment.
pub(super) fn quiet(flags: Flags, environment: &Environment<'_>) -> Flags {
    let said = environment.variable(config::LOG_LEVEL.variable).is_some();
    Flags {
        // No address is opened, so none can be open to all.
        insecure: true,
        log_level: flags.log_level.or((!said).then_some(LOG_LEVEL)),
        ..flags
    }
}

/// Whether a command is one of these.
pub(super) fn is_one(command: &clap::Command) -> bool {
    Look::has_subcommand(command.get_name())
}

/// An address of a gateway. One without a path means the usual endpoint.
fn address(text: &str) -> Result<http::Uri, String> {
    let wrong = || "this is no http or https address".to_owned();
    let url: http::Uri = text.parse().map_err(|_| wrong())?;
    let is_http = matches!(url.scheme_str(), Some("http" | "https"));
    if !is_http || url.host().is_none_or(str::is_empty) {
        return Err(wrong());
    }
    if url.path() != "/" || url.query().is_some() {
        return Ok(url);
    }
    let mut parts = url.into_parts();
    parts.path_and_query = Some(http::uri::PathAndQuery::from_static(ENDPOINT));
    http::Uri::from_parts(parts).map_err(|_| wrong())
}
