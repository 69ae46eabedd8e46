//! Which gateway a client command asks when several are running, or its configuration is invalid.

use rustix::process::Signal;

use crate::support::{Home, Server};

const MEMORY: &str = "sources: { memory: { kind: memory } }\n";
const OTHER: &str = "sources: { other: { kind: memory } }\n";

/// Starts a gateway with this configuration file in the home of another one.
fn second_gateway(first: &Server, config: &str) -> crate::support::Running {
    let args = ["serve", "--listen", "127.0.0.1:0", "--config", config];
    let process = crate::support::Running::start(&mut first.home.tidegate(&args));
    process.stderr.find("listening on http://");
    process
}

fn asked(home: &Home, args: &[&str]) -> String {
    home.run(&[args, &["-v"]].concat()).expect_code(0).stderr
}

#[test]
fn the_gateway_with_the_same_configuration_is_asked() {
    let first = Server::with_config(MEMORY);
    first.home.write("other.yaml", OTHER);
    let second = second_gateway(&first, "other.yaml");
    let asks = |pid: u32| format!("(pid {pid})");
    let log = asked(&first.home, &["sources"]);
    assert!(log.contains(&asks(first.process.id())), "{log}");
    let log = asked(&first.home, &["sources", "--config", "other.yaml"]);
    assert!(log.contains(&asks(second.id())), "{log}");
    first.home.write("third.yaml", OTHER);
    let log = asked(&first.home, &["sources", "--config", "third.yaml"]);
    assert!(log.contains("starting a temporary one"), "{log}");
    second.stop();
    let log = asked(&first.home, &["sources"]);
    assert!(log.contains(&asks(first.process.id())), "{log}");
    first.stop();
}

#[test]
fn without_a_configuration_the_only_gateway_is_asked_and_several_are_listed() {
    let home = Home::new();
    home.write("first.yaml", MEMORY);
    home.write("second.yaml", OTHER);
    let first = Server::start_in(home, &["--config", "first.yaml"]);
    let pid = format!("(pid {})", first.process.id());
    let log = asked(&first.home, &["sources"]);
    assert!(log.contains(&pid), "{log}");
    let second = second_gateway(&first, "second.yaml");
    let ended = first.home.run(&["sources"]).expect_code(2);
    assert_eq!(ended.stdout, "");
    let first_line = format!("--url {} (pid {}, ", first.url(), first.process.id());
    for part in [
        "several gateways are running; choose one:",
        &first_line,
        "first.yaml)",
        &format!("(pid {}, ", second.id()),
        "second.yaml)",
    ] {
        assert!(ended.stderr.contains(part), "{part:?}: {}", ended.stderr);
    }
    second.stop();
    first.stop();
}

#[test]
fn the_record_of_a_dead_gateway_is_ignored() {
    let mut server = Server::with_config(MEMORY);
    server.process.signal(Signal::KILL);
    server.process.wait();
    let records = server.home.path().join("data/tidegate/running");
    assert_eq!(std::fs::read_dir(&records).unwrap().count(), 1);
    let log = asked(&server.home, &["sources"]);
    assert!(log.contains("no running gateway"), "{log}");
    assert_eq!(std::fs::read_dir(&records).unwrap().count(), 0);
}

/// Neither a process id nor a port proves that a gateway is running: both are used again.
#[test]
fn a_record_with_the_process_id_and_the_port_of_others_is_ignored() {
    let server = Server::with_config(MEMORY);
    let records = server.home.path().join("data/tidegate/running");
    let own = records.join(format!("{}.json", server.process.id()));
    let record = std::fs::read_to_string(&own).unwrap();
    let other = std::process::id();
    let copy = record.replace(&server.process.id().to_string(), &other.to_string());
    std::fs::write(records.join(format!("{other}.json")), copy).unwrap();
    let log = asked(&server.home, &["sources"]);
    let pid = format!("(pid {})", server.process.id());
    assert!(log.contains(&pid), "{log}");
    let left: Vec<_> = std::fs::read_dir(&records).unwrap().collect();
    assert_eq!(left.len(), 1, "{left:?}");
    server.stop();
}

#[test]
fn a_running_gateway_is_asked_although_its_configuration_is_invalid_by_now() {
    let server = Server::with_config(MEMORY);
    server.home.write("tidegate.yaml", "sorces: {}\n");
    let ended = server.home.run(&["ls", "tools"]).expect_code(0);
    assert!(ended.stdout.contains("memory__store"), "{}", ended.stdout);
    let warning = "tidegate.yaml is invalid (`tidegate check` shows why); asking the gateway";
    assert!(ended.stderr.contains(warning), "{}", ended.stderr);
    let temporary = server.home.run(&["ls", "tools", "--temporary"]);
    let stderr = temporary.expect_code(2).stderr;
    assert!(stderr.contains("unknown field `sorces`"), "{stderr}");
    server.stop();
}
