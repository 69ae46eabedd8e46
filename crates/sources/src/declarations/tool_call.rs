//! The call that a tool is serving: its caller, and confirmation by the user.

use serde_json::json;
use tidegate_core::{Call, Caller, Object, RawJson};

use super::params::object_member;
use super::tool::ToolError;

/// The key of the confirmation request and of its answer.
const CONFIRM: &str = "confirm";

#[derive(Clone, Copy)]
pub(crate) struct ToolCall<'a> {
    call: &'a Call,
}

impl<'a> ToolCall<'a> {
    pub(super) fn new(call: &'a Call) -> Self {
        Self { call }
    }

    pub(crate) fn call(&self) -> &'a Call {
        self.call
    }

    pub(crate) fn caller(&self) -> &'a Caller {
        &self.call.caller
    }

    /// Whether the user agrees. The first time this returns [`ToolError::InputRequired`]; the tool
    /// is called again with the answer. If the client does not support elicitation, the call itself
    /// counts as agreement.
    pub(crate) fn confirm(&self, question: &str) -> Result<bool, ToolError> {
        if let Some(answer) = self.confirmation() {
            return Ok(answer);
        }
        if !self.supports_form_elicitation() {
            return Ok(true);
        }
        let schema = json!({
            "type": "object",
            "properties": { CONFIRM: { "type": "boolean", "title": "Go ahead", "default": false } },
            "required": [CONFIRM],
        });
        let params = json!({ "mode": "form", "message": question, "requestedSchema": schema });
        Err(ToolError::InputRequired {
            key: CONFIRM,
            params: params.into(),
        })
    }

    fn confirmation(&self) -> Option<bool> {
        let params = self.call.params.object()?;
        let responses = object_member(&params, "inputResponses");
        let response = Object::parse(responses.get(CONFIRM)?).ok()?;
        let accepted = response.string("action").as_deref() == Some("accept");
        let confirmed = object_member(&response, "content").get(CONFIRM) == Some("true");
        Some(accepted && confirmed)
    }

    fn supports_form_elicitation(&self) -> bool {
        let supports = |capabilities: &RawJson| {
            let capabilities = capabilities.object()?;
            let modes = Object::parse(capabilities.get("elicitation")?).ok()?;
            // By the specification, a client that names no mode supports forms.
            Some(modes.is_empty() || modes.get("form").is_some())
        };
        supports(&self.call.client.capabilities).unwrap_or(false)
    }
}
