//! `tidegate check`: validates the configuration and prints a summary.
//!
//! Starts and creates nothing.

use std::io::{self, Write};

use serde_json::{Value, json};

use crate::cli::Exit;
use crate::config::{self, Environment, Flags, Origin, Problem, Problems, Settings};

/// Prints a summary on `out`, or the problems: as text on `err`, as JSON on `out`.
pub(super) fn run(
    flags: &Flags,
    json: bool,
    environment: &Environment<'_>,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> io::Result<Exit> {
    match (config::load(flags, environment), json) {
        (Ok(settings), true) => writeln!(out, "{:#}", summary_json(&settings))?,
        (Ok(settings), false) => write_summary(&settings, out)?,
        (Err(problems), true) => {
            writeln!(out, "{:#}", problems_json(&problems))?;
            return Ok(Exit::Usage);
        }
        (Err(problems), false) => {
            writeln!(err, "{problems}")?;
            return Ok(Exit::Usage);
        }
    }
    Ok(Exit::Success)
}

fn write_summary(settings: &Settings, out: &mut dyn Write) -> io::Result<()> {
    match &settings.file {
        Some(file) => writeln!(out, "{}: valid", file.display())?,
        None => writeln!(out, "no configuration file; using the defaults")?,
    }
    for (name, value) in [
        ("listen", settings.listen.to_string()),
        ("clients", allowed_clients(settings)),
        ("hosts", comma_separated(&settings.allowed_hosts)),
        ("origins", comma_separated(&settings.allowed_origins)),
        ("sources", settings.source_ids().join(", ")),
        ("data", settings.data_dir.display().to_string()),
        (
            "log",
            format!("{}, {}", settings.log.level, settings.log.format),
        ),
    ] {
        writeln!(out, "  {name:<8} {value}")?;
    }
    Ok(())
}

fn allowed_clients(settings: &Settings) -> String {
    match settings.keys.is_empty() {
        false => format!("with a key of {}", principals(settings).join(", ")),
        true if settings.listen.ip().is_loopback() => "anyone on this machine".to_owned(),
        true => "anyone who can reach the address (--insecure)".to_owned(),
    }
}

fn principals(settings: &Settings) -> Vec<&str> {
    settings
        .keys
        .iter()
        .map(|key| key.principal.as_str())
        .collect()
}

/// Hosts or origins that are allowed in addition to the gateway's own.
fn comma_separated(values: &[String]) -> String {
    match values {
        [] => "only the gateway's own".to_owned(),
        values => values.join(", "),
    }
}

fn summary_json(settings: &Settings) -> Value {
    json!({
        "ok": true,
        "file": settings.file,
        "listen": settings.listen,
        "public_url": settings.public_url.as_ref().map(config::PublicUrl::as_str),
        "allowed_hosts": settings.allowed_hosts,
        "allowed_origins": settings.allowed_origins,
        "principals": principals(settings),
        "legacy_sse": settings.legacy_sse,
        "sources": settings.source_ids(),
        "data_dir": settings.data_dir,
        "log": { "level": settings.log.level, "format": settings.log.format },
    })
}

fn problems_json(problems: &Problems) -> Value {
    json!({ "ok": false, "problems": problems.iter().map(problem_json).collect::<Vec<_>>() })
}

fn problem_json(problem: &Problem) -> Value {
    let position = match problem.origin {
        Origin::File { position, .. } => position,
        Origin::Flag(_) | Origin::Variable(_) => None,
    };
    let at = match &problem.origin {
        Origin::File { path, .. } => path.display().to_string(),
        other => other.to_string(),
    };
    json!({
        "at": at,
        "line": position.map(|position| position.line),
        "column": position.map(|position| position.column),
        "message": problem.message,
    })
}

#[cfg(test)]
mod tests {
    use std::fs;

    use tempfile::TempDir;

    use super::*;

    /// Runs `check` on a file with this text; returns the exit code, stdout and stderr.
    fn check(text: &str, json: bool) -> (Exit, String, String) {
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
        let (mut out, mut err) = (Vec::new(), Vec::new());
        let exit = run(&Flags::default(), json, &environment, &mut out, &mut err).unwrap();
        (
            exit,
            String::from_utf8(out).unwrap(),
            String::from_utf8(err).unwrap(),
        )
    }

    #[test]
    fn prints_a_summary_of_a_valid_configuration() {
        let text = "listen: 0.0.0.0:80\npublic_url: https://a.example\n\
                    auth: { keys: { ada: '${env:ADA_KEY}' } }\nsources: {}\n";
        let (exit, out, err) = check(text, false);
        let expected = "tidegate.yaml: valid\n\
            \x20 listen   0.0.0.0:80\n\
            \x20 clients  with a key of ada\n\
            \x20 hosts    a.example\n\
            \x20 origins  only the gateway's own\n\
            \x20 sources  system\n\
            \x20 data     /home/ada/.local/share/tidegate\n\
            \x20 log      info, text\n";
        assert_eq!(
            (exit, out.as_str(), err.as_str()),
            (Exit::Success, expected, "")
        );

        let (exit, out, _) = check(text, true);
        let summary: Value = serde_json::from_str(&out).unwrap();
        assert_eq!((exit, &summary["ok"]), (Exit::Success, &true.into()));
        assert_eq!(summary["principals"][0], "ada");
        assert!(!out.contains("0123456789abcdef"));
    }

    #[test]
    fn prints_the_problems_of_an_invalid_configuration() {
        let (exit, out, err) = check("lisen: x\n", false);
        let expected = "tidegate.yaml:1:1: unknown field `lisen`; did you mean `listen`?\n\
                        1 problem in the configuration\n";
        assert_eq!(
            (exit, out.as_str(), err.as_str()),
            (Exit::Usage, "", expected)
        );

        let (exit, out, err) = check("lisen: x\n", true);
        let report: Value = serde_json::from_str(&out).unwrap();
        assert_eq!(
            (exit, err.as_str(), &report["ok"]),
            (Exit::Usage, "", &false.into())
        );
        assert_eq!(report["problems"][0]["line"], 1);
        assert_eq!(report["problems"][0]["at"], "tidegate.yaml");
    }
}
