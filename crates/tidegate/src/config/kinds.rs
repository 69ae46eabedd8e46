//! The kinds of sources: an explicit list. A kind reads its own fields and yields a configuration
//! that builds the source, so that what can be configured and what can be built never differ.

use std::any::Any;
use std::sync::Arc;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::{Value, json};
use tidegate_config::{Checker, Section as _};
use tidegate_policy::{CallPolicy, CallPolicySection};
use tidegate_sources::files::FilesSection;
use tidegate_sources::index::IndexSection;
use tidegate_sources::memory::MemorySection;
use tidegate_sources::prompts::PromptsSection;
use tidegate_sources::{SourceConfig, SourceSection};
use tidegate_upstream::{RemoteSection, RemoteSettings};

use super::composed::merge;
use super::context::LoadContext;
use super::diagnostics::Diagnostics;
use super::mapping::Mapping;

/// All kinds. A new kind is one line here; its section and its code are in its own folder.
pub(crate) const KINDS: &[Kind] = &[
    REMOTE,
    Kind::built_in::<FilesSection>(),
    Kind::built_in::<IndexSection>(),
    Kind::built_in::<MemorySection>(),
    Kind::built_in::<PromptsSection>(),
];

/// The kind of an entry that has a `command` or a `url`, whether or not it names the kind.
pub(crate) const REMOTE: Kind = Kind {
    name: "remote",
    read: read_remote,
    schemas: remote_schemas,
};

/// A kind of source.
pub(crate) struct Kind {
    /// The value of `kind` in the file.
    pub(crate) name: &'static str,
    /// Reads and checks the fields of the kind.
    pub(crate) read: ReadKind,
    /// The schemas of its fields, one for each form that an entry can have.
    pub(crate) schemas: fn(&mut SchemaGenerator) -> Vec<Schema>,
}

type ReadKind = fn(&mut Mapping<'_>, &LoadContext<'_>, &mut Diagnostics) -> Option<SourceSettings>;

impl Kind {
    const fn built_in<S: SourceSection>() -> Self {
        Self {
            name: S::KIND,
            read: |mapping, context, diagnostics| {
                let config = mapping.section::<S>(context, diagnostics)?;
                Some(SourceSettings::BuiltIn(Arc::new(config)))
            },
            schemas: |generator| {
                let mut schema = merge(&[S::json_schema(generator)]);
                let description = S::json_schema(generator);
                let description = description.get("description").and_then(Value::as_str);
                describe(&mut schema, S::KIND, description.unwrap_or_default());
                set_kind(&mut schema, S::KIND, true);
                vec![schema]
            },
        }
    }
}

/// The settings of a source of any kind.
#[derive(Clone, Debug)]
pub enum SourceSettings {
    /// A remote MCP server.
    Remote(Box<RemoteSource>),
    /// A source that is part of Tidegate.
    BuiltIn(Arc<dyn SourceConfig>),
}

impl SourceSettings {
    /// The configuration of a built-in source of this type.
    pub(crate) fn built_in<C: SourceConfig>(&self) -> Option<&C> {
        match self {
            Self::Remote(_) => None,
            Self::BuiltIn(config) => {
                let config: &dyn Any = config.as_ref();
                config.downcast_ref()
            }
        }
    }
}

/// A remote server and the policy for calls to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RemoteSource {
    pub remote: RemoteSettings,
    pub policy: CallPolicy,
}

impl RemoteSource {
    /// Checks the section of a server at this path of the file.
    pub(crate) fn check(
        section: RemoteSection,
        policy: CallPolicy,
        path: &[&str],
        context: &LoadContext<'_>,
        diagnostics: &mut Diagnostics,
    ) -> Option<Self> {
        let mut checker = Checker::new(path, context.environment, context.folder);
        let remote = section.check(&mut checker);
        diagnostics.fields(checker.into_problems());
        Some(Self {
            remote: remote?,
            policy,
        })
    }
}

fn read_remote(
    mapping: &mut Mapping<'_>,
    context: &LoadContext<'_>,
    diagnostics: &mut Diagnostics,
) -> Option<SourceSettings> {
    let policy = mapping.section::<CallPolicySection>(context, diagnostics);
    let section = mapping.read(diagnostics)?;
    let path = mapping.path();
    RemoteSource::check(section, policy?, path, context, diagnostics)
        .map(|remote| SourceSettings::Remote(Box::new(remote)))
}

/// Two forms: a program to run, and the URL of a server.
fn remote_schemas(generator: &mut SchemaGenerator) -> Vec<Schema> {
    let section = RemoteSection::json_schema(generator);
    let form = |title: &str,
                description: &str,
                required: &str,
                excluded: &[&str],
                generator: &mut SchemaGenerator| {
        let mut schema = merge(&[section.clone(), CallPolicySection::json_schema(generator)]);
        if let Some(Value::Object(fields)) = schema.get_mut("properties") {
            fields.retain(|field, _| !excluded.contains(&field.as_str()));
            if let Some(field) = fields.get_mut(required) {
                field["type"] = json!("string");
                if let Some(field) = field.as_object_mut() {
                    field.entry("pattern").or_insert_with(|| json!(r"\S"));
                }
            }
        }
        schema.insert("required".to_owned(), json!([required]));
        describe(&mut schema, title, description);
        set_kind(&mut schema, REMOTE.name, false);
        schema
    };
    vec![
        form(
            "remote with command",
            "An MCP server that Tidegate runs as a program and talks to over stdio.",
            "command",
            &RemoteSection::URL_FIELDS,
            generator,
        ),
        form(
            "remote with url",
            "An MCP server that Tidegate reaches over HTTP.",
            "url",
            &RemoteSection::PROGRAM_FIELDS,
            generator,
        ),
    ]
}

fn describe(schema: &mut Schema, title: &str, description: &str) {
    schema.insert("title".to_owned(), json!(title));
    schema.insert("description".to_owned(), json!(description));
}

/// Adds the field `kind`, which has one possible value.
fn set_kind(schema: &mut Schema, kind: &str, required: bool) {
    let field = json_schema!({
        "type": "string",
        "const": kind,
        "description": "The kind of the source.",
        "examples": [kind],
    });
    if let Some(Value::Object(fields)) = schema.get_mut("properties") {
        fields.insert("kind".to_owned(), field.to_value());
    }
    if required {
        let names = schema
            .as_object_mut()
            .map(|schema| schema.entry("required").or_insert_with(|| json!([])));
        if let Some(Value::Array(names)) = names {
            names.insert(0, json!("kind"));
        }
    }
}
