//! Parsing of the command line: arguments in, settings and exit codes out.

use super::{Cli, ClientArgs, ColorChoice, Command, EarlyExit, Exit, parse};
use crate::config::{Environment, LogFormat, LogLevel};

fn parse_line(line: &str) -> Result<Cli, EarlyExit> {
    parse(["tidegate"].into_iter().chain(line.split_whitespace()))
}

#[test]
fn serve_accepts_all_flags() {
    let cli = parse_line(
        "serve --config c.yaml --listen 127.0.0.1:1 --data-dir d --insecure --log-level debug \
         --log-format json",
    )
    .unwrap();
    let Command::Serve(serve) = cli.command else {
        panic!("not serve")
    };
    let flags = serve.flags(cli.output);
    assert_eq!(flags.config.unwrap().to_str(), Some("c.yaml"));
    assert_eq!(flags.listen.as_deref(), Some("127.0.0.1:1"));
    assert_eq!(flags.data_dir.unwrap().to_str(), Some("d"));
    assert_eq!(flags.log_level, Some(LogLevel::Debug));
    assert_eq!(flags.log_format, Some(LogFormat::Json));
    assert!(flags.insecure);
}

#[test]
fn stdio_needs_no_authentication() {
    let cli = parse_line("stdio --log-level warn").unwrap();
    let Command::Stdio(stdio) = cli.command else {
        panic!("not stdio")
    };
    let flags = stdio.flags(cli.output);
    assert!(flags.insecure);
    assert_eq!(flags.log_level, Some(LogLevel::Warn));
}

fn client_args(line: &str) -> (ClientArgs, super::OutputArgs) {
    let cli = parse_line(line).unwrap();
    match cli.command {
        Command::Client(command) => (command.args().clone(), cli.output),
        other => panic!("{other:?}"),
    }
}

#[test]
fn flags_override_the_environment_for_the_log_level() {
    let unset = Environment::new(|_| None, "");
    let debug = Environment::new(|_| Some("debug".to_owned()), "");
    for (line, environment, level) in [
        ("ls", &unset, Some(LogLevel::Warn)),
        ("ls -v", &unset, Some(LogLevel::Info)),
        ("-vv ls", &unset, Some(LogLevel::Debug)),
        ("ls -q", &unset, Some(LogLevel::Error)),
        ("ls", &debug, None),
        ("ls -v", &debug, Some(LogLevel::Info)),
        ("ls --quiet", &debug, Some(LogLevel::Error)),
        ("ls --log-level info", &debug, Some(LogLevel::Info)),
    ] {
        let (args, output) = client_args(line);
        assert_eq!(args.flags(output, environment).log_level, level, "{line}");
    }
    for (line, level) in [
        ("serve", None),
        ("serve -v", Some(LogLevel::Debug)),
        ("serve -vv", Some(LogLevel::Trace)),
        ("-q serve", Some(LogLevel::Error)),
    ] {
        let cli = parse_line(line).unwrap();
        let Command::Serve(serve) = cli.command else {
            panic!("not serve")
        };
        assert_eq!(serve.flags(cli.output).log_level, level, "{line}");
    }
}

#[test]
fn a_url_without_a_path_means_the_default_endpoint() {
    for (written, expected) in [
        ("http://here:1", "http://here:1/mcp"),
        ("http://here:1/", "http://here:1/mcp"),
        ("https://here/mcp/demo", "https://here/mcp/demo"),
        ("http://here/?a=b", "http://here/?a=b"),
    ] {
        let (args, _) = client_args(&format!("sources --url {written}"));
        assert_eq!(args.url.unwrap().to_string(), expected);
    }
}

#[test]
fn every_command_accepts_a_color_flag() {
    for (line, color) in [
        ("schema", ColorChoice::Auto),
        ("--color never schema", ColorChoice::Never),
        ("ls --color always", ColorChoice::Always),
    ] {
        assert_eq!(parse_line(line).unwrap().output.color, color, "{line}");
    }
}

/// The command of a server may contain anything after `--`.
#[test]
#[cfg(target_os = "linux")]
fn the_child_guard_passes_flags_to_the_server() {
    let cli = parse_line("child-guard -- server -v -- --color x --help").unwrap();
    let Command::ChildGuard(args) = cli.command else {
        panic!("not child-guard")
    };
    assert_eq!(args.program, "server");
    assert_eq!(args.args, ["-v", "--", "--color", "x", "--help"]);
    assert_eq!(cli.output.verbose, 0);
}

#[test]
fn prints_help_the_version_or_what_is_wrong() {
    for (line, exit, part) in [
        ("", Exit::Usage, "Usage: tidegate [OPTIONS] <COMMAND>"),
        ("--help", Exit::Success, "tidegate serve --config team.yaml"),
        ("--version", Exit::Success, "tidegate 0."),
        (
            "serve --help",
            Exit::Success,
            "[env: TIDEGATE_LISTEN] [default: 127.0.0.1:8080]",
        ),
        (
            "stdio --help",
            Exit::Success,
            "[env: TIDEGATE_LOG_LEVEL] [default: info]",
        ),
        (
            "ls --help",
            Exit::Success,
            "[env: TIDEGATE_LOG_LEVEL] [default: warn]",
        ),
        (
            "call --help",
            Exit::Success,
            "tidegate call demo__add a=2 b=3",
        ),
        (
            "ls --url ftp://here",
            Exit::Usage,
            "not an http or https URL",
        ),
        (
            "ls --url http://here --config c.yaml",
            Exit::Usage,
            "cannot be used with",
        ),
        ("ls --insecure", Exit::Usage, "unexpected argument"),
        ("ls toolz", Exit::Usage, "'tools'"),
        ("ls -v -q", Exit::Usage, "cannot be used with"),
        ("ls -v --log-level info", Exit::Usage, "cannot be used with"),
        ("ls --color pink", Exit::Usage, "auto, always, never"),
        ("completions nu", Exit::Usage, "bash, elvish, fish"),
        ("read", Exit::Usage, "<URI>"),
        ("srve", Exit::Usage, "'serve'"),
        (
            "stdio --listen x",
            Exit::Usage,
            "unexpected argument '--listen'",
        ),
        (
            "stdio --insecure",
            Exit::Usage,
            "unexpected argument '--insecure'",
        ),
        (
            "serve --log-level loud",
            Exit::Usage,
            "[possible values: error, warn, info",
        ),
    ] {
        let early = parse_line(line).unwrap_err();
        assert_eq!(early.exit, exit, "{line}");
        let text = early.text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(text.contains(part), "{line}: {}", early.text);
    }
}
