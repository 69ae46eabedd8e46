//! `tidegate stdio`: serves one client on standard input and output.

use tidegate_server::serve_stdio;

use super::signals::{ignore_hangup, shutdown_signal};
use crate::assemble::{Assembly, shut_down};
use crate::config::Settings;

pub(super) async fn run(settings: Settings) -> anyhow::Result<()> {
    let assembly = Assembly::new(&settings)?;
    let shutdown = shutdown_signal()?;
    ignore_hangup()?;
    tracing::info!("{}", settings.sources_summary());
    let background = assembly.background();
    let served = serve_stdio(
        &assembly.transports,
        tokio::io::stdin(),
        tokio::io::stdout(),
        shutdown,
    )
    .await;
    shut_down(background, assembly.ending()).await;
    Ok(served?)
}
