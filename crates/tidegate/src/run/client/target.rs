//! Chooses the gateway that a client command uses.

use std::fmt;
use std::path::Path;

use super::connection::GatewayConnection;
use crate::cli::ClientArgs;
use crate::config::{Secret, Settings};
use crate::run::running_gateway::RunningGateway;

/// The gateway that a command uses.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Target {
    /// The gateway at this URL.
    Url(http::Uri),
    /// The gateway that runs with this configuration.
    Running { url: http::Uri, pid: u32 },
    /// A temporary gateway in this process, because none is running.
    NoneRunning,
    /// A temporary gateway in this process, as requested.
    Temporary,
}

impl Target {
    /// The gateway of the flags; otherwise the one that runs with the same configuration file. A
    /// command without a configuration file uses the only gateway that runs.
    pub(super) fn choose(args: &ClientArgs, settings: &Settings) -> Result<Self, String> {
        if let Some(url) = &args.url {
            return Ok(Self::Url(url.clone()));
        }
        if args.temporary {
            return Ok(Self::Temporary);
        }
        let file = settings.file.as_deref();
        let running = RunningGateway::all(&settings.data_dir);
        let same = |gateway: &&RunningGateway| gateway.has_config(file);
        let same: Vec<RunningGateway> = running.iter().filter(same).cloned().collect();
        let candidates = match (same.is_empty(), file) {
            (true, None) => running,
            _ => same,
        };
        match &candidates[..] {
            [] => Ok(Self::NoneRunning),
            [only] => Ok(Self::running(only).unwrap_or(Self::NoneRunning)),
            several => Err(several_running(several)),
        }
    }

    /// The gateway that runs with this configuration file, which may be invalid by now.
    pub(super) fn running_with(file: &Path, settings: &Settings) -> Option<Self> {
        let running = RunningGateway::all(&settings.data_dir);
        let same = |gateway: &&RunningGateway| gateway.has_config(Some(file));
        running.iter().find(same).and_then(Self::running)
    }

    fn running(gateway: &RunningGateway) -> Option<Self> {
        let (url, pid) = (gateway.url()?, gateway.pid);
        Some(Self::Running { url, pid })
    }

    /// Whether the gateway is in this process.
    pub(super) fn is_temporary(&self) -> bool {
        matches!(self, Self::NoneRunning | Self::Temporary)
    }

    pub(super) fn connect(
        &self,
        key: Option<&Secret>,
        settings: &Settings,
    ) -> anyhow::Result<GatewayConnection> {
        match self {
            Self::Url(url) | Self::Running { url, .. } => {
                GatewayConnection::to_url(url, key, settings)
            }
            Self::NoneRunning | Self::Temporary => GatewayConnection::to_temporary(settings),
        }
    }
}

fn several_running(gateways: &[RunningGateway]) -> String {
    let listed = gateways.iter().map(|gateway| format!("\n  {gateway}"));
    let listed: String = listed.collect();
    format!("several gateways are running; choose one:{listed}")
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Url(url) => write!(f, "asking the gateway at {url}"),
            Self::Running { url, pid } => write!(f, "asking the gateway at {url} (pid {pid})"),
            Self::NoneRunning => {
                f.write_str("no running gateway for this configuration; starting a temporary one")
            }
            Self::Temporary => f.write_str("starting a temporary gateway"),
        }
    }
}
