//! A template and its variables into a URI (RFC 6570, without lists).

use std::collections::BTreeMap;

use crate::declare::{encoded, encoded_reserved};

/// The URI; or which variable is missing.
pub(super) fn expand(template: &str, values: &BTreeMap<String, String>) -> Result<String, String> {
    let mut uri = String::new();
    let mut rest = template;
    while let Some((literal, tail)) = rest.split_once('{') {
        let (expression, tail) = tail
            .split_once('}')
            .ok_or_else(|| format!("`{template}` is no template: a brace is open"))?;
        uri.push_str(literal);
        uri.push_str(&expanded(expression, values)?);
        rest = tail;
    }
    uri.push_str(rest);
    Ok(uri)
}

fn expanded(expression: &str, values: &BTreeMap<String, String>) -> Result<String, String> {
    let (operator, names) = match expression.chars().next() {
        Some(c) if "+#./;?&".contains(c) => (Some(c), &expression[1..]),
        _ => (None, expression),
    };
    let by_name = matches!(operator, Some(';' | '?' | '&'));
    let (first, between) = match operator {
        None => ("", ","),
        Some('+') => ("", ","),
        Some('#') => ("#", ","),
        Some('.') => (".", "."),
        Some('/') => ("/", "/"),
        Some(';') => (";", ";"),
        Some('?') => ("?", "&"),
        Some(_) => ("&", "&"),
    };
    let mut parts = Vec::new();
    for name in names.split(',') {
        let name = name.trim_end_matches('*');
        let name = name.split_once(':').map_or(name, |(name, _)| name);
        let Some(value) = values.get(name) else {
            // What is optional may be left out; the path may not.
            if matches!(operator, None | Some('+')) {
                return Err(format!("say in `arguments` what `{name}` is"));
            }
            continue;
        };
        let value = match operator {
            Some('+' | '#') => encoded_reserved(value),
            _ => encoded(value),
        };
        parts.push(match by_name {
            true => format!("{name}={value}"),
            false => value,
        });
    }
    match parts.is_empty() {
        true => Ok(String::new()),
        false => Ok(format!("{first}{}", parts.join(between))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_are_filled_in() {
        let values = [("a", "x y"), ("b", "c/d")];
        let values = values.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let values = BTreeMap::from(values);
        for (template, uri) in [
            ("s://{a}/z", "s://x%20y/z"),
            ("s://{b}", "s://c%2Fd"),
            ("s://{+b}", "s://c/d"),
            ("s://h{/a,b}", "s://h/x%20y/c%2Fd"),
            ("s://h{?a,c}", "s://h?a=x%20y"),
            ("s://h?z=1{&a}", "s://h?z=1&a=x%20y"),
            ("s://h{#b}", "s://h#c/d"),
            ("s://h{?c}", "s://h"),
        ] {
            assert_eq!(expand(template, &values).as_deref(), Ok(uri));
        }
        let missing = expand("s://{c}", &values).unwrap_err();
        assert_eq!(missing, "say in `arguments` what `c` is");
        assert!(expand("s://{c", &values).is_err());
    }
}
