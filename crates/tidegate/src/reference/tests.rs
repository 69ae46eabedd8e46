//! The pages are up to date, and their examples are valid.

use std::fs;
use std::path::Path;

use tempfile::TempDir;
use tidegate_testkit::intermediaries::CertificateAuthority;

use super::pages;
use crate::config::{Environment, Flags, Problems, Settings, load};

const COMMAND: &str = "UPDATE_REFERENCE=1 cargo test -p tidegate --lib reference";

#[test]
fn pages_are_up_to_date() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let update = std::env::var_os("UPDATE_REFERENCE").is_some_and(|value| value == "1");
    for (path, page) in pages() {
        let file = root.join(path);
        if update {
            fs::write(&file, &page).unwrap();
        }
        let stored = fs::read_to_string(&file).unwrap_or_default();
        assert!(stored == page, "{path} is out of date; run\n  {COMMAND}");
    }
}

#[test]
fn every_example_of_the_configuration_page_is_valid() {
    let pages = pages();
    let (_, page) = pages
        .iter()
        .find(|(path, _)| path.ends_with("config.md"))
        .unwrap();
    let examples = page.split("```yaml\n").skip(1);
    let examples: Vec<_> = examples
        .map(|text| text.split("```").next().unwrap())
        .collect();
    assert!(examples.len() > 10, "{} examples", examples.len());
    for example in examples {
        let settings = load_example(example);
        assert!(settings.is_ok(), "{example}{settings:?}");
    }
}

fn load_example(text: &str) -> Result<Settings, Problems> {
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("tidegate.yaml"), text).unwrap();
    let authority = CertificateAuthority::new();
    fs::write(folder.path().join("ca.pem"), authority.pem()).unwrap();
    let environment = Environment::new(
        |name| match name {
            "HOME" => Some("/home/ada".to_owned()),
            "ADA_KEY" | "API_TOKEN" | "SEAL_KEY" => Some("0123456789abcdef".repeat(2)),
            _ => None,
        },
        folder.path(),
    );
    load(&Flags::default(), &environment)
}
