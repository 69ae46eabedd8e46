//! Signals to stop.

use rustix::process::Signal;

use crate::support::messages::{HEALTH, LEGACY, Modern, watching};
use crate::support::{Ended, Events, Server, Session, Stdio};

fn says(ended: &Ended, part: &str) {
    assert!(ended.stderr.contains(part), "{part:?}: {}", ended.stderr);
}

#[test]
fn one_signal_ends_in_good_order() {
    for signal in [Signal::TERM, Signal::INT] {
        let server = Server::start();
        server.process.signal(signal);
        let ended = server.process.end().expect_code(0);
        says(&ended, "stopping");
        says(&ended, "stopped");
    }
}

/// A stream of changes would last for ever; at the end it gets an end.
#[test]
fn one_signal_ends_streams_in_good_order() {
    let server = Server::start();
    let listen = Modern::new("subscriptions/listen", watching(&[HEALTH]));
    let mut events = Events::of(listen.open(server.post()));
    events.find("notifications/subscriptions/acknowledged");
    let ended = server.stop();
    says(&ended, "stopped");
    let last = events.next().expect("an answer before the end");
    assert_eq!(last["id"], 1, "{last}");
    assert!(last["result"].is_object(), "{last}");
    assert!(events.next().is_none());
}

/// Sessions with streams and subscriptions are no work that is lost.
#[test]
fn one_signal_ends_sessions_in_good_order() {
    for _ in 0..5 {
        let server = Server::start();
        let session = Session::open(server.address, "/mcp", LEGACY[3]);
        session.subscribe(HEALTH);
        let mut events = session.listen();
        let ended = server.stop();
        for word in ["WARN", "ERROR"] {
            assert!(!ended.stderr.contains(word), "{}", ended.stderr);
        }
        assert!(events.next().is_none());
    }
}

/// A body that never comes is a call under way.
#[test]
fn a_second_signal_ends_at_once() {
    let server = Server::with_config("limits: { shutdown_timeout: 10m, body_timeout: 10m }\n");
    let half = server.post().usual().hang(1000, b"{");
    server.process.signal(Signal::TERM);
    server.process.stderr.find("stopping");
    server.process.signal(Signal::TERM);
    server.process.end().expect_code(1);
    drop(half);
}

#[test]
fn a_signal_ends_stdio_though_its_input_is_open() {
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
