//! Many clients with many servers: the processes stay within the limits, and end with their clients.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};
use tidegate_testkit::NEWEST_LEGACY;
use tidegate_testkit::fixture::program;

use crate::support::messages::{HEALTH, Modern};
use crate::support::proc::{descendants, poll_for, zombies};
use crate::support::{Answer, Home, Post, Running, Server, Session};

const CLIENTS: usize = 50;
const SERVERS: usize = 20;
const SERVERS_PER_CLIENT: usize = 6;
const MAX_PROCESSES: usize = 5;
const MAX_PROCESSES_PER_PRINCIPAL: usize = 3;

/// The keys of the principals, the first of which is an administrator.
const KEYS: [&str; 2] = ["key-of-ada-0123456789", "key-of-bob-0123456789"];

fn start_gateway() -> Server {
    let sources = (0..SERVERS).map(|number| {
        let source = json!({
            "command": program(),
            "args": ["--era", "legacy", "--name", server_name(number)],
            "max_processes": MAX_PROCESSES,
            "max_processes_per_principal": MAX_PROCESSES_PER_PRINCIPAL,
            "idle_timeout": "2s",
        });
        (server_name(number), source)
    });
    let config = json!({
        "limits": { "startup_wait": "2m", "session_idle_timeout": "10s" },
        "auth": { "keys": { "ada": "${env:ADA_KEY}", "bob": "${env:BOB_KEY}" }, "admins": ["ada"] },
        "sources": sources.collect::<serde_json::Map<_, _>>(),
    });
    let home = Home::with_config(&config.to_string());
    let mut command = home.tidegate(&["serve", "--listen", "127.0.0.1:0"]);
    command.env("ADA_KEY", KEYS[0]).env("BOB_KEY", KEYS[1]);
    let gateway = Server::of(home, Running::start(&mut command));
    for _ in 0..SERVERS {
        gateway.process.stderr.find("source connected");
    }
    gateway
}

fn server_name(number: usize) -> String {
    format!("server-{number:02}")
}

/// The number of processes of each server.
fn processes(gateway: &Server) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    for process in descendants(gateway.process.id()) {
        let server = process.command.split("--name ").nth(1);
        if let (false, Some(server)) = (process.is_child_guard(), server) {
            *counts.entry(server.trim().to_owned()).or_default() += 1;
        }
    }
    counts
}

/// One client, which calls some of the servers.
struct Client<'a> {
    gateway: &'a Server,
    number: usize,
}

impl Client<'_> {
    fn key(&self) -> &'static str {
        KEYS[self.number % KEYS.len()]
    }

    /// Calls a tool of each of its servers that returns the process id. Returns those of the calls that
    /// the limits allowed.
    fn run(&self) -> Vec<u64> {
        let servers = (0..SERVERS_PER_CLIENT).map(|offset| (self.number + 3 * offset) % SERVERS);
        let tools = servers.map(|server| format!("{}__process_id", server_name(server)));
        match self.number % 4 {
            0 | 1 => tools
                .filter_map(|tool| process_id(&self.call_modern(&tool)))
                .collect(),
            kind => {
                let address = self.gateway.address;
                let session = Session::open_as(address, "/mcp", NEWEST_LEGACY, Some(self.key()));
                let call = |tool| {
                    let params = json!({ "name": tool, "arguments": {} });
                    process_id(&session.request("tools/call", &params))
                };
                let ids = tools.filter_map(call).collect();
                // Half of the clients end their sessions, the others are just gone.
                if kind == 2 {
                    session.end();
                }
                ids
            }
        }
    }

    fn call_modern(&self, tool: &str) -> Answer {
        let mut call = Modern::new("tools/call", json!({ "name": tool, "arguments": {} }));
        let info = json!({ "name": format!("client-{}", self.number), "version": "1" });
        call.set_meta("io.modelcontextprotocol/clientInfo", info);
        call.post(authorized(self.gateway.post(), self.key()))
    }
}

fn authorized(post: Post, key: &str) -> Post {
    post.header("Authorization", &format!("Bearer {key}"))
}

/// The process that served a call; `None` if a limit was reached.
fn process_id(answer: &Answer) -> Option<u64> {
    let answer = answer.json();
    match answer["error"]["message"].as_str() {
        None => {
            let text = answer["result"]["content"][0]["text"].as_str();
            Some(text.unwrap_or_else(|| panic!("{answer}")).parse().unwrap())
        }
        Some(message) => {
            assert!(message.contains("max_processes"), "{answer}");
            None
        }
    }
}

/// The health report, as an administrator sees it.
fn health(gateway: &Server) -> Value {
    let read = Modern::new("resources/read", json!({ "uri": HEALTH }));
    let report = read.post(authorized(gateway.post(), KEYS[0])).result();
    serde_json::from_str(report["contents"][0]["text"].as_str().unwrap()).unwrap()
}

/// Whether the report shows no processes of clients.
fn has_no_clients(health: &Value) -> bool {
    let components = health["components"].as_array().unwrap();
    let of_clients = |component: &Value| component.get("connections").is_some();
    assert!(components.len() > SERVERS, "{health}");
    !components.iter().any(of_clients)
}

#[test]
fn processes_stay_within_the_limits_and_end_with_their_clients() {
    let gateway = start_gateway();
    let is_done = AtomicBool::new(false);
    let process_ids = Mutex::new(BTreeMap::<u64, usize>::new());
    let largest = thread::scope(|scope| {
        let observer = scope.spawn(|| {
            let mut largest = BTreeMap::<String, usize>::new();
            while !is_done.load(Ordering::Relaxed) {
                for (server, count) in processes(&gateway) {
                    let largest = largest.entry(server).or_default();
                    *largest = count.max(*largest);
                }
                thread::sleep(Duration::from_millis(20));
            }
            largest
        });
        let clients = (0..CLIENTS).map(|number| {
            let client = Client {
                gateway: &gateway,
                number,
            };
            let process_ids = &process_ids;
            scope.spawn(move || {
                for id in client.run() {
                    let owner = process_ids.lock().unwrap().insert(id, number);
                    assert_eq!(owner, None, "two clients shared a process");
                }
            })
        });
        let clients: Vec<_> = clients.collect();
        let outcomes: Vec<_> = clients
            .into_iter()
            .map(thread::ScopedJoinHandle::join)
            .collect();
        is_done.store(true, Ordering::Relaxed);
        for outcome in outcomes {
            outcome.unwrap();
        }
        observer.join().unwrap()
    });
    assert_eq!(largest.len(), SERVERS);
    for (server, count) in largest {
        assert!(count <= MAX_PROCESSES, "{server} had {count} processes");
    }
    let served = process_ids.lock().unwrap().len();
    assert!(
        (SERVERS..CLIENTS * SERVERS_PER_CLIENT).contains(&served),
        "{served}"
    );
    // One process of each server remains, for its lists.
    poll_for("the end of all processes of clients", || {
        let processes = processes(&gateway);
        let is_idle = processes.len() == SERVERS && processes.values().all(|count| *count == 1);
        (is_idle && has_no_clients(&health(&gateway))).then_some(())
    });
    assert_eq!(zombies(gateway.process.id()), 0);
    gateway.stop();
}
