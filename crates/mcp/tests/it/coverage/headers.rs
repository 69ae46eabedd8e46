//! The rules of the standard headers, each with its era_verdict: a rule without a case fails, and so does
//! a golden file that records another era_verdict.

use super::cases;
use crate::golden::Kind;

const TAKEN: bool = true;
const REFUSED: bool = false;

const HEADERS: [&str; 3] = ["MCP-Protocol-Version", "Mcp-Method", "Mcp-Name"];

/// For each of the three headers.
const EACH: [(&str, bool); 10] = [
    ("absent", REFUSED),
    ("empty", REFUSED),
    ("wrong", REFUSED),
    ("twice", REFUSED),
    ("twice, not alike", REFUSED),
    ("twice, in two spellings", REFUSED),
    ("name in another case", TAKEN),
    ("value in another case", REFUSED),
    ("white space around", TAKEN),
    ("not UTF-8", REFUSED),
];

/// Only a name may come in base64.
const BASE64: [(&str, bool); 3] = [
    ("MCP-Protocol-Version: base64", REFUSED),
    ("Mcp-Method: base64", REFUSED),
    ("Mcp-Name: base64", TAKEN),
];

/// For the name alone.
const NAME: [(&str, bool); 35] = [
    ("white space inside", TAKEN),
    ("white space inside, wrong", REFUSED),
    ("not ASCII, as it is", REFUSED),
    ("a control character, as it is", REFUSED),
    ("base64 of what is not ASCII", TAKEN),
    ("base64 of white space at the ends", TAKEN),
    ("base64 of a line break", TAKEN),
    ("base64 of what looks like base64", TAKEN),
    ("base64 of another name", REFUSED),
    ("base64 of nothing", REFUSED),
    ("base64 without padding", REFUSED),
    ("base64 with too much padding", REFUSED),
    ("base64 with stray bits", REFUSED),
    ("base64 with a wrong letter", REFUSED),
    ("base64 in its own alphabet", TAKEN),
    ("base64 in the alphabet of URLs", REFUSED),
    ("base64 of what is not UTF-8", REFUSED),
    ("base64 with white space inside", REFUSED),
    ("the first marker alone is a name", TAKEN),
    ("the last marker alone is a name", TAKEN),
    ("the first marker alone is not decoded", REFUSED),
    ("the last marker alone is not decoded", REFUSED),
    ("a marker in another case is a name", TAKEN),
    ("a marker in another case is not decoded", REFUSED),
    ("what looks like base64, as it is", REFUSED),
    ("a prompt's name", TAKEN),
    ("a prompt's name, wrong", REFUSED),
    ("a prompt's name, absent", REFUSED),
    ("a resource's URI", TAKEN),
    ("a resource's URI, written otherwise", REFUSED),
    ("a resource's URI, absent", REFUSED),
    ("a resource's name in place of its URI", REFUSED),
    ("there, and no name in the body", REFUSED),
    ("there, and a number in the body", REFUSED),
    ("there, where a method has none", TAKEN),
];

#[test]
fn every_rule_of_the_headers_has_a_case_with_its_verdict() {
    let cases = cases(Kind::Lift);
    for (title, era_verdict) in rules() {
        let mut found = cases.iter().filter(|(_, case)| case.title == title);
        let (_, case) = found
            .next()
            .unwrap_or_else(|| panic!("no case for `{title}`"));
        let mismatch = case
            .expected
            .contains("\nrefused: header_mismatch, -32020, status 400\n");
        let refused = case.expected.contains("\nrefused: ");
        assert_eq!(mismatch, refused, "{title}: refused as something else");
        assert_eq!(!refused, era_verdict, "{title}");
    }
}

fn rules() -> Vec<(String, bool)> {
    let each = HEADERS.iter().flat_map(|header| {
        EACH.map(|(rule, era_verdict)| (format!("{header}: {rule}"), era_verdict))
    });
    let base64 = BASE64.map(|(title, era_verdict)| (title.to_owned(), era_verdict));
    let name = NAME.map(|(rule, era_verdict)| (format!("Mcp-Name: {rule}"), era_verdict));
    each.chain(base64).chain(name).collect()
}
