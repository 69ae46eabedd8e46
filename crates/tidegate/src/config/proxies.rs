//! The proxies that the usual environment variables name.

use tidegate_config::Environment;
use tidegate_upstream::{Proxies, ServerTarget, UnusableProxy};

use super::diagnostics::{Diagnostics, Origin};
use super::kinds::SourceSettings;
use super::sources::ConfiguredSource;

/// Reads the variables. An invalid one is a problem only if a source needs it.
pub(crate) fn read(
    sources: &[ConfiguredSource],
    environment: &Environment<'_>,
    diagnostics: &mut Diagnostics,
) -> Proxies {
    let proxies = Proxies::from_variables(|name| environment.variable(name));
    let mut reported = Vec::new();
    for source in sources {
        let SourceSettings::Remote(remote) = &source.settings else {
            continue;
        };
        let ServerTarget::Url { url, .. } = &remote.remote.target else {
            continue;
        };
        let Err(UnusableProxy(variable)) = proxies.for_url(url) else {
            continue;
        };
        if !reported.contains(&variable) {
            reported.push(variable);
            // The value is not repeated: it may contain a password.
            diagnostics.push(
                Origin::Variable(variable),
                format!(
                    "not a valid proxy, but source `{}` needs it; write `http://host:port`, or \
                     add the source's host to `NO_PROXY`",
                    source.id
                ),
            );
        }
    }
    proxies
}
