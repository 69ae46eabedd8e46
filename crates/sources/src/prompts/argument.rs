//! An argument of a prompt: what it may be, and what is suggested for it.

use serde::Deserialize;
use serde_json::{Value, json};
use serde_saphyr::Spanned;

use super::front::{Wrong, in_file};

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
    kind: RawKind,
    #[serde(default)]
    values: Vec<String>,
    default: Option<Spanned<String>>,
    #[serde(default)]
    suggestions: Vec<Spanned<String>>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum RawKind {
    #[default]
    String,
    Number,
    Integer,
    Boolean,
    Enum,
}

/// An argument.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Argument {
    pub(super) name: String,
    title: Option<String>,
    description: Option<String>,
    pub(super) required: bool,
    kind: Kind,
    pub(super) default: Option<String>,
    suggestions: Vec<String>,
}

/// What a value must be.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Kind {
    String,
    Number,
    Integer,
    Boolean,
    OneOf(Vec<String>),
}

impl RawArgument {
    /// The line of the file that its name is in.
    pub(super) fn line(&self) -> u64 {
        in_file(self.name.referenced.line())
    }

    pub(super) fn check(self) -> Result<Argument, Wrong> {
        let line = self.line();
        let name = self.name.value;
        let wrong = |message: String| Err(Wrong::new(line, message));
        if !is_name(&name) {
            return wrong(format!(
                "`{name}` cannot be the name of an argument; use letters, digits, `_` and `-`"
            ));
        }
        if self.required && self.default.is_some() {
            return wrong(format!(
                "the argument `{name}` has a default, so it is not required; keep one of the two"
            ));
        }
        let kind = match (self.kind, self.values.is_empty()) {
            (RawKind::Enum, true) => {
                return wrong(format!(
                    "the argument `{name}` is an enum and needs `values`"
                ));
            }
            (RawKind::Enum, false) => Kind::OneOf(self.values),
            (_, false) => {
                return wrong(format!(
                    "the argument `{name}` has `values`, which go with `type: enum`; what is only \
                     suggested goes into `suggestions`"
                ));
            }
            (RawKind::String, true) => Kind::String,
            (RawKind::Number, true) => Kind::Number,
            (RawKind::Integer, true) => Kind::Integer,
            (RawKind::Boolean, true) => Kind::Boolean,
        };
        for (what, given) in (self.default.iter().map(|one| ("default", one)))
            .chain(self.suggestions.iter().map(|one| ("suggestion", one)))
        {
            kind.check(&given.value).map_err(|why| {
                let message = format!("the {what} of `{name}` {why}");
                Wrong::new(in_file(given.referenced.line()), message)
            })?;
        }
        Ok(Argument {
            name,
            title: self.title,
            description: self.description,
            required: self.required,
            kind,
            default: self.default.map(|one| one.value),
            suggestions: self.suggestions.into_iter().map(|one| one.value).collect(),
        })
    }
}

pub(super) fn is_name(name: &str) -> bool {
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    (1..=64).contains(&name.len()) && name.chars().all(fits)
}

impl Kind {
    /// What is wrong with a value, after the words for what it is of.
    fn check(&self, value: &str) -> Result<(), String> {
        let fits = match self {
            Self::String => true,
            Self::Number => value.trim().parse::<f64>().is_ok_and(f64::is_finite),
            Self::Integer => {
                let digits = value.trim().trim_start_matches(['-', '+']);
                !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
            }
            Self::Boolean => matches!(value, "true" | "false"),
            Self::OneOf(values) => values.iter().any(|one| one == value),
        };
        match fits {
            true => Ok(()),
            false => Err(format!(
                "must be {}, not `{}`",
                self.words(),
                tidegate_core::truncate_for_message(value)
            )),
        }
    }

    fn words(&self) -> String {
        match self {
            Self::String => "text".to_owned(),
            Self::Number => "a number".to_owned(),
            Self::Integer => "a whole number".to_owned(),
            Self::Boolean => "`true` or `false`".to_owned(),
            Self::OneOf(values) => {
                let values: Vec<_> = values.iter().map(|one| format!("`{one}`")).collect();
                format!("one of {}", values.join(", "))
            }
        }
    }
}

impl Argument {
    /// As lists show it. The protocol has no types for arguments, so the description says it.
    pub(super) fn definition(&self) -> Value {
        let kind = match &self.kind {
            Kind::String => None,
            other => Some(format!("Must be {}.", other.words())),
        };
        let default = self.default.as_ref();
        let default = default.map(|value| format!("Default: `{value}`."));
        let description: Vec<_> = [self.description.clone(), kind, default]
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

    /// Whether a value fits, in words for whoever gave it.
    pub(super) fn check(&self, value: &str) -> Result<(), String> {
        let name = &self.name;
        self.kind
            .check(value)
            .map_err(|why| format!("the argument `{name}` {why}"))
    }

    /// What is suggested when this has been typed: what begins with it, then what has it anywhere.
    pub(super) fn suggested(&self, typed: &str) -> Vec<String> {
        let two = ["true".to_owned(), "false".to_owned()];
        let all = match &self.kind {
            Kind::OneOf(values) => values.as_slice(),
            Kind::Boolean => &two,
            _ => &self.suggestions,
        };
        let typed = typed.to_lowercase();
        let at = |value: &String| value.to_lowercase().find(&typed);
        let first = all.iter().filter(|value| at(value) == Some(0));
        let then = all
            .iter()
            .filter(|value| at(value).is_some_and(|at| at > 0));
        first.chain(then).cloned().collect()
    }
}
