//! The life of the HTTP transport: open, stop taking connections, drain, end.

use std::sync::Arc;

use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::{Http, HttpConfig, Listener};
use crate::Transports;

/// Serves until `stop` is cancelled. Then it says that it is not ready, goes on taking connections
/// for a while, lets calls under way finish within the time to drain, and ends the rest.
pub async fn serve_http(
    transports: &Arc<Transports>,
    listener: Listener,
    config: &HttpConfig,
    stop: CancellationToken,
) {
    let limits = transports.limits.clone();
    let (closed, cut) = (CancellationToken::new(), CancellationToken::new());
    let serving = TaskTracker::new();
    {
        let router = Http::router(Arc::clone(transports), config);
        let (limits, closed, cut) = (limits.clone(), closed.clone(), cut.clone());
        serving.spawn(async move { listener.serve(router, &limits, closed, cut).await });
        serving.close();
    }
    stop.cancelled().await;
    transports.stop();
    tokio::time::sleep(limits.shutdown_delay).await;
    closed.cancel();
    transports.drain();
    let finished = async {
        serving.wait().await;
        transports.idle().await;
    };
    if tokio::time::timeout(limits.shutdown_timeout, finished)
        .await
        .is_err()
    {
        tracing::warn!("the time to drain is over; ending what is still under way");
    }
    cut.cancel();
    transports.end().await;
    serving.wait().await;
}
