//! From what was written to what holds: judges every value, fills in every default.
//!
//! Pure: reads no file and opens nothing. All problems are noted; the settings count only if
//! there are none.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use clap::ValueEnum;
use tidegate_upstream::Proxies;

use super::auth::KeyReference;
use super::entries::Entries;
use super::environment::Environment;
use super::mcp_servers::RawServer;
use super::overrides::{Flags, LISTEN, LOG_FORMAT, LOG_LEVEL, Override};
use super::problem::{Diagnostics, Origin};
use super::raw::Raw;
use super::settings::{Log, Settings};
use super::sources::{RawSource, Source};
use super::web::{self, Host, PublicUrl};
use super::{
    auth, capability_index, data_dir, endpoint, limits, listen, log, mcp_servers, sources,
};

/// Where settings come from besides the file.
pub(crate) struct Around<'a> {
    pub(crate) flags: &'a Flags,
    pub(crate) environment: &'a Environment<'a>,
    /// The file, if there is one.
    pub(crate) file: Option<PathBuf>,
    /// Where relative paths of the file start.
    pub(crate) folder: &'a Path,
}

/// The settings, and the keys that are still to be fetched for them.
pub(crate) fn validate(
    raw: Raw,
    around: &Around<'_>,
    diagnostics: &mut Diagnostics,
) -> (Settings, Vec<KeyReference>) {
    let public_url = check_public_url(raw.public_url, diagnostics);
    let limits = limits::check(&raw.limits.unwrap_or_default(), diagnostics);
    let log = raw.log.unwrap_or_default();
    let endpoints = endpoint::check(raw.endpoint, raw.sources.as_ref(), diagnostics);
    let settings = Settings {
        file: around.file.clone(),
        listen: check_listen(raw.listen, around, diagnostics),
        allowed_hosts: check_hosts(raw.allowed_hosts, public_url.as_ref(), diagnostics),
        allowed_origins: check_list(
            "allowed_origins",
            raw.allowed_origins,
            web::origin,
            diagnostics,
        ),
        public_url,
        keys: Vec::new(),
        seal_keys: Vec::new(),
        legacy_sse: raw.legacy_sse.unwrap_or(false),
        log: Log {
            level: check_word(
                &LOG_LEVEL,
                around.flags.log_level,
                log.level,
                around,
                diagnostics,
            ),
            format: check_word(
                &LOG_FORMAT,
                around.flags.log_format,
                log.format,
                around,
                diagnostics,
            ),
        },
        limits: limits.transports,
        call_timeout: limits.call_timeout,
        max_call_duration: limits.max_call_duration,
        page_size: limits.page_size,
        naming: raw.naming.map(Into::into).unwrap_or_default(),
        endpoints,
        startup_wait: limits.startup_wait,
        sources: check_sources(raw.sources, raw.mcp_servers, around, diagnostics),
        proxies: Proxies::default(),
        data_dir: data_dir::choose(raw.data_dir.as_deref(), around, diagnostics),
    };
    let keys = raw
        .auth
        .map(|auth| auth::check(auth, diagnostics))
        .unwrap_or_default();
    (settings, keys)
}

/// The sources, in the order of the file; then the servers of other programs.
fn check_sources(
    sources: Option<Entries<RawSource>>,
    servers: Option<Entries<RawServer>>,
    around: &Around<'_>,
    diagnostics: &mut Diagnostics,
) -> Vec<Source> {
    let mut checked = match (sources, &around.file) {
        (_, None) => sources::without_file(),
        (Some(raw), Some(_)) => sources::check(raw, diagnostics),
        (None, Some(_)) => Vec::new(),
    };
    if let Some(servers) = servers {
        mcp_servers::check(servers, &mut checked, diagnostics);
    }
    capability_index::overrule(&mut checked, around, diagnostics);
    checked
}

/// The address, which must not be open to all by accident.
fn check_listen(
    written: Option<String>,
    around: &Around<'_>,
    diagnostics: &mut Diagnostics,
) -> SocketAddr {
    let file = written.map(|text| (text, diagnostics.origin(&["listen"])));
    let given = LISTEN.pick(around.flags.listen.clone(), around.environment, file);
    let Some((text, origin)) = given else {
        return listen::DEFAULT;
    };
    let address = match listen::parse(&text) {
        Ok(address) => address,
        Err(message) => {
            diagnostics.push(origin, message);
            return listen::DEFAULT;
        }
    };
    // An `auth` that is there and wrong has its own problems, and is meant to protect.
    let guarded = diagnostics.tree().find(&["auth"]).is_some();
    if !listen::is_local(address) && !guarded && !around.flags.insecure {
        diagnostics.push(origin, listen::open_to_all(address));
    }
    address
}

fn check_public_url(written: Option<String>, diagnostics: &mut Diagnostics) -> Option<PublicUrl> {
    match PublicUrl::parse(&written?) {
        Ok(url) => Some(url),
        Err(message) => {
            diagnostics.value(&["public_url"], message);
            None
        }
    }
}

/// The hosts of the list, and the one of the public URL.
fn check_hosts(
    written: Option<Vec<String>>,
    public_url: Option<&PublicUrl>,
    diagnostics: &mut Diagnostics,
) -> Vec<String> {
    let parse = |text: &str| Host::parse(text).map(|host| host.to_string());
    let mut hosts = check_list("allowed_hosts", written, parse, diagnostics);
    match public_url.map(PublicUrl::host) {
        Some(public) if !hosts.iter().any(|host| host == public) => hosts.push(public.to_owned()),
        _ => {}
    }
    hosts
}

fn check_list(
    field: &str,
    written: Option<Vec<String>>,
    parse: impl Fn(&str) -> Result<String, String>,
    diagnostics: &mut Diagnostics,
) -> Vec<String> {
    let mut checked = Vec::new();
    for text in written.unwrap_or_default() {
        match parse(&text) {
            Ok(value) => checked.push(value),
            Err(message) => diagnostics.value(&[field, &text], message),
        }
    }
    checked
}

/// One of a few words, from wherever it is given.
fn check_word<T: ValueEnum + Default>(
    setting: &Override,
    flag: Option<T>,
    written: Option<T>,
    around: &Around<'_>,
    diagnostics: &mut Diagnostics,
) -> T {
    if let Some(value) = flag {
        return value;
    }
    let Some(word) = around.environment.variable(setting.variable) else {
        return written.unwrap_or_default();
    };
    log::named(&word).unwrap_or_else(|message| {
        diagnostics.push(Origin::Variable(setting.variable), message);
        T::default()
    })
}
