//! `tidegate serve`: the HTTP transport, until a signal.

use std::io;
use std::net::SocketAddr;

use anyhow::Context as _;
use tidegate_server::{Limits, Listener, serve_http};

use super::record::Record;
use super::stop_signal;
use crate::assemble::{Assembly, wind_down};
use crate::config::Settings;

/// Files that are open for other things than connections.
const OTHER_FILES: u64 = 128;

pub(super) async fn run(mut settings: Settings) -> anyhow::Result<()> {
    fit_connections(&mut settings.limits);
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
    // First, so that whoever waits for it misses nothing of what is told after it.
    tracing::info!("listening on http://{address}/mcp");
    let background = assembly.background();
    let record = Record::write(&settings, address).inspect_err(
        |error| tracing::warn!(%error, "commands will not find this gateway by itself"),
    );
    serve_http(&assembly.transports, listener, &assembly.http, stop).await;
    drop(record);
    wind_down(background, assembly.ending()).await;
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

/// Raises the number of files that may be open as far as the system lets us, and takes no more
/// connections than fit.
fn fit_connections(limits: &mut Limits) {
    let wanted = u64::try_from(limits.max_connections).unwrap_or(u64::MAX);
    let Ok(files) = rlimit::increase_nofile_limit(wanted.saturating_add(OTHER_FILES)) else {
        return;
    };
    let room = files.saturating_sub(OTHER_FILES).max(1);
    if room < wanted {
        tracing::warn!(
            connections = room,
            "the system lets us open fewer files than connections may be"
        );
        limits.max_connections = usize::try_from(room).unwrap_or(limits.max_connections);
    }
}
