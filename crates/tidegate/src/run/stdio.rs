//! `tidegate stdio`: one client on standard input and output.

use tidegate_server::serve_stdio;

use super::stop_signal;
use crate::assemble::{Assembly, wind_down};
use crate::config::Settings;

pub(super) async fn run(settings: Settings) -> anyhow::Result<()> {
    let assembly = Assembly::new(&settings)?;
    let stop = stop_signal()?;
    let background = assembly.background();
    let served = serve_stdio(
        &assembly.transports,
        tokio::io::stdin(),
        tokio::io::stdout(),
        stop,
    )
    .await;
    wind_down(background, assembly.ending()).await;
    Ok(served?)
}
