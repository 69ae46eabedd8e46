//! Tests of URI templates.

use proptest::prelude::*;

use super::*;

fn matches(template: &str, uri: &str) -> bool {
    UriTemplate::parse(template).unwrap().matches(uri)
}

fn capture(template: &str, uri: &str) -> Option<Vec<(String, String)>> {
    let values = UriTemplate::parse(template).unwrap().capture(uri)?;
    Some(values.into_iter().collect())
}

fn values<const COUNT: usize>(pairs: [(&str, &str); COUNT]) -> Vec<(String, String)> {
    let pairs = pairs.map(|(name, value)| (name.to_owned(), value.to_owned()));
    pairs.into_iter().collect()
}

#[test]
fn each_operator_matches_its_expansions() {
    for (template, uri) in [
        ("a://b/{c}", "a://b/d"),
        ("a://b/{c}/d", "a://b/x%20y/d"),
        ("a://b/{c}/d", "a://b/x y/d"),
        ("a://{+path}", "a://b/c/d"),
        ("a://b{/c}", "a://b/d"),
        ("a://b{/c*}", "a://b/d/e/f"),
        ("a://b{/c,d}", "a://b/x/y"),
        ("a://b{/c}", "a://b"),
        ("a://b{?q,lang}", "a://b?q=1&lang=en"),
        ("a://b{?q}", "a://b"),
        ("a://b?x=1{&q}", "a://b?x=1&q=2"),
        ("a://b{#part}", "a://b#x"),
        ("a://b{.ext}", "a://b.txt"),
        ("a://{x}-{y}", "a://1-2-3"),
        ("a://b/{c*}", "a://b/d,e"),
        ("a://b/{c*}{?q}", "a://b/d/e?q=1"),
        ("a://{+x}a{y}c", "a://1a/2a3c"),
    ] {
        assert!(matches(template, uri), "{template} {uri}");
    }
    for (template, uri) in [
        ("a://b/{c}", "a://b/"),
        ("a://b/{c}", "a://b/d/e"),
        ("a://b/{c}/d", "a://b/x/e"),
        ("a://b{?q}", "a://b/q"),
        ("a://b/{c}{?q}", "a://b/?q=1"),
        ("a://b/{c}", "x://b/d"),
        ("{x}{y}", "é"),
    ] {
        assert!(!matches(template, uri), "{template} {uri}");
    }
}

#[test]
fn rejects_unbalanced_braces_and_empty_expressions() {
    for template in ["a://{b", "a://b}", "a://{}"] {
        assert!(UriTemplate::parse(template).is_err(), "{template}");
    }
}

#[test]
fn captures_decoded_variables() {
    for (template, uri, expected) in [
        ("a://b/{c}", "a://b/x y", values([("c", "x y")])),
        ("a://b/{c}", "a://b/x%20y%2Fz", values([("c", "x y/z")])),
        ("a://b/{c}", "a://b/100%", values([("c", "100%")])),
        ("a://b/{c}", "a://b/x?y#z", values([("c", "x?y#z")])),
        ("a://b/{+c}", "a://b/x/y", values([("c", "x/y")])),
        ("a://b{?p}", "a://b", values([])),
        ("a://b{?p}", "a://b?", values([])),
        ("a://b{?p}", "a://b?p=2", values([("p", "2")])),
        (
            "a://b{?p,q}",
            "a://b?q=1&p=2",
            values([("p", "2"), ("q", "1")]),
        ),
        (
            "a://b/{+c}{?p}",
            "a://b/x/y?p=2",
            values([("c", "x/y"), ("p", "2")]),
        ),
        ("a://b{/c,d}", "a://b/x/y", values([("c", "x"), ("d", "y")])),
        (
            "a://{b}/x/{c}",
            "a://1/x/2",
            values([("b", "1"), ("c", "2")]),
        ),
        (
            "a://{x}-{y}",
            "a://1-2-3",
            values([("x", "1"), ("y", "2-3")]),
        ),
        (
            "a://{x}{.y}",
            "a://1.2.3",
            values([("x", "1"), ("y", "2.3")]),
        ),
    ] {
        assert_eq!(capture(template, uri), Some(expected), "{template} {uri}");
    }
    for (template, uri) in [
        ("a://b/{c}", "a://b/x/y"),
        ("a://b/{c}", "a://b/"),
        ("a://b/{c}", "a://b/%ff"),
        ("a://b{?p}", "a://b?q=2"),
    ] {
        assert_eq!(capture(template, uri), None, "{template} {uri}");
    }
}

#[test]
fn expands_variables() {
    let given = values([("a", "x y"), ("b", "c/d")]).into_iter().collect();
    for (template, uri) in [
        ("s://{a}/z", "s://x%20y/z"),
        ("s://{b}", "s://c%2Fd"),
        ("s://{+b}", "s://c/d"),
        ("s://{a:1}", "s://x"),
        ("s://h{/a,b}", "s://h/x%20y/c%2Fd"),
        ("s://h{?a,c}", "s://h?a=x%20y"),
        ("s://h?z=1{&a}", "s://h?z=1&a=x%20y"),
        ("s://h{#b}", "s://h#c/d"),
        ("s://h{?c}", "s://h"),
    ] {
        let template = UriTemplate::parse(template).unwrap();
        assert_eq!(template.expand(&given).as_deref(), Ok(uri));
    }
    let missing = UriTemplate::parse("s://{c}").unwrap().expand(&given);
    assert_eq!(missing, Err(MissingVariable("c".to_owned())));
}

#[test]
fn lists_its_variables_in_order() {
    let template = UriTemplate::parse("a://{b}/{+c}{?d,e}").unwrap();
    assert_eq!(
        template.variables().collect::<Vec<_>>(),
        ["b", "c", "d", "e"]
    );
    assert_eq!(template.literal_len(), "a:///".len());
}

#[test]
fn hostile_templates_match_and_capture_the_same() {
    for (template, uri) in [
        ("{+x}a".repeat(32), "a".repeat(MAX_URI_BYTES)),
        ("{x}a".repeat(32), "a".repeat(MAX_URI_BYTES)),
        ("{+x}a{y}a".repeat(16), "aa/".repeat(MAX_URI_BYTES / 3)),
        ("{/x}".repeat(32), "/a".repeat(MAX_URI_BYTES / 2)),
        ("{+x}aaaaaaaa".repeat(32), "a".repeat(MAX_URI_BYTES)),
        ("{.x}".repeat(32), ".a/".repeat(MAX_URI_BYTES / 3)),
    ] {
        let template = UriTemplate::parse(&template).unwrap();
        for uri in [uri.clone(), uri + "b"] {
            assert_eq!(template.matches(&uri), template.capture(&uri).is_some());
        }
    }
}

#[test]
fn rejects_templates_over_the_limits() {
    assert!(UriTemplate::parse(&"{x}".repeat(MAX_EXPRESSIONS)).is_ok());
    assert!(UriTemplate::parse(&"{x}".repeat(MAX_EXPRESSIONS + 1)).is_err());
    assert!(UriTemplate::parse(&"x".repeat(MAX_TEMPLATE_BYTES + 1)).is_err());
    let long = "a".repeat(MAX_URI_BYTES);
    assert!(matches("{+x}", &long) && !matches("{+x}", &format!("{long}a")));
}

/// Tries every split of the URI.
fn matches_by_search(parts: &[TemplatePart], uri: &str) -> bool {
    let Some((part, rest)) = parts.split_first() else {
        return uri.is_empty();
    };
    let ends = (0..=uri.len()).filter(|end| uri.is_char_boundary(*end));
    let fits = |text: &str| match part {
        TemplatePart::Literal(literal) => literal == text,
        TemplatePart::Expression(expression) => {
            if text.is_empty() {
                return expression.is_optional();
            }
            let value = match expression.prefix() {
                None => Some(text),
                Some(prefix) => text.strip_prefix(char::from(prefix)),
            };
            value.is_some_and(|value| {
                let excluded = |byte| expression.excluded().contains(&byte);
                let is_missing = value.is_empty() && expression.needs_value();
                !is_missing && !value.bytes().any(excluded)
            })
        }
    };
    let mut splits = ends.map(|end| uri.split_at(end));
    splits.any(|(text, tail)| fits(text) && matches_by_search(rest, tail))
}

proptest! {
    #[test]
    fn an_expansion_matches_its_template(
        prefix in "[a-z]{1,8}://", one in "[a-zA-Z0-9 %._~-]{1,12}", two in "[a-zA-Z0-9 %._~-]{1,12}",
    ) {
        let template = format!("{prefix}{{one}}/x/{{two}}");
        let expanded = format!("{prefix}{one}/x/{two}");
        prop_assert!(matches(&template, &expanded));
    }

    #[test]
    fn a_capture_reverses_an_expansion(text in "\\PC{1,40}") {
        let template = UriTemplate::parse("a://b/{c}").unwrap();
        let given = TemplateValues::from([("c".to_owned(), text)]);
        let uri = template.expand(&given).unwrap();
        prop_assert_eq!(template.capture(&uri), Some(given));
    }

    #[test]
    fn any_text_can_be_matched(template in ".{0,40}", uri in ".{0,40}") {
        if let Ok(template) = UriTemplate::parse(&template) {
            prop_assert!(template.capture(&uri).is_none() || template.matches(&uri));
        }
    }

    #[test]
    fn matching_agrees_with_a_search_of_all_splits(
        parts in prop::collection::vec("a|/|aa|a/|é|\\{x\\}|\\{\\+x\\}|\\{/x\\}|\\{\\.x\\}|\\{\\?x\\}", 1..6),
        uri in "[a/.?é]{0,9}",
    ) {
        let template = UriTemplate::parse(&parts.concat()).unwrap();
        prop_assert_eq!(template.matches(&uri), matches_by_search(&template.parts, &uri));
    }
}
