//! A gateway with a server that misbehaves and one that does not. Whatever the one does, the other
//! is called and listed all the while, and nothing is left of it afterwards.

use std::io::{self, Write as _};
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use tidegate_testkit::unique_loopback_address;

use super::usage::Usage;
use crate::support::messages::Modern;
use crate::support::proc::poll_for;
use crate::support::{Answer, Home, Post, Running, Server};

/// How many calls misbehave at once, and how often. More than what may differ afterwards by chance.
pub(super) const AT_ONCE: usize = 8;
pub(super) const ROUNDS: usize = 3;

/// How the server that misbehaves is reached, and in which era.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    PipeLegacy,
    PipeModern,
    HttpLegacy,
    HttpModern,
    /// Modern, and every answer is a stream.
    HttpEvents,
    /// The oldest HTTP transport.
    HttpOldest,
}

impl Kind {
    pub(super) fn is_pipe(self) -> bool {
        matches!(self, Self::PipeLegacy | Self::PipeModern)
    }

    /// Whether all that is said goes one way, one thing after the other.
    pub(super) fn is_one_way(self) -> bool {
        self.is_pipe() || self == Self::HttpOldest
    }

    fn flags(self) -> &'static [&'static str] {
        match self {
            Self::PipeLegacy | Self::HttpLegacy | Self::HttpOldest => &["--era", "legacy"],
            Self::PipeModern | Self::HttpModern => &["--era", "modern"],
            Self::HttpEvents => &["--era", "modern", "--format", "sse"],
        }
    }
}

/// The gateway and the two servers.
pub(super) struct Rig {
    pub(super) kind: Kind,
    pub(super) gateway: Server,
    over_http: Option<OverHttp>,
    before: Usage,
    watch: Option<Watch>,
}

/// A server over HTTP, which somebody else has to start again.
struct OverHttp {
    home: Home,
    flags: Vec<String>,
    address: SocketAddr,
    process: Running,
}

impl OverHttp {
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
    /// With these flags for the server that misbehaves, and this in its entry of the configuration.
    pub(super) fn start(kind: Kind, flags: &[&str], conduct: &Value) -> Self {
        let rig = Self::unchecked(kind, flags, conduct);
        poll_for("the server to be there", || rig.works().then_some(()));
        rig.watched()
    }

    /// Where the server that misbehaves need not be there at all.
    pub(super) fn start_without(kind: Kind, flags: &[&str], conduct: &Value) -> Self {
        Self::unchecked(kind, flags, conduct).watched()
    }

    fn unchecked(kind: Kind, flags: &[&str], conduct: &Value) -> Self {
        let flags = [kind.flags(), &["--faults", "--name", "faulty"], flags].concat();
        let over_http = (!kind.is_pipe()).then(|| OverHttp::start(&flags));
        let program = tidegate_testkit::fixture::program();
        let mut faulty = match &over_http {
            None => json!({ "command": program, "args": flags }),
            Some(http) if kind == Kind::HttpOldest => {
                json!({ "url": format!("http://{}/sse", http.address) })
            }
            Some(http) => json!({ "url": format!("http://{}/mcp", http.address) }),
        };
        faulty["breaker"] = json!({ "failure_threshold": 0 });
        for (name, value) in conduct.as_object().unwrap() {
            faulty[name] = value.clone();
        }
        let healthy = json!({ "command": program, "args": ["--name", "healthy"] });
        let config = json!({
            "limits": { "startup_wait": "2m" },
            "log": { "level": "debug" },
            "sources": { "healthy": healthy, "faulty": faulty },
        });
        let gateway = Server::with_config(&config.to_string());
        // The first call waits for both.
        call_at(gateway.address, "healthy__echo", &json!({}));
        Self {
            kind,
            before: Usage::default(),
            watch: None,
            over_http,
            gateway,
        }
    }

    fn watched(mut self) -> Self {
        self.before = Usage::settled(&self.gateway);
        self.watch = Some(Watch::start(self.gateway.address));
        self
    }

    /// Calls a tool of the server that misbehaves: one answer comes, and it is the whole answer.
    #[track_caller]
    pub(super) fn call(&self, tool: &str, arguments: &Value) -> Value {
        call_at(self.gateway.address, &format!("faulty__{tool}"), arguments)
    }

    /// Begins calls of a tool, several at once.
    pub(super) fn begin(&self, times: usize, tool: &str, arguments: &Value) -> UnderWay {
        let (gateway, tool) = (self.gateway.address, format!("faulty__{tool}"));
        let calls = (0..times).map(|_| {
            let (tool, arguments) = (tool.clone(), arguments.clone());
            thread::spawn(move || call_at(gateway, &tool, &arguments))
        });
        UnderWay(calls.collect())
    }

    /// Calls a tool several times at once.
    pub(super) fn call_at_once(&self, times: usize, tool: &str, arguments: &Value) -> Vec<Value> {
        self.begin(times, tool, arguments).answers()
    }

    /// Calls a tool at once and again and again, and looks at every answer.
    pub(super) fn every_time(&self, tool: &str, arguments: &Value, check: impl Fn(&Value)) {
        for _ in 0..ROUNDS {
            for answer in self.call_at_once(AT_ONCE, tool, arguments) {
                check(&answer);
            }
        }
    }

    /// Whether the server that misbehaves answers as it should.
    pub(super) fn works(&self) -> bool {
        let answer = self.call("echo", &json!({ "word": "tide" }));
        answer["result"].to_string().contains("tide")
    }

    pub(super) fn works_again(&self) {
        poll_for("the server to work again", || self.works().then_some(()));
    }

    /// The process of the server that misbehaves.
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

    /// Starts a server over HTTP again, where it was.
    pub(super) fn revive(&mut self) {
        if let Some(http) = &mut self.over_http {
            http.process.wait();
            let listen = http.address.to_string();
            (http.process, _) = OverHttp::run(&http.home, &http.flags, &listen);
        }
    }

    /// When a server over HTTP is started again, it speaks like this.
    pub(super) fn will_speak(&mut self, era: &str) {
        let flags = &mut self.over_http.as_mut().unwrap().flags;
        let at = flags.iter().position(|flag| flag == "--era").unwrap();
        era.clone_into(&mut flags[at + 1]);
    }

    /// What the gateway has logged so far, line by line.
    pub(super) fn logged(&self, part: &str) -> usize {
        let log = self.gateway.process.stderr.so_far();
        log.lines().filter(|line| line.contains(part)).count()
    }

    /// Nothing is left of what has been, and the other server has worked all the time.
    pub(super) fn end(mut self) {
        self.watch.take().unwrap().end();
        self.before.comes_back(&self.gateway);
        self.gateway.process.signal(Signal::TERM);
        let status = self.gateway.process.wait();
        assert!(status.success(), "{status}");
        assert_eq!(self.logged("panicked"), 0);
    }
}

/// Where a test fails, the end of the log says why.
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

/// Calls that have begun.
pub(super) struct UnderWay(Vec<JoinHandle<Value>>);

impl UnderWay {
    pub(super) fn answers(self) -> Vec<Value> {
        self.0
            .into_iter()
            .map(|call| call.join().unwrap())
            .collect()
    }
}

/// Calls a tool and gives the one answer.
#[track_caller]
fn call_at(gateway: SocketAddr, tool: &str, arguments: &Value) -> Value {
    let call = json!({ "name": tool, "arguments": arguments });
    let answer = Modern::new("tools/call", call).post(Post::to(gateway, "/mcp"));
    let mut answers = messages(&answer);
    answers.retain(|message| message.get("id").is_some());
    let [answer] = &answers[..] else {
        panic!("{tool} has {} answers: {answers:?}", answers.len());
    };
    assert_eq!(answer["id"], 1, "{answer}");
    answer.clone()
}

/// The messages of a body, one or a stream of them.
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

/// Fails unless the answer is an error of this kind.
#[track_caller]
pub(super) fn expect_error(answer: &Value, kind: &str) {
    assert_eq!(answer["error"]["data"]["kind"], kind, "{answer}");
}

/// Fails unless the answer is some error.
#[track_caller]
pub(super) fn expect_failure(answer: &Value) {
    assert!(answer["error"].is_object(), "{answer}");
}

/// Somebody who calls and lists what the healthy server has, all the time.
struct Watch {
    stop: Arc<AtomicBool>,
    rounds: JoinHandle<()>,
    seen: Arc<Mutex<Option<Value>>>,
}

impl Watch {
    fn start(gateway: SocketAddr) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let (stopped, seen) = (Arc::clone(&stop), Arc::<Mutex<Option<Value>>>::default());
        let last = Arc::clone(&seen);
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
        Self { stop, rounds, seen }
    }

    fn end(self) {
        self.stop.store(true, Ordering::Relaxed);
        let seen = self.seen.lock().unwrap().clone();
        let rounds = self.rounds.join();
        rounds.unwrap_or_else(|_| panic!("the healthy server: {seen:?}"));
    }
}
