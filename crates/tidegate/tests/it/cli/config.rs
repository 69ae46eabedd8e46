//! Errors that prevent `tidegate serve` from starting: configuration and address.

use std::net::TcpListener;

use crate::support::{Home, Running, Server};

#[test]
fn port_in_use_is_explained() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let ended = Home::new()
        .run(&["serve", "--listen", &address])
        .expect_code(1);
    for part in [&address, "another program uses this port", "--listen"] {
        assert!(ended.stderr.contains(part), "{part:?}: {}", ended.stderr);
    }
    assert_eq!(ended.stdout, "");
}

#[test]
fn foreign_address_is_explained() {
    // An address reserved for documentation, which no machine has.
    let ended = Home::new()
        .run(&["serve", "--listen", "192.0.2.1:8080", "--insecure"])
        .expect_code(1);
    assert!(
        ended.stderr.contains("does not have that address"),
        "{}",
        ended.stderr
    );
}

#[test]
fn startup_logs_the_sources() {
    for (config, expected) in [
        (
            "limits: { page_size: 10 }\n",
            "sources: system, memory (defaults: no sources configured)",
        ),
        ("sources: {}\n", "sources: system"),
        (
            "sources: { notes: { kind: memory } }\n",
            "sources: system, notes",
        ),
    ] {
        let server = Server::with_config(config);
        let line = server.process.stderr.find("sources: ");
        assert!(line.trim_end().ends_with(expected), "{config}: {line}");
        server.stop();
    }
}

#[test]
fn every_problem_is_reported_with_its_line() {
    let home = Home::with_config(
        "lisen: 127.0.0.1:1\nlegacy_sse: maybe\nlimits:\n  max_sessions: 0\n  page_size: 99999\n\
         log:\n  level: loud\n",
    );
    for command in ["serve", "stdio"] {
        let ended = home.run(&[command]).expect_code(2);
        for part in [
            "tidegate.yaml:1:1: unknown field `lisen`; did you mean `listen`?",
            "tidegate.yaml:2:13: `legacy_sse`",
            "tidegate.yaml:4:17: `limits.max_sessions`: 0 is out of range",
            "tidegate.yaml:5:14: `limits.page_size`: 99999 is out of range",
            "tidegate.yaml:7:10: `log.level`",
            "5 problems in the configuration",
        ] {
            assert!(
                ended.stderr.contains(part),
                "{command}: {part:?}: {}",
                ended.stderr
            );
        }
        assert_eq!(ended.stdout, "");
    }
}

#[test]
fn invalid_yaml_is_reported_with_its_line() {
    let home = Home::with_config("listen: [127.0.0.1:1\n");
    let ended = home.run(&["serve"]).expect_code(2);
    assert!(
        ended.stderr.contains("tidegate.yaml:1:"),
        "{}",
        ended.stderr
    );
}

#[test]
fn missing_file_is_named() {
    for command in ["serve", "stdio", "check"] {
        let ended = Home::new()
            .run(&[command, "--config", "team.yaml"])
            .expect_code(2);
        assert!(
            ended.stderr.contains("team.yaml"),
            "{command}: {}",
            ended.stderr
        );
    }
}

#[test]
fn public_address_requires_authentication() {
    let ended = Home::new()
        .run(&["serve", "--listen", "0.0.0.0:0"])
        .expect_code(2);
    for part in ["0.0.0.0:0", "--insecure", "auth"] {
        assert!(ended.stderr.contains(part), "{part:?}: {}", ended.stderr);
    }
}

#[test]
fn insecure_public_address_is_warned_of() {
    let home = Home::new();
    let process =
        Running::start(&mut home.tidegate(&["serve", "--listen", "0.0.0.0:0", "--insecure"]));
    let server = Server::of(home, process);
    let ended = server.stop();
    assert!(
        ended.stderr.contains("WARN no authentication"),
        "{}",
        ended.stderr
    );
}

#[test]
fn flag_overrides_variable_and_variable_overrides_file() {
    let home = Home::with_config("listen: 127.0.0.1:1\nlog: { level: error }\n");
    let mut command = home.tidegate(&["serve", "--log-level", "info"]);
    command.env("TIDEGATE_LISTEN", "127.0.0.1:0");
    command.env("TIDEGATE_LOG_LEVEL", "warn");
    let process = Running::start(&mut command);
    let server = Server::of(home, process);
    assert_ne!(server.address.port(), 1);
    server.stop();
}
