//! The page on the command line, made from the commands that clap knows.
//!
//! Knows no command by name.

use clap::{Arg, Command, CommandFactory};

use super::table::{code, heading, table};
use crate::cli::{Cli, default_for, is_quiet};
use crate::config::OVERRIDES;

const OPENING: &str = include_str!("cli_opening.md");

/// The page.
pub(super) fn page() -> String {
    let mut root = Cli::command();
    root.build();
    let commands: Vec<Entry<'_>> = subcommands(&root)
        .flat_map(|sub| entries(sub, is_quiet(sub)))
        .collect();
    let rows: Vec<[String; 2]> = commands
        .iter()
        .map(|entry| [link(&entry.name), about(entry.command)])
        .collect();
    let mut text = OPENING.to_owned();
    text += &table(["command", "what it does"], &rows);
    for entry in &commands {
        text += &section(entry);
    }
    text
}

/// A command that does something.
struct Entry<'a> {
    /// With those of the commands it is part of.
    name: String,
    command: &'a Command,
    quiet: bool,
}

/// A command, or those that it has.
fn entries(command: &Command, quiet: bool) -> Vec<Entry<'_>> {
    let own = command.get_name().to_owned();
    if !command.has_subcommands() {
        let name = own;
        return vec![Entry {
            name,
            command,
            quiet,
        }];
    }
    let inner = subcommands(command).flat_map(|sub| entries(sub, quiet));
    let named = inner.map(|entry| Entry {
        name: format!("{own} {}", entry.name),
        ..entry
    });
    named.collect()
}

fn subcommands(command: &Command) -> impl Iterator<Item = &Command> {
    command.get_subcommands().filter(|sub| !sub.is_hide_set())
}

fn link(name: &str) -> String {
    format!("[`tidegate {name}`](#tidegate-{})", name.replace(' ', "-"))
}

fn about(command: &Command) -> String {
    command
        .get_about()
        .map(ToString::to_string)
        .unwrap_or_default()
}

fn section(entry: &Entry<'_>) -> String {
    let command = entry.command;
    let mut text = heading(2, &format!("tidegate {}", entry.name));
    let usage = command.clone().render_usage().to_string();
    let examples = command
        .get_after_help()
        .map(ToString::to_string)
        .unwrap_or_default();
    text += &format!(
        "{}.\n\n```text\n{}\n\n{examples}\n```\n",
        about(command),
        usage.trim()
    );
    let flags: Vec<[String; 5]> = command
        .get_arguments()
        .filter(|arg| !arg.is_hide_set())
        .map(|arg| row(arg, entry.quiet))
        .collect();
    text + "\n" + &table(["flag", "values", "default", "variable", "meaning"], &flags)
}

fn row(arg: &Arg, quiet: bool) -> [String; 5] {
    let flag = arg
        .get_long()
        .map(|long| format!("--{long}"))
        .unwrap_or_default();
    let setting = OVERRIDES.iter().find(|setting| setting.flag == flag);
    let default = setting.and_then(|setting| default_for(setting, quiet));
    [
        // An argument without a flag is its name alone.
        code(format!("{flag}{}", value_name(arg)).trim_start()),
        values(arg),
        default.map(|text| code(&text)).unwrap_or_default(),
        setting
            .map(|setting| code(setting.variable))
            .unwrap_or_default(),
        arg.get_help().map(ToString::to_string).unwrap_or_default(),
    ]
}

fn takes_value(arg: &Arg) -> bool {
    arg.get_action().takes_values()
}

fn value_name(arg: &Arg) -> String {
    let names = arg
        .get_value_names()
        .filter(|_| takes_value(arg))
        .unwrap_or_default();
    let written = |name| match arg.is_require_equals_set() {
        // By itself the flag says something too.
        true => format!("[={name}]"),
        false => format!(" {name}"),
    };
    names.iter().map(written).collect()
}

/// The words that a flag takes, when they are few.
fn values(arg: &Arg) -> String {
    if !takes_value(arg) {
        return String::new();
    }
    let values = arg.get_possible_values();
    values
        .iter()
        .map(|value| code(value.get_name()))
        .collect::<Vec<_>>()
        .join(", ")
}
