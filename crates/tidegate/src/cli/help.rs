//! Adds environment variables and defaults to the help of the flags.
//!
//! clap could read the variables itself, but the precedence of flag, variable and file is decided in
//! `config`.

use super::args::ONE_SHOT_LOG_LEVEL;
use super::{client, memory};
use crate::config::{LOG_LEVEL, OVERRIDES, Override, default_of};

/// Appends the variable and the default of a setting to the help of its flag, in every command.
pub(super) fn with_overrides(command: clap::Command) -> clap::Command {
    map_subcommands(command, |sub| {
        let one_shot = is_one_shot(&sub);
        let sub = map_subcommands(sub, |inner| {
            inner.mut_args(|arg| with_override(arg, one_shot))
        });
        sub.mut_args(|arg| with_override(arg, one_shot))
    })
}

fn map_subcommands(
    mut command: clap::Command,
    map: impl Fn(clap::Command) -> clap::Command,
) -> clap::Command {
    let subcommands = command.get_subcommands();
    let names: Vec<String> = subcommands.map(|sub| sub.get_name().into()).collect();
    for name in names {
        command = command.mut_subcommand(name, &map);
    }
    command
}

/// Whether a command prints data and ends. Such commands log only warnings and errors by default.
pub(crate) fn is_one_shot(command: &clap::Command) -> bool {
    client::is_client_command(command) || command.get_name() == memory::NAME
}

fn with_override(arg: clap::Arg, one_shot: bool) -> clap::Arg {
    let flag = arg
        .get_long()
        .map(|long| format!("--{long}"))
        .unwrap_or_default();
    let Some(setting) = OVERRIDES.iter().find(|setting| setting.flag == flag) else {
        return arg;
    };
    let help = arg.get_help().map(ToString::to_string).unwrap_or_default();
    let default = default_value(setting, one_shot)
        .map(|text| format!(" [default: {text}]"))
        .unwrap_or_default();
    arg.help(format!("{help} [env: {}]{default}", setting.variable))
}

/// The value of a setting that neither a flag nor a variable nor the file sets.
pub(crate) fn default_value(setting: &Override, one_shot: bool) -> Option<String> {
    if one_shot && setting.flag == LOG_LEVEL.flag {
        return Some(ONE_SHOT_LOG_LEVEL.to_string());
    }
    setting.field().and_then(default_of)
}
