//! `tidegate serve`: serves clients over HTTP until a signal.

use std::io;
use std::net::SocketAddr;

use tidegate_server::{Listener, TransportLimits, serve_http};

use super::running_gateway::GatewayRecord;
use super::signals::{ignore_hangup, shutdown_signal};
use crate::assemble::{Assembly, shut_down};
use crate::config::Settings;

/// Open files that are not client connections.
const OTHER_FILES: u64 = 128;

pub(super) async fn run(mut settings: Settings) -> anyhow::Result<()> {
    raise_open_file_limit(&mut settings.limits);
    let assembly = Assembly::new(&settings)?;
    let shutdown = shutdown_signal()?;
    ignore_hangup()?;
    let listener = Listener::bind(settings.listen)
        .await
        .map_err(|error| listen_error(settings.listen, &error))?;
    let address = listener.address()?;
    if !address.ip().is_loopback() && settings.keys.is_empty() {
        tracing::warn!("no authentication: anyone who can reach this address can use every source");
    }
    // Recorded before it is logged, so that client commands find a gateway that says it is listening.
    let record = GatewayRecord::write(&settings, address).inspect_err(
        |error| tracing::warn!(%error, "cannot record the running gateway; client commands need --url"),
    );
    // Logged before the sources start, so that a process that waits for this line sees all others.
    tracing::info!("listening on http://{address}/mcp");
    tracing::info!("{}", settings.sources_summary());
    let background = assembly.background();
    serve_http(&assembly.transports, listener, &assembly.http, shutdown).await;
    drop(record);
    shut_down(background, assembly.ending()).await;
    tracing::info!("stopped");
    Ok(())
}

fn listen_error(address: SocketAddr, error: &io::Error) -> anyhow::Error {
    let reason = match error.kind() {
        io::ErrorKind::AddrInUse => {
            "another program uses this port; stop it, or choose another port with --listen"
        }
        io::ErrorKind::PermissionDenied => {
            "permission denied; choose a port above 1023 with --listen"
        }
        io::ErrorKind::AddrNotAvailable => {
            "this machine does not have that address; choose another one with --listen"
        }
        _ => return anyhow::anyhow!("cannot listen on {address}: {error}"),
    };
    anyhow::anyhow!("cannot listen on {address}: {reason}")
}

/// Raises the open-file limit for the configured connections, or lowers the number of connections
/// to what the system allows.
fn raise_open_file_limit(limits: &mut TransportLimits) {
    let configured = u64::try_from(limits.max_connections).unwrap_or(u64::MAX);
    let Ok(files) = rlimit::increase_nofile_limit(configured.saturating_add(OTHER_FILES)) else {
        return;
    };
    let possible = files.saturating_sub(OTHER_FILES).max(1);
    if possible < configured {
        tracing::warn!(
            configured,
            possible,
            "open-file limit is below limits.max_connections; accepting fewer connections"
        );
        limits.max_connections = usize::try_from(possible).unwrap_or(limits.max_connections);
    }
}
