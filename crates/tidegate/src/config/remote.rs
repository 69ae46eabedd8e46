//! A remote MCP server in the file: a program to run, or an address.
//!
//! Knows how it is written; starts and reaches nothing.

use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::Deserialize;

use super::ca::CaFile;
use super::conduct::{self, Conduct, Era, RawBreaker, Sharing};
use super::entries::Entries;
use super::forms::{Size, Time};
use super::outside::Outside;
use super::problem::Findings;
use super::read::read;
use super::secret::{Reference, Secret};
use super::tree::Node;

/// A server as it is written.
#[derive(Debug, Default, Deserialize, JsonSchema)]
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
    /// A PEM file with the certificates of the authorities that may vouch for the server, in place
    /// of those that this machine and browsers trust. For a `url` of https.
    pub(super) ca: Option<PathBuf>,
    /// How the server is spoken to: `auto` finds out, `legacy` opens a session, `modern` never does.
    #[schemars(extend("default" = "auto"))]
    pub(super) era: Option<Era>,
    /// How long a call may take without progress. When it is not given: that of `limits`.
    pub(super) call_time: Option<Time>,
    /// How long a call may take in total. When it is not given: that of `limits`.
    pub(super) call_time_max: Option<Time>,
    /// How long the server may take to say how it speaks, and for each page of a list.
    #[schemars(extend("default" = conduct::CONNECT_TIME))]
    pub(super) connect_time: Option<Time>,
    /// Bytes of one message of the server.
    #[schemars(extend("default" = conduct::MESSAGE_BYTES))]
    pub(super) message_bytes: Option<Size>,
    /// Calls under way at once at this server. As many more wait for their turn.
    #[schemars(extend("default" = conduct::CALLS))]
    pub(super) calls: Option<usize>,
    /// How often a call is tried again that the server did not answer: any that it never got, and
    /// of the rest those that do no more when made twice.
    #[schemars(extend("default" = conduct::RETRIES))]
    pub(super) retries: Option<usize>,
    /// When the server is left alone for a while, so that calls fail at once.
    pub(super) breaker: Option<RawBreaker>,
    /// Who shares a session or a process of a server that has them, where it may ask its client
    /// something. `principal`: the calls of one principal whose clients can do the same. `shared`:
    /// all calls; the server is told that clients can do nothing. `call`: each call has its own.
    #[schemars(extend("default" = "principal"))]
    pub(super) sharing: Option<Sharing>,
    /// Processes for one principal at once, where calls cannot share one. Further calls wait.
    #[schemars(extend("default" = conduct::LINKS))]
    pub(super) links: Option<usize>,
    /// How long a call waits when the server asks something and its client, which has no session,
    /// must come back with the answer.
    #[schemars(extend("default" = conduct::PARK_TIME))]
    pub(super) park_time: Option<Time>,
}

/// A server and how it is treated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Server {
    pub remote: Remote,
    pub conduct: Conduct,
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
        /// In place of the authorities that everyone trusts.
        ca: Option<CaFile>,
    },
}

/// A value that may be kept elsewhere.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setting {
    pub value: Secret,
    reference: Option<Reference>,
}

/// Reads an entry of `sources`, whose name in messages is `name`.
pub(crate) fn read_remote(node: Node, name: &str, findings: &mut Findings) -> Option<Server> {
    let raw: RawRemote = read(node, name, findings)?;
    let id = name.strip_prefix("sources.").unwrap_or(name);
    let conduct = conduct::check(&raw, &["sources", id], findings);
    let remote = raw.check();
    remote
        .map_err(|message| findings.key(&["sources", id], format!("`{name}` {message}")))
        .ok()
        .map(|remote| Server { remote, conduct })
}

impl RawRemote {
    /// A server, or what is wrong with it.
    pub(super) fn check(self) -> Result<Remote, String> {
        let raw = self;
        match (raw.command, raw.url) {
            (Some(_), Some(_)) => Err("has both `command` and `url`; keep one".to_owned()),
            (None, None) => Err("needs a `command` to run or the `url` of a server".to_owned()),
            (Some(_), None) if raw.headers.is_some() || raw.ca.is_some() => {
                Err("has `headers` or `ca`, which go with `url`".to_owned())
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
            (None, Some(url)) => address(&url, raw.headers, raw.ca),
        }
    }
}

fn address(
    url: &str,
    headers: Option<Entries<String>>,
    ca: Option<PathBuf>,
) -> Result<Remote, String> {
    let url = parse_url(url)?;
    if ca.is_some() && url.scheme_str() != Some("https") {
        return Err("has `ca`, which goes with a `url` of https".to_owned());
    }
    Ok(Remote::Address {
        url,
        headers: settings(headers),
        ca: ca.map(CaFile::at),
    })
}

fn parse_url(text: &str) -> Result<http::Uri, String> {
    let url = text.parse::<http::Uri>().ok();
    let is_http = |url: &http::Uri| matches!(url.scheme_str(), Some("http" | "https"));
    let url = url.filter(|url| is_http(url) && url.host().is_some());
    let has_name = |url: &http::Uri| url.authority().is_some_and(|at| at.as_str().contains('@'));
    match url {
        // What is before an `@` may be a secret, and is not repeated.
        Some(url) if has_name(&url) => {
            Err("has a user name in its `url`; give it in `headers` instead".to_owned())
        }
        Some(url) => Ok(url),
        None if text.contains('@') => {
            Err("has a `url` that is no http or https address".to_owned())
        }
        None => Err(format!(
            "has the url `{text}`, which is no http or https address"
        )),
    }
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
        if let Self::Address { ca: Some(file), .. } = self
            && let Err(message) = file.read(folder)
        {
            findings.value(
                &["sources", id, "ca"],
                format!("`sources.{id}.ca`: {message}"),
            );
        }
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
