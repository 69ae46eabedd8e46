//! A remote MCP server in the file: a program to run, or an address.
//!
//! Knows how it is written; starts and reaches nothing.

use std::path::{Path, PathBuf};

use http::header::{
    ACCEPT, CONNECTION, CONTENT_LENGTH, CONTENT_TYPE, HOST, HeaderName, HeaderValue, TE,
    TRANSFER_ENCODING, UPGRADE,
};
use schemars::JsonSchema;
use serde::Deserialize;

use super::ca::CaFile;
use super::entries::Entries;
use super::environment::Environment;
use super::policy::{self, Era, RawBreaker, RemotePolicy, Sharing};
use super::problem::Diagnostics;
use super::read::read;
use super::setting::Setting;
use super::tree::Node;
use super::units::{Size, Time};

/// A server as it is written.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a mapping of fields")]
pub(crate) struct RawRemote {
    /// The program that is the server. It is run as it stands, never through a shell.
    pub(super) command: Option<String>,
    /// The arguments of the program.
    pub(super) args: Option<Vec<String>>,
    /// Variables for the program, beside the few that every program gets. A value may have
    /// references in it: `${env:NAME}` or `${file:PATH}`; `${NAME}` and `${NAME:-other}` as clients
    /// write it; `$${` stands for `${`.
    pub(super) env: Option<Entries<String>>,
    /// The folder the program runs in.
    pub(super) cwd: Option<PathBuf>,
    /// The address of the server's endpoint.
    pub(super) url: Option<String>,
    /// Headers for every request to the server. A value may have references in it, such as
    /// `Bearer ${env:TOKEN}`.
    pub(super) headers: Option<Entries<String>>,
    /// A PEM file with the certificates of the authorities that may vouch for the server, in place
    /// of those that this machine and browsers trust. For a `url` of https.
    pub(super) ca: Option<PathBuf>,
    /// How the server is spoken to: `auto` finds out, `legacy` opens a session, `modern` never does.
    #[schemars(extend("default" = "auto"))]
    pub(super) era: Option<Era>,
    /// How long a call may take without progress. When it is not given: that of `limits`.
    pub(super) call_timeout: Option<Time>,
    /// How long a call may take in total. When it is not given: that of `limits`.
    pub(super) max_call_duration: Option<Time>,
    /// How long the server may take to say how it speaks, and for each page of a list.
    #[schemars(extend("default" = policy::CONNECT_TIMEOUT))]
    pub(super) connect_timeout: Option<Time>,
    /// Bytes of one message of the server.
    #[schemars(extend("default" = policy::MAX_MESSAGE_BYTES))]
    pub(super) max_message_bytes: Option<Size>,
    /// Calls under way at once at this server. As many more wait for their turn.
    #[schemars(extend("default" = policy::MAX_CONCURRENT_CALLS))]
    pub(super) max_concurrent_calls: Option<usize>,
    /// How often a call is tried again that the server did not answer: any that it never got, and
    /// of the rest those that do no more when made twice.
    #[schemars(extend("default" = policy::MAX_RETRIES))]
    pub(super) max_retries: Option<usize>,
    /// When the server is left alone for a while, so that calls fail at once.
    pub(super) breaker: Option<RawBreaker>,
    /// Who shares a session or a process of a server that has them, where it may ask its client
    /// something. `principal`: the calls of one principal whose clients can do the same. `shared`:
    /// all calls; the server is told that clients can do nothing. `call`: each call has its own.
    #[schemars(extend("default" = "principal"))]
    pub(super) sharing: Option<Sharing>,
    /// Processes for one principal at once, where calls cannot share one. Further calls wait.
    #[schemars(extend("default" = policy::MAX_CONNECTIONS))]
    pub(super) max_connections: Option<usize>,
    /// How long a call waits when the server asks something and its client, which has no session,
    /// must come back with the answer.
    #[schemars(extend("default" = policy::PARKED_CALL_TIMEOUT))]
    pub(super) parked_call_timeout: Option<Time>,
}

/// A server and how it is treated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Server {
    /// Where it is written: the block, and its name there.
    pub(super) written: (&'static str, String),
    pub remote: Remote,
    pub policy: RemotePolicy,
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

/// Reads an entry of `sources`, whose name in messages is `name`.
pub(crate) fn read_remote(node: Node, name: &str, diagnostics: &mut Diagnostics) -> Option<Server> {
    let raw: RawRemote = read(node, name, diagnostics)?;
    let id = name.strip_prefix("sources.").unwrap_or(name);
    let policy = policy::check(&raw, &["sources", id], diagnostics);
    let remote = raw.check();
    remote
        .map_err(|message| diagnostics.key(&["sources", id], format!("`{name}` {message}")))
        .ok()
        .map(|remote| Server {
            written: ("sources", id.to_owned()),
            remote,
            policy,
        })
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
                env: variables(raw.env)?,
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
        headers: sent_headers(headers)?,
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

fn variables(raw: Option<Entries<String>>) -> Result<Vec<(String, Setting)>, String> {
    let entries = raw.map(|entries| entries.0).unwrap_or_default();
    let setting = |(name, text): (String, String)| match Setting::parse(&text) {
        Ok(setting) => Ok((name, setting)),
        Err(message) => Err(format!("has the variable `{name}`, which {message}")),
    };
    entries.into_iter().map(setting).collect()
}

fn sent_headers(raw: Option<Entries<String>>) -> Result<Vec<(String, Setting)>, String> {
    let entries = raw.map(|entries| entries.0).unwrap_or_default();
    let header = |(name, text): (String, String)| {
        let has = format!("has the header `{name}`, which");
        let parsed = HeaderName::try_from(&name);
        let parsed = parsed.map_err(|_| format!("{has} is no name of a header"))?;
        if is_ours(&parsed) {
            return Err(format!("{has} the gateway sets itself"));
        }
        let setting = Setting::parse(&text).map_err(|message| format!("{has} {message}"))?;
        Ok((name, setting))
    };
    entries.into_iter().map(header).collect()
}

/// The headers that the transport is made of.
fn is_ours(name: &HeaderName) -> bool {
    let ours = [
        ACCEPT,
        CONNECTION,
        CONTENT_LENGTH,
        CONTENT_TYPE,
        HOST,
        TE,
        TRANSFER_ENCODING,
        UPGRADE,
    ];
    ours.contains(name) || name.as_str().starts_with("mcp-") || name == "last-event-id"
}

impl Server {
    /// Fetches what is kept elsewhere. A relative path starts at `folder`.
    pub(crate) fn fetch(
        &mut self,
        folder: &Path,
        environment: &Environment<'_>,
        diagnostics: &mut Diagnostics,
    ) {
        let (block, id) = (self.written.0, self.written.1.as_str());
        let mut wrong = |field: &[&str], message: String| {
            let path = [&[block, id], field].concat();
            diagnostics.value(&path, format!("`{}`: {message}", path.join(".")));
        };
        match &mut self.remote {
            Remote::Program { env, .. } => {
                for (name, setting) in env {
                    if let Err(message) = setting.fetch(folder, environment) {
                        wrong(&["env", name], message);
                    }
                }
            }
            Remote::Address { headers, ca, .. } => {
                if let Some(Err(message)) = ca.as_mut().map(|file| file.read(folder)) {
                    wrong(&["ca"], message);
                }
                for (name, setting) in headers {
                    let fetched = setting.fetch(folder, environment);
                    if let Err(message) = fetched.and_then(|()| can_be_sent(setting)) {
                        wrong(&["headers", name], message);
                    }
                }
            }
        }
    }
}

fn can_be_sent(setting: &Setting) -> Result<(), String> {
    let value = HeaderValue::try_from(setting.value.expose());
    let message = "the value has a line break or another character that no header can have";
    value.map(drop).map_err(|_| message.to_owned())
}
