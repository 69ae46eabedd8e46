//! "Did you mean": the known name that is closest to an unknown one.

/// Longer lists of names are left out: the reference is more helpful.
const MAX_LISTED: usize = 12;

/// The candidate that `name` is most likely a misspelling of.
pub(crate) fn nearest<'a>(name: &str, candidates: &[&'a str]) -> Option<&'a str> {
    let name = simplified(name);
    let max_distance = (name.chars().count() / 3).clamp(1, 3);
    candidates
        .iter()
        .map(|candidate| {
            (
                strsim::osa_distance(&name, &simplified(candidate)),
                *candidate,
            )
        })
        .filter(|(distance, _)| *distance <= max_distance)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// `publicUrl`, `public-url` and `public_url` differ only in convention.
fn simplified(name: &str) -> String {
    name.chars()
        .filter(|c| !matches!(c, '_' | '-'))
        .flat_map(char::to_lowercase)
        .collect()
}

/// The message for a field that its mapping does not have. `name` is its full name.
pub(crate) fn unknown_field(name: &str, field: &str, known: &[&str]) -> String {
    match nearest(field, known) {
        Some(near) => format!("unknown field `{name}`; did you mean `{near}`?"),
        None if known.len() > MAX_LISTED => {
            format!("unknown field `{name}`; `tidegate schema` lists all fields")
        }
        None => format!("unknown field `{name}`; use one of {}", known.join(", ")),
    }
}

/// The message for a value that is not one of the known ones.
pub(crate) fn unknown_value(value: &str, known: &[&str]) -> String {
    match nearest(value, known) {
        Some(near) => format!("unknown value `{value}`; did you mean `{near}`?"),
        None => format!("unknown value `{value}`; use one of {}", known.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn finds_misspellings_and_nothing_else() {
        let known = ["listen", "limits", "log", "public_url", "data_dir"];
        for (name, expected) in [
            ("lisen", Some("listen")),
            ("lsiten", Some("listen")),
            ("publicUrl", Some("public_url")),
            ("data-dir", Some("data_dir")),
            ("lag", Some("log")),
            ("limit", Some("limits")),
            ("servers", None),
            ("x", None),
            ("", None),
        ] {
            assert_eq!(nearest(name, &known), expected, "{name}");
        }
    }
}
