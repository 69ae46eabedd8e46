//! Describes where two records differ.

use std::collections::BTreeSet;

use serde_json::Value;

use super::recorder::Entry;

/// Maximum length of a printed value.
const SHOWN: usize = 400;

/// The steps with different outcomes.
pub(super) fn differing_steps<'a>(
    direct: &'a [Entry],
    through: &'a [Entry],
) -> impl Iterator<Item = (&'a str, String)> {
    let steps = |record: &'a [Entry]| record.iter().map(|entry| entry.step.as_str());
    let same_steps = steps(direct).eq(steps(through));
    let other_steps = (!same_steps).then(|| {
        let steps: Vec<_> = steps(through).collect();
        ("other steps", format!("{steps:#?}"))
    });
    let pairs = direct.iter().zip(through);
    let answers = pairs.filter_map(|(direct, through)| {
        let mut places = Vec::new();
        differing(
            "",
            Some(&direct.outcome),
            Some(&through.outcome),
            &mut places,
        );
        (!places.is_empty()).then(|| (direct.step.as_str(), places.join("\n")))
    });
    other_steps.into_iter().chain(answers)
}

/// In how many places two responses differ.
pub(super) fn count_differing(direct: &Value, through: &Value) -> usize {
    let mut places = Vec::new();
    differing("", Some(direct), Some(through), &mut places);
    places.len()
}

/// Where two responses differ, member by member.
fn differing(at: &str, direct: Option<&Value>, through: Option<&Value>, found: &mut Vec<String>) {
    match (direct, through) {
        (Some(Value::Object(ours)), Some(Value::Object(theirs))) => {
            let keys: BTreeSet<_> = ours.keys().chain(theirs.keys()).collect();
            for key in keys {
                differing(
                    &format!("{at}/{key}"),
                    ours.get(key),
                    theirs.get(key),
                    found,
                );
            }
        }
        (Some(Value::Array(ours)), Some(Value::Array(theirs))) => {
            for index in 0..ours.len().max(theirs.len()) {
                let at = format!("{at}/{index}");
                differing(&at, ours.get(index), theirs.get(index), found);
            }
        }
        _ if direct == through => {}
        _ => {
            let (direct, through) = (shown(direct), shown(through));
            found.push(format!(
                "  {at}\n    directly: {direct}\n    through:  {through}"
            ));
        }
    }
}

fn shown(value: Option<&Value>) -> String {
    let text = value.map_or("nothing".to_owned(), Value::to_string);
    text.chars().take(SHOWN).collect()
}
