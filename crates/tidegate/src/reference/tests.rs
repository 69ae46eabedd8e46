//! The pages are what the code says, and what they say is true.

use std::fs;
use std::path::Path;

use tempfile::TempDir;

use super::pages;
use crate::config::{Environment, Flags, load};

const COMMAND: &str = "UPDATE_REFERENCE=1 cargo test -p tidegate --lib reference";

#[test]
fn pages_are_fresh() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let update = std::env::var_os("UPDATE_REFERENCE").is_some_and(|value| value == "1");
    for (path, page) in pages() {
        let file = root.join(path);
        if update {
            fs::write(&file, &page).unwrap();
        }
        let stored = fs::read_to_string(&file).unwrap_or_default();
        assert!(
            stored == page,
            "{path} is not what the code says; run\n  {COMMAND}"
        );
    }
}

#[test]
fn the_example_is_a_good_configuration() {
    let (_, page) = pages()
        .into_iter()
        .find(|(path, _)| path.ends_with("config.md"))
        .unwrap();
    let example = page
        .split("```yaml\n")
        .nth(1)
        .and_then(|rest| rest.split("```").next())
        .unwrap();
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("tidegate.yaml"), example).unwrap();
    let environment = Environment::new(
        |name| match name {
            "HOME" => Some("/home/ada".to_owned()),
            "ADA_KEY" => Some("0123456789abcdef".to_owned()),
            _ => None,
        },
        folder.path(),
    );
    let settings = load(&Flags::default(), &environment).unwrap();
    assert_eq!(settings.keys[0].principal, "ada");
}
