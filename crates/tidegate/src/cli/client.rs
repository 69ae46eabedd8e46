//! The commands that send requests to a gateway: arguments and help.
//!
//! The doc comments are the help.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

use super::args::ConfigArgs;
use super::output::OutputArgs;
use crate::config::{Environment, Flags};

/// The endpoint of a gateway whose URL has no path.
const ENDPOINT: &str = "/mcp";

// No doc comment: it would become the help of the whole program.
#[derive(Debug, Subcommand)]
pub enum ClientCommand {
    /// List the sources with their health and the size of their catalogs
    #[command(after_help = "Examples:\n  \
        tidegate sources\n  \
        tidegate sources --url http://127.0.0.1:8080/mcp --json")]
    Sources {
        #[command(flatten)]
        client: ClientArgs,
    },

    /// List resources, resource templates, prompts and tools
    #[command(after_help = "Examples:\n  \
        tidegate ls\n  \
        tidegate ls tools --config team.yaml\n  \
        tidegate ls resources --url http://127.0.0.1:8080/mcp --json")]
    Ls {
        /// What to list; by default everything
        #[arg(value_name = "KIND")]
        kind: Option<ListKind>,

        #[command(flatten)]
        client: ClientArgs,
    },

    /// Print the contents of a resource: text unchanged, binary contents as bytes
    #[command(after_help = "Examples:\n  \
        tidegate read resource://system/health\n  \
        tidegate read file:///logo.png --config team.yaml --output logo.png")]
    Read {
        /// The URI of the resource
        #[arg(value_name = "URI")]
        uri: String,

        /// Write the contents to this file; required for binary contents on a terminal
        #[arg(short, long, value_name = "FILE", conflicts_with = "json")]
        output: Option<PathBuf>,

        #[command(flatten)]
        client: ClientArgs,
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
        client: ClientArgs,
    },

    /// Call a tool and print its result
    #[command(after_help = "Examples:\n  \
        tidegate call system__health\n  \
        tidegate call demo__add a=2 b=3\n  \
        tidegate call demo__add '{\"a\": 2, \"b\": 3}' --json\n\n\
        A value that is valid JSON is passed as JSON, unless the tool expects a string there; any\n\
        other value is passed as a string. a='\"2\"' always passes the string 2.\n\n\
        On a terminal, `call` asks before it calls a tool that its server marks as destructive\n\
        (`destructiveHint: true`, or `readOnlyHint: false` without `destructiveHint`). It does not ask\n\
        with --yes, or if stdin or stderr is not a terminal.\n\n\
        Exit codes: 0 success, 1 the tool failed or does not exist, 2 wrong usage or invalid\n\
        configuration.")]
    Call {
        /// The name of the tool
        #[arg(value_name = "TOOL")]
        tool: String,

        /// The arguments of the tool: one JSON object, or NAME=VALUE pairs
        #[arg(value_name = "JSON | NAME=VALUE")]
        arguments: Vec<String>,

        /// Call a destructive tool without asking
        #[arg(short, long)]
        yes: bool,

        #[command(flatten)]
        client: ClientArgs,
    },

    /// Search tools, prompts, resources and templates, the best match first
    #[command(after_help = "Examples:\n  \
        tidegate search create an issue\n  \
        tidegate search invoice --url http://127.0.0.1:8080/mcp --json\n\n\
        Exit codes: 0 something matches, 1 nothing matches, 2 wrong usage or invalid configuration.")]
    Search {
        /// The words to search for
        #[arg(value_name = "WORDS", required = true)]
        words: Vec<String>,

        #[command(flatten)]
        client: ClientArgs,
    },

    /// Show which source serves a URI, by which rule, and which sources it shadows
    #[command(after_help = "Examples:\n  \
        tidegate explain resource://system/health\n  \
        tidegate explain note://of/ada --config team.yaml --json\n\n\
        Exit codes: 0 a source serves the URI, 1 none does, 2 wrong usage or invalid configuration.")]
    Explain {
        /// The URI
        #[arg(value_name = "URI")]
        uri: String,

        #[command(flatten)]
        client: ClientArgs,
    },
}

/// Which gateway to ask, and how to print the result.
#[derive(Clone, Debug, Default, Args)]
pub struct ClientArgs {
    /// Ask the gateway at this URL; by default the one that runs with this configuration file, or a
    /// temporary one in this process. A key for the gateway is read from the variable TIDEGATE_KEY
    #[arg(long, value_name = "URL", value_parser = gateway_url, conflicts_with_all = ["config", "data_dir"])]
    pub url: Option<http::Uri>,

    /// Start a temporary gateway, even if one is running
    #[arg(long, conflicts_with = "url")]
    pub temporary: bool,

    /// Print JSON
    #[arg(long)]
    pub json: bool,

    #[command(flatten)]
    pub config: ConfigArgs,
}

// No doc comments: they would become the help of the argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ListKind {
    Resources,
    Templates,
    Prompts,
    Tools,
}

impl ClientCommand {
    /// The arguments that all of these commands have.
    pub fn args(&self) -> &ClientArgs {
        match self {
            Self::Sources { client }
            | Self::Ls { client, .. }
            | Self::Read { client, .. }
            | Self::Get { client, .. }
            | Self::Call { client, .. }
            | Self::Search { client, .. }
            | Self::Explain { client, .. } => client,
        }
    }
}

impl ClientArgs {
    /// The settings that these flags override.
    pub fn flags(&self, output: OutputArgs, environment: &Environment<'_>) -> Flags {
        self.config.one_shot_flags(output, environment)
    }
}

/// Whether a command is one of these.
pub(super) fn is_client_command(command: &clap::Command) -> bool {
    ClientCommand::has_subcommand(command.get_name())
}

/// Parses the URL of a gateway. A URL without a path means the default endpoint.
fn gateway_url(text: &str) -> Result<http::Uri, String> {
    let invalid = || "not an http or https URL".to_owned();
    let url: http::Uri = text.parse().map_err(|_| invalid())?;
    let is_http = matches!(url.scheme_str(), Some("http" | "https"));
    if !is_http || url.host().is_none_or(str::is_empty) {
        return Err(invalid());
    }
    if url.path() != "/" || url.query().is_some() {
        return Ok(url);
    }
    let mut parts = url.into_parts();
    parts.path_and_query = Some(http::uri::PathAndQuery::from_static(ENDPOINT));
    http::Uri::from_parts(parts).map_err(|_| invalid())
}
