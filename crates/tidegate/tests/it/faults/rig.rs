//! A gateway with a faulty and a healthy server. While the faulty one misbehaves, the healthy one
//! is called and listed, and afterwards no resources are leaked.

use std::io::{self, Write as _};
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use tidegate_testkit::unique_loopback_address;

use super::resource_usage::ResourceUsage;
use crate::support::messages::Modern;
use crate::support::proc::poll_for;
use crate::support::{Answer, Home, Post, Running, Server};

/// Concurrent faulty calls, and how often they are repeated. More than the tolerance of the leak
/// check.
pub(super) const AT_ONCE: usize = 8;
pub(super) const ROUNDS: usize = 3;

/// A short timeout, for calls that are expected to exceed it.
pub(super) const CALL_TIMEOUT: &str = "500ms";

/// The transport and the era of the faulty server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ServerKind {
    StdioLegacy,
    StdioModern,
    HttpLegacy,
    HttpModern,
    /// Modern, with every response as an event stream.
    HttpEventStream,
    /// HTTP+SSE.
    HttpSse,
}

impl ServerKind {
    pub(super) fn is_stdio(self) -> bool {
        matches!(self, Self::StdioLegacy | Self::StdioModern)
    }

    /// Whether all messages share one connection in order.
    pub(super) fn is_single_connection(self) -> bool {
        self.is_stdio() || self == Self::HttpSse
    }

    fn flags(self) -> &'static [&'static str] {
        match self {
            Self::StdioLegacy | Self::HttpLegacy | Self::HttpSse => &["--era", "legacy"],
            Self::StdioModern | Self::HttpModern => &["--era", "modern"],
            Self::HttpEventStream => &["--era", "modern", "--format", "sse"],
        }
    }
}

/// The gateway and the two servers.
pub(super) struct Rig {
    pub(super) kind: ServerKind,
    pub(super) gateway: Server,
    over_http: Option<HttpServer>,
    before: Option<ResourceUsage>,
    watch: Option<HealthyServerCheck>,
}

/// A server over HTTP, which the rig restarts.
struct HttpServer {
    home: Home,
    flags: Vec<String>,
    address: SocketAddr,
    process: Running,
}

impl HttpServer {
    fn start(flags: &[&str]) -> Self {
        let flags: Vec<_> = flags.iter().map(|&flag| flag.to_owned()).collect();
        let home = Home::new();
        let (process, address) = Self::run(&home, &flags, &unique_loopback_address().to_string());
        Self {
            home,
            flags,
            address,
            process,
        }
    }

    fn run(home: &Home, flags: &[String], listen: &str) -> (Running, SocketAddr) {
        let mut command = home.command(tidegate_testkit::fixture::program());
        let process = Running::start(command.args(["--listen", listen]).args(flags));
        let url = process.stdout.find("http://");
        let address = url.split('/').nth(2).unwrap().parse().unwrap();
        (process, address)
    }
}

impl Rig {
    /// With these flags for the faulty server and these settings of its source.
    pub(super) fn start(kind: ServerKind, flags: &[&str], settings: &Value) -> Self {
        let rig = Self::start_unchecked(kind, flags, settings);
        poll_for("the server to work", || rig.works().then_some(()));
        rig.with_checks()
    }

    /// Without waiting for the faulty server to work.
    pub(super) fn start_without(kind: ServerKind, flags: &[&str], settings: &Value) -> Self {
        Self::start_unchecked(kind, flags, settings).with_checks()
    }

    /// With a faulty server that is never idle, so leaks cannot be measured.
    pub(super) fn start_unstable(kind: ServerKind, flags: &[&str], settings: &Value) -> Self {
        Self::start_unchecked(kind, flags, settings).with_healthy_server_check()
    }

    fn start_unchecked(kind: ServerKind, flags: &[&str], settings: &Value) -> Self {
        let flags = [kind.flags(), &["--faults", "--name", "faulty"], flags].concat();
        let over_http = (!kind.is_stdio()).then(|| HttpServer::start(&flags));
        let program = tidegate_testkit::fixture::program();
        let mut faulty = match &over_http {
            None => json!({ "command": program, "args": flags }),
            Some(http) if kind == ServerKind::HttpSse => {
                json!({ "url": format!("http://{}/sse", http.address) })
            }
            Some(http) => json!({ "url": format!("http://{}/mcp", http.address) }),
        };
        faulty["breaker"] = json!({ "failure_threshold": 0 });
        for (name, value) in settings.as_object().unwrap() {
            faulty[name] = value.clone();
        }
        let healthy = json!({ "command": program, "args": ["--name", "healthy"] });
        let config = json!({
            "limits": { "startup_wait": "2m" },
            "log": { "level": "debug" },
            "sources": { "healthy": healthy, "faulty": faulty },
        });
        let gateway = Server::with_config(&config.to_string());
        // The first call waits for both sources.
        call_at(gateway.address, "healthy__echo", &json!({}));
        Self {
            kind,
            before: None,
            watch: None,
            over_http,
            gateway,
        }
    }

    fn with_checks(mut self) -> Self {
        self.before = Some(ResourceUsage::when_idle(&self.gateway));
        self.with_healthy_server_check()
    }

    fn with_healthy_server_check(mut self) -> Self {
        self.watch = Some(HealthyServerCheck::start(self.gateway.address));
        self
    }

    /// Calls a tool of the faulty server; panics unless there is exactly one response.
    #[track_caller]
    pub(super) fn call(&self, tool: &str, arguments: &Value) -> Value {
        call_at(self.gateway.address, &format!("faulty__{tool}"), arguments)
    }

    /// Starts concurrent calls of a tool.
    pub(super) fn start_calls(&self, times: usize, tool: &str, arguments: &Value) -> InFlightCalls {
        let (gateway, tool) = (self.gateway.address, format!("faulty__{tool}"));
        let calls = (0..times).map(|_| {
            let (tool, arguments) = (tool.clone(), arguments.clone());
            thread::spawn(move || call_at(gateway, &tool, &arguments))
        });
        InFlightCalls(calls.collect())
    }

    /// Calls a tool concurrently.
    pub(super) fn call_concurrently(
        &self,
        times: usize,
        tool: &str,
        arguments: &Value,
    ) -> Vec<Value> {
        self.start_calls(times, tool, arguments).answers()
    }

    /// Calls a tool concurrently and repeatedly, and checks every response.
    pub(super) fn call_repeatedly(&self, tool: &str, arguments: &Value, check: impl Fn(&Value)) {
        for _ in 0..ROUNDS {
            for answer in self.call_concurrently(AT_ONCE, tool, arguments) {
                check(&answer);
            }
        }
    }

    /// Whether the faulty server responds correctly.
    pub(super) fn works(&self) -> bool {
        let answer = self.call("echo", &json!({ "text": "tide" }));
        answer["result"].to_string().contains("tide")
    }

    /// Waits until the faulty server has received this many calls of a tool.
    pub(super) fn wait_until_received(&self, tool: &str, calls: usize) {
        poll_for(&format!("{calls} calls of {tool}"), || {
            let filter = json!({ "method": "tools/call" });
            let received = self.call("received_messages", &filter);
            let received: Vec<Value> = serde_json::from_str(text(&received)).unwrap();
            let bodies = received.iter().map(|received| match &received["line"] {
                Value::String(line) => line,
                _ => received["body"].as_str().unwrap(),
            });
            let count = bodies.filter(|body| body.contains(tool)).count();
            (count == calls).then_some(())
        });
    }

    pub(super) fn wait_until_working(&self) {
        poll_for("the server to work again", || self.works().then_some(()));
    }

    /// The process id of the faulty server.
    pub(super) fn pid(&self) -> u32 {
        match &self.over_http {
            Some(http) => http.process.id(),
            None => {
                let answer = self.call("process_id", &json!({}));
                text(&answer).parse().unwrap()
            }
        }
    }

    pub(super) fn signal(&self, pid: u32, signal: Signal) {
        let pid = Pid::from_raw(pid.try_into().unwrap()).unwrap();
        kill_process(pid, signal).unwrap();
    }

    /// Restarts a server over HTTP on the same address.
    pub(super) fn restart(&mut self) {
        if let Some(http) = &mut self.over_http {
            http.process.wait();
            let listen = http.address.to_string();
            (http.process, _) = HttpServer::run(&http.home, &http.flags, &listen);
        }
    }

    /// Sets the era of a server over HTTP for its next start.
    pub(super) fn set_era(&mut self, era: &str) {
        let flags = &mut self.over_http.as_mut().unwrap().flags;
        let at = flags.iter().position(|flag| flag == "--era").unwrap();
        era.clone_into(&mut flags[at + 1]);
    }

    /// The number of log lines of the gateway that contain `part`.
    pub(super) fn logged(&self, part: &str) -> usize {
        let log = self.gateway.process.stderr.so_far();
        log.lines().filter(|line| line.contains(part)).count()
    }

    /// Checks that the healthy server worked all the time and that nothing leaked; stops the
    /// gateway.
    pub(super) fn end(mut self) {
        self.watch.take().unwrap().end();
        if let Some(before) = &self.before {
            before.wait_for_return(&self.gateway);
        }
        self.gateway.process.signal(Signal::TERM);
        let status = self.gateway.process.wait();
        assert!(status.success(), "{status}");
        assert_eq!(self.logged("panicked"), 0);
    }
}

/// Prints the end of the log if the test fails.
impl Drop for Rig {
    fn drop(&mut self) {
        if thread::panicking() {
            let log = self.gateway.process.stderr.so_far();
            let lines: Vec<_> = log.lines().collect();
            let last = lines.len().saturating_sub(40);
            writeln!(io::stderr(), "{}", lines[last..].join("\n")).ok();
        }
    }
}

/// Calls in flight.
pub(super) struct InFlightCalls(Vec<JoinHandle<Value>>);

impl InFlightCalls {
    pub(super) fn answers(self) -> Vec<Value> {
        self.0
            .into_iter()
            .map(|call| call.join().unwrap())
            .collect()
    }
}

/// Calls a tool and returns its single response.
#[track_caller]
fn call_at(gateway: SocketAddr, tool: &str, arguments: &Value) -> Value {
    let call = json!({ "name": tool, "arguments": arguments });
    let answer = Modern::new("tools/call", call).post(Post::to(gateway, "/mcp"));
    let mut answers = messages(&answer);
    answers.retain(|message| message.get("id").is_some());
    let [answer] = &answers[..] else {
        panic!("{tool} has {} responses: {answers:?}", answers.len());
    };
    assert_eq!(answer["id"], 1, "{answer}");
    answer.clone()
}

/// The messages of a body, as JSON or as events.
fn messages(answer: &Answer) -> Vec<Value> {
    if answer.header("content-type") != Some("text/event-stream") {
        return vec![answer.json()];
    }
    let data = answer
        .body
        .lines()
        .filter_map(|line| line.strip_prefix("data:"));
    data.filter(|data| !data.trim().is_empty())
        .map(|data| serde_json::from_str(data).unwrap())
        .collect()
}

/// The text of a result.
#[track_caller]
pub(super) fn text(answer: &Value) -> &str {
    answer["result"]["content"][0]["text"]
        .as_str()
        .unwrap_or_else(|| panic!("no text: {answer}"))
}

/// Panics unless the response is an error of this kind.
#[track_caller]
pub(super) fn expect_error(answer: &Value, kind: &str) {
    assert_eq!(answer["error"]["data"]["kind"], kind, "{answer}");
}

/// Panics unless the response is an error.
#[track_caller]
pub(super) fn expect_failure(answer: &Value) {
    assert!(answer["error"].is_object(), "{answer}");
}

/// Calls and lists the healthy server in a loop.
struct HealthyServerCheck {
    stop: Arc<AtomicBool>,
    rounds: JoinHandle<()>,
    last_response: Arc<Mutex<Option<Value>>>,
}

impl HealthyServerCheck {
    fn start(gateway: SocketAddr) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        let last_response = Arc::<Mutex<Option<Value>>>::default();
        let last = Arc::clone(&last_response);
        let rounds = thread::spawn(move || {
            let mut rounds = 0;
            while rounds == 0 || !stopped.load(Ordering::Relaxed) {
                let answer = call_at(gateway, "healthy__echo", &json!({ "round": rounds }));
                *last.lock().unwrap() = Some(answer.clone());
                let text = answer["result"].to_string();
                assert!(text.contains(&rounds.to_string()), "{answer}");
                let list = Modern::new("tools/list", json!({})).post(Post::to(gateway, "/mcp"));
                let list = list.result().to_string();
                assert!(list.contains("healthy__test_simple_text"), "{list}");
                rounds += 1;
                thread::sleep(Duration::from_millis(10));
            }
        });
        Self {
            stop,
            rounds,
            last_response,
        }
    }

    fn end(self) {
        self.stop.store(true, Ordering::Relaxed);
        let rounds = self.rounds.join();
        rounds.unwrap_or_else(|_| {
            let last = self.last_response.lock().unwrap();
            panic!("the healthy server failed; last response: {last:?}")
        });
    }
}
