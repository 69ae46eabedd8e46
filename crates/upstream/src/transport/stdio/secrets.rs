//! The configured values of a server process that its output must not reveal: its environment, and
//! the secrets in its command line.

use super::Command;

/// Shorter values are words such as `true`, and would hide half of the output.
const MIN_LENGTH: usize = 6;

/// The values to mask, longest first.
#[derive(Default)]
pub(super) struct Secrets(Vec<String>);

impl Secrets {
    pub(super) fn of(command: &Command) -> Self {
        let values = command.env.iter().map(|(_, value)| value.clone());
        let values = values.chain(command.secrets.iter().cloned());
        let mut values: Vec<_> = values.filter(|value| value.len() >= MIN_LENGTH).collect();
        values.sort_by_key(|value| std::cmp::Reverse(value.len()));
        Self(values)
    }

    pub(super) fn mask(&self, line: &str) -> String {
        let masked = |line: String, value: &String| line.replace(value, "***");
        self.0.iter().fold(line.to_owned(), masked)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn masks_configured_values_wherever_they_occur() {
        let variable = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let command = Command {
            env: vec![
                variable("TOKEN", "s3cret-value"),
                variable("LONGER", "s3cret-value-2"),
                variable("DEBUG", "true"),
            ],
            secrets: vec!["s3cret-argument".to_owned()],
            ..Command::new("server", Vec::new())
        };
        let masked = Secrets::of(&command).mask("true: s3cret-value, s3cret-value-2");
        assert_eq!(masked, "true: ***, ***");
        assert_eq!(Secrets::of(&command).mask("s3cret-argument"), "***");
    }
}
