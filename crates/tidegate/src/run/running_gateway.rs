//! The records of running gateways in the data folder, by which client commands find them: one file
//! for each process, which only its owner can read.

use std::fmt;
use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, Write as _};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpStream};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::process::{Pid, test_kill_process};
use serde::{Deserialize, Serialize};

use crate::config::Settings;

/// The folder of the records, in the data folder.
const FOLDER: &str = "running";

/// How long a gateway may take to accept a connection.
const CONNECT_TIMEOUT: Duration = Duration::from_millis(500);

/// A running gateway.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct RunningGateway {
    pub(super) pid: u32,
    address: SocketAddr,
    /// The configuration file that it was started with.
    config: Option<PathBuf>,
}

/// The record of this process, removed when dropped.
pub(super) struct GatewayRecord(PathBuf);

impl GatewayRecord {
    /// Records that this process serves at an address.
    pub(super) fn write(settings: &Settings, address: SocketAddr) -> io::Result<Self> {
        let gateway = RunningGateway {
            pid: std::process::id(),
            address: connectable(address),
            config: settings.file.as_deref().map(canonical),
        };
        let folder = settings.data_dir.join(FOLDER);
        DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(&folder)?;
        let file = folder.join(format!("{}.json", gateway.pid));
        let temporary = folder.join(format!("{}.tmp", gateway.pid));
        let mut out = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(true)
            .mode(0o600)
            .open(&temporary)?;
        out.write_all(serde_json::to_string(&gateway)?.as_bytes())?;
        fs::rename(&temporary, &file)?;
        Ok(Self(file))
    }
}

impl Drop for GatewayRecord {
    fn drop(&mut self) {
        fs::remove_file(&self.0).ok();
    }
}

impl RunningGateway {
    /// The gateways of a data folder that accept connections, the oldest process id first. Removes
    /// the records of processes that have died.
    pub(super) fn all(data_dir: &Path) -> Vec<Self> {
        let files = fs::read_dir(data_dir.join(FOLDER)).into_iter().flatten();
        let mut gateways = Vec::new();
        for file in files.flatten().map(|entry| entry.path()) {
            match read(&file) {
                Some(gateway) if !gateway.is_alive() => {
                    fs::remove_file(&file).ok();
                }
                Some(gateway) if gateway.accepts_connections() => gateways.push(gateway),
                _ => {}
            }
        }
        gateways.sort_by_key(|gateway| gateway.pid);
        gateways
    }

    /// Whether it was started with this configuration file.
    pub(super) fn has_config(&self, file: Option<&Path>) -> bool {
        self.config == file.map(canonical)
    }

    /// Its MCP endpoint.
    pub(super) fn url(&self) -> Option<http::Uri> {
        format!("http://{}/mcp", self.address).parse().ok()
    }

    fn is_alive(&self) -> bool {
        let pid = i32::try_from(self.pid).ok().and_then(Pid::from_raw);
        pid.is_some_and(|pid| test_kill_process(pid).is_ok())
    }

    fn accepts_connections(&self) -> bool {
        TcpStream::connect_timeout(&self.address, CONNECT_TIMEOUT).is_ok()
    }
}

/// `--url http://127.0.0.1:8080/mcp (pid 7, /home/ada/tidegate.yaml)`
impl fmt::Display for RunningGateway {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "--url http://{}/mcp (pid {}, ", self.address, self.pid)?;
        match &self.config {
            Some(file) => write!(f, "{})", file.display()),
            None => f.write_str("no configuration file)"),
        }
    }
}

fn read(file: &Path) -> Option<RunningGateway> {
    serde_json::from_slice(&fs::read(file).ok()?).ok()
}

/// A file by a path that does not depend on the current folder.
fn canonical(file: &Path) -> PathBuf {
    file.canonicalize().unwrap_or_else(|_| file.to_owned())
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
