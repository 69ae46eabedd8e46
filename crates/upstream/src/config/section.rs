//! The section of a remote MCP server in the configuration file.

use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::time::Duration;

use http::header::{
    ACCEPT, CONNECTION, CONTENT_LENGTH, CONTENT_TYPE, HOST, HeaderName, HeaderValue, TE,
    TRANSFER_ENCODING, UPGRADE,
};
use schemars::JsonSchema;
use serde::Deserialize;
use tidegate_config::{
    ByteSize, Checker, HumanDuration, OrderedMap, ResolvedText, Scalar, Secret, Section, in_range,
    read_limited,
};

use super::{EraSetting, Sharing};
use crate::transport::http::CertificateAuthorities;

const CONNECT_TIMEOUT: HumanDuration = HumanDuration::minutes(1);
const MAX_MESSAGE_BYTES: ByteSize = ByteSize::mib(16);
const MAX_PROCESSES: usize = 128;
const MAX_PROCESSES_PER_PRINCIPAL: usize = 32;
const IDLE_TIMEOUT: HumanDuration = HumanDuration::minutes(30);
const PARKED_CALL_TIMEOUT: HumanDuration = HumanDuration::minutes(10);

const CONNECT_TIMEOUT_RANGE: RangeInclusive<HumanDuration> =
    HumanDuration::millis(100)..=HumanDuration::hours(1);
const MESSAGE_BYTES_RANGE: RangeInclusive<ByteSize> = ByteSize::kib(1)..=ByteSize::mib(1024);
const PROCESSES_RANGE: RangeInclusive<usize> = 1..=10_000;
const IDLE_TIMEOUT_RANGE: RangeInclusive<HumanDuration> =
    HumanDuration::secs(1)..=HumanDuration::days(7);
const PARKED_CALL_RANGE: RangeInclusive<HumanDuration> =
    HumanDuration::secs(1)..=HumanDuration::days(1);

/// An http or https URL without a user name, or one that contains a reference.
const URL_PATTERN: &str = r"^https?://[^/?#@\s]+([/?#]\S*)?$|\$\{";

/// The largest certificate file; a larger one was named by mistake.
const MAX_CA_BYTES: u64 = 1 << 20;

/// A remote MCP server: a program that Tidegate runs, or the URL of a server.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a mapping of fields")]
pub struct RemoteSection {
    /// The program to run as the server. It is started directly, not through a shell. May contain
    /// references, as in `env`.
    #[schemars(extend("examples" = ["npx"]))]
    pub command: Option<String>,
    /// Arguments of the program. They may contain references, as in `env`; other users of the
    /// machine can see them in the process list, so pass secrets in `env` where the program allows
    /// it.
    #[schemars(extend("default" = [], "examples" = [["-y", "@modelcontextprotocol/server-everything"]]))]
    pub args: Option<Vec<Scalar>>,
    /// Environment variables of the program. Of the gateway's own environment it inherits only `PATH`,
    /// `HOME`, `USER`, `LANG`, `LC_ALL`, `LC_CTYPE`, `TZ`, `TMPDIR`, the proxy variables
    /// (`HTTP_PROXY`, `HTTPS_PROXY`, `ALL_PROXY`, `NO_PROXY`, also in lower case) and the certificate
    /// variables (`SSL_CERT_FILE`, `SSL_CERT_DIR`, `NODE_EXTRA_CA_CERTS`, `REQUESTS_CA_BUNDLE`,
    /// `CURL_CA_BUNDLE`, `GIT_SSL_CAINFO`). Values may contain references: `${env:NAME}`,
    /// `${file:PATH}`, and `${NAME}` or `${NAME:-default}` as MCP clients write them. `$${` stands
    /// for a literal `${`. Numbers, `true` and `false` are taken as text.
    #[schemars(extend("default" = {}, "examples" = [{ "API_TOKEN": "${env:API_TOKEN}" }]))]
    pub env: Option<OrderedMap<Scalar>>,
    /// The working directory of the program. A relative path starts at the folder of this file. May
    /// contain references, as in `env`.
    #[schemars(extend("examples" = ["/srv/app"]))]
    pub cwd: Option<PathBuf>,
    /// The URL of the server's MCP endpoint. May contain references, as in `env`.
    #[schemars(extend("examples" = ["https://mcp.example.com/mcp"], "pattern" = URL_PATTERN))]
    pub url: Option<String>,
    /// Headers of every request to the server. Values may contain references, as in `env`.
    #[schemars(extend("default" = {}, "examples" = [{ "Authorization": "Bearer ${env:API_TOKEN}" }]))]
    pub headers: Option<OrderedMap<Scalar>>,
    /// A PEM file with the only certificate authorities to trust for this server, for `https` URLs.
    /// By default those of the system and of Mozilla are trusted.
    #[schemars(extend("examples" = ["./ca.pem"]))]
    pub ca: Option<PathBuf>,
    /// The protocol era of the server: `auto` detects it, `legacy` always opens a session, `modern`
    /// never does.
    #[schemars(extend("default" = EraSetting::default()))]
    pub era: Option<EraSetting>,
    /// How long the server may take for the handshake, and for each page of a list.
    #[schemars(extend("default" = CONNECT_TIMEOUT), transform = in_range(CONNECT_TIMEOUT_RANGE))]
    pub connect_timeout: Option<HumanDuration>,
    /// Maximum size of one message from the server.
    #[schemars(extend("default" = MAX_MESSAGE_BYTES), transform = in_range(MESSAGE_BYTES_RANGE))]
    pub max_message_bytes: Option<ByteSize>,
    /// Which clients share a process or a session of the server. `session`: none, every client has its
    /// own, as if it were connected directly. `principal`: the clients of one principal that have the
    /// same capabilities. `shared`: all clients; the server cannot send requests to clients then.
    /// `call`: every call has its own. `principal` and `shared` are for servers that keep no state
    /// between calls.
    #[schemars(extend("default" = Sharing::default()))]
    pub sharing: Option<Sharing>,
    /// Maximum number of processes or sessions of the server, for all clients. With 1, all clients
    /// share the one that the gateway uses itself.
    #[schemars(extend("default" = MAX_PROCESSES), transform = in_range(PROCESSES_RANGE))]
    pub max_processes: Option<usize>,
    /// Maximum number of processes or sessions of the server for one principal.
    #[schemars(extend("default" = MAX_PROCESSES_PER_PRINCIPAL), transform = in_range(PROCESSES_RANGE))]
    pub max_processes_per_principal: Option<usize>,
    /// How long the process or session of a client is kept after its last call. It also ends with the
    /// session of the client.
    #[schemars(extend("default" = IDLE_TIMEOUT), transform = in_range(IDLE_TIMEOUT_RANGE))]
    pub idle_timeout: Option<HumanDuration>,
    /// How long a call stays parked when the server sends a request to a client without a session,
    /// which has to come back with the answer.
    #[schemars(extend("default" = PARKED_CALL_TIMEOUT), transform = in_range(PARKED_CALL_RANGE))]
    pub parked_call_timeout: Option<HumanDuration>,
}

impl RemoteSection {
    /// Fields that only a server with a `command` has.
    pub const PROGRAM_FIELDS: [&str; 4] = ["command", "args", "env", "cwd"];
    /// What a `url` looks like, as a regular expression.
    pub const URL_PATTERN: &str = URL_PATTERN;
    /// Fields that only a server with a `url` has.
    pub const URL_FIELDS: [&str; 3] = ["url", "headers", "ca"];
}

/// The checked configuration of a remote server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RemoteSettings {
    pub target: ServerTarget,
    pub connection: ConnectionSettings,
}

/// The server itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ServerTarget {
    Program(ProgramTarget),
    Url {
        url: http::Uri,
        headers: Vec<(HeaderName, HeaderValue)>,
        /// Replaces the default certificate authorities.
        ca: Option<CertificateAuthorities>,
    },
}

/// A program to run as a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProgramTarget {
    /// The command line as written, with references in place of secrets.
    pub written: String,
    pub command: Secret,
    pub args: Vec<Secret>,
    pub env: Vec<(String, Secret)>,
    pub cwd: Option<PathBuf>,
    /// The values of the references in `command`, `args` and `cwd`.
    pub secrets: Vec<Secret>,
}

/// How the gateway connects to a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConnectionSettings {
    pub era: EraSetting,
    pub connect_timeout: Duration,
    pub max_message_bytes: usize,
    pub sharing: Sharing,
    pub max_processes: usize,
    pub max_processes_per_principal: usize,
    pub idle_timeout: Duration,
    pub parked_call_timeout: Duration,
}

impl Default for ConnectionSettings {
    fn default() -> Self {
        Self {
            era: EraSetting::default(),
            connect_timeout: CONNECT_TIMEOUT.into(),
            max_message_bytes: MAX_MESSAGE_BYTES.into(),
            sharing: Sharing::default(),
            max_processes: MAX_PROCESSES,
            max_processes_per_principal: MAX_PROCESSES_PER_PRINCIPAL,
            idle_timeout: IDLE_TIMEOUT.into(),
            parked_call_timeout: PARKED_CALL_TIMEOUT.into(),
        }
    }
}

impl Section for RemoteSection {
    type Config = RemoteSettings;

    fn check(self, checker: &mut Checker<'_>) -> Option<RemoteSettings> {
        let connection = self.check_connection(checker);
        let target = self
            .check_target(checker)
            .map_err(|message| checker.section_problem(message))
            .ok()?;
        Some(RemoteSettings { target, connection })
    }
}

impl RemoteSection {
    fn check_connection(&self, checker: &mut Checker<'_>) -> ConnectionSettings {
        let default = ConnectionSettings::default();
        ConnectionSettings {
            era: self.era.unwrap_or_default(),
            connect_timeout: checker.in_range(
                "connect_timeout",
                self.connect_timeout,
                default.connect_timeout,
                CONNECT_TIMEOUT_RANGE,
            ),
            max_message_bytes: checker.in_range(
                "max_message_bytes",
                self.max_message_bytes,
                default.max_message_bytes,
                MESSAGE_BYTES_RANGE,
            ),
            sharing: self.sharing.unwrap_or_default(),
            max_processes: checker.in_range(
                "max_processes",
                self.max_processes,
                default.max_processes,
                PROCESSES_RANGE,
            ),
            max_processes_per_principal: checker.in_range(
                "max_processes_per_principal",
                self.max_processes_per_principal,
                default.max_processes_per_principal,
                PROCESSES_RANGE,
            ),
            idle_timeout: checker.in_range(
                "idle_timeout",
                self.idle_timeout,
                default.idle_timeout,
                IDLE_TIMEOUT_RANGE,
            ),
            parked_call_timeout: checker.in_range(
                "parked_call_timeout",
                self.parked_call_timeout,
                default.parked_call_timeout,
                PARKED_CALL_RANGE,
            ),
        }
    }

    fn check_target(self, checker: &mut Checker<'_>) -> Result<ServerTarget, &'static str> {
        match (self.command, self.url) {
            (Some(_), Some(_)) => Err("both `command` and `url` are set; keep one"),
            (None, None) => Err("`command` or `url` is missing; name a program or a server"),
            (Some(_), None) if self.headers.is_some() || self.ca.is_some() => {
                Err("`headers` and `ca` need a `url`; remove them, or replace `command` by `url`")
            }
            (None, Some(_)) if self.args.is_some() || self.env.is_some() || self.cwd.is_some() => {
                Err(
                    "`args`, `env` and `cwd` need a `command`; remove them, or replace `url` by \
                     `command`",
                )
            }
            (Some(command), None) if command.trim().is_empty() => {
                Err("`command` is empty; name a program")
            }
            (Some(command), None) => Ok(ServerTarget::Program(check_program(
                &command, self.args, self.env, self.cwd, checker,
            ))),
            (None, Some(url)) => {
                let headers = check_headers(self.headers, checker);
                let url = check_url(&url, checker).unwrap_or_default();
                let ca = self.ca.and_then(|file| check_ca(&file, &url, checker));
                Ok(ServerTarget::Url { url, headers, ca })
            }
        }
    }
}

fn check_program(
    command: &str,
    args: Option<Vec<Scalar>>,
    env: Option<OrderedMap<Scalar>>,
    cwd: Option<PathBuf>,
    checker: &mut Checker<'_>,
) -> ProgramTarget {
    let args: Vec<String> = args
        .unwrap_or_default()
        .into_iter()
        .map(|arg| arg.0)
        .collect();
    let shown_args = args.iter().map(String::as_str);
    let words: Vec<&str> = std::iter::once(command).chain(shown_args).collect();
    let written = words.join(" ");
    let mut secrets = Vec::new();
    let mut text_of = |resolved: ResolvedText| {
        secrets.extend(resolved.secrets);
        resolved.text
    };
    let command = checker.secret_text(&["command"], command);
    let command = command.map(&mut text_of).unwrap_or_default();
    let args = checker.secret_items("args", &args);
    let args = args.into_iter().map(&mut text_of).collect();
    let cwd = cwd.and_then(|cwd| checker.secret_text(&["cwd"], &cwd.to_string_lossy()));
    let cwd = cwd.map(&mut text_of);
    ProgramTarget {
        written,
        command,
        args,
        env: check_env(env, checker),
        cwd: cwd.map(|cwd| checker.folder("cwd", Path::new(cwd.expose()))),
        secrets,
    }
}

/// The message of a problem repeats the URL only if it cannot contain a secret.
fn check_url(written: &str, checker: &mut Checker<'_>) -> Option<http::Uri> {
    let resolved = checker.secret_text(&["url"], written)?;
    let text = resolved.text.expose();
    let url: Option<http::Uri> = text.parse().ok();
    let is_http = |url: &http::Uri| matches!(url.scheme_str(), Some("http" | "https"));
    let url = url.filter(|url| is_http(url) && url.host().is_some());
    let has_user = |url: &http::Uri| url.authority().is_some_and(|at| at.as_str().contains('@'));
    let problem = match url {
        Some(url) if !has_user(&url) => return Some(url),
        // What stands before an `@` may be a password and is not repeated.
        Some(_) => "the URL contains a user name; send credentials in `headers` instead".to_owned(),
        None if text.contains('@') => "not an http or https URL".to_owned(),
        None => format!("`{written}` is not an http or https URL"),
    };
    checker.problem(&["url"], problem);
    None
}

fn check_env(
    written: Option<OrderedMap<Scalar>>,
    checker: &mut Checker<'_>,
) -> Vec<(String, Secret)> {
    let mut variables = Vec::new();
    for (name, text) in written.unwrap_or_default().0 {
        let value = checker.secret_text(&["env", &name], &text.0);
        variables.extend(value.map(|value| (name, value.text)));
    }
    variables
}

fn check_headers(
    written: Option<OrderedMap<Scalar>>,
    checker: &mut Checker<'_>,
) -> Vec<(HeaderName, HeaderValue)> {
    let mut headers = Vec::new();
    for (name, text) in written.unwrap_or_default().0 {
        let field = ["headers", name.as_str()];
        let Ok(header) = HeaderName::try_from(&name) else {
            checker.problem(&field, "not a valid header name");
            continue;
        };
        if is_set_by_transport(&header) {
            checker.problem(&field, "the gateway sets this header itself; remove it");
            continue;
        }
        let Some(text) = checker.secret_text(&field, &text.0) else {
            continue;
        };
        match HeaderValue::try_from(text.text.expose()) {
            Ok(mut value) => {
                value.set_sensitive(true);
                headers.push((header, value));
            }
            Err(_) => checker.problem(
                &field,
                "the value contains a line break or another character that headers cannot carry",
            ),
        }
    }
    headers
}

fn is_set_by_transport(name: &HeaderName) -> bool {
    let standard = [
        ACCEPT,
        CONNECTION,
        CONTENT_LENGTH,
        CONTENT_TYPE,
        HOST,
        TE,
        TRANSFER_ENCODING,
        UPGRADE,
    ];
    standard.contains(name) || name.as_str().starts_with("mcp-") || name == "last-event-id"
}

fn check_ca(
    file: &Path,
    url: &http::Uri,
    checker: &mut Checker<'_>,
) -> Option<CertificateAuthorities> {
    let name = file.display();
    if url.scheme_str() == Some("http") {
        checker.problem(&["ca"], "needs an `https` URL; remove it, or use https");
        return None;
    }
    let read = read_limited(&checker.file(file), MAX_CA_BYTES)
        .map_err(|error| format!("cannot read the file `{name}`: {error}"))
        .and_then(|pem| {
            let authorities = CertificateAuthorities::read(&pem);
            authorities.map_err(|problem| format!("the file `{name}` {problem}"))
        });
    read.map_err(|message| checker.problem(&["ca"], message))
        .ok()
}
