//! GET on `/metrics`: the gateway's figures, for those who run it.
//!
//! Knows no figure by name.

use std::fmt;
use std::sync::Arc;

use ::http::HeaderMap;
use ::http::header::ACCEPT;
use axum::extract::State;
use axum::response::Response;

use super::{Http, identify, respond};

const OPEN_METRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// The same text is good for those who know only the older form, and for browsers.
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
    let load = &http.doors.load;
    match identify(&http, &headers).await {
        Ok(caller) if caller.admin => {}
        Ok(_) => {
            let message = "the metrics are for those who run the gateway; see `auth.admins`";
            return respond::forbidden(load, message);
        }
        Err(refusal) => return respond::refusal(load, &refusal),
    }
    let mime = match wants_open_metrics(&headers) {
        true => OPEN_METRICS,
        false => PLAIN,
    };
    respond::text(mime, page.0())
}

fn wants_open_metrics(headers: &HeaderMap) -> bool {
    let accepted = headers.get_all(ACCEPT).iter();
    accepted
        .filter_map(|value| value.to_str().ok())
        .any(|value| value.contains("application/openmetrics-text"))
}
