//! Connectivity to servers: TLS, proxies, and errors that tell users what to do.

mod proxies;
mod tls;
mod unusable_responses;

use serde_json::{Value, json};
use tidegate_testkit::fixture::{Fixture, RunningFixture};
use tokio::runtime::Runtime;

use crate::support::{Home, Running, Server};

/// Servers and proxies inside the test, running until this is dropped.
struct TestServers(Runtime);

impl TestServers {
    fn new() -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build();
        Self(runtime.unwrap())
    }

    fn start<T>(&self, future: impl Future<Output = T>) -> T {
        self.0.block_on(future)
    }

    fn fixture(&self, fixture: Fixture) -> RunningFixture {
        self.start(fixture.start())
    }
}

/// A gateway with this source and trace logging.
fn gateway(source: &Value, files: &[(&str, &str)], variables: &[(&str, &str)]) -> Server {
    let config = json!({
        "limits": { "startup_wait": "2m" },
        "log": { "level": "trace" },
        "sources": { "fixture": source },
    });
    let home = Home::with_config(&config.to_string());
    for (name, text) in files {
        home.write(name, text);
    }
    let mut command = home.tidegate(&["serve", "--listen", "127.0.0.1:0"]);
    command.envs(variables.iter().copied());
    let process = Running::start(&mut command);
    Server::of(home, process)
}

/// The response of the source's simplest tool.
fn call(server: &Server) -> Value {
    let call = json!({ "name": "fixture__test_simple_text", "arguments": {} });
    server.modern("tools/call", call).json()
}

#[track_caller]
fn assert_works(server: &Server) {
    let answer = call(server);
    let text = answer["result"]["content"][0]["text"].as_str();
    assert!(
        text.is_some_and(|text| text.contains("simple text")),
        "{answer}\n{}",
        server.process.stderr.so_far()
    );
}

/// The log line for a source that cannot be reached.
fn unreachable_line(server: &Server) -> String {
    server.process.stderr.find("cannot connect to source")
}
