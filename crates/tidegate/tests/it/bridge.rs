//! Every client before every server, feature by feature: what works, and what cannot be said in the
//! words of one of the two. The table that comes of it stands in `docs/bridge.md`.
//!
//! A cell that cannot be said is not skipped: it is checked that the gateway then does what its note
//! says.

mod cell;
mod clients;
mod features;
mod notes;
mod peer;
mod sdk_servers;
mod sdks;
mod servers;
mod table;
mod wire;

use std::panic::AssertUnwindSafe;
use std::rc::Rc;
use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::join_all;
use tokio::time::timeout;

use cell::{Cell, Row};
use clients::{CLIENTS, Client};
use features::FEATURES;
use servers::World;
use table::{Outcome, Table};

/// Where the tables stand, and the tests that make them.
const PAGE: &str = "docs/bridge.md";
const TESTS: &str = "bridge";

/// How long a cell may take. Long, because a busy machine is no fault of the program.
const PATIENCE: Duration = Duration::from_secs(60);

#[tokio::test]
async fn every_client_works_with_every_server() {
    let world = Rc::new(World::start());
    let rows = CLIENTS.iter().map(|client| row(client, &world));
    let outcomes = join_all(rows).await.into_iter().flatten();
    Table(outcomes.collect()).check();
}

/// All cells of one client, one after the other: on a pipe nothing tells whose question it is.
async fn row(client: &'static Client, world: &Rc<World>) -> Vec<Outcome> {
    let mut row = Row::of(client, world);
    let mut outcomes = Vec::new();
    for server in 0..world.servers.len() {
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
                server: world.servers[server].title.clone(),
                feature,
                verdict,
            });
        }
    }
    outcomes
}
