//! A tool in the middle of its work: who called it, and a word with the user.

use serde_json::json;
use tidegate_core::{Call, Caller, Object, RawJson};

use super::member;
use super::tool::Stop;

/// The key of a question and of its answer.
const CONFIRM: &str = "confirm";

/// The call that a tool is serving.
#[derive(Clone, Copy)]
pub(crate) struct Asking<'a> {
    call: &'a Call,
}

impl<'a> Asking<'a> {
    pub(super) fn new(call: &'a Call) -> Self {
        Self { call }
    }

    pub(crate) fn call(&self) -> &'a Call {
        self.call
    }

    pub(crate) fn caller(&self) -> &'a Caller {
        &self.call.caller
    }

    /// Whether the user agrees. One whose client cannot ask is taken to: it called the tool. The
    /// first time this stops the tool, which is called again with the answer.
    pub(crate) fn confirmed(&self, question: &str) -> Result<bool, Stop> {
        if let Some(answer) = self.answer() {
            return Ok(answer);
        }
        if !self.can_ask() {
            return Ok(true);
        }
        let schema = json!({
            "type": "object",
            "properties": { CONFIRM: { "type": "boolean", "title": "Go ahead", "default": false } },
            "required": [CONFIRM],
        });
        let params = json!({ "mode": "form", "message": question, "requestedSchema": schema });
        Err(Stop::Operation(CONFIRM, params.into()))
    }

    fn answer(&self) -> Option<bool> {
        let params = self.call.params.object()?;
        let answers = member(&params, "inputResponses");
        let answer = Object::parse(answers.get(CONFIRM)?).ok()?;
        let accepted = answer.string("action").as_deref() == Some("accept");
        let agreed = member(&answer, "content").get(CONFIRM) == Some("true");
        Some(accepted && agreed)
    }

    /// Whether the client shows its user a form.
    fn can_ask(&self) -> bool {
        let capabilities = &self.call.client.capabilities;
        let shows_forms = |all: &RawJson| {
            let all = all.object()?;
            let modes = Object::parse(all.get("elicitation")?).ok()?;
            // By the book one that names no mode shows forms.
            Some(modes.is_empty() || modes.get("form").is_some())
        };
        shows_forms(capabilities).unwrap_or(false)
    }
}
