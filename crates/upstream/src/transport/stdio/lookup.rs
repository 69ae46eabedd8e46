//! Finds out before the start whether the program of a server exists: a missing program is the most
//! common mistake, and the child guard could only report an exit code.

use std::ffi::OsString;
use std::path::Path;

use super::Command;

/// A message if the program does not exist. `variable` reads the environment of the gateway, which
/// the process inherits.
pub(super) fn command_not_found(
    command: &Command,
    variable: impl Fn(&str) -> Option<OsString>,
) -> Option<String> {
    let program = command.program.as_str();
    if program.contains('/') {
        let folder = command.folder.as_deref().unwrap_or(Path::new(""));
        return (!folder.join(program).exists()).then(|| format!("command not found: {program}"));
    }
    let configured = command.env.iter().find(|(name, _)| name == "PATH");
    let path = match configured {
        Some((_, path)) => path.into(),
        // Without PATH, the system decides where to look.
        None => variable("PATH")?,
    };
    let is_found = std::env::split_paths(&path).any(|folder| folder.join(program).is_file());
    (!is_found).then(|| format!("command not found: {program} (looked in PATH)"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_a_program_that_does_not_exist() {
        let inherited = |name: &str| (name == "PATH").then(|| "/usr/bin:/bin".into());
        let look = |program: &str| command_not_found(&Command::new(program, Vec::new()), inherited);
        assert_eq!(look("sh"), None);
        assert_eq!(look("/bin/sh"), None);
        let missing = "command not found: no-such-program (looked in PATH)";
        assert_eq!(look("no-such-program").as_deref(), Some(missing));
        let missing = "command not found: /nowhere/server";
        assert_eq!(look("/nowhere/server").as_deref(), Some(missing));
    }

    #[test]
    fn looks_where_the_process_will_look() {
        let mut command = Command::new("sh", Vec::new());
        command.env = vec![("PATH".to_owned(), "/nowhere".to_owned())];
        assert!(command_not_found(&command, |_| Some("/bin".into())).is_some());
        command.env.clear();
        assert_eq!(command_not_found(&command, |_| None), None);
        let relative = Command {
            folder: Some("/bin".into()),
            ..Command::new("./sh", Vec::new())
        };
        assert_eq!(command_not_found(&relative, |_| None), None);
    }
}
