//! The record of the gateway that runs: where it is, so that commands can look into it. It stands in
//! the data folder, and only its owner can read it.

use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, Write as _};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpStream};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::config::Settings;

const FILE: &str = "running.json";

/// How long a gateway may take to be there.
const PATIENCE: Duration = Duration::from_millis(500);

#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Running {
    process: u32,
    address: SocketAddr,
    /// The configuration it runs with.
    config: Option<PathBuf>,
}

/// A record of ours. Dropped, it is gone.
pub(super) struct Record {
    file: PathBuf,
    running: Running,
}

impl Record {
    /// Notes that this process serves at an address.
    pub(super) fn write(settings: &Settings, address: SocketAddr) -> io::Result<Self> {
        let running = Running {
            process: std::process::id(),
            address: reachable(address),
            config: config_file(settings),
        };
        let mut folder = DirBuilder::new();
        folder.recursive(true).mode(0o700);
        folder.create(&settings.data_dir)?;
        let file = settings.data_dir.join(FILE);
        let fresh = settings
            .data_dir
            .join(format!("{FILE}.{}", running.process));
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(true).mode(0o600);
        let mut out = options.open(&fresh)?;
        out.write_all(serde_json::to_string(&running)?.as_bytes())?;
        fs::rename(&fresh, &file)?;
        Ok(Self { file, running })
    }
}

impl Drop for Record {
    fn drop(&mut self) {
        // Another may have taken its place.
        if read(&self.file).as_ref() == Some(&self.running) {
            fs::remove_file(&self.file).ok();
        }
    }
}

/// The endpoint of the gateway that runs with these settings, if one does.
pub(super) fn running(settings: &Settings) -> Option<http::Uri> {
    let running = read(&settings.data_dir.join(FILE))?;
    let is_ours = running.config == config_file(settings);
    let is_there = || TcpStream::connect_timeout(&running.address, PATIENCE).is_ok();
    (is_ours && is_there())
        .then(|| format!("http://{}/mcp", running.address).parse().ok())
        .flatten()
}

fn read(file: &Path) -> Option<Running> {
    serde_json::from_slice(&fs::read(file).ok()?).ok()
}

/// The file by the one name that does not depend on where we stand.
fn config_file(settings: &Settings) -> Option<PathBuf> {
    let file = settings.file.as_ref()?;
    Some(file.canonicalize().unwrap_or_else(|_| file.clone()))
}

/// Where an address that means all of the machine's is reached from here.
fn reachable(mut address: SocketAddr) -> SocketAddr {
    if address.ip().is_unspecified() {
        address.set_ip(match address {
            SocketAddr::V4(_) => IpAddr::V4(Ipv4Addr::LOCALHOST),
            SocketAddr::V6(_) => IpAddr::V6(Ipv6Addr::LOCALHOST),
        });
    }
    address
}
