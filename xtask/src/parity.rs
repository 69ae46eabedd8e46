//! `cargo xtask parity`: the servers of `crates/tidegate/tests/servers.txt`, directly and through the
//! gateway.
//!
//! Must not know: what is compared.

use anyhow::Result;

use crate::run::{cargo, run as run_command};
use crate::tools;
use crate::workspace::Workspace;

/// Runs fewer servers together with all tests, which do not install the others.
const TEST: &str = "real_servers::suite::responses_equal_direct_ones";

/// Runs the servers with these names, or all.
pub(crate) fn run(workspace: &Workspace, servers: &[String]) -> Result<()> {
    let tools = tools::set_up(workspace)?;
    tools::set_up_parity(workspace)?;
    let selection = match servers {
        [] => "all".to_owned(),
        names => names.join(" "),
    };
    run_command(
        cargo()
            .args(["test", "--package", "tidegate", "--test", "it", "--locked"])
            .args(["--", "--exact", TEST])
            .env("TIDEGATE_TOOLS", &tools.dir)
            .env("TIDEGATE_NODE", &tools.node)
            .env("TIDEGATE_PARITY", selection)
            .current_dir(&workspace.root),
    )
}
