//! A remote MCP server in the file: a program to run, or an address.
//!
//! Knows how it is written; starts and reaches nothing.

use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::Deserialize;

use super::entries::Entries;
use super::outside::Outside;
use super::problem::Findings;
use super::read::read;
use super::secret::{Reference, Secret};
use super::tree::Node;

/// A server as it is written.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a mapping of fields")]
pub(crate) struct RawRemote {
    /// The program that is the server. It is run as it stands, never through a shell.
    pub(super) command: Option<String>,
    /// The arguments of the program.
    pub(super) args: Option<Vec<String>>,
    /// Variables for the program, beside the few that every program gets. A value may be a
    /// reference: `${env:NAME}` or `${file:PATH}`.
    pub(super) env: Option<Entries<String>>,
    /// The folder the program runs in.
    pub(super) cwd: Option<PathBuf>,
    /// The address of the server's endpoint.
    pub(super) url: Option<String>,
    /// Headers for every request to the server. A value may be a reference.
    pub(super) headers: Option<Entries<String>>,
}

/// A server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Remote {
    Program {
        command: String,
        args: Vec<String>,
        env: Vec<(String, Setting)>,
        cwd: Option<PathBuf>,
    },
    Address {
        url: http::Uri,
        headers: Vec<(String, Setting)>,
    },
}

/// A value that may be kept elsewhere.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setting {
    pub value: Secret,
    reference: Option<Reference>,
}

/// Reads an entry of `sources`, whose name in messages is `name`.
pub(crate) fn read_remote(node: Node, name: &str, findings: &mut Findings) -> Option<Remote> {
    let raw: RawRemote = read(node, name, findings)?;
    let id = name.strip_prefix("sources.").unwrap_or(name);
    let remote = raw.check();
    remote
        .map_err(|message| findings.key(&["sources", id], format!("`{name}` {message}")))
        .ok()
}

impl RawRemote {
    /// A server, or what is wrong with it.
    pub(super) fn check(self) -> Result<Remote, String> {
        let raw = self;
        match (raw.command, raw.url) {
            (Some(_), Some(_)) => Err("has both `command` and `url`; keep one".to_owned()),
            (None, None) => Err("needs a `command` to run or the `url` of a server".to_owned()),
            (Some(_), None) if raw.headers.is_some() => {
                Err("has `headers`, which go with `url`".to_owned())
            }
            (None, Some(_)) if raw.args.is_some() || raw.env.is_some() || raw.cwd.is_some() => {
                Err("has `args`, `env` or `cwd`, which go with `command`".to_owned())
            }
            (Some(command), None) if command.trim().is_empty() => {
                Err("has an empty `command`".to_owned())
            }
            (Some(command), None) => Ok(Remote::Program {
                command,
                args: raw.args.unwrap_or_default(),
                env: settings(raw.env),
                cwd: raw.cwd,
            }),
            (None, Some(url)) => Ok(Remote::Address {
                url: parse_url(&url)?,
                headers: settings(raw.headers),
            }),
        }
    }
}

fn parse_url(text: &str) -> Result<http::Uri, String> {
    let url = text.parse::<http::Uri>().ok();
    let is_http = |url: &http::Uri| matches!(url.scheme_str(), Some("http" | "https"));
    url.filter(|url| is_http(url) && url.host().is_some())
        .ok_or_else(|| format!("has the url `{text}`, which is no http or https address"))
}

fn settings(raw: Option<Entries<String>>) -> Vec<(String, Setting)> {
    let entries = raw.map(|entries| entries.0).unwrap_or_default();
    entries
        .into_iter()
        .map(|(name, text)| {
            let reference = Reference::parse(&text);
            (
                name,
                Setting {
                    value: Secret::new(text),
                    reference,
                },
            )
        })
        .collect()
}

impl Remote {
    /// Fetches what is kept elsewhere. A relative path starts at `folder`.
    pub(crate) fn fetch(
        &mut self,
        id: &str,
        folder: &Path,
        outside: &Outside<'_>,
        findings: &mut Findings,
    ) {
        let (field, settings) = match self {
            Self::Program { env, .. } => ("env", env),
            Self::Address { headers, .. } => ("headers", headers),
        };
        for (name, setting) in settings {
            let Some(reference) = &setting.reference else {
                continue;
            };
            match reference.resolve(folder, outside) {
                Ok(value) => setting.value = value,
                Err(message) => {
                    let message = format!("`sources.{id}.{field}.{name}`: {message}");
                    findings.value(&["sources", id, field, name], message);
                }
            }
        }
    }
}
