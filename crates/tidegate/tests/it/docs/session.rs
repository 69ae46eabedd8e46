//! One reader at one machine: follows the blocks of a page in order.

use std::fs;
use std::net::{Ipv4Addr, TcpListener};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use super::markdown::Block;
use super::matching::{assert_matches, matches};
use super::{client_config, programs};
use crate::support::{Home, PATIENCE, Running};

/// The port that the pages show. Each session has one of its own in its place.
const SHOWN_PORT: &str = "8080";

pub(super) struct Session {
    page: String,
    home: Home,
    bin: PathBuf,
    folder: PathBuf,
    port: u16,
    /// The gateway that the page started last.
    serving: Option<Running>,
    /// What the last `sh` block printed, until a block shows it.
    output: Option<String>,
}

impl Session {
    pub(super) fn new(page: &str) -> Self {
        let home = Home::new();
        let folder = home.path().join("demo");
        fs::create_dir(&folder).unwrap();
        Self {
            page: page.to_owned(),
            bin: programs::install(home.path()),
            folder,
            port: free_port(),
            serving: None,
            output: None,
            home,
        }
    }

    pub(super) fn follow(&mut self, block: &Block) {
        let place = format!("{}:{}", self.page, block.line);
        let text = block.text.replace(SHOWN_PORT, &self.port.to_string());
        let shown = self.output.take();
        match (block.language.as_str(), block.argument.as_deref()) {
            ("sh", Some("stream")) => self.output = Some(self.read_stream(&text)),
            ("sh", None) => self.output = Some(self.run_block(&place, &text)),
            ("console", None) => self.run_console(&place, &text),
            (_, Some(file)) => self.write(file, &text),
            ("text" | "json", None) if shown.is_some() => {
                assert_matches(&place, &text, &shown.unwrap_or_default());
            }
            ("json" | "toml", None) => client_config::check(self, &place, &block.language, &text),
            ("yaml", None) => self.check_config(&place, &text),
            (language, argument) => {
                panic!("{place}: do not know what to do with a block `{language} {argument:?}`")
            }
        }
    }

    pub(super) fn finish(mut self) {
        self.stop_serving();
    }

    /// A command in the folder of the session.
    pub(super) fn command(&self, program: &str) -> Command {
        let path = std::env::var("PATH").unwrap_or_default();
        let mut command = self.home.command(program);
        command
            .current_dir(&self.folder)
            .env_remove("XDG_DATA_HOME")
            .env("PATH", format!("{}:{path}", self.bin.display()))
            // The pages refer to this key.
            .env("ADA_KEY", "a-key-of-at-least-16-characters")
            .env("TIDEGATE_LISTEN", format!("127.0.0.1:{}", self.port))
            .stdin(Stdio::null());
        command
    }

    pub(super) fn port(&self) -> u16 {
        self.port
    }

    /// Runs a block of commands. One that serves goes on in the background.
    fn run_block(&mut self, place: &str, text: &str) -> String {
        let mut output = String::new();
        let mut script = String::new();
        for line in text.lines() {
            let command = line.split(" #").next().unwrap_or_default().trim();
            if is_serving(command) {
                output.push_str(&self.run_script(place, &script));
                script.clear();
                output.push_str(&self.serve(place, command));
            } else {
                script.push_str(line);
                script.push('\n');
            }
        }
        output + &self.run_script(place, &script)
    }

    fn run_script(&self, place: &str, script: &str) -> String {
        if script.trim().is_empty() {
            return String::new();
        }
        let mut command = self.command("bash");
        command.args(["-eu", "-o", "pipefail", "-c", script]);
        let ended = Running::start(&mut command).end();
        assert!(
            ended.status.success(),
            "{place}: {}\nstdout: {}\nstderr: {}",
            ended.status,
            ended.stdout,
            ended.stderr
        );
        ended.stdout + &ended.stderr
    }

    /// Commands behind `$ `, each followed by its output. A command may fail: its message is shown.
    fn run_console(&mut self, place: &str, text: &str) {
        let mut steps: Vec<(String, String)> = Vec::new();
        for line in text.lines() {
            match (line.strip_prefix("$ "), steps.last_mut()) {
                (Some(command), _) => steps.push((command.to_owned(), String::new())),
                (None, Some((_, shown))) => {
                    shown.push_str(line);
                    shown.push('\n');
                }
                (None, None) => panic!("{place}: output without a command: {line}"),
            }
        }
        for (command, shown) in steps {
            let place = format!("{place}: `{command}`");
            let output = if is_serving(&command) {
                self.serve(&place, &command)
            } else {
                let mut shell = self.command("bash");
                let ended = Running::start(shell.args(["-c", &command])).end();
                ended.stdout + &ended.stderr
            };
            assert_matches(&place, &shown, &output);
        }
    }

    /// Starts a gateway in place of the one before; what it logs until it listens.
    fn serve(&mut self, place: &str, command: &str) -> String {
        self.stop_serving();
        let mut shell = self.command("bash");
        let running = Running::start(shell.args(["-c", &format!("exec {command}")]));
        let deadline = Instant::now() + PATIENCE;
        loop {
            let log = running.stderr.so_far();
            if log.contains("listening on") {
                self.serving = Some(running);
                self.wait_for_sources(place);
                return log;
            }
            assert!(Instant::now() < deadline, "{place}: not listening: {log}");
            thread::sleep(Duration::from_millis(20));
        }
    }

    /// Servers may take longer to start than a reader to type the next command.
    fn wait_for_sources(&self, place: &str) {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let sources = Running::start(self.command("tidegate").arg("sources")).end();
            if !sources.stdout.contains("not connected yet") {
                return;
            }
            assert!(Instant::now() < deadline, "{place}: {}", sources.stdout);
        }
    }

    fn stop_serving(&mut self) {
        if let Some(running) = self.serving.take() {
            running.stop().expect_code(0);
        }
    }

    /// What a command that does not end prints first.
    fn read_stream(&self, text: &str) -> String {
        let mut shell = self.command("bash");
        let running = Running::start(shell.args(["-c", text]));
        let deadline = Instant::now() + PATIENCE;
        let mut before = String::new();
        // Until nothing more comes for a moment.
        loop {
            thread::sleep(Duration::from_millis(300));
            let now = running.stdout.so_far();
            if !now.is_empty() && now == before {
                return now;
            }
            assert!(Instant::now() < deadline, "{}: nothing was sent", self.page);
            before = now;
        }
    }

    fn write(&self, file: &str, text: &str) {
        let path = self.folder.join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// A part of a configuration that the page shows without writing it.
    fn check_config(&self, place: &str, text: &str) {
        let path = self.folder.join("fragment.yaml");
        fs::write(&path, text).unwrap();
        let mut command = self.command("tidegate");
        command.args(["check", "--config", "fragment.yaml"]);
        let ended = Running::start(&mut command).end();
        fs::remove_file(path).unwrap();
        assert!(
            ended.status.success(),
            "{place}: {}{}",
            ended.stdout,
            ended.stderr
        );
    }
}

fn is_serving(command: &str) -> bool {
    let command = command.trim_end_matches(" &");
    ["tidegate serve", "cargo run --release -- serve"]
        .iter()
        .any(|serving| command.starts_with(serving))
}

fn free_port() -> u16 {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    listener.local_addr().unwrap().port()
}

/// Kept here so that a page cannot show an output that matches anything.
#[test]
fn an_empty_output_does_not_match_a_shown_one() {
    assert!(!matches("ok", ""));
}
