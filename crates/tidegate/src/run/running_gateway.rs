//! The record of the running gateway in the data folder, by which client commands find it. Only its
//! owner can read it.

use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, Write as _};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpStream};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::config::Settings;

const FILE: &str = "running.json";

/// How long the gateway may take to accept a connection.
const CONNECT_TIMEOUT: Duration = Duration::from_millis(500);

/// A running gateway.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct RunningGateway {
    pub(super) pid: u32,
    address: SocketAddr,
    /// The configuration file that it was started with.
    config: Option<PathBuf>,
}

/// The record of this process, removed when dropped.
pub(super) struct GatewayRecord {
    file: PathBuf,
    gateway: RunningGateway,
}

impl GatewayRecord {
    /// Records that this process serves at an address.
    pub(super) fn write(settings: &Settings, address: SocketAddr) -> io::Result<Self> {
        let gateway = RunningGateway {
            pid: std::process::id(),
            address: connectable(address),
            config: canonical_config_file(settings),
        };
        let folder = &settings.data_dir;
        DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(folder)?;
        let file = folder.join(FILE);
        let temporary = folder.join(format!("{FILE}.{}", gateway.pid));
        let mut out = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(true)
            .mode(0o600)
            .open(&temporary)?;
        out.write_all(serde_json::to_string(&gateway)?.as_bytes())?;
        fs::rename(&temporary, &file)?;
        Ok(Self { file, gateway })
    }
}

impl Drop for GatewayRecord {
    fn drop(&mut self) {
        // Another gateway may have replaced the record.
        if read(&self.file).as_ref() == Some(&self.gateway) {
            fs::remove_file(&self.file).ok();
        }
    }
}

impl RunningGateway {
    /// The gateway that runs with these settings, if it accepts connections.
    pub(super) fn find(settings: &Settings) -> Option<Self> {
        let gateway = read(&settings.data_dir.join(FILE))?;
        let same_config = gateway.config == canonical_config_file(settings);
        let accepts = || TcpStream::connect_timeout(&gateway.address, CONNECT_TIMEOUT).is_ok();
        (same_config && accepts()).then_some(gateway)
    }

    /// Its MCP endpoint.
    pub(super) fn url(&self) -> Option<http::Uri> {
        format!("http://{}/mcp", self.address).parse().ok()
    }
}

fn read(file: &Path) -> Option<RunningGateway> {
    serde_json::from_slice(&fs::read(file).ok()?).ok()
}

/// The configuration file by a path that does not depend on the current folder.
fn canonical_config_file(settings: &Settings) -> Option<PathBuf> {
    let file = settings.file.as_ref()?;
    Some(file.canonicalize().unwrap_or_else(|_| file.clone()))
}

/// The address to connect to: loopback for a gateway that listens on all addresses.
fn connectable(mut address: SocketAddr) -> SocketAddr {
    if address.ip().is_unspecified() {
        address.set_ip(match address {
            SocketAddr::V4(_) => IpAddr::V4(Ipv4Addr::LOCALHOST),
            SocketAddr::V6(_) => IpAddr::V6(Ipv6Addr::LOCALHOST),
        });
    }
    address
}
