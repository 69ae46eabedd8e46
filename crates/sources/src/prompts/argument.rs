//! An argument of a prompt file: its type, its default and its completions.

use serde::Deserialize;
use serde_json::{Value, json};
use serde_saphyr::Spanned;
use tidegate_core::truncate_for_message;

use super::front_matter::{LineProblem, file_line};

/// An argument as it is written.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawArgument {
    name: Spanned<String>,
    title: Option<String>,
    description: Option<String>,
    #[serde(default)]
    required: bool,
    #[serde(default, rename = "type")]
    argument_type: RawArgumentType,
    #[serde(default)]
    values: Vec<String>,
    default: Option<Spanned<String>>,
    #[serde(default)]
    suggestions: Vec<Spanned<String>>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum RawArgumentType {
    #[default]
    String,
    Number,
    Integer,
    Boolean,
    Enum,
}

/// A valid argument.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct FileArgument {
    pub(super) name: String,
    title: Option<String>,
    description: Option<String>,
    pub(super) required: bool,
    argument_type: ArgumentType,
    pub(super) default: Option<String>,
    suggestions: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum ArgumentType {
    String,
    Number,
    Integer,
    Boolean,
    Enum(Vec<String>),
}

impl RawArgument {
    /// The line of its name in the file.
    pub(super) fn line(&self) -> u64 {
        file_line(self.name.referenced.line())
    }

    pub(super) fn validate(self) -> Result<FileArgument, LineProblem> {
        let line = self.line();
        let name = self.name.value;
        let problem = |message: String| Err(LineProblem::new(line, message));
        if !is_argument_name(&name) {
            return problem(format!(
                "invalid argument name `{name}`; use letters, digits, `_` and `-`"
            ));
        }
        if self.required && self.default.is_some() {
            return problem(format!(
                "the argument `{name}` is required and has a default; remove one of the two"
            ));
        }
        let argument_type = match (self.argument_type, self.values.is_empty()) {
            (RawArgumentType::Enum, true) => {
                return problem(format!(
                    "the argument `{name}` is an enum and needs `values`"
                ));
            }
            (RawArgumentType::Enum, false) => ArgumentType::Enum(self.values),
            (_, false) => {
                return problem(format!(
                    "the argument `{name}` has `values`, which need `type: enum`; use `suggestions` \
                     for values that are only suggested"
                ));
            }
            (RawArgumentType::String, true) => ArgumentType::String,
            (RawArgumentType::Number, true) => ArgumentType::Number,
            (RawArgumentType::Integer, true) => ArgumentType::Integer,
            (RawArgumentType::Boolean, true) => ArgumentType::Boolean,
        };
        let default = self.default.iter().map(|value| ("default", value));
        let suggestions = self.suggestions.iter().map(|value| ("suggestion", value));
        for (role, value) in default.chain(suggestions) {
            argument_type.check(&value.value).map_err(|reason| {
                let message = format!("the {role} of `{name}` {reason}");
                LineProblem::new(file_line(value.referenced.line()), message)
            })?;
        }
        let suggestions = self.suggestions.into_iter();
        Ok(FileArgument {
            name,
            title: self.title,
            description: self.description,
            required: self.required,
            argument_type,
            default: self.default.map(|value| value.value),
            suggestions: suggestions.map(|value| value.value).collect(),
        })
    }
}

pub(super) fn is_argument_name(name: &str) -> bool {
    let is_allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    (1..=64).contains(&name.len()) && name.chars().all(is_allowed)
}

impl ArgumentType {
    /// The error completes a sentence that starts with the subject.
    fn check(&self, value: &str) -> Result<(), String> {
        let is_valid = match self {
            Self::String => true,
            Self::Number => value.trim().parse::<f64>().is_ok_and(f64::is_finite),
            Self::Integer => {
                let digits = value.trim().trim_start_matches(['-', '+']);
                !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
            }
            Self::Boolean => matches!(value, "true" | "false"),
            Self::Enum(values) => values.iter().any(|allowed| allowed == value),
        };
        match is_valid {
            true => Ok(()),
            false => {
                let value = truncate_for_message(value);
                Err(format!("must be {}, not `{value}`", self.describe()))
            }
        }
    }

    fn describe(&self) -> String {
        match self {
            Self::String => "a string".to_owned(),
            Self::Number => "a number".to_owned(),
            Self::Integer => "an integer".to_owned(),
            Self::Boolean => "`true` or `false`".to_owned(),
            Self::Enum(values) => format!("one of `{}`", values.join("`, `")),
        }
    }
}

impl FileArgument {
    /// The argument in a prompt list. The protocol has no argument types, so the description
    /// contains the type.
    pub(super) fn definition(&self) -> Value {
        let type_note = match &self.argument_type {
            ArgumentType::String => None,
            other => Some(format!("Must be {}.", other.describe())),
        };
        let default = self.default.as_ref();
        let default = default.map(|value| format!("Default: `{value}`."));
        let description: Vec<_> = [self.description.clone(), type_note, default]
            .into_iter()
            .flatten()
            .collect();
        let mut definition = json!({ "name": self.name, "required": self.required });
        if let Some(title) = &self.title {
            definition["title"] = title.as_str().into();
        }
        if !description.is_empty() {
            definition["description"] = description.join(" ").into();
        }
        definition
    }

    /// Checks a value. The error is a message for the caller.
    pub(super) fn check(&self, value: &str) -> Result<(), String> {
        let name = &self.name;
        let checked = self.argument_type.check(value);
        checked.map_err(|reason| format!("the argument `{name}` {reason}"))
    }

    /// Values that start with the typed text, then values that contain it.
    pub(super) fn complete(&self, typed: &str) -> Vec<String> {
        let booleans = ["true".to_owned(), "false".to_owned()];
        let values = match &self.argument_type {
            ArgumentType::Enum(values) => values.as_slice(),
            ArgumentType::Boolean => &booleans,
            _ => &self.suggestions,
        };
        let typed = typed.to_lowercase();
        let position = |value: &String| value.to_lowercase().find(&typed);
        let prefixed = values.iter().filter(|value| position(value) == Some(0));
        let containing = values
            .iter()
            .filter(|value| position(value).is_some_and(|at| at > 0));
        prefixed.chain(containing).cloned().collect()
    }
}
