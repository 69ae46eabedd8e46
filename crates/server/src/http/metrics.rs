//! GET on `/metrics`, for administrators.
//!
//! Knows no metric by name.

use std::collections::HashSet;
use std::fmt;
use std::sync::Arc;

use ::http::HeaderMap;
use ::http::header::ACCEPT;
use axum::extract::State;
use axum::response::Response;

use super::{Http, respond};

const OPEN_METRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// The Prometheus text format, which browsers show too.
const PROMETHEUS: &str = "text/plain; version=0.0.4; charset=utf-8";

/// Renders the metrics in the OpenMetrics format, for each scrape.
#[derive(Clone)]
pub struct Exposition(Arc<dyn Fn() -> String + Send + Sync>);

impl Exposition {
    pub fn new(render: impl Fn() -> String + Send + Sync + 'static) -> Self {
        Self(Arc::new(render))
    }
}

impl fmt::Debug for Exposition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Exposition")
    }
}

pub(super) async fn show(
    State(http): State<Arc<Http>>,
    headers: HeaderMap,
    exposition: Exposition,
) -> Response {
    match http.identify(&headers).await {
        Ok(caller) if caller.admin => {}
        Ok(_) => {
            let message = "only administrators may read the metrics; see `auth.admins`";
            return respond::forbidden(&http.transports.admission, message);
        }
        Err(error) => return http.error(error),
    }
    let metrics = exposition.0();
    match accepts_open_metrics(&headers) {
        true => respond::text(OPEN_METRICS, metrics),
        false => respond::text(PROMETHEUS, to_prometheus(&metrics)),
    }
}

/// Converts to the Prometheus text format: its counters have `_total` in the family name, and it has
/// no end marker.
fn to_prometheus(open_metrics: &str) -> String {
    let counters: HashSet<&str> = open_metrics
        .lines()
        .filter_map(|line| line.strip_prefix("# TYPE ")?.strip_suffix(" counter"))
        .collect();
    let mut page = String::with_capacity(open_metrics.len() + 1024);
    for line in open_metrics.lines().filter(|line| *line != "# EOF") {
        match parse_comment(line).filter(|(_, name, _)| counters.contains(name)) {
            Some((keyword, name, rest)) => page.extend([keyword, name, "_total ", rest, "\n"]),
            None => page.extend([line, "\n"]),
        }
    }
    page
}

/// Splits a `HELP` or `TYPE` comment into its keyword, the name of the metric, and the remainder.
fn parse_comment(line: &str) -> Option<(&str, &str, &str)> {
    let keywords = ["# HELP ", "# TYPE "];
    let keyword = keywords
        .into_iter()
        .find(|keyword| line.starts_with(keyword))?;
    let (name, rest) = line.strip_prefix(keyword)?.split_once(' ')?;
    Some((keyword, name, rest))
}

fn accepts_open_metrics(headers: &HeaderMap) -> bool {
    let accepted = headers.get_all(ACCEPT).iter();
    accepted
        .filter_map(|value| value.to_str().ok())
        .any(|value| value.contains("application/openmetrics-text"))
}
