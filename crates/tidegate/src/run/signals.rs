//! Unix signals: SIGTERM and SIGINT shut down, SIGHUP is ignored by commands that serve.

use std::io;

use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;

/// A token that the first SIGTERM or SIGINT cancels. The second one exits immediately.
pub(super) fn shutdown_signal() -> io::Result<CancellationToken> {
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    let shutdown = CancellationToken::new();
    let token = shutdown.clone();
    tokio::spawn(async move {
        let mut next = async || {
            tokio::select! {
                _ = terminate.recv() => {}
                _ = interrupt.recv() => {}
            }
        };
        next().await;
        tracing::info!("stopping; in-flight calls may finish, a second signal exits at once");
        token.cancel();
        next().await;
        std::process::exit(1);
    });
    Ok(shutdown)
}

/// Logs SIGHUP instead of exiting: it is sent to reload a service or when a terminal closes.
pub(super) fn ignore_hangup() -> io::Result<()> {
    let mut hangup = signal(SignalKind::hangup())?;
    tokio::spawn(async move {
        while hangup.recv().await.is_some() {
            tracing::warn!(
                "SIGHUP received; configuration reload is not supported, restart to apply changes"
            );
        }
    });
    Ok(())
}
