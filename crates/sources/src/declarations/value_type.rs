//! The type of a JSON value as its schema defines it: validation, normalisation and a description
//! for error messages.

use std::borrow::Cow;
use std::fmt;

use serde_json::Value;
use serde_json::value::RawValue;
use tidegate_core::Object;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ValueType {
    Any,
    Null,
    Boolean,
    Number,
    Integer {
        min: Option<i64>,
        max: Option<i64>,
    },
    String,
    Enum(Vec<String>),
    Array(Box<Self>),
    /// An object with arbitrary keys.
    Map(Box<Self>),
    AnyOf(Vec<Self>),
}

impl ValueType {
    pub(super) fn from_schema(schema: &Value) -> Self {
        if let Some(types) = schema["anyOf"].as_array() {
            return Self::AnyOf(types.iter().map(Self::from_schema).collect());
        }
        match &schema["type"] {
            Value::String(name) => Self::named(name, schema),
            Value::Array(names) => {
                let names = names.iter().filter_map(Value::as_str);
                Self::AnyOf(names.map(|name| Self::named(name, schema)).collect())
            }
            _ => Self::Any,
        }
    }

    fn named(name: &str, schema: &Value) -> Self {
        match name {
            "null" => Self::Null,
            "boolean" => Self::Boolean,
            "number" => Self::Number,
            "integer" => Self::Integer {
                min: schema["minimum"].as_i64(),
                max: schema["maximum"].as_i64(),
            },
            "string" => schema["enum"].as_array().map_or(Self::String, |values| {
                let values = values.iter().filter_map(Value::as_str);
                Self::Enum(values.map(str::to_owned).collect())
            }),
            "array" => Self::Array(Box::new(Self::from_schema(&schema["items"]))),
            "object" => Self::Map(Box::new(Self::from_schema(&schema["additionalProperties"]))),
            _ => Self::Any,
        }
    }

    /// The JSON text of a valid value in the form that Rust types parse; `None` if it is invalid.
    /// A number out of range becomes the largest one.
    pub(super) fn normalize<'a>(&self, json: &'a str) -> Option<Cow<'a, str>> {
        let is_valid = match self {
            Self::Any => true,
            Self::Null => json == "null",
            Self::Boolean => matches!(json, "true" | "false"),
            Self::Number => match json.parse::<f64>() {
                Ok(number) if number.is_infinite() => {
                    let largest = f64::MAX.copysign(number);
                    return Some(Cow::Owned(format!("{largest:e}")));
                }
                number => number.is_ok(),
            },
            Self::Integer { min, max } => {
                let number = parse_integer(json)?;
                let in_range =
                    min.is_none_or(|min| min <= number) && max.is_none_or(|max| number <= max);
                return in_range.then(|| Cow::Owned(number.to_string()));
            }
            Self::String => serde_json::from_str::<String>(json).is_ok(),
            Self::Enum(values) => {
                let value = serde_json::from_str::<String>(json);
                value.is_ok_and(|value| values.contains(&value))
            }
            Self::Array(item) => {
                let items = serde_json::from_str::<Vec<&RawValue>>(json).ok()?;
                let items = items.iter().map(|value| item.normalize(value.get()));
                let items = items.collect::<Option<Vec<_>>>()?;
                return Some(Cow::Owned(format!("[{}]", items.join(","))));
            }
            Self::Map(item) => {
                let members = Object::parse(json).ok()?;
                let mut values = members.iter();
                values.all(|(_, value)| item.normalize(value).is_some())
            }
            Self::AnyOf(types) => return types.iter().find_map(|ty| ty.normalize(json)),
        };
        is_valid.then_some(Cow::Borrowed(json))
    }

    fn plural(&self) -> &'static str {
        match self {
            Self::String | Self::Enum(_) => "strings",
            Self::Number => "numbers",
            Self::Integer { .. } => "integers",
            Self::Array(_) => "arrays",
            Self::Map(_) => "objects",
            Self::Any | Self::Null | Self::Boolean | Self::AnyOf(_) => "values",
        }
    }
}

/// Accepts integers written as `1.0` or `1e2`.
fn parse_integer(json: &str) -> Option<i64> {
    if let Ok(number) = json.parse() {
        return Some(number);
    }
    let number = json.parse::<f64>().ok();
    let number = number.filter(|number| number.fract() == 0.0)?;
    let limit = if number < 0.0 { i64::MIN } else { i64::MAX };
    Some(format!("{number:.0}").parse().unwrap_or(limit))
}

impl fmt::Display for ValueType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Any => f.write_str("a value"),
            Self::Null => f.write_str("null"),
            Self::Boolean => f.write_str("true or false"),
            Self::Number => f.write_str("a number"),
            Self::Integer { min, max } => match (min, max) {
                (Some(min), Some(max)) => write!(f, "an integer from {min} to {max}"),
                (Some(min), None) => write!(f, "an integer of at least {min}"),
                (None, Some(max)) => write!(f, "an integer of at most {max}"),
                (None, None) => f.write_str("an integer"),
            },
            Self::String => f.write_str("a string"),
            Self::Enum(values) => write!(f, "one of `{}`", values.join("`, `")),
            Self::Array(item) => write!(f, "an array of {}", item.plural()),
            Self::Map(item) if **item == Self::Any => f.write_str("an object"),
            Self::Map(item) => write!(f, "an object of {}", item.plural()),
            Self::AnyOf(types) => {
                // `null` only means that the member may be omitted, so it is not suggested.
                let types = types.iter().filter(|ty| **ty != Self::Null);
                let types: Vec<_> = types.map(ToString::to_string).collect();
                f.write_str(&types.join(" or "))
            }
        }
    }
}
