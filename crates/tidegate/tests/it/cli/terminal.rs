//! What users see on a terminal, and what scripts do not.

use std::time::{Duration, Instant};

use serde_json::json;

use crate::support::terminal::Terminal;
use crate::support::{Home, Running, Server};

const MEMORY: &str = "sources: { memory: { kind: memory } }\n";

/// Clears the status line.
const ERASE_LINE: &str = "\r\u{1b}[K";

fn on_terminal(home: &Home, args: &[&str]) -> Terminal {
    let mut command = home.tidegate(args);
    command.env("TERM", "xterm").env("NO_COLOR", "1");
    Terminal::start(&mut command)
}

#[test]
fn client_commands_say_on_a_terminal_which_gateway_they_ask() {
    let server = Server::with_config(MEMORY);
    let (url, pid) = (server.url(), server.process.id());
    let running = format!("asking the gateway at {url} (pid {pid})\r\n");
    let at_url = format!("asking the gateway at {url}\r\n");
    for (args, line) in [
        (&["sources"][..], running.as_str()),
        (&["ls", "--url", &url], &at_url),
        (&["ls", "--temporary"], "starting a temporary gateway\r\n"),
    ] {
        let (status, screen) = on_terminal(&server.home, args).finish();
        assert!(status.success() && screen.starts_with(line), "{screen}");
    }
    let home = Home::with_config(MEMORY);
    let line = "no running gateway for this configuration; starting a temporary one\r\n";
    let (_, screen) = on_terminal(&home, &["sources"]).finish();
    assert!(screen.starts_with(line), "{screen}");
    let (_, screen) = on_terminal(&home, &["sources", "--quiet"]).finish();
    assert!(screen.starts_with("source "), "{screen}");
    server.stop();
}

#[test]
fn without_a_terminal_the_gateway_is_named_only_in_a_verbose_log() {
    let home = Home::with_config(MEMORY);
    assert_eq!(home.run(&["sources"]).expect_code(0).stderr, "");
    let verbose = home.run(&["sources", "-v"]).expect_code(0).stderr;
    assert!(verbose.contains(" INFO no running gateway"), "{verbose}");
}

/// A configuration with a program that never answers.
fn silent_server(startup_wait: &str) -> Home {
    let silent = json!({ "command": "sleep", "args": ["1000"] });
    Home::with_config(&format!(
        "limits: {{ startup_wait: {startup_wait} }}\nsources:\n  memory: {{ kind: memory }}\n  silent: {silent}\n"
    ))
}

#[test]
fn shows_and_erases_which_sources_are_starting() {
    let home = silent_server("1s");
    let (status, screen) = on_terminal(&home, &["ls", "tools"]).finish();
    let starting = format!("starting 1 of 2 sources: silent{ERASE_LINE}");
    assert!(screen.contains(&starting), "{screen:?}");
    let message = "tidegate: source `silent` is still starting (waited 1s)\r\n";
    assert!(screen.contains(message), "{screen:?}");
    assert!(status.success(), "{screen}");
}

#[test]
fn a_dumb_terminal_shows_no_status_line() {
    let home = silent_server("1s");
    let command = &mut home.tidegate(&["ls", "tools"]);
    let (_, screen) = Terminal::start(command.env("TERM", "dumb")).finish();
    assert!(!screen.contains("starting 1"), "{screen:?}");
    assert!(!screen.contains('\u{1b}'), "{screen:?}");
}

const DELETE: [&str; 3] = ["call", "memory__delete", "key=a"];

fn with_entry() -> Home {
    let home = Home::with_config(MEMORY);
    home.run(&["call", "memory__store", "key=a", "value=1"])
        .expect_code(0);
    home
}

fn entries(home: &Home) -> usize {
    let export = home.run(&["memory", "export"]).expect_code(0);
    export.stdout.lines().count()
}

#[test]
fn call_asks_before_a_destructive_tool() {
    let home = with_entry();
    let question =
        "`memory__delete` is marked as destructive. Call it with {\"key\":\"a\"}? [y/N] ";
    for (answer, left) in [("", 1), ("n", 1), ("nonsense", 1), ("y", 0)] {
        let mut terminal = on_terminal(&home, &DELETE);
        terminal.wait_for(question);
        terminal.type_line(answer);
        let (status, screen) = terminal.finish();
        assert_eq!(entries(&home), left, "{answer:?}: {screen}");
        assert_eq!(status.code(), Some(left as i32), "{answer:?}: {screen}");
        let refused = screen.contains("tidegate: `memory__delete` was not called");
        assert_eq!(refused, left == 1, "{answer:?}: {screen}");
    }
}

#[test]
fn call_asks_before_the_inner_tool_of_call_tool() {
    let home = with_entry();
    let inner = r#"{"name":"memory__delete","arguments":{"key":"a"}}"#;
    let mut terminal = on_terminal(&home, &["call", "gateway__call_tool", inner]);
    terminal.wait_for(
        "`memory__delete` (through `gateway__call_tool`) is marked as destructive. Call it with \
         {\"key\":\"a\"}? [y/N] ",
    );
    terminal.type_line("n");
    let (_, screen) = terminal.finish();
    assert_eq!(entries(&home), 1, "{screen}");
}

#[test]
fn input_before_the_question_is_not_an_answer() {
    let home = with_entry();
    let mut terminal = on_terminal(&home, &DELETE);
    terminal.type_line("y");
    terminal.wait_for("? [y/N] ");
    terminal.type_line("");
    let (_, screen) = terminal.finish();
    assert_eq!(entries(&home), 1, "{screen}");
}

#[test]
fn call_does_not_ask_with_yes_or_without_a_terminal_or_for_other_tools() {
    let home = with_entry();
    home.run(&DELETE).expect_code(0);
    assert_eq!(entries(&home), 0);
    let home = with_entry();
    let args = [&DELETE[..], &["--yes"]].concat();
    let (status, screen) = on_terminal(&home, &args).finish();
    assert!(status.success(), "{screen}");
    assert_eq!(entries(&home), 0);
    let (status, screen) = on_terminal(&home, &["call", "memory__list"]).finish();
    assert!(status.success() && !screen.contains("[y/N]"), "{screen}");
}

#[test]
fn colors_follow_the_flag_then_no_color_then_the_terminal() {
    let home = Home::with_config(MEMORY);
    let colored = |args: &[&str], no_color: &str| {
        let mut command = home.tidegate(args);
        command.env("TERM", "xterm").env("NO_COLOR", no_color);
        let (_, screen) = Terminal::start(&mut command).finish();
        assert!(screen.contains("temporary"), "{screen:?}");
        screen.contains("\u{1b}[")
    };
    assert!(colored(&["sources", "-v"], ""));
    assert!(!colored(&["sources", "-v"], "1"));
    assert!(!colored(&["sources", "-v", "--color", "never"], ""));
    assert!(colored(&["sources", "-v", "--color", "always"], "1"));
    let piped = home.run(&["sources", "-v"]).stderr;
    assert!(!piped.contains('\u{1b}'), "{piped:?}");
    let piped = home.run(&["sources", "-v", "--color=always"]).stderr;
    assert!(piped.contains('\u{1b}'), "{piped:?}");
}

#[test]
fn tables_are_colored_by_the_same_rules() {
    let home = Home::with_config(MEMORY);
    let table = |args: &[&str]| home.run(args).expect_code(0).stdout;
    let plain = table(&["sources"]);
    assert!(!plain.contains('\u{1b}'), "{plain:?}");
    let colored = table(&["sources", "--color=always"]);
    assert!(
        colored.starts_with("\u{1b}[1msource\u{1b}[0m"),
        "{colored:?}"
    );
    assert!(
        colored.contains("\u{1b}[32mhealthy\u{1b}[0m"),
        "{colored:?}"
    );
    let lists = table(&["ls", "--color=always"]);
    assert!(lists.contains("\u{1b}[1mtools\u{1b}[0m\n"), "{lists:?}");
    let (_, screen) = on_terminal(&home, &["sources"]).finish();
    assert!(!screen.contains("\u{1b}[1m"), "{screen:?}");
}

/// Servers that do not end, or fail, when their input is closed.
#[test]
fn client_commands_end_soon_after_their_output_and_without_warnings() {
    let fixture = tidegate_testkit::fixture::program();
    let fixture = fixture.display();
    let server =
        |end: &str| json!({ "command": "sh", "args": ["-c", format!("{fixture}; {end}")] });
    let home = Home::with_config(&format!(
        "limits: {{ startup_wait: 1m }}\nsources:\n  stays: {}\n  fails: {}\n",
        server("echo bye >&2; sleep 1000"),
        server("echo bye >&2; exit 3"),
    ));
    let process = Running::start(&mut home.tidegate(&["ls", "tools"]));
    process.stdout.next().expect("a line of output");
    let printed = Instant::now();
    let ended = process.end().expect_code(0);
    assert_eq!(ended.stderr, "");
    // Far less than a server gets to end by itself, far more than a busy machine needs.
    let elapsed = printed.elapsed();
    assert!(elapsed < Duration::from_secs(4), "{elapsed:?}");
}

#[test]
fn read_writes_binary_contents_to_a_file_and_not_to_a_terminal() {
    let home = Home::with_config("sources: { docs: { kind: files, folder: docs } }\n");
    let folder = home.path().join("docs");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("a.png"), b"\x89PNG\0\xff").unwrap();
    let list = home
        .run(&["ls", "resources", "--json"])
        .expect_code(0)
        .stdout;
    let list: serde_json::Value = serde_json::from_str(&list).unwrap();
    let uris = list["resources"].as_array().unwrap().iter();
    let mut uris = uris.map(|resource| resource["uri"].as_str().unwrap());
    let uri = uris.find(|uri| uri.ends_with("a.png")).unwrap();
    let (status, screen) = on_terminal(&home, &["read", uri]).finish();
    assert_eq!(status.code(), Some(1), "{screen}");
    assert!(screen.contains("--output FILE"), "{screen}");
    let (status, screen) = on_terminal(&home, &["read", uri, "--output", "out.png"]).finish();
    assert!(status.success(), "{screen}");
    let written = std::fs::read(home.path().join("out.png")).unwrap();
    assert_eq!(written, b"\x89PNG\0\xff");
}
