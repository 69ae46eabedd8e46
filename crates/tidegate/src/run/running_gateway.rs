//! The records of running gateways in the data folder, by which client commands find them: one file
//! for each process, which only its owner can read. A gateway holds a lock on its record; the system
//! releases it when the process ends, however it ends, so that neither a reused process id nor a reused
//! port is mistaken for the gateway.

use std::fmt;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, BufReader, Write as _};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpStream};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

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
pub(super) struct GatewayRecord {
    path: PathBuf,
    /// Locked for as long as it is open.
    _file: File,
}

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
        out.lock()?;
        out.write_all(serde_json::to_string(&gateway)?.as_bytes())?;
        fs::rename(&temporary, &file)?;
        Ok(Self {
            path: file,
            _file: out,
        })
    }
}

impl Drop for GatewayRecord {
    fn drop(&mut self) {
        fs::remove_file(&self.path).ok();
    }
}

impl RunningGateway {
    /// The gateways of a data folder that accept connections, the oldest process id first. Removes
    /// the records of processes that have died.
    pub(super) fn all(data_dir: &Path) -> Vec<Self> {
        let files = fs::read_dir(data_dir.join(FOLDER)).into_iter().flatten();
        let mut gateways = Vec::new();
        for path in files.flatten().map(|entry| entry.path()) {
            let is_record = path
                .extension()
                .is_some_and(|extension| extension == "json");
            let Some(file) = File::open(&path).ok().filter(|_| is_record) else {
                continue;
            };
            match read(&file) {
                _ if !is_locked(&file) => {
                    fs::remove_file(&path).ok();
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

fn read(file: &File) -> Option<RunningGateway> {
    serde_json::from_reader(BufReader::new(file)).ok()
}

/// Whether the gateway that wrote a record is running. Where files cannot be locked, it may be.
fn is_locked(file: &File) -> bool {
    file.try_lock_shared().is_err()
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
