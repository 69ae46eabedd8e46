//! From the file as written to the settings: checks every value and fills in every default. All
//! problems are reported; the settings are used only if there are none.

use std::net::SocketAddr;

use clap::ValueEnum;
use tidegate_config::{OrderedMap, Scalar};

use super::composed::Composed;
use super::context::LoadContext;
use super::diagnostics::{Diagnostics, Origin};
use super::document::Document;
use super::mcp_servers::ServerSection;
use super::overrides::{LISTEN, LOG_FORMAT, LOG_LEVEL, Override};
use super::settings::{Log, Settings};
use super::sources::{ConfiguredSource, SourceVariants};
use super::web::{self, Host, PublicUrl};
use super::{
    auth, data_dir, endpoint, index_overrides, limits, listen, log, mcp_servers, proxies,
    seal_keys, sources,
};

/// The settings of a file.
pub(crate) fn validate(
    document: Document,
    context: &LoadContext<'_>,
    diagnostics: &mut Diagnostics,
) -> Settings {
    let public_url = check_public_url(document.public_url, diagnostics);
    let limits = limits::check(context, diagnostics);
    let log = document.log.unwrap_or_default();
    let http = document.http.unwrap_or_default();
    let endpoint = document.endpoint.unwrap_or_default();
    let default_sources = document.sources.is_none() && document.mcp_servers.is_none();
    let sources = check_sources(document.sources, document.mcp_servers, context, diagnostics);
    Settings {
        file: context.file.clone(),
        listen: check_listen(document.listen, context, diagnostics),
        allowed_hosts: check_hosts(document.allowed_hosts, public_url.as_ref(), diagnostics),
        allowed_origins: check_list(
            "allowed_origins",
            document.allowed_origins,
            web::parse_origin,
            diagnostics,
        ),
        public_url,
        keys: auth::check(document.auth, context, diagnostics),
        seal_keys: seal_keys::check(document.seal_keys, context, diagnostics),
        legacy_sse: document.legacy_sse.unwrap_or(false),
        error_status: http.error_status.map(Into::into).unwrap_or_default(),
        log: Log {
            level: check_choice(
                &LOG_LEVEL,
                context.flags.log_level,
                log.level,
                context,
                diagnostics,
            ),
            format: check_choice(
                &LOG_FORMAT,
                context.flags.log_format,
                log.format,
                context,
                diagnostics,
            ),
        },
        limits: limits.transports,
        call_timeouts: limits.calls,
        page_size: limits.gateway.page_size,
        startup_wait: limits.gateway.startup_wait,
        naming: document.naming.map(Into::into).unwrap_or_default(),
        endpoint: endpoint::check(&endpoint, true, &["endpoint"], diagnostics),
        proxies: proxies::read(&sources, context.environment, diagnostics),
        sources,
        default_sources,
        data_dir: data_dir::choose(document.data_dir.as_deref(), context, diagnostics),
    }
}

/// The sources in the order of the file, then the servers of `mcpServers`. Without either, the
/// defaults.
fn check_sources(
    sources: Option<OrderedMap<Composed<SourceVariants>>>,
    servers: Option<OrderedMap<ServerSection>>,
    context: &LoadContext<'_>,
    diagnostics: &mut Diagnostics,
) -> Vec<ConfiguredSource> {
    let mut checked = match (sources, &servers) {
        (None, None) => sources::defaults(),
        (None, Some(_)) => Vec::new(),
        (Some(OrderedMap(entries)), _) => {
            let ids = entries.iter().map(|(id, _)| id.as_str());
            sources::check(ids, context, diagnostics)
        }
    };
    if let Some(servers) = servers {
        mcp_servers::check(servers, &mut checked, context, diagnostics);
    }
    index_overrides::apply(&mut checked, context, diagnostics);
    checked
}

/// The address, which must not be exposed to other machines unintentionally.
fn check_listen(
    written: Option<Scalar>,
    context: &LoadContext<'_>,
    diagnostics: &mut Diagnostics,
) -> SocketAddr {
    let file = written.map(|Scalar(text)| (text, diagnostics.origin(&["listen"])));
    let overridden = LISTEN.value(context.flags.listen.clone(), context.environment);
    let Some((text, origin)) = overridden.or(file) else {
        return listen::DEFAULT;
    };
    let address = match listen::parse(&text) {
        Ok(address) => address,
        Err(message) => {
            diagnostics.push(origin, message);
            return listen::DEFAULT;
        }
    };
    // Even an invalid `auth` shows the intention to protect the gateway.
    let has_auth = diagnostics.tree().find(&["auth"]).is_some();
    if !listen::is_local(address) && !has_auth && !context.flags.insecure {
        diagnostics.push(origin, listen::needs_auth(address));
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

/// The hosts of the list, and the host of the public URL.
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
            Err(message) => {
                diagnostics.value(&[field, &text], format!("`{field}`: {message}"));
            }
        }
    }
    checked
}

/// One of a few values, from the flag, the variable or the file.
fn check_choice<T: ValueEnum + Default>(
    setting: &Override,
    flag: Option<T>,
    written: Option<T>,
    context: &LoadContext<'_>,
    diagnostics: &mut Diagnostics,
) -> T {
    if let Some(value) = flag {
        return value;
    }
    let Some(name) = context.environment.variable(setting.variable) else {
        return written.unwrap_or_default();
    };
    log::parse(&name).unwrap_or_else(|message| {
        diagnostics.push(Origin::Variable(setting.variable), message);
        T::default()
    })
}
