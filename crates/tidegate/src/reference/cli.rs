//! The page on the command line, generated from the clap definition.
//!
//! Must not know: any command by name.

use clap::{Arg, Command, CommandFactory};

use super::table::{code, heading, table};
use crate::cli::{Cli, default_value, is_one_shot};
use crate::config::OVERRIDES;

const OPENING: &str = include_str!("cli_opening.md");

/// The page.
pub(super) fn page() -> String {
    let mut root = Cli::command();
    root.build();
    let commands: Vec<Entry<'_>> = subcommands(&root)
        .flat_map(|sub| entries(sub, is_one_shot(sub)))
        .collect();
    let rows: Vec<[String; 2]> = commands
        .iter()
        .map(|entry| [link(&entry.name), about(entry.command)])
        .collect();
    let mut text = OPENING.to_owned();
    text += &table(["command", "what it does"], &rows);
    text += &heading(2, "Flags of every command");
    let rows: Vec<_> = root
        .get_arguments()
        .filter(|arg| arg.is_global_set())
        .map(|arg| row(arg, false))
        .collect();
    text += &flag_table(&rows);
    for entry in &commands {
        text += &section(entry);
    }
    text
}

/// A command without subcommands.
struct Entry<'a> {
    /// With the names of its parents.
    name: String,
    command: &'a Command,
    one_shot: bool,
}

/// A command, or its subcommands.
fn entries(command: &Command, one_shot: bool) -> Vec<Entry<'_>> {
    let own = command.get_name().to_owned();
    if !command.has_subcommands() {
        let name = own;
        return vec![Entry {
            name,
            command,
            one_shot,
        }];
    }
    let inner = subcommands(command).flat_map(|sub| entries(sub, one_shot));
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
        .filter(|arg| !arg.is_hide_set() && !arg.is_global_set())
        .map(|arg| row(arg, entry.one_shot))
        .collect();
    text + "\n" + &flag_table(&flags)
}

fn flag_table(rows: &[[String; 5]]) -> String {
    table(["flag", "values", "default", "variable", "meaning"], rows)
}

fn row(arg: &Arg, one_shot: bool) -> [String; 5] {
    let flag = arg
        .get_long()
        .map(|long| format!("--{long}"))
        .unwrap_or_default();
    let setting = OVERRIDES.iter().find(|setting| setting.flag == flag);
    let default = match setting {
        Some(setting) => default_value(setting, one_shot),
        None => clap_default(arg),
    };
    let short = arg.get_short().map(|short| format!("-{short}, "));
    let flag = format!("{}{flag}", short.unwrap_or_default());
    [
        // A positional argument has only a value name.
        code(format!("{flag}{}", value_name(arg)).trim_start()),
        values(arg),
        default.map(|text| code(&text)).unwrap_or_default(),
        setting
            .map(|setting| code(setting.variable))
            .unwrap_or_default(),
        arg.get_help().map(ToString::to_string).unwrap_or_default(),
    ]
}

/// The default of a flag that is not a setting.
fn clap_default(arg: &Arg) -> Option<String> {
    let values = arg.get_default_values().iter().filter(|_| takes_value(arg));
    let values: Vec<_> = values.map(|value| value.display().to_string()).collect();
    (!values.is_empty()).then(|| values.join(", "))
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
        // The value is optional.
        true => format!("[={name}]"),
        false => format!(" {name}"),
    };
    names.iter().map(written).collect()
}

/// The values of a flag that accepts only a few.
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
