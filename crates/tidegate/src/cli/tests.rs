//! The command line from the outside: arguments in, output and exit codes out.

use std::fs;

use tempfile::TempDir;

use super::{CheckArgs, Cli, Command, ConfigArgs, Exit, ServeArgs, check, parse, schema};
use crate::config::{Environment, LogFormat, LogLevel};

fn args(line: &str) -> Result<Cli, super::Stop> {
    parse(["tidegate"].into_iter().chain(line.split_whitespace()))
}

#[test]
fn serve_takes_all_flags() {
    let cli = args(
        "serve --config c.yaml --listen 127.0.0.1:1 --data-dir d --insecure --log-level debug \
         --log-format json",
    );
    let Command::Serve(serve) = cli.unwrap().command else {
        panic!("not serve")
    };
    let flags = serve.flags();
    assert_eq!(flags.config.unwrap().to_str(), Some("c.yaml"));
    assert_eq!(flags.listen.as_deref(), Some("127.0.0.1:1"));
    assert_eq!(flags.data_dir.unwrap().to_str(), Some("d"));
    assert_eq!(flags.log_level, Some(LogLevel::Debug));
    assert_eq!(flags.log_format, Some(LogFormat::Json));
    assert!(flags.insecure);
}

#[test]
fn stdio_opens_no_address() {
    let Command::Stdio(stdio) = args("stdio --log-level warn").unwrap().command else {
        panic!("not stdio")
    };
    assert!(stdio.flags().insecure);
    assert_eq!(stdio.flags().log_level, Some(LogLevel::Warn));
}

#[test]
fn looking_logs_little_and_finds_the_endpoint() {
    let look = |line: &str| match args(line).unwrap().command {
        Command::Look(look) => look.args().clone(),
        other => panic!("{other:?}"),
    };
    let none = Environment::new(|_| None, "");
    let loud = Environment::new(|_| Some("debug".to_owned()), "");
    for (line, environment, level) in [
        ("ls", &none, Some(LogLevel::Warn)),
        ("ls", &loud, None),
        ("ls --log-level info", &loud, Some(LogLevel::Info)),
    ] {
        assert_eq!(look(line).flags(environment).log_level, level, "{line}");
    }
    for (given, meant) in [
        ("http://here:1", "http://here:1/mcp"),
        ("http://here:1/", "http://here:1/mcp"),
        ("https://here/mcp/demo", "https://here/mcp/demo"),
        ("http://here/?a=b", "http://here/?a=b"),
    ] {
        let url = look(&format!("sources --url {given}")).url.unwrap();
        assert_eq!(url.to_string(), meant);
    }
}

#[test]
fn what_is_not_a_command_says_why() {
    for (line, exit, part) in [
        ("", Exit::Usage, "Usage: tidegate <COMMAND>"),
        ("--help", Exit::Done, "tidegate serve --config team.yaml"),
        ("--version", Exit::Done, "tidegate 0."),
        (
            "serve --help",
            Exit::Done,
            "[env: TIDEGATE_LISTEN] [default: 127.0.0.1:8080]",
        ),
        (
            "stdio --help",
            Exit::Done,
            "[env: TIDEGATE_LOG_LEVEL] [default: info]",
        ),
        (
            "ls --help",
            Exit::Done,
            "[env: TIDEGATE_LOG_LEVEL] [default: warn]",
        ),
        ("call --help", Exit::Done, "tidegate call demo__add a=2 b=3"),
        (
            "ls --url ftp://here",
            Exit::Usage,
            "no http or https address",
        ),
        (
            "ls --url http://here --config c.yaml",
            Exit::Usage,
            "cannot be used with",
        ),
        ("ls --insecure", Exit::Usage, "unexpected argument"),
        ("ls toolz", Exit::Usage, "'tools'"),
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
        let stop = args(line).unwrap_err();
        assert_eq!(stop.exit, exit, "{line}");
        let words = stop.text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(words.contains(part), "{line}: {}", stop.text);
    }
}

#[test]
fn schema_is_json() {
    let mut out = Vec::new();
    schema::run(&mut out).unwrap();
    let schema: serde_json::Value = serde_json::from_slice(&out).unwrap();
    assert_eq!(schema["additionalProperties"], false);
    assert_eq!(schema["properties"]["listen"]["default"], "127.0.0.1:8080");
}

/// Runs `check` on a file of this text: the exit code, stdout and stderr.
fn run_check(text: &str, json: bool) -> (Exit, String, String) {
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("tidegate.yaml"), text).unwrap();
    let environment = Environment::new(
        |name| match name {
            "HOME" => Some("/home/ada".to_owned()),
            "ADA_KEY" => Some("0123456789abcdef".to_owned()),
            _ => None,
        },
        folder.path(),
    );
    let args = CheckArgs {
        json,
        serve: ServeArgs {
            config: ConfigArgs::default(),
            ..Default::default()
        },
    };
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let exit = check::run(&args, &environment, &mut out, &mut err).unwrap();
    (
        exit,
        String::from_utf8(out).unwrap(),
        String::from_utf8(err).unwrap(),
    )
}

#[test]
fn check_tells_what_would_run() {
    let text = "listen: 0.0.0.0:80\npublic_url: https://a.example\n\
                auth: { keys: { ada: '${env:ADA_KEY}' } }\n";
    let (exit, out, err) = run_check(text, false);
    let expected = "tidegate.yaml: good\n\
        \x20 listen   0.0.0.0:80\n\
        \x20 clients  with the keys of ada\n\
        \x20 hosts    a.example\n\
        \x20 origins  none besides its own\n\
        \x20 sources  system\n\
        \x20 data     /home/ada/.local/share/tidegate\n\
        \x20 log      info, text\n";
    assert_eq!(
        (exit, out.as_str(), err.as_str()),
        (Exit::Done, expected, "")
    );

    let (exit, out, _) = run_check(text, true);
    let summary: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!((exit, &summary["ok"]), (Exit::Done, &true.into()));
    assert_eq!(summary["principals"][0], "ada");
    assert!(!out.contains("0123456789abcdef"));
}

#[test]
fn check_tells_what_is_wrong() {
    let (exit, out, err) = run_check("lisen: x\n", false);
    let expected = "tidegate.yaml:1:1: unknown field `lisen`; did you mean `listen`?\n\
                    1 problem in the configuration\n";
    assert_eq!(
        (exit, out.as_str(), err.as_str()),
        (Exit::Usage, "", expected)
    );

    let (exit, out, err) = run_check("lisen: x\n", true);
    let told: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!(
        (exit, err.as_str(), &told["ok"]),
        (Exit::Usage, "", &false.into())
    );
    assert_eq!(told["problems"][0]["line"], 1);
    assert_eq!(told["problems"][0]["at"], "tidegate.yaml");
}
