//! The command line of MCP Inspector, as a client of a gateway over HTTP.

use serde_json::Value;

use super::tools::Tools;
use super::{Running, Server};

/// Sends a request in an era and returns the result.
#[track_caller]
pub(crate) fn inspect(server: &Server, era: &str, method: &str, more: &[&str]) -> Value {
    let path = "inspector/clients/launcher/build/index.js";
    let mut command = Tools::find().script(&server.home, path);
    // Without these it looks for a keychain or a browser.
    command.env("MCP_INSPECTOR_SECRET_STORE", "memory");
    command.args(["--cli", &server.url(), "--stored-auth-only"]);
    command.args(["--method", method, "--protocol-era", era]);
    command.args(["--format", "json", "-q"]).args(more);
    let ended = Running::start(&mut command).end().expect_code(0);
    let mut output: Value = serde_json::from_str(&ended.stdout).unwrap();
    output["result"].take()
}
