//! Shutdown by signals.

use rustix::process::Signal;

use crate::support::messages::{HEALTH, LEGACY, Modern, watching};
use crate::support::{Ended, Events, Server, Session, Stdio};

fn assert_logged(ended: &Ended, part: &str) {
    assert!(ended.stderr.contains(part), "{part:?}: {}", ended.stderr);
}

#[test]
fn one_signal_shuts_down_cleanly() {
    for signal in [Signal::TERM, Signal::INT] {
        let server = Server::start();
        server.process.signal(signal);
        let ended = server.process.end().expect_code(0);
        assert_logged(&ended, "stopping");
        assert_logged(&ended, "stopped");
    }
}

/// A subscription stream is ended with a response.
#[test]
fn one_signal_ends_streams_cleanly() {
    let server = Server::start();
    let listen = Modern::new("subscriptions/listen", watching(&[HEALTH]));
    let mut events = Events::of(listen.open(server.post()));
    events.find("notifications/subscriptions/acknowledged");
    let ended = server.stop();
    assert_logged(&ended, "stopped");
    let last = events.next().expect("a response before the end");
    assert_eq!(last["id"], 1, "{last}");
    assert!(last["result"].is_object(), "{last}");
    assert!(events.next().is_none());
}

/// Sessions with streams and subscriptions end without warnings.
#[test]
fn one_signal_ends_sessions_cleanly() {
    for _ in 0..5 {
        let server = Server::start();
        let session = Session::open(server.address, "/mcp", LEGACY[3]);
        session.subscribe(HEALTH);
        let mut events = session.listen();
        let ended = server.stop();
        for level in ["WARN", "ERROR"] {
            assert!(!ended.stderr.contains(level), "{}", ended.stderr);
        }
        assert!(events.next().is_none());
    }
}

/// A body that never arrives is a request in flight.
#[test]
fn second_signal_ends_at_once() {
    let server = Server::with_config("limits: { shutdown_timeout: 10m, body_timeout: 10m }\n");
    let half = server.post().with_mcp_headers().send_partly(1000, b"{");
    server.process.signal(Signal::TERM);
    server.process.stderr.find("stopping");
    server.process.signal(Signal::TERM);
    server.process.end().expect_code(1);
    drop(half);
}

#[test]
fn signal_ends_stdio_with_open_input() {
    let mut stdio = Stdio::start();
    stdio.ping();
    stdio.process.signal(Signal::TERM);
    stdio.process.wait();
    stdio.end();
}

/// SIGHUP is sent to reload a service, and when a terminal closes.
#[test]
fn sighup_does_not_end_a_gateway() {
    let line = "SIGHUP received; configuration reload is not supported, restart to apply changes";
    let server = Server::start();
    server.process.signal(Signal::HUP);
    server.process.stderr.find(line);
    server
        .home
        .run(&["sources", "--url", &server.url()])
        .expect_code(0);
    server.stop();

    let mut stdio = Stdio::start();
    stdio.ping();
    stdio.process.signal(Signal::HUP);
    stdio.process.stderr.find(line);
    stdio.ping();
    stdio.process.signal(Signal::TERM);
    stdio.process.wait();
}
