//! Finds out how a server speaks: asks whether it can do without sessions, and opens one if not.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use futures_util::StreamExt;
use tidegate_core::{Declined, RawJson, Result, Terms};
use tidegate_mcp::revision::client::{
    Facts, Outbound, Wording, discovered, initialized, modern_headers,
};
use tidegate_mcp::revision::question::response;
use tidegate_mcp::{Answer, Era, RequestId, Revision, RpcError};

use crate::link::{Heard, Link, unavailable};

/// How long a server may take to answer a question it may never have heard of.
const PROBE: Duration = Duration::from_secs(5);

/// The numbers of the requests on one link.
#[derive(Default)]
pub(crate) struct Numbers(AtomicU64);

impl Numbers {
    pub(crate) fn next(&self) -> u64 {
        self.0.fetch_add(1, Ordering::Relaxed) + 1
    }
}

/// Asks for the newest revision; none if the server does not know it.
pub(crate) async fn discover(link: &dyn Link, numbers: &Numbers) -> Option<Facts> {
    let wording = Wording {
        revision: Revision::NEWEST,
        terms: Terms::default(),
    };
    let outbound = wording.discover(numbers.next());
    let headers = modern_headers(wording.revision, &outbound, None);
    let asked = ask(link, outbound, headers);
    match tokio::time::timeout(PROBE, asked).await {
        Ok(Ok(Ok(result))) => discovered(wording.revision, &result),
        _ => None,
    }
}

/// Opens a session for clients that can do this.
pub(crate) async fn initialize(
    link: &dyn Link,
    numbers: &Numbers,
    capabilities: &RawJson,
) -> Result<Facts> {
    let wording = Wording {
        revision: Revision::NEWEST_LEGACY,
        terms: Terms {
            capabilities: capabilities.clone(),
            ..Terms::default()
        },
    };
    let answer = ask(link, wording.initialize(numbers.next()), Vec::new()).await?;
    let result = answer.map_err(|error| {
        unavailable("the source refused to open a session").caused_by(error.message)
    })?;
    let facts = initialized(&result).filter(|facts| facts.revision.era() == Era::Legacy);
    facts.ok_or_else(|| unavailable("the source speaks a revision that we do not"))
}

/// The answer to a question that no client is there for.
fn declined(id: &RequestId) -> String {
    let message = "no client is there to answer this".to_owned();
    response(
        id,
        Err(Declined {
            code: None,
            message,
        }),
    )
}

/// The answer to one request; what is said on the way is let be.
pub(crate) async fn ask(
    link: &dyn Link,
    outbound: Outbound,
    headers: Vec<(String, String)>,
) -> Result<Result<RawJson, RpcError>> {
    let mut talk = link.request(outbound, headers);
    while let Some(heard) = talk.next().await {
        match heard? {
            Heard::Answer(Answer::Result(result)) => return Ok(Ok(result)),
            Heard::Answer(Answer::Error(error)) => return Ok(Err(error)),
            // Nobody is there to answer: the server hears that from the one who owns the link.
            Heard::Question { id, .. } => link.notify(declined(&id)).await?,
            Heard::Said(_) => {}
        }
    }
    Err(unavailable("the source did not answer"))
}
