//! Servers that are processes: command and environment.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use super::server_kind::ServerKind;
use super::workspace;
use crate::support::Home;
use crate::support::tools::{Tools, peer};

/// A server process.
pub(super) struct Program {
    arguments: Vec<String>,
    env: BTreeMap<&'static str, String>,
}

impl Program {
    pub(super) fn of(server: ServerKind, home: &Home, tools: &Tools) -> Self {
        let text = |path: &Path| path.to_str().unwrap().to_owned();
        let npm = |package: &str| {
            let script = tools.npm(&format!("server-{package}/dist/index.js"));
            vec![text(tools.node()), text(&script)]
        };
        let python = |arguments: &[&str]| {
            let mut all = vec![text(&tools.python("python-servers")), "-B".to_owned()];
            all.extend(arguments.iter().map(|word| (*word).to_owned()));
            all
        };
        let mut env = BTreeMap::new();
        let arguments = match server {
            ServerKind::Everything | ServerKind::EverythingHttp | ServerKind::EverythingSse => {
                npm("everything")
            }
            ServerKind::Filesystem => {
                [npm("filesystem"), vec![text(&workspace::files(home))]].concat()
            }
            ServerKind::Memory => {
                env.insert("MEMORY_FILE_PATH", text(&workspace::memory(home)));
                npm("memory")
            }
            ServerKind::Git => {
                env.extend(workspace::GIT.map(|(name, value)| (name, value.to_owned())));
                let repository = text(&workspace::repository(home));
                python(&["-m", "mcp_server_git", "--repository", &repository])
            }
            ServerKind::Time => python(&["-m", "mcp_server_time", "--local-timezone", "Etc/UTC"]),
            ServerKind::Fetch => {
                // With node on the path, it would install packages.
                env.insert("PATH", text(&home.path().join("nothing")));
                python(&["-m", "mcp_server_fetch", "--allow-private-ips"])
            }
            ServerKind::FastMcp | ServerKind::FastMcpHttp => {
                python(&[&text(&peer("fastmcp_server.py"))])
            }
        };
        Self { arguments, env }
    }

    /// As a source of the configuration.
    pub(super) fn source(&self) -> Value {
        json!({ "command": self.arguments[0], "args": self.arguments[1..], "env": self.env })
    }

    /// As a command, with the environment that the gateway would set.
    pub(super) fn command(&self, home: &Home) -> Command {
        let mut command = home.command(&self.arguments[0]);
        command.env_remove("XDG_DATA_HOME");
        command.args(&self.arguments[1..]).envs(&self.env);
        command
    }
}
