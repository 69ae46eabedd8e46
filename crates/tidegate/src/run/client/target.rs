//! Chooses the gateway that a client command uses.

use std::fmt;

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
    pub(super) fn choose(args: &ClientArgs, settings: &Settings) -> Self {
        if let Some(url) = &args.url {
            return Self::Url(url.clone());
        }
        if args.temporary {
            return Self::Temporary;
        }
        let running = RunningGateway::find(settings);
        let target = running.and_then(|gateway| {
            let (url, pid) = (gateway.url()?, gateway.pid);
            Some(Self::Running { url, pid })
        });
        target.unwrap_or(Self::NoneRunning)
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
