//! What a value may be, as its schema says it: whether one fits, and words for it.

use std::borrow::Cow;
use std::fmt;

use serde_json::Value;
use serde_json::value::RawValue;
use tidegate_core::Object;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    Anything,
    Null,
    Truth,
    Number,
    Whole {
        least: Option<i64>,
        most: Option<i64>,
    },
    Text,
    Word(Vec<String>),
    List(Box<Self>),
    Object(Box<Self>),
    Either(Vec<Self>),
}

impl Shape {
    pub(super) fn of(schema: &Value) -> Self {
        if let Some(any) = schema["anyOf"].as_array() {
            return Self::Either(any.iter().map(Self::of).collect());
        }
        match &schema["type"] {
            Value::String(name) => Self::named(name, schema),
            Value::Array(names) => {
                let names = names.iter().filter_map(Value::as_str);
                Self::Either(names.map(|name| Self::named(name, schema)).collect())
            }
            _ => Self::Anything,
        }
    }

    fn named(name: &str, schema: &Value) -> Self {
        let words = schema["enum"].as_array();
        match name {
            "null" => Self::Null,
            "boolean" => Self::Truth,
            "number" => Self::Number,
            "integer" => Self::Whole {
                least: schema["minimum"].as_i64(),
                most: schema["maximum"].as_i64(),
            },
            "string" => words.map_or(Self::Text, |words| {
                let words = words.iter().filter_map(Value::as_str);
                Self::Word(words.map(str::to_owned).collect())
            }),
            "array" => Self::List(Box::new(Self::of(&schema["items"]))),
            "object" => Self::Object(Box::new(Self::of(&schema["additionalProperties"]))),
            _ => Self::Anything,
        }
    }

    /// The text of a value that fits, as our types read it. A number beyond them is their largest.
    pub(super) fn read<'a>(&self, text: &'a str) -> Option<Cow<'a, str>> {
        let fits = match self {
            Self::Anything => true,
            Self::Null => text == "null",
            Self::Truth => matches!(text, "true" | "false"),
            Self::Number => match text.parse::<f64>() {
                Ok(number) if number.is_infinite() => {
                    let largest = f64::MAX.copysign(number);
                    return Some(Cow::Owned(format!("{largest:e}")));
                }
                number => number.is_ok(),
            },
            Self::Whole { least, most } => {
                let number = whole(text)?;
                let fits = least.is_none_or(|least| least <= number)
                    && most.is_none_or(|most| number <= most);
                return fits.then(|| Cow::Owned(number.to_string()));
            }
            Self::Text => serde_json::from_str::<String>(text).is_ok(),
            Self::Word(words) => {
                let word = serde_json::from_str::<String>(text);
                word.is_ok_and(|word| words.contains(&word))
            }
            Self::List(item) => {
                let items = serde_json::from_str::<Vec<&RawValue>>(text).ok()?;
                let items = items.iter().map(|one| item.read(one.get()));
                let items = items.collect::<Option<Vec<_>>>()?;
                return Some(Cow::Owned(format!("[{}]", items.join(","))));
            }
            Self::Object(item) => {
                let members = Object::parse(text).ok()?;
                members.iter().all(|(_, value)| item.read(value).is_some())
            }
            Self::Either(shapes) => return shapes.iter().find_map(|one| one.read(text)),
        };
        fits.then_some(Cow::Borrowed(text))
    }

    /// Words for several such values.
    fn several(&self) -> &'static str {
        match self {
            Self::Text | Self::Word(_) => "strings",
            Self::Number => "numbers",
            Self::Whole { .. } => "whole numbers",
            Self::List(_) => "lists",
            Self::Object(_) => "objects",
            Self::Anything | Self::Null | Self::Truth | Self::Either(_) => "values",
        }
    }
}

/// A number that is whole, also where it is written as `1.0` or `1e2`.
fn whole(text: &str) -> Option<i64> {
    if let Ok(number) = text.parse() {
        return Some(number);
    }
    let number = text.parse::<f64>().ok().filter(|one| one.fract() == 0.0)?;
    let largest = if number < 0.0 { i64::MIN } else { i64::MAX };
    Some(format!("{number:.0}").parse().unwrap_or(largest))
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Anything => f.write_str("a value"),
            Self::Null => f.write_str("null"),
            Self::Truth => f.write_str("true or false"),
            Self::Number => f.write_str("a number"),
            Self::Whole { least, most } => match (least, most) {
                (Some(least), Some(most)) => write!(f, "a whole number from {least} to {most}"),
                (Some(least), None) => write!(f, "a whole number, {least} or more"),
                (None, Some(most)) => write!(f, "a whole number, {most} or less"),
                (None, None) => f.write_str("a whole number"),
            },
            Self::Text => f.write_str("a string"),
            Self::Word(words) => write!(f, "one of `{}`", words.join("`, `")),
            Self::List(item) => write!(f, "a list of {}", item.several()),
            Self::Object(item) if **item == Self::Anything => f.write_str("an object"),
            Self::Object(item) => write!(f, "an object of {}", item.several()),
            Self::Either(shapes) => {
                // That it may be left out is nothing to advise.
                let shapes = shapes.iter().filter(|one| **one != Self::Null);
                let words: Vec<_> = shapes.map(ToString::to_string).collect();
                f.write_str(&words.join(" or "))
            }
        }
    }
}
