//! Which sources a configuration has.

use std::fs;

use tempfile::TempDir;
use tidegate_sources::files::FilesConfig;
use tidegate_sources::index::IndexConfig;
use tidegate_sources::memory::MemoryConfig;
use tidegate_upstream::ServerTarget;

use super::{Flags, load_in, load_text, load_with};
use crate::config::{Secret, Settings, SourceSettings};

fn ids(settings: &Settings) -> Vec<&str> {
    settings
        .sources
        .iter()
        .map(|source| source.id.as_str())
        .collect()
}

#[test]
fn default_sources_without_a_file() {
    let folder = TempDir::new().unwrap();
    let settings = load_in(folder.path(), &Flags::default(), &[]).unwrap();
    assert_eq!(ids(&settings), ["memory"]);
    assert_eq!(
        settings.sources_summary(),
        "sources: system, memory (defaults: no sources configured)"
    );
}

#[test]
fn default_sources_with_a_file_that_names_none() {
    for text in [
        "",
        "listen: 127.0.0.1:9000\n",
        "sources:\n",
        "mcpServers:\n",
    ] {
        let settings = load_text(text).unwrap();
        assert_eq!(ids(&settings), ["memory"], "{text}");
        assert_eq!(
            settings.sources_summary(),
            "sources: system, memory (defaults: no sources configured)"
        );
        let memory: Option<&MemoryConfig> = settings.sources[0].settings.built_in();
        assert_eq!(memory, Some(&MemoryConfig::default()));
    }
}

#[test]
fn exactly_the_configured_sources() {
    for (text, expected, summary) in [
        ("sources: {}\n", &[][..], "sources: system"),
        ("mcpServers: {}\n", &[], "sources: system"),
        (
            "sources: { z: { command: x }, a: { kind: memory } }\n",
            &["z", "a"],
            "sources: system, z, a",
        ),
        (
            "mcpServers: { Files: { command: x } }\n",
            &["files"],
            "sources: system, files (`Files`)",
        ),
        (
            "sources: { a: { url: 'http://x' } }\nmcpServers: { b: { command: x } }\n",
            &["a", "b"],
            "sources: system, a, b",
        ),
    ] {
        let settings = load_text(text).unwrap();
        assert_eq!(ids(&settings), expected, "{text}");
        assert_eq!(settings.sources_summary(), summary, "{text}");
    }
}

#[test]
fn flags_add_the_capability_index_to_the_default_sources() {
    let flags = Flags {
        resources_enabled: Some("yes".to_owned()),
        ..Flags::default()
    };
    let settings = load_with("", &flags, &[]).unwrap();
    assert_eq!(ids(&settings), ["memory", "index"]);
    let index: &IndexConfig = settings.sources[1].settings.built_in().unwrap();
    assert!(index.enabled);
    assert_eq!(
        settings.sources_summary(),
        "sources: system, memory, index (defaults: no sources configured)"
    );
}

#[test]
fn paths_of_sources_start_at_the_folder_of_the_file() {
    let folder = TempDir::new().unwrap();
    fs::create_dir(folder.path().join("etc")).unwrap();
    fs::write(
        folder.path().join("etc/t.yaml"),
        "sources: { a: { kind: files, folder: ../docs }, b: { kind: files, folder: ~/notes } }\n",
    )
    .unwrap();
    let flags = Flags {
        config: Some("etc/t.yaml".into()),
        ..Flags::default()
    };
    let settings = load_in(folder.path(), &flags, &[]).unwrap();
    let folder_of = |index: usize| {
        let files: &FilesConfig = settings.sources[index].settings.built_in().unwrap();
        files.folder.clone()
    };
    assert_eq!(folder_of(0), folder.path().join("docs"));
    assert_eq!(folder_of(1), std::path::Path::new("/home/ada/notes"));
}

#[test]
fn references_in_a_command_line_are_resolved_and_never_printed() {
    let text = "sources: { a: { command: '${env:PROGRAM}', args: ['--key=${env:KEY}', 1.50, yes, \
                true], env: { LEVEL: 010 }, cwd: 'work/${env:KEY}' } }\n";
    let variables = [("PROGRAM", "server"), ("KEY", "s3cret-key")];
    let settings = load_with(text, &Flags::default(), &variables).unwrap();
    let SourceSettings::Remote(remote) = &settings.sources[0].settings else {
        panic!("not a remote source");
    };
    let ServerTarget::Program(program) = &remote.remote.target else {
        panic!("not a program");
    };
    assert_eq!(program.command.expose(), "server");
    let args: Vec<&str> = program.args.iter().map(Secret::expose).collect();
    assert_eq!(args, ["--key=s3cret-key", "1.50", "yes", "true"]);
    assert_eq!(program.env[0].1.expose(), "010");
    let cwd = program.cwd.as_ref().unwrap();
    assert!(cwd.is_absolute() && cwd.ends_with("work/s3cret-key"));
    assert_eq!(
        program.written,
        "${env:PROGRAM} --key=${env:KEY} 1.50 yes true"
    );
    let target = format!("{:?}", program.args);
    assert!(!target.contains("s3cret-key"), "{target}");
}

#[test]
fn servers_of_clients_become_sources() {
    let text = r#"{"mcpServers": {"My Server": {"command": "npx", "args": ["-y", "x"], "alwaysAllow": []},
        "off": {"command": "x", "disabled": true}, "web": {"type": "http", "url": "https://x/mcp"}}}"#;
    assert_eq!(ids(&load_text(text).unwrap()), ["my-server", "web"]);
}

#[test]
fn servers_of_clients_may_have_any_name() {
    let text = r#"{"mcpServers": {"@scope/files.v2": {"command": "x"}, "7zip": {"command": "x"},
        "system": {"command": "x"}, "日本": {"command": "x"},
        "a-very-long-name-of-a-server-with-many-words": {"command": "x"}}}"#;
    let settings = load_text(text).unwrap();
    let ids = ids(&settings);
    assert_eq!(ids[..3], ["scope-files-v2", "server-7zip", "server-system"]);
    assert_eq!(ids.len(), 5);
    let summary = settings.sources_summary();
    for shown in ["scope-files-v2 (`@scope/files.v2`)", "(`日本`)"] {
        assert!(summary.contains(shown), "{summary}");
    }
}
