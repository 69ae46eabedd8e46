//! Reading the params of requests, for both eras.

use tidegate_core::{
    Code, Error, GatewayOperation, List, Object, Operation, RawJson, Reference, Result,
    SkillOperation, truncate_for_message,
};

use super::methods::{Method, MethodKind, may_be_extension};
use super::version::Revision;

/// The operation of a method that exists in both eras; `None` for methods of one era only.
pub(super) fn common_operation(method: Method, params: &Object<'_>) -> Option<Result<Operation>> {
    let operation = match method {
        Method::ToolsList => list(List::Tools, params),
        Method::PromptsList => list(List::Prompts, params),
        Method::ResourcesList => list(List::Resources, params),
        Method::TemplatesList => list(List::Templates, params),
        Method::ToolsCall => required_string(params, "name").map(|name| Operation::Tool { name }),
        Method::PromptsGet => {
            required_string(params, "name").map(|name| Operation::Prompt { name })
        }
        Method::ResourcesRead => {
            required_string(params, "uri").map(|uri| Operation::Resource { uri })
        }
        Method::Complete => completion(params),
        Method::SkillsList => Ok(Operation::Skill(SkillOperation::List)),
        Method::SkillsGet => {
            let uri = required_string(params, "uri");
            uri.map(|uri| Operation::Skill(SkillOperation::Get { uri }))
        }
        Method::DirectoryRead => {
            let uri = required_string(params, "uri");
            uri.map(|uri| Operation::Skill(SkillOperation::ReadDirectory { uri }))
        }
        _ => return None,
    };
    Some(operation.and_then(|operation| operation.check(params).map(|()| operation)))
}

fn list(list: List, params: &Object<'_>) -> Result<Operation> {
    let cursor = match params.get("cursor") {
        None | Some("null") => None,
        Some(_) => Some(
            params
                .string("cursor")
                .ok_or_else(|| invalid_params("`cursor` must be a string"))?,
        ),
    };
    Ok(Operation::Gateway(GatewayOperation::List { list, cursor }))
}

fn completion(params: &Object<'_>) -> Result<Operation> {
    let object = |name: &str| {
        params
            .get(name)
            .and_then(|text| Object::parse(text).ok())
            .ok_or_else(|| invalid_params(&format!("`{name}` must be an object")))
    };
    let (reference, argument) = (object("ref")?, object("argument")?);
    required_string(&argument, "name")?;
    let value = argument.string("value");
    value.ok_or_else(|| invalid_params("`argument.value` must be a string"))?;
    let reference = match reference.string("type").as_deref() {
        Some("ref/prompt") => Reference::Prompt(required_string(&reference, "name")?),
        Some("ref/resource") => Reference::Resource(required_string(&reference, "uri")?),
        _ => {
            return Err(invalid_params(
                "`ref.type` must be `ref/prompt` or `ref/resource`",
            ));
        }
    };
    Ok(Operation::Completion { reference })
}

/// A member that must be a non-empty string.
pub(super) fn required_string(params: &Object<'_>, member: &str) -> Result<String> {
    match params.string(member) {
        Some(text) if !text.is_empty() => Ok(text),
        Some(_) => Err(invalid_params(&format!("`{member}` must not be empty"))),
        None => Err(invalid_params(&format!(
            "`{member}` is missing or not a string"
        ))),
    }
}

/// Parses params; duplicate members are an error.
pub(super) fn parse_params(params: &RawJson) -> Result<Object<'_>> {
    Object::parse(params.as_str()).map_err(|error| {
        invalid_params(&format!(
            "malformed params: {}",
            truncate_for_message(&error.to_string())
        ))
    })
}

/// The method of a request, and its operation if it belongs to an extension that the gateway does not know.
pub(super) fn method_of(name: &str, revision: Revision) -> Result<(Method, Option<Operation>)> {
    match Method::from_client(name, revision, MethodKind::ClientRequest) {
        Some(method) => Ok((method, None)),
        None if may_be_extension(name) => {
            let method = name.to_owned();
            Ok((Method::Extension, Some(Operation::Extension { method })))
        }
        None => Err(method_not_found(name, revision)),
    }
}

/// The error for a method that the client's revision does not have.
pub(super) fn method_not_found(method: &str, revision: Revision) -> Error {
    let method = truncate_for_message(method);
    Error::client(
        Code::MethodNotFound,
        format!("method `{method}` does not exist in {revision}"),
    )
}

pub(super) fn invalid_params(message: &str) -> Error {
    Error::client(Code::InvalidParams, message)
}
