//! `tidegate serve`: the HTTP door, until a signal.

use std::io;
use std::net::SocketAddr;

use anyhow::Context as _;
use tidegate_server::{Listener, serve_http};

use super::stop_signal;
use crate::assemble::Assembly;
use crate::config::Settings;

pub(super) async fn run(settings: Settings) -> anyhow::Result<()> {
    let assembly = Assembly::new(&settings)?;
    let stop = stop_signal()?;
    let listener = Listener::bind(settings.listen)
        .await
        .with_context(|| cannot_listen(settings.listen))
        .map_err(explain)?;
    let address = listener.address()?;
    if !address.ip().is_loopback() && settings.keys.is_empty() {
        tracing::warn!(
            "no authentication: whoever reaches this address may use everything behind it"
        );
    }
    let background = assembly.background();
    tracing::info!("listening on http://{address}/mcp");
    serve_http(&assembly.doors, listener, &assembly.http, stop).await;
    drop(background);
    tracing::info!("stopped");
    Ok(())
}

fn cannot_listen(address: SocketAddr) -> String {
    format!("cannot listen on {address}")
}

/// Says what to do about the usual reasons.
fn explain(error: anyhow::Error) -> anyhow::Error {
    let kind = error.downcast_ref::<io::Error>().map(io::Error::kind);
    let advice = match kind {
        Some(io::ErrorKind::AddrInUse) => {
            "another program uses this port; stop it, or choose another with --listen"
        }
        Some(io::ErrorKind::PermissionDenied) => {
            "this port needs more rights; choose one above 1023 with --listen"
        }
        Some(io::ErrorKind::AddrNotAvailable) => {
            "this machine does not have that address; choose another with --listen"
        }
        _ => return error,
    };
    let what = error.to_string();
    anyhow::anyhow!("{what}: {advice}")
}
