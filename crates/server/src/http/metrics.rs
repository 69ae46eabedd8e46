//! GET on `/metrics`: the gateway's figures, for those who run it.
//!
//! Knows no figure by name.

use std::collections::HashSet;
use std::fmt;
use std::sync::Arc;

use ::http::HeaderMap;
use ::http::header::ACCEPT;
use axum::extract::State;
use axum::response::Response;

use super::{Http, identify, respond};

const OPEN_METRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// The older form, for browsers too.
const PLAIN: &str = "text/plain; version=0.0.4; charset=utf-8";

/// Writes the figures, anew for each who asks.
#[derive(Clone)]
pub struct Exposition(Arc<dyn Fn() -> String + Send + Sync>);

impl Exposition {
    pub fn new(write: impl Fn() -> String + Send + Sync + 'static) -> Self {
        Self(Arc::new(write))
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
    page: Exposition,
) -> Response {
    let load = &http.transports.admission;
    match identify(&http, &headers).await {
        Ok(caller) if caller.admin => {}
        Ok(_) => {
            let message = "the metrics are for those who run the gateway; see `auth.admins`";
            return respond::forbidden(load, message);
        }
        Err(refusal) => return respond::refusal(load, &refusal),
    }
    let open_metrics = page.0();
    match wants_open_metrics(&headers) {
        true => respond::text(OPEN_METRICS, open_metrics),
        false => respond::text(PLAIN, older(&open_metrics)),
    }
}

/// The same figures in the older form: there a counter is called what its value is called, and
/// nothing says where the page ends.
fn older(open_metrics: &str) -> String {
    let counters: HashSet<&str> = open_metrics
        .lines()
        .filter_map(|line| line.strip_prefix("# TYPE ")?.strip_suffix(" counter"))
        .collect();
    let mut page = String::with_capacity(open_metrics.len() + 1024);
    for line in open_metrics.lines().filter(|line| *line != "# EOF") {
        match named(line).filter(|(_, name, _)| counters.contains(name)) {
            Some((word, name, rest)) => page.extend([word, name, "_total ", rest, "\n"]),
            None => page.extend([line, "\n"]),
        }
    }
    page
}

/// What a line says about a figure: its first words, the figure, and the rest.
fn named(line: &str) -> Option<(&str, &str, &str)> {
    let words = ["# HELP ", "# TYPE "];
    let word = words.into_iter().find(|word| line.starts_with(word))?;
    let (name, rest) = line.strip_prefix(word)?.split_once(' ')?;
    Some((word, name, rest))
}

fn wants_open_metrics(headers: &HeaderMap) -> bool {
    let accepted = headers.get_all(ACCEPT).iter();
    accepted
        .filter_map(|value| value.to_str().ok())
        .any(|value| value.contains("application/openmetrics-text"))
}
