//! Keys work and are never printed.

use serde_json::json;

use crate::support::messages::{HEALTH, Modern, STATS};
use crate::support::proc::poll_for;
use crate::support::{Home, Running, Server};

const KEY: &str = "k3y-0f-ada-that-nobody-may-see";
const CONFIG: &str = "auth: { keys: { ada: '${env:ADA_KEY}' } }\nlog: { level: trace }\n";

fn serve(config: &str) -> Server {
    let home = Home::with_config(config);
    let mut command = home.tidegate(&["serve", "--listen", "127.0.0.1:0"]);
    let process = Running::start(command.env("ADA_KEY", KEY));
    Server::of(home, process)
}

#[test]
fn key_from_the_environment_is_accepted_and_not_logged() {
    let server = serve(CONFIG);
    let read = Modern::new("resources/read", json!({ "uri": STATS }));
    let right = format!("Bearer {KEY}");
    let answer = read.post(server.post().header("Authorization", &right));
    assert_eq!(answer.status, 200, "{answer:?}");
    assert!(!answer.body.contains(KEY));
    let log = server.stop().stderr;
    assert!(log.contains("principal=ada"), "{log}");
    assert!(!log.contains(KEY), "{log}");
}

#[test]
fn wrong_key_is_rejected_and_not_printed() {
    let server = serve(CONFIG);
    let read = Modern::new("resources/read", json!({ "uri": STATS }));
    let wrong = [
        None,
        Some("Bearer wr0ng-key-wr0ng".to_owned()),
        Some(format!("Bearer {KEY}x")),
        Some(format!("Basic {KEY}")),
    ];
    for credential in wrong {
        let post = match &credential {
            None => server.post(),
            Some(value) => server.post().header("Authorization", value),
        };
        let answer = read.post(post);
        assert_eq!(answer.status, 401, "{credential:?} {answer:?}");
        assert_eq!(answer.json()["error"]["code"], -31401);
        assert!(answer.header("www-authenticate").is_some());
        assert!(!answer.body.contains(KEY) && !answer.body.contains("wr0ng"));
    }
    let log = server.stop().stderr;
    assert!(!log.contains(KEY) && !log.contains("wr0ng"), "{log}");
}

#[test]
fn problem_with_a_key_does_not_print_it() {
    // Two principals with one key, and keys that are too short.
    for (config, key) in [
        (
            "auth: { keys: { ada: '${env:ADA_KEY}', bob: '${env:ADA_KEY}' } }\n",
            KEY,
        ),
        ("auth: { keys: { ada: '${env:ADA_KEY}' } }\n", "sh0rt"),
        (
            "auth: { keys: { ada: sh0rt-but-written-in-the-file } }\n",
            "sh0rt",
        ),
    ] {
        for args in [&["serve"][..], &["check"], &["check", "--json"]] {
            let home = Home::with_config(config);
            let mut command = home.tidegate(args);
            let ended = Running::start(command.env("ADA_KEY", key))
                .end()
                .expect_code(2);
            let output = ended.stdout + &ended.stderr;
            assert!(!output.contains(key), "{output}");
            assert!(output.contains("ada"), "{output}");
        }
    }
}

#[test]
fn unset_variable_is_named() {
    let ended = Home::with_config(CONFIG).run(&["serve"]).expect_code(2);
    for part in ["tidegate.yaml:1:", "ADA_KEY"] {
        assert!(ended.stderr.contains(part), "{}", ended.stderr);
    }
}

#[test]
fn check_prints_principals_but_no_keys() {
    for args in [&["check"][..], &["check", "--json"]] {
        let home = Home::with_config(CONFIG);
        let ended = Running::start(home.tidegate(args).env("ADA_KEY", KEY))
            .end()
            .expect_code(0);
        assert!(ended.stdout.contains("ada"), "{}", ended.stdout);
        assert!(!ended.stdout.contains(KEY), "{}", ended.stdout);
    }
}

/// The output of a failed server process is for administrators, without configured values.
#[test]
fn output_of_a_failed_server_is_shown_to_admins_only_and_without_secrets() {
    let config = json!({
        "auth": { "keys": { "ada": "${env:ADA_KEY}", "bob": "${env:BOB_KEY}" }, "admins": ["ada"] },
        "sources": { "failing": {
            "command": "sh", "args": ["-c", "echo \"the token is $TOKEN\" >&2; exit 3"],
            "env": { "TOKEN": "${env:SERVER_TOKEN}" },
        } },
    });
    let (bob, token) = ("k3y-0f-bob-that-is-no-admin", "t0ken-0f-the-server");
    let home = Home::with_config(&config.to_string());
    let mut command = home.tidegate(&["serve", "--listen", "127.0.0.1:0"]);
    command.env("ADA_KEY", KEY).env("BOB_KEY", bob);
    let server = Server::of(home, Running::start(command.env("SERVER_TOKEN", token)));
    let report = |key: &str| {
        let read = Modern::new("resources/read", json!({ "uri": HEALTH }));
        let post = server
            .post()
            .header("Authorization", &format!("Bearer {key}"));
        read.post(post).body
    };
    poll_for("the failure is reported", || {
        report(KEY).contains("the token is ***").then_some(())
    });
    assert!(report(KEY).contains("exit status: 3"));
    assert!(!report(bob).contains("the token is"), "{}", report(bob));
    let log = server.stop().stderr;
    assert!(
        log.contains("the token is ***") && !log.contains(token),
        "{log}"
    );
}
