//! A change of the gateway's own state reaches those who subscribed to it, in both eras.

use serde_json::{Value, json};

use crate::support::messages::{HEALTH, LEGACY, Modern, handshake, request, watching};
use crate::support::{Events, Server, Session, Stdio};

const UPDATED: &str = "notifications/resources/updated";
const REVISION: &str = LEGACY[3];
/// From nine tenths of this bound on the gateway warns.
const FEW_SESSIONS: &str = "limits: { max_sessions: 10 }\n";

fn open(server: &Server) -> Session {
    Session::open(server.address, "/mcp", REVISION)
}

/// Opens so many sessions that the gateway warns. They stay open as long as they are kept.
fn nearly_fill(server: &Server, already: usize) -> Vec<Session> {
    (already..9).map(|_| open(server)).collect()
}

/// What the resource says.
fn health(read: &Value) -> Value {
    serde_json::from_str(read["contents"][0]["text"].as_str().unwrap()).unwrap()
}

fn read_health(server: &Server) -> Value {
    health(
        &server
            .modern("resources/read", json!({ "uri": HEALTH }))
            .result(),
    )
}

#[track_caller]
fn warns(report: &Value) {
    assert_eq!(report["overallStatus"], "Warning", "{report}");
    let alert = &report["alerts"][0];
    assert_eq!(alert["severity"], "Warning", "{report}");
    assert_eq!(alert["component"], "transports", "{report}");
    let message = alert["message"].as_str().unwrap();
    assert!(message.contains("sessions are in use"), "{message}");
    assert!(report["recommendations"][0].is_string(), "{report}");
}

#[test]
fn a_session_hears_of_it_on_its_stream() {
    let server = Server::with_config(FEW_SESSIONS);
    let session = open(&server);
    let mut events = session.listen();
    session.subscribe(HEALTH);
    let before = session.request("resources/read", &json!({ "uri": HEALTH }));
    assert_eq!(health(&before.result())["overallStatus"], "Healthy");

    let others = nearly_fill(&server, 1);
    let told = events.find(UPDATED);
    assert_eq!(told["params"]["uri"], HEALTH, "{told}");
    let after = session.request("resources/read", &json!({ "uri": HEALTH }));
    warns(&health(&after.result()));
    drop(others);
    server.stop();
}

/// What happens while nobody reads the stream is told when somebody does.
#[test]
fn a_session_hears_of_it_when_it_comes_back() {
    let server = Server::with_config(FEW_SESSIONS);
    let session = open(&server);
    session.subscribe(HEALTH);
    let others = nearly_fill(&server, 1);
    let told = session.listen().find(UPDATED);
    assert_eq!(told["params"]["uri"], HEALTH, "{told}");
    drop(others);
    server.stop();
}

#[test]
fn a_stream_without_a_session_hears_of_it() {
    let server = Server::with_config(FEW_SESSIONS);
    let listen = Modern::new("subscriptions/listen", watching(&[HEALTH]));
    let mut events = Events::of(listen.open(server.post()));
    let first = events.next().unwrap();
    assert_eq!(first["method"], "notifications/subscriptions/acknowledged");
    assert_eq!(read_health(&server)["overallStatus"], "Healthy");

    let others = nearly_fill(&server, 0);
    let told = events.find(UPDATED);
    assert_eq!(told["params"]["uri"], HEALTH, "{told}");
    // The id of the request that opened the stream, with its type.
    let id = &told["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"];
    assert_eq!(*id, 1, "{told}");
    warns(&read_health(&server));
    drop(others);
    server.stop();
}

/// Both at once, and the way back: when sessions end, the gateway is well again.
#[test]
fn both_hear_of_both_changes() {
    let server = Server::with_config(FEW_SESSIONS);
    let session = open(&server);
    session.subscribe(HEALTH);
    let mut old = session.listen();
    let listen = Modern::new("subscriptions/listen", watching(&[HEALTH]));
    let mut new = Events::of(listen.open(server.post()));
    new.find("notifications/subscriptions/acknowledged");

    let others = nearly_fill(&server, 1);
    old.find(UPDATED);
    new.find(UPDATED);
    warns(&read_health(&server));

    for other in others {
        other.end();
    }
    old.find(UPDATED);
    new.find(UPDATED);
    let report = read_health(&server);
    assert_eq!(report["overallStatus"], "Healthy", "{report}");
    assert_eq!(report["alerts"], json!([]), "{report}");
    server.stop();
}

/// Who ended the subscription, or asked for something else, hears nothing.
#[test]
fn others_do_not_hear_of_it() {
    let server = Server::with_config(FEW_SESSIONS);
    let (ended, never) = (open(&server), open(&server));
    ended.subscribe(HEALTH);
    let answer = ended.request("resources/unsubscribe", &json!({ "uri": HEALTH }));
    assert_eq!(answer.result(), json!({}));
    let (mut of_ended, mut of_never) = (ended.listen(), never.listen());
    let watcher = open(&server);
    watcher.subscribe(HEALTH);
    let mut of_watcher = watcher.listen();

    let others = nearly_fill(&server, 3);
    of_watcher.find(UPDATED);
    drop(others);
    // The streams end with the gateway; had there been something to say, it would have been said.
    server.stop();
    for events in [&mut of_ended, &mut of_never] {
        while let Some(message) = events.next() {
            assert_ne!(message["method"], UPDATED, "{message}");
        }
    }
}

/// One more than the bound is refused while all are in use, with words and a time to come back.
#[test]
fn one_session_too_many_is_refused() {
    let server = Server::with_config("limits: { max_sessions: 2 }\n");
    let (one, other) = (open(&server), open(&server));
    let in_use = (one.listen(), other.listen());
    let hello = request(1, "initialize", &handshake(REVISION)).to_string();
    let answer = server.post().usual().send(hello.as_bytes());
    assert_eq!(answer.status, 503, "{answer:?}");
    assert_eq!(answer.json()["error"]["code"], -31503, "{answer:?}");
    assert!(answer.header("retry-after").is_some());
    one.end();
    open(&server);
    drop(in_use);
    server.stop();
}

/// Many clients never end their sessions, so one that is not in use makes room for a new one.
#[test]
fn an_idle_session_makes_room() {
    let server = Server::with_config("limits: { max_sessions: 2 }\n");
    let (idle, used) = (open(&server), open(&server));
    let in_use = used.listen();
    open(&server);
    let gone = idle.request("tools/list", &json!({}));
    assert_eq!(gone.status, 404, "{gone:?}");
    let kept = used.request("tools/list", &json!({}));
    assert_eq!(kept.status, 200, "{kept:?}");
    drop(in_use);
    server.stop();
}

/// A pipe counts no sessions, so nothing changes there; but both eras can subscribe on it.
#[test]
fn on_a_pipe_both_eras_subscribe() {
    let mut stdio = Stdio::start();
    stdio.initialize(REVISION);
    let done = stdio.request("resources/subscribe", &json!({ "uri": HEALTH }));
    assert_eq!(done["result"], json!({}), "{done}");
    let first = stdio.listen(watching(&[HEALTH]));
    assert_eq!(first["method"], "notifications/subscriptions/acknowledged");
    stdio.end();
}
