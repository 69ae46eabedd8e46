//! What a tool takes: the schema of it, and what is wrong with what was given, in words for whoever
//! wrote it.
//!
//! Knows as much of JSON Schema as our own types come to.

use std::borrow::Cow;

use schemars::transform::{RecursiveTransform, Transform as _};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde_json::Value;
use tidegate_core::{Object, truncate_for_message};

use super::shape::Shape;

/// Faults that are told at once.
const MOST_TOLD: usize = 5;

/// Members by their names, as a type has them.
pub(crate) struct Input {
    schema: Schema,
    members: Vec<Member>,
    /// Whether there may be others.
    open: bool,
}

struct Member {
    name: String,
    shape: Shape,
    required: bool,
}

impl Input {
    pub(crate) fn of<T: JsonSchema>() -> Self {
        let schema = schema::<T>();
        let of_type = schema.as_value();
        let required = of_type["required"].as_array().map(Vec::as_slice);
        let required = required.unwrap_or_default();
        let members = of_type["properties"].as_object().into_iter().flatten();
        Self {
            members: members
                .map(|(name, about)| Member {
                    name: name.clone(),
                    shape: Shape::of(about),
                    required: required.iter().any(|one| one == name),
                })
                .collect(),
            open: of_type["additionalProperties"] != Value::Bool(false),
            schema,
        }
    }

    pub(crate) fn schema(&self) -> &Schema {
        &self.schema
    }

    /// What was given, as the type reads it: `1.0` is a whole number too.
    pub(crate) fn checked(&self, text: &str) -> Result<String, String> {
        let given = Object::parse(text).map_err(|error| words(&error))?;
        let mut faults: Vec<String> = Vec::new();
        let mut read = Object::default();
        for member in &self.members {
            match given.get(&member.name) {
                None if member.required => faults.push(format!("`{}` is missing", member.name)),
                None => {}
                Some(value) => match member.shape.read(value) {
                    Some(value) => read.set(&member.name, value),
                    None => faults.push(format!("`{}` must be {}", member.name, member.shape)),
                },
            }
        }
        for (name, value) in given.iter() {
            match self.members.iter().any(|one| one.name == name) {
                true => {}
                false if self.open => read.set(name, Cow::Borrowed(value)),
                false => faults.push(self.unknown(name)),
            }
        }
        if faults.is_empty() {
            return Ok(read.write().to_string());
        }
        faults.truncate(MOST_TOLD);
        Err(faults.join("; "))
    }

    fn unknown(&self, name: &str) -> String {
        let known = self.members.iter().map(|one| format!("`{}`", one.name));
        let known = known.collect::<Vec<_>>().join(", ");
        format!(
            "there is no `{}`; there are {known}",
            truncate_for_message(name)
        )
    }
}

/// Why text is no object. It was written by people and models, who do not count its lines.
fn words(error: &serde_json::Error) -> String {
    if !error.is_data() {
        return format!("not JSON at column {}", error.column());
    }
    let text = error.to_string();
    match text.starts_with("invalid type") {
        true => "this must be a JSON object".to_owned(),
        false => text.split(" at line ").next().unwrap_or(&text).to_owned(),
    }
}

/// A type's schema, complete in itself.
pub(super) fn schema<T: JsonSchema>() -> Schema {
    let settings = schemars::generate::SchemaSettings::draft2020_12().with(|settings| {
        settings.inline_subschemas = true;
        settings.meta_schema = None;
    });
    let mut schema = SchemaGenerator::new(settings).into_root_schema_for::<T>();
    schema.remove("title");
    RecursiveTransform(drop_format).transform(&mut schema);
    schema
}

/// The formats taken from Rust's number types are not JSON Schema's, and clients warn of each.
fn drop_format(schema: &mut Schema) {
    schema.remove("format");
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde::Deserialize;

    use super::*;

    #[derive(Debug, Deserialize, JsonSchema)]
    #[serde(deny_unknown_fields)]
    #[expect(dead_code, reason = "only its shape matters")]
    struct Taken {
        key: String,
        value: Value,
        #[serde(default)]
        tags: Vec<String>,
        #[schemars(range(min = 1, max = 100))]
        limit: Option<u32>,
        offset: Option<usize>,
        kind: Option<Kind>,
        #[serde(default)]
        names: BTreeMap<String, String>,
        deep: Option<bool>,
    }

    #[derive(Debug, Deserialize, JsonSchema)]
    #[serde(rename_all = "lowercase")]
    enum Kind {
        Tool,
        Prompt,
    }

    fn checked(members: &str) -> Result<String, String> {
        Input::of::<Taken>().checked(&format!("{{\"key\":\"k\",\"value\":1{members}}}"))
    }

    #[test]
    fn what_is_wrong_is_told_by_its_name() {
        let limit = "`limit` must be a whole number from 1 to 100";
        for (members, fault) in [
            (r#","limit":0"#, limit),
            (r#","limit":101"#, limit),
            (r#","limit":-1"#, limit),
            (r#","limit":1.5"#, limit),
            (r#","limit":1e300"#, limit),
            (r#","limit":"1""#, limit),
            (r#","limit":true"#, limit),
            (
                r#","offset":-1"#,
                "`offset` must be a whole number, 0 or more",
            ),
            (r#","tags":"a""#, "`tags` must be a list of strings"),
            (r#","tags":["a",1]"#, "`tags` must be a list of strings"),
            (r#","tags":null"#, "`tags` must be a list of strings"),
            (r#","kind":"x""#, "`kind` must be one of `tool`, `prompt`"),
            (
                r#","names":{"a":1}"#,
                "`names` must be an object of strings",
            ),
            (r#","deep":1"#, "`deep` must be true or false"),
            (r#","key":"k""#, "the key `key` stands twice"),
        ] {
            assert_eq!(checked(members), Err(fault.to_owned()), "{members}");
        }
        let unknown = checked(r#","kee":1"#).unwrap_err();
        assert!(unknown.starts_with("there is no `kee`; there are `key`, "));
        let input = Input::of::<Taken>();
        let both = "`key` must be a string; `value` is missing";
        assert_eq!(input.checked(r#"{"key":1}"#), Err(both.to_owned()));
        for none in ["[]", "null", "1"] {
            let fault = Err("this must be a JSON object".to_owned());
            assert_eq!(input.checked(none), fault);
        }
        assert_eq!(input.checked("{x"), Err("not JSON at column 2".to_owned()));
    }

    /// A number that is whole is one, however it is written.
    #[test]
    fn what_fits_can_be_read() {
        for members in [
            "",
            r#","limit":1"#,
            r#","limit":100.0"#,
            r#","limit":1e1,"offset":1e30"#,
            r#","limit":null,"offset":null,"kind":null,"deep":null"#,
            r#","offset":0,"kind":"tool","tags":["a","b"],"names":{"a":"b"},"deep":true"#,
        ] {
            let text = checked(members).unwrap();
            serde_json::from_str::<Taken>(&text).unwrap();
        }
        let exact = r#"{"key":"k","value":{"z":1.50,"a":12345678901234567890}}"#;
        assert_eq!(Input::of::<Taken>().checked(exact), Ok(exact.to_owned()));
    }
}
