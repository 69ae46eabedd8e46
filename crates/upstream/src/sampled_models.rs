//! Counts the models that clients used for the sampling requests of a server, by principal. A client
//! names its model itself, so the names are limited in number and length.
//!
//! Must not know: how a sampling request reached its client.

use std::collections::{BTreeMap, HashMap};

use parking_lot::Mutex;
use tidegate_core::{Caller, Object, Principal, RawJson};

/// Models of one principal that are counted by name.
const MAX_MODELS: usize = 64;

const MAX_NAME_CHARS: usize = 128;

/// Counts all other models of a principal.
const OTHER: &str = "(other)";

/// The sampling results of each principal and model.
#[derive(Default)]
pub(crate) struct SampledModels(Mutex<HashMap<Principal, BTreeMap<String, u64>>>);

impl SampledModels {
    /// Counts a sampling result.
    pub(crate) fn record(&self, principal: &Principal, result: &RawJson) {
        if let Some(model) = result.object().and_then(|result| result.string("model")) {
            self.count(principal, model);
        }
    }

    /// Counts the sampling results among the answers in the params of a continuation.
    pub(crate) fn record_answers(&self, principal: &Principal, params: &RawJson) {
        let params = params.object().unwrap_or_default();
        let answers = params.get("inputResponses");
        let Some(answers) = answers.and_then(|answers| Object::parse(answers).ok()) else {
            return;
        };
        for (_, answer) in answers.iter() {
            // No other answer has a model.
            self.record(principal, &RawJson::copy_of(answer));
        }
    }

    fn count(&self, principal: &Principal, model: String) {
        let is_printable = !model.is_empty()
            && model.chars().count() <= MAX_NAME_CHARS
            && !model.contains(char::is_control);
        let mut all = self.0.lock();
        let models = all.entry(principal.clone()).or_default();
        let is_countable = models.len() < MAX_MODELS || models.contains_key(&model);
        let name = match is_printable && is_countable {
            true => model,
            false => OTHER.to_owned(),
        };
        *models.entry(name).or_default() += 1;
    }

    /// What a caller may see: the models of its own clients; an administrator sees all.
    pub(crate) fn counts(&self, caller: &Caller) -> BTreeMap<String, u64> {
        let all = self.0.lock();
        let is_visible = |principal: &Principal| caller.admin || caller.principal == *principal;
        let visible = all.iter().filter(|(principal, _)| is_visible(principal));
        let mut counts = BTreeMap::new();
        for (model, count) in visible.flat_map(|(_, models)| models) {
            *counts.entry(model.clone()).or_default() += count;
        }
        counts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn result(model: &str) -> RawJson {
        serde_json::json!({ "role": "assistant", "content": {}, "model": model }).into()
    }

    fn caller(name: &str, admin: bool) -> Caller {
        Caller {
            principal: Principal::new(name),
            admin,
        }
    }

    /// S4.8.
    #[test]
    fn each_principal_sees_its_own_models_and_administrators_see_all() {
        let models = SampledModels::default();
        let (ada, bob) = (caller("ada", false), caller("bob", false));
        for model in ["m1", "m1", "m2"] {
            models.record(&ada.principal, &result(model));
        }
        models.record(&bob.principal, &result("m1"));
        models.record(&bob.principal, &RawJson::copy_of(r#"{"action":"accept"}"#));
        let expected = |counts: &[(&str, u64)]| {
            let counts = counts.iter();
            BTreeMap::from_iter(counts.map(|(model, count)| ((*model).to_owned(), *count)))
        };
        assert_eq!(models.counts(&ada), expected(&[("m1", 2), ("m2", 1)]));
        assert_eq!(models.counts(&bob), expected(&[("m1", 1)]));
        let admin = caller("eve", true);
        assert_eq!(models.counts(&admin), expected(&[("m1", 3), ("m2", 1)]));
    }

    #[test]
    fn names_are_limited_in_number_and_length() {
        let models = SampledModels::default();
        let ada = caller("ada", false);
        for number in 0..10_000 {
            models.record(&ada.principal, &result(&format!("m{number}")));
        }
        models.record(&ada.principal, &result(&"m".repeat(MAX_NAME_CHARS + 1)));
        models.record(&ada.principal, &result("a\nb"));
        let counts = models.counts(&ada);
        assert_eq!(counts.len(), MAX_MODELS + 1);
        assert_eq!(counts.values().sum::<u64>(), 10_002);
    }

    #[test]
    fn the_answers_of_a_continuation_are_counted() {
        let models = SampledModels::default();
        let ada = caller("ada", false);
        let params = serde_json::json!({
            "inputResponses": {
                "a": { "role": "assistant", "content": {}, "model": "m1" },
                "b": { "action": "accept", "content": { "model": "not one" } },
                "c": { "roots": [] },
            },
        });
        models.record_answers(&ada.principal, &params.into());
        let counts = models.counts(&ada);
        assert_eq!(
            counts.into_iter().collect::<Vec<_>>(),
            [("m1".to_owned(), 1)]
        );
    }
}
