//! Servers that are processes: what is run, and in which environment.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use super::ground;
use super::real::Real;
use crate::support::Home;
use crate::support::tools::{Tools, peer};

/// A server that is a process.
pub(super) struct Program {
    words: Vec<String>,
    env: BTreeMap<&'static str, String>,
}

impl Program {
    pub(super) fn of(real: Real, home: &Home, tools: &Tools) -> Self {
        let text = |path: &Path| path.to_str().unwrap().to_owned();
        let npm = |package: &str| {
            let script = tools.npm(&format!("server-{package}/dist/index.js"));
            vec![text(tools.node()), text(&script)]
        };
        let python = |words: &[&str]| {
            let mut all = vec![text(&tools.python("python-servers")), "-B".to_owned()];
            all.extend(words.iter().map(|word| (*word).to_owned()));
            all
        };
        let mut env = BTreeMap::new();
        let words = match real {
            Real::Everything | Real::EverythingHttp | Real::EverythingSse => npm("everything"),
            Real::Filesystem => [npm("filesystem"), vec![text(&ground::files(home))]].concat(),
            Real::Memory => {
                env.insert("MEMORY_FILE_PATH", text(&ground::memory(home)));
                npm("memory")
            }
            Real::Git => {
                env.extend(ground::GIT.map(|(name, value)| (name, value.to_owned())));
                let repository = text(&ground::repository(home));
                python(&["-m", "mcp_server_git", "--repository", &repository])
            }
            Real::Time => python(&["-m", "mcp_server_time", "--local-timezone", "Etc/UTC"]),
            Real::Fetch => {
                // With a node in reach, it would install packages of its own.
                env.insert("PATH", text(&home.path().join("nothing")));
                python(&["-m", "mcp_server_fetch", "--allow-private-ips"])
            }
            Real::FastMcp | Real::FastMcpHttp => python(&[&text(&peer("fastmcp_server.py"))]),
        };
        Self { words, env }
    }

    /// As the configuration has it.
    pub(super) fn source(&self) -> Value {
        json!({ "command": self.words[0], "args": self.words[1..], "env": self.env })
    }

    /// To be started by hand, with the environment that the gateway would give it.
    pub(super) fn command(&self, home: &Home) -> Command {
        let mut command = home.command(&self.words[0]);
        command.env_remove("XDG_DATA_HOME");
        command.args(&self.words[1..]).envs(&self.env);
        command
    }
}
