//! Reading the params of a call, and small constructors that all declarations share.

use tidegate_core::{Call, CatalogEntry, Code, Error, Object, truncate_for_message};

/// The error for a name that the source does not have.
pub(crate) fn unknown_name(name: &str) -> Error {
    let name = truncate_for_message(name);
    let message = format!("this source has nothing named `{name}`");
    Error::client(Code::UnknownTarget, message)
}

/// The error for a call that the gateway should have served itself or sent elsewhere.
pub(crate) fn wrong_source() -> Error {
    Error::internal("a call was routed to the wrong source")
}

/// The error for a method of an extension, which no built-in source has.
pub(crate) fn unknown_method() -> Error {
    Error::client(Code::MethodNotFound, "this source does not have the method")
}

/// The JSON text of a call's `arguments`; an empty object if there are none.
pub(crate) fn arguments_text(call: &Call) -> String {
    let params = call.params.object().unwrap_or_default();
    let arguments = params.get("arguments");
    let arguments = arguments.filter(|arguments| *arguments != "null");
    arguments.unwrap_or("{}").to_owned()
}

/// A member that is an object; empty if it is missing or of another type.
pub(super) fn object_member<'a>(params: &'a Object<'_>, name: &str) -> Object<'a> {
    let text = params.get(name);
    text.and_then(|text| Object::parse(text).ok())
        .unwrap_or_default()
}

pub(crate) fn catalog_entry(key: &str, definition: serde_json::Value) -> CatalogEntry {
    CatalogEntry {
        key: key.to_owned(),
        definition: definition.into(),
    }
}
