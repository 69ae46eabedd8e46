//! Changes of the gateway's health reach subscribers in both eras, and session limits.

use serde_json::{Value, json};

use crate::support::messages::{HEALTH, LEGACY, Modern, handshake, request, watching};
use crate::support::{Events, Server, Session, Stdio};

const UPDATED: &str = "notifications/resources/updated";
const REVISION: &str = LEGACY[3];
/// The gateway warns from 90% of this limit on.
const SESSION_LIMIT: &str = "limits: { max_sessions: 10 }\n";

fn open(server: &Server) -> Session {
    Session::open(server.address, "/mcp", REVISION)
}

/// Opens sessions until the gateway warns. They stay open until dropped.
fn nearly_fill(server: &Server, already: usize) -> Vec<Session> {
    (already..9).map(|_| open(server)).collect()
}

/// The health report in a resource.
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
fn assert_warning(report: &Value) {
    assert_eq!(report["overallStatus"], "Warning", "{report}");
    let alert = &report["alerts"][0];
    assert_eq!(alert["severity"], "Warning", "{report}");
    assert_eq!(alert["component"], "transports", "{report}");
    let message = alert["message"].as_str().unwrap();
    assert!(message.contains("sessions are in use"), "{message}");
    assert!(report["recommendations"][0].is_string(), "{report}");
}

#[test]
fn session_is_notified_on_its_stream() {
    let server = Server::with_config(SESSION_LIMIT);
    let session = open(&server);
    let mut events = session.listen();
    session.subscribe(HEALTH);
    let before = session.request("resources/read", &json!({ "uri": HEALTH }));
    assert_eq!(health(&before.result())["overallStatus"], "Healthy");

    let others = nearly_fill(&server, 1);
    let update = events.find(UPDATED);
    assert_eq!(update["params"]["uri"], HEALTH, "{update}");
    let after = session.request("resources/read", &json!({ "uri": HEALTH }));
    assert_warning(&health(&after.result()));
    drop(others);
    server.stop();
}

/// A change while the stream is closed is delivered when it is opened.
#[test]
fn session_is_notified_when_its_stream_is_opened() {
    let server = Server::with_config(SESSION_LIMIT);
    let session = open(&server);
    session.subscribe(HEALTH);
    let others = nearly_fill(&server, 1);
    let update = session.listen().find(UPDATED);
    assert_eq!(update["params"]["uri"], HEALTH, "{update}");
    drop(others);
    server.stop();
}

#[test]
fn subscription_stream_is_notified() {
    let server = Server::with_config(SESSION_LIMIT);
    let listen = Modern::new("subscriptions/listen", watching(&[HEALTH]));
    let mut events = Events::of(listen.open(server.post()));
    let first = events.next().unwrap();
    assert_eq!(first["method"], "notifications/subscriptions/acknowledged");
    assert_eq!(read_health(&server)["overallStatus"], "Healthy");

    let others = nearly_fill(&server, 0);
    let update = events.find(UPDATED);
    assert_eq!(update["params"]["uri"], HEALTH, "{update}");
    // The id of the request that opened the stream, with its type.
    let id = &update["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"];
    assert_eq!(*id, 1, "{update}");
    assert_warning(&read_health(&server));
    drop(others);
    server.stop();
}

/// Both eras at once, and the change back when sessions end.
#[test]
fn both_eras_are_notified_of_both_changes() {
    let server = Server::with_config(SESSION_LIMIT);
    let session = open(&server);
    session.subscribe(HEALTH);
    let mut legacy_stream = session.listen();
    let listen = Modern::new("subscriptions/listen", watching(&[HEALTH]));
    let mut modern_stream = Events::of(listen.open(server.post()));
    modern_stream.find("notifications/subscriptions/acknowledged");

    let others = nearly_fill(&server, 1);
    legacy_stream.find(UPDATED);
    modern_stream.find(UPDATED);
    assert_warning(&read_health(&server));

    for other in others {
        other.end();
    }
    legacy_stream.find(UPDATED);
    modern_stream.find(UPDATED);
    let report = read_health(&server);
    assert_eq!(report["overallStatus"], "Healthy", "{report}");
    assert_eq!(report["alerts"], json!([]), "{report}");
    server.stop();
}

/// Unsubscribed clients get no notification.
#[test]
fn unsubscribed_clients_are_not_notified() {
    let server = Server::with_config(SESSION_LIMIT);
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
    // The streams end with the gateway, so every notification would have arrived.
    server.stop();
    for events in [&mut of_ended, &mut of_never] {
        while let Some(message) = events.next() {
            assert_ne!(message["method"], UPDATED, "{message}");
        }
    }
}

/// A session over the limit is rejected with a message and a retry interval.
#[test]
fn session_over_the_limit_is_rejected() {
    let server = Server::with_config("limits: { max_sessions: 2 }\n");
    let (first, other) = (open(&server), open(&server));
    let in_use = (first.listen(), other.listen());
    let initialize = request(1, "initialize", &handshake(REVISION)).to_string();
    let answer = server.post().with_mcp_headers().send(initialize.as_bytes());
    assert_eq!(answer.status, 503, "{answer:?}");
    assert_eq!(answer.json()["error"]["code"], -31503, "{answer:?}");
    assert!(answer.header("retry-after").is_some());
    first.end();
    open(&server);
    drop(in_use);
    server.stop();
}

/// Many clients never end their sessions, so an idle session is replaced by a new one.
#[test]
fn idle_session_is_replaced_at_the_limit() {
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

/// Sessions are not counted over stdio, but both eras can subscribe.
#[test]
fn both_eras_can_subscribe_over_stdio() {
    let mut stdio = Stdio::start();
    stdio.initialize(REVISION);
    let done = stdio.request("resources/subscribe", &json!({ "uri": HEALTH }));
    assert_eq!(done["result"], json!({}), "{done}");
    let first = stdio.listen(watching(&[HEALTH]));
    assert_eq!(first["method"], "notifications/subscriptions/acknowledged");
    stdio.end();
}
