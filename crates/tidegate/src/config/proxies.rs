//! The proxies that the environment names, under the names that most programs know.
//!
//! Knows nothing of how a proxy is spoken to.

use tidegate_upstream::{Proxies, UnusableProxy};

use super::environment::Environment;
use super::problem::{Diagnostics, Origin};
use super::remote::{Remote, Server};
use super::sources::{Source, SourceKind};

/// Reads the variables. One that is wrong matters only where a source would need it.
pub(crate) fn read(
    sources: &[Source],
    environment: &Environment<'_>,
    diagnostics: &mut Diagnostics,
) -> Proxies {
    let proxies = Proxies::from_variables(|name| environment.variable(name));
    let mut told = Vec::new();
    for Source { id, kind } in sources {
        let SourceKind::Remote(Server { remote, .. }) = kind else {
            continue;
        };
        let Remote::Address { url, .. } = remote else {
            continue;
        };
        let Err(UnusableProxy(variable)) = proxies.for_url(url) else {
            continue;
        };
        if !told.contains(&variable) {
            told.push(variable);
            // Not what it says: there may be a password in it.
            diagnostics.push(
                Origin::Variable(variable),
                format!(
                    "names no proxy that can be used, and the source `{id}` would need it; write \
                     `http://host:port`, or name the source's host in `NO_PROXY`"
                ),
            );
        }
    }
    proxies
}
