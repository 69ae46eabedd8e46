//! `tidegate check`: whether the configuration is good, and what would run.
//!
//! Starts and creates nothing.

use std::io::{self, Write};

use serde_json::{Value, json};

use super::{CheckArgs, Exit};
use crate::config::{self, Environment, Origin, Problem, Problems, Settings};

/// Prints a summary on `out`, or the problems: as text on `err`, as JSON on `out`.
pub fn run(
    args: &CheckArgs,
    environment: &Environment<'_>,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> io::Result<Exit> {
    match (config::load(&args.serve.flags(), environment), args.json) {
        (Ok(settings), true) => writeln!(out, "{:#}", summary_json(&settings))?,
        (Ok(settings), false) => summary_text(&settings, out)?,
        (Err(problems), true) => {
            writeln!(out, "{:#}", problems_json(&problems))?;
            return Ok(Exit::Usage);
        }
        (Err(problems), false) => {
            writeln!(err, "{problems}")?;
            return Ok(Exit::Usage);
        }
    }
    Ok(Exit::Done)
}

fn summary_text(settings: &Settings, out: &mut dyn Write) -> io::Result<()> {
    match &settings.file {
        Some(file) => writeln!(out, "{}: good", file.display())?,
        None => writeln!(out, "no configuration file: the defaults hold")?,
    }
    for (name, value) in [
        ("listen", settings.listen.to_string()),
        ("clients", clients(settings)),
        ("hosts", listed(&settings.allowed_hosts)),
        ("origins", listed(&settings.allowed_origins)),
        ("sources", listed(&source_ids(settings))),
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

/// Who may come in.
fn clients(settings: &Settings) -> String {
    match settings.keys.is_empty() {
        false => format!("with the keys of {}", principals(settings).join(", ")),
        true if settings.listen.ip().is_loopback() => "anyone on this machine".to_owned(),
        true => "anyone who reaches the address (--insecure)".to_owned(),
    }
}

fn principals(settings: &Settings) -> Vec<&str> {
    settings
        .keys
        .iter()
        .map(|key| key.principal.as_str())
        .collect()
}

fn source_ids(settings: &Settings) -> Vec<String> {
    let configured = settings.sources.iter().map(|source| source.id.clone());
    configured.chain(["system".to_owned()]).collect()
}

fn listed(values: &[String]) -> String {
    match values {
        [] => "none besides its own".to_owned(),
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
        "sources": source_ids(settings),
        "data_dir": settings.data_dir,
        "log": { "level": settings.log.level, "format": settings.log.format },
    })
}

fn problems_json(problems: &Problems) -> Value {
    json!({ "ok": false, "problems": problems.iter().map(problem_json).collect::<Vec<_>>() })
}

fn problem_json(problem: &Problem) -> Value {
    let place = match problem.origin {
        Origin::File { place, .. } => place,
        Origin::Flag(_) | Origin::Variable(_) => None,
    };
    let at = match &problem.origin {
        Origin::File { path, .. } => path.display().to_string(),
        other => other.to_string(),
    };
    json!({
        "at": at,
        "line": place.map(|place| place.line),
        "column": place.map(|place| place.column),
        "message": problem.message,
    })
}
