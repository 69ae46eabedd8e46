//! Flags, variables, file and defaults, in this order; and which file is read.

use std::fs;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use super::{Flags, load_in, load_with, only_problem};
use crate::config::{LogFormat, LogLevel};

const FILE: &str = "listen: 127.0.0.1:3\nlog: { level: warn, format: json }\ndata_dir: from-file\n";
const VARIABLES: &[(&str, &str)] = &[
    ("TIDEGATE_LISTEN", "127.0.0.1:2"),
    ("TIDEGATE_LOG_LEVEL", "debug"),
    ("TIDEGATE_LOG_FORMAT", "text"),
    ("TIDEGATE_DATA_DIR", "/from-variable"),
];

fn all_flags() -> Flags {
    Flags {
        listen: Some("127.0.0.1:1".to_owned()),
        log_level: Some(LogLevel::Trace),
        log_format: Some(LogFormat::Json),
        data_dir: Some("/from-flag".into()),
        ..Flags::default()
    }
}

#[test]
fn flag_then_variable_then_file_then_default() {
    let none = Flags::default();
    let empty = [
        ("TIDEGATE_LISTEN", ""),
        ("TIDEGATE_LOG_LEVEL", ""),
        ("TIDEGATE_DATA_DIR", ""),
    ];
    for (text, flags, variables, port, level, format, data_dir) in [
        (
            FILE,
            &all_flags(),
            VARIABLES,
            1,
            "trace",
            "json",
            "/from-flag",
        ),
        (FILE, &none, VARIABLES, 2, "debug", "text", "/from-variable"),
        (FILE, &none, &empty, 3, "warn", "json", "/from-file"),
        (
            "",
            &none,
            &[],
            8080,
            "info",
            "text",
            "/home/ada/.local/share/tidegate",
        ),
    ] {
        let settings = load_with(text, flags, variables).unwrap();
        assert_eq!(settings.listen.port(), port);
        assert_eq!(settings.log.level.to_string(), level);
        assert_eq!(settings.log.format.to_string(), format);
        assert!(
            settings.data_dir.to_str().unwrap().ends_with(data_dir),
            "{:?}",
            settings.data_dir
        );
    }
}

#[test]
fn problems_name_the_flag_or_the_variable() {
    let listen = |text: &str| Flags {
        listen: Some(text.to_owned()),
        ..Flags::default()
    };
    for (flags, variables, expected) in [
        (
            listen("127.0.0.1"),
            &[][..],
            "--listen: `127.0.0.1` has no port; write `127.0.0.1:8080`",
        ),
        (
            listen("0.0.0.0:1"),
            &[],
            "--listen: other machines can reach 0.0.0.0:1 without authentication; add keys to \
             `auth.keys`, or start with --insecure if the network itself is protected",
        ),
        (
            Flags::default(),
            &[("TIDEGATE_LISTEN", "localhost")],
            "TIDEGATE_LISTEN: `localhost` has no port; write `localhost:8080`",
        ),
        (
            Flags::default(),
            &[("TIDEGATE_LOG_LEVEL", "inof")],
            "TIDEGATE_LOG_LEVEL: unknown value `inof`; did you mean `info`?",
        ),
        (
            Flags::default(),
            &[("TIDEGATE_LOG_FORMAT", "xml")],
            "TIDEGATE_LOG_FORMAT: unknown value `xml`; use one of text, json",
        ),
        (
            Flags {
                config: Some("gone.yaml".into()),
                ..Flags::default()
            },
            &[],
            "--config: cannot read the file `gone.yaml`: No such file or directory (os error 2)",
        ),
        (
            Flags::default(),
            &[("TIDEGATE_CONFIG", "gone.yaml")],
            "TIDEGATE_CONFIG: cannot read the file `gone.yaml`: No such file or directory (os \
             error 2)",
        ),
        (
            Flags::default(),
            &[("HOME", "")],
            "HOME: not set, so there is no folder for data; name one with --data-dir",
        ),
    ] {
        assert_eq!(only_problem(load_with("", &flags, variables)), expected);
    }
}

#[test]
fn insecure_allows_any_address() {
    let flags = Flags {
        insecure: true,
        ..Flags::default()
    };
    let settings = load_with("listen: 0.0.0.0:80\n", &flags, &[]).unwrap();
    assert_eq!(settings.listen.to_string(), "0.0.0.0:80");
}

#[test]
fn reads_the_named_file_or_the_one_in_the_folder() {
    let named = Flags {
        config: Some("x/other.json".into()),
        ..Flags::default()
    };
    let variable = [("TIDEGATE_CONFIG", "x/other.json")];
    for (file, flags, variables) in [
        ("tidegate.yaml", Flags::default(), &[][..]),
        ("tidegate.yml", Flags::default(), &[]),
        ("tidegate.json", Flags::default(), &[]),
        ("x/other.json", named, &[("TIDEGATE_CONFIG", "gone")]),
        ("x/other.json", Flags::default(), &variable),
    ] {
        let folder = TempDir::new().unwrap();
        fs::create_dir(folder.path().join("x")).unwrap();
        fs::write(folder.path().join(file), "{\n\t\"legacy_sse\": true\n}\n").unwrap();
        let settings = load_in(folder.path(), &flags, variables).unwrap();
        assert_eq!(settings.file, Some(PathBuf::from(file)));
        assert!(settings.legacy_sse);
    }
}

#[test]
fn allows_no_file_but_not_two() {
    let folder = TempDir::new().unwrap();
    assert_eq!(
        load_in(folder.path(), &Flags::default(), &[]).unwrap().file,
        None
    );
    for name in ["tidegate.yaml", "tidegate.json"] {
        fs::write(folder.path().join(name), "{}").unwrap();
    }
    let problem = only_problem(load_in(folder.path(), &Flags::default(), &[]));
    let expected = "tidegate.json: `tidegate.yaml` exists too; remove one of them, or choose \
                    one with --config";
    assert_eq!(problem, expected);
}

#[test]
fn reports_files_that_cannot_be_read() {
    let problem = |create: fn(&Path)| {
        let folder = TempDir::new().unwrap();
        create(&folder.path().join("tidegate.yaml"));
        only_problem(load_in(folder.path(), &Flags::default(), &[]))
    };
    let folder = problem(|path| fs::create_dir(path).unwrap());
    assert!(
        folder.starts_with("tidegate.yaml: cannot read the file: "),
        "{folder}"
    );
    let bytes = problem(|path| fs::write(path, [0xff, 0xfe, 0x80]).unwrap());
    assert!(bytes.contains("valid UTF-8"), "{bytes}");
    let large = problem(|path| fs::write(path, "#".repeat(1_100_000)).unwrap());
    assert!(
        large.ends_with("the file is larger than 1048576 bytes"),
        "{large}"
    );
}

#[test]
fn chooses_the_data_folder() {
    for (text, variables, expected) in [
        ("", &[("XDG_DATA_HOME", "/xdg")][..], Some("/xdg/tidegate")),
        (
            "",
            &[("XDG_DATA_HOME", "relative")],
            Some("/home/ada/.local/share/tidegate"),
        ),
        ("data_dir: /abs\n", &[], Some("/abs")),
        ("data_dir: ~/mine\n", &[], Some("/home/ada/mine")),
        ("data_dir: ''\n", &[], None),
    ] {
        let loaded = load_with(text, &Flags::default(), variables);
        match expected {
            Some(expected) => assert_eq!(loaded.unwrap().data_dir, Path::new(expected)),
            None => assert_eq!(
                only_problem(loaded),
                "tidegate.yaml:1:11: `data_dir` is empty; name a folder or remove the field"
            ),
        }
    }
}
