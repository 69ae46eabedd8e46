//! Every client with every server, feature by feature: what works, and what the revision of one of
//! the two does not have. The resulting tables are in `docs/bridge.md`.
//!
//! A cell for an unsupported feature is not skipped: the test checks that the gateway does what the
//! note of the cell says.

mod cell;
mod client_session;
mod clients;
mod features;
mod notes;
mod sdk_servers;
mod sdks;
mod servers;
mod table;
mod transport;

use std::panic::AssertUnwindSafe;
use std::rc::Rc;
use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::join_all;
use tokio::time::timeout;

use cell::{Cell, Row};
use clients::{CLIENTS, Client};
use features::FEATURES;
use servers::Servers;
use table::{Outcome, Table};

/// The page with the tables, and the tests that generate them.
const PAGE: &str = "docs/bridge.md";
const TESTS: &str = "bridge";

/// Timeout of a cell. Long, because a busy machine is not a failure of the program.
const PATIENCE: Duration = Duration::from_secs(60);

#[tokio::test]
async fn every_client_works_with_every_server() {
    let servers = Rc::new(Servers::start());
    let rows = CLIENTS.iter().map(|client| row(client, &servers));
    let outcomes = join_all(rows).await.into_iter().flatten();
    Table(outcomes.collect()).check();
}

/// All cells of one client, sequentially: over stdio nothing assigns a question to one of several
/// calls.
async fn row(client: &'static Client, servers: &Rc<Servers>) -> Vec<Outcome> {
    let mut row = Row::of(client, servers);
    let mut outcomes = Vec::new();
    for server in 0..servers.all.len() {
        for (feature, run) in FEATURES {
            let mut cell = Cell::new(&mut row, server);
            let ran = timeout(PATIENCE, run(&mut cell));
            let ran = AssertUnwindSafe(ran).catch_unwind().await;
            let verdict = ran.ok().and_then(Result::ok);
            if verdict.is_none() {
                row.reopen();
            }
            outcomes.push(Outcome {
                client: client.name,
                server: servers.all[server].title.clone(),
                feature,
                verdict,
            });
        }
    }
    outcomes
}
