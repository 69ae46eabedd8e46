//! Keys: the names of principals, references, and requirements on the values.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use tempfile::TempDir;

use super::{Flags, load_in, load_with, only_problem, problem_lines};

const KEY: &str = "0123456789abcdef";

#[test]
fn reads_keys_from_variables_and_never_prints_them() {
    let text = "listen: 0.0.0.0:80\nauth: { keys: { ada: '${env:A}', bob.b@x-1_: '${env:B}' } }\n";
    let variables = [("A", KEY), ("B", "another-key-of-bob's")];
    let settings = load_with(text, &Flags::default(), &variables).unwrap();
    let keys: Vec<_> = settings
        .keys
        .iter()
        .map(|key| (key.principal.as_str(), key.secret.expose()))
        .collect();
    assert_eq!(keys, [("ada", KEY), ("bob.b@x-1_", "another-key-of-bob's")]);
    assert_eq!(
        format!("{} {:?}", settings.keys[0].secret, settings.keys[0].secret),
        "*** ***"
    );
    assert!(!format!("{settings:?}").contains(KEY));
}

#[test]
fn rejects_invalid_names() {
    for name in ["Ada", "1a", "a b", "ä", "-a", &"a".repeat(65)] {
        let text = format!("auth:\n  keys:\n    {name}: ${{env:A}}\n");
        let problem = only_problem(load_with(&text, &Flags::default(), &[("A", KEY)]));
        let expected = format!(
            "tidegate.yaml:3:5: `{name}` is not a valid principal name; use a lower-case \
             letter, then up to 63 of a-z 0-9 _ . @ -"
        );
        assert_eq!(problem, expected);
    }
    let text = "auth:\n  keys:\n    local: ${env:A}\n";
    let problem = only_problem(load_with(text, &Flags::default(), &[("A", KEY)]));
    let expected = "tidegate.yaml:3:5: the principal `local` is reserved for gateways without keys; \
                    choose another name";
    assert_eq!(problem, expected);
}

#[test]
fn rejects_literals_and_unknown_references() {
    for value in [
        KEY,
        "1234567890123456",
        "'${vault:x}'",
        "'${env:}'",
        "'${env:A B}'",
        "'${file:}'",
    ] {
        let text = format!("auth:\n  keys:\n    ada.l: {value}\n");
        let expected = "tidegate.yaml:3:12: `auth.keys.ada.l`: write a reference to the key, not \
                        the key itself: `${env:ADA_L_KEY}` for an environment variable, or \
                        `${file:ada.l.key}` for a file";
        assert_eq!(
            only_problem(load_with(&text, &Flags::default(), &[])),
            expected
        );
    }
    let problem = only_problem(load_with("auth: { keys: {} }\n", &Flags::default(), &[]));
    let expected = "tidegate.yaml:1:15: `auth.keys` is empty; add a key or remove `auth`";
    assert_eq!(problem, expected);
}

#[test]
fn rejects_invalid_keys() {
    const BAD: &str = "the key has characters that a header cannot carry; use letters, digits \
                       and punctuation, without spaces";
    for (value, expected) in [
        ("", "the environment variable `A` is not set"),
        (
            "short",
            "the key has 5 characters; use at least 16, for example the output of `openssl rand -hex 32`",
        ),
        ("0123456789 abcdef", BAD),
        ("0123456789\tabcdef", BAD),
        ("0123456789abcdef\n", BAD),
        ("0123456789abcdéf", BAD),
    ] {
        let text = "auth:\n  keys:\n    ada: ${env:A}\n";
        let problem = only_problem(load_with(text, &Flags::default(), &[("A", value)]));
        assert_eq!(
            problem,
            format!("tidegate.yaml:3:10: `auth.keys.ada`: {expected}")
        );
    }
}

#[test]
fn rejects_a_key_that_two_principals_share() {
    let text = "auth:\n  keys:\n    ada: ${env:A}\n    bob: ${env:B}\n";
    let problem = only_problem(load_with(
        text,
        &Flags::default(),
        &[("A", KEY), ("B", KEY)],
    ));
    let expected = "tidegate.yaml:4:10: `auth.keys.bob`: the same key as that of `ada`; give each \
                    principal its own";
    assert_eq!(problem, expected);
}

/// A folder `etc` with a configuration that refers to a key file next to it.
fn folder(key: &str, mode: u32) -> TempDir {
    let folder = TempDir::new().unwrap();
    let etc = folder.path().join("etc");
    fs::create_dir(&etc).unwrap();
    fs::write(
        etc.join("t.yaml"),
        "auth: { keys: { ada: '${file:ada''s.key}' } }\n",
    )
    .unwrap();
    fs::write(etc.join("ada's.key"), key).unwrap();
    fs::set_permissions(etc.join("ada's.key"), Permissions::from_mode(mode)).unwrap();
    folder
}

fn flags() -> Flags {
    Flags {
        config: Some("etc/t.yaml".into()),
        ..Flags::default()
    }
}

#[test]
fn reads_keys_from_files_next_to_the_configuration() {
    for ending in ["", "\n", "\r\n"] {
        let folder = folder(&format!("{KEY}{ending}"), 0o600);
        let settings = load_in(folder.path(), &flags(), &[]).unwrap();
        assert_eq!(settings.keys[0].secret.expose(), KEY);
    }
}

#[test]
fn rejects_files_that_other_users_can_access() {
    for mode in [0o640, 0o604, 0o644, 0o620] {
        let folder = folder(KEY, mode);
        let path = folder.path().join("etc/ada's.key").display().to_string();
        let expected = format!(
            "etc/t.yaml:1:22: `auth.keys.ada`: other users can access the file `{path}`; run \
             `chmod 600 '{}'`",
            path.replace('\'', r"'\''")
        );
        assert_eq!(
            only_problem(load_in(folder.path(), &flags(), &[])),
            expected
        );
    }
}

#[test]
fn reports_files_that_cannot_be_read() {
    let in_folder = |change: fn(&Path)| {
        let folder = folder(KEY, 0o600);
        let path = folder.path().join("etc/ada's.key");
        fs::remove_file(&path).unwrap();
        change(&path);
        problem_lines(load_in(folder.path(), &flags(), &[])).remove(0)
    };
    let missing = in_folder(|_| ());
    assert!(missing.contains("cannot read the file `") && missing.contains("No such file"));
    let not_a_file = in_folder(|path| fs::create_dir(path).unwrap());
    assert!(not_a_file.ends_with("` is not a file"), "{not_a_file}");
    let large = in_folder(|path| {
        fs::write(path, "x".repeat(70_000)).unwrap();
        fs::set_permissions(path, Permissions::from_mode(0o600)).unwrap();
    });
    assert!(large.contains("larger than 65536 bytes"), "{large}");
}
