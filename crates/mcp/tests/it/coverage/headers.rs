//! The rules of the standard headers: each needs a case with the right verdict.

use super::cases;
use crate::golden::GoldenKind;

const ACCEPTED: bool = true;
const REJECTED: bool = false;

const HEADERS: [&str; 3] = ["MCP-Protocol-Version", "Mcp-Method", "Mcp-Name"];

/// Rules of each of the three headers.
const COMMON: [(&str, bool); 10] = [
    ("absent", REJECTED),
    ("empty", REJECTED),
    ("wrong", REJECTED),
    ("twice", REJECTED),
    ("twice, with different values", REJECTED),
    ("twice, in two spellings", REJECTED),
    ("name in another case", ACCEPTED),
    ("value in another case", REJECTED),
    ("surrounding white space", ACCEPTED),
    ("not UTF-8", REJECTED),
];

/// Only `Mcp-Name` may be base64.
const BASE64: [(&str, bool); 3] = [
    ("MCP-Protocol-Version: base64", REJECTED),
    ("Mcp-Method: base64", REJECTED),
    ("Mcp-Name: base64", ACCEPTED),
];

/// Rules of `Mcp-Name`.
const NAME: [(&str, bool); 35] = [
    ("white space inside", ACCEPTED),
    ("white space inside, wrong", REJECTED),
    ("not ASCII, literal", REJECTED),
    ("a control character, literal", REJECTED),
    ("base64 of text that is not ASCII", ACCEPTED),
    ("base64 of surrounding white space", ACCEPTED),
    ("base64 of a line break", ACCEPTED),
    ("base64 of text that looks like base64", ACCEPTED),
    ("base64 of another name", REJECTED),
    ("base64 of an empty text", REJECTED),
    ("base64 without padding", REJECTED),
    ("base64 with too much padding", REJECTED),
    ("base64 with stray bits", REJECTED),
    ("base64 with an invalid character", REJECTED),
    ("base64 in the standard alphabet", ACCEPTED),
    ("base64 in the URL-safe alphabet", REJECTED),
    ("base64 of bytes that are not UTF-8", REJECTED),
    ("base64 with white space inside", REJECTED),
    ("the prefix alone is literal", ACCEPTED),
    ("the suffix alone is literal", ACCEPTED),
    ("the prefix alone is not decoded", REJECTED),
    ("the suffix alone is not decoded", REJECTED),
    ("a prefix in another case is literal", ACCEPTED),
    ("a prefix in another case is not decoded", REJECTED),
    ("looks like base64, literal", REJECTED),
    ("the name of a prompt", ACCEPTED),
    ("the name of a prompt, wrong", REJECTED),
    ("the name of a prompt, absent", REJECTED),
    ("the URI of a resource", ACCEPTED),
    ("the URI of a resource, in another spelling", REJECTED),
    ("the URI of a resource, absent", REJECTED),
    ("the name of a resource instead of its URI", REJECTED),
    ("present, and no name in the body", REJECTED),
    ("present, and a number in the body", REJECTED),
    ("present for a method without a name", ACCEPTED),
];

#[test]
fn every_header_rule_has_a_case_with_its_verdict() {
    let cases = cases(GoldenKind::Lift);
    for (title, is_accepted) in rules() {
        let mut matching = cases.iter().filter(|(_, case)| case.title == title);
        let (_, case) = matching
            .next()
            .unwrap_or_else(|| panic!("no case for `{title}`"));
        let is_mismatch = case
            .expected
            .contains("\nrejected: header_mismatch, -32020, status 400\n");
        let is_rejected = case.expected.contains("\nrejected: ");
        assert_eq!(
            is_mismatch, is_rejected,
            "{title}: rejected with another code"
        );
        assert_eq!(!is_rejected, is_accepted, "{title}");
    }
}

fn rules() -> Vec<(String, bool)> {
    let each = HEADERS.iter().flat_map(|header| {
        COMMON.map(|(rule, is_accepted)| (format!("{header}: {rule}"), is_accepted))
    });
    let base64 = BASE64.map(|(title, is_accepted)| (title.to_owned(), is_accepted));
    let name = NAME.map(|(rule, is_accepted)| (format!("Mcp-Name: {rule}"), is_accepted));
    each.chain(base64).chain(name).collect()
}
