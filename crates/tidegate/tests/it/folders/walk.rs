//! Everything listed works, for each revision and transport, of all sources and of each alone.

use serde_json::{Value, json};

use super::{home, start};
use crate::support::Stdio;
use crate::support::messages::LEGACY;
use crate::walk::client::{Client, ModernClient, Sessions, StdioClient};
use crate::walk::{Pages, all, list};

/// Reads, expands, fetches and subscribes to everything that the two folders list.
fn walk(client: &mut dyn Client, files: bool, prompts: bool) {
    let resources = list(client, "resources/list", "resources", Pages::Large);
    let of_folders = |uri: &String| uri.starts_with("file://") || uri.starts_with("skill://");
    let uris: Vec<_> = all(&resources, "uri")
        .into_iter()
        .filter(of_folders)
        .collect();
    let expected = if files { 7 } else { 0 } + if prompts { 2 } else { 0 };
    assert_eq!(uris.len(), expected, "{uris:?}");
    for uri in &uris {
        let read = client.request("resources/read", json!({ "uri": uri }));
        let contents = &read["contents"][0];
        assert_eq!(contents["uri"], *uri, "{read}");
        let listed = resources
            .iter()
            .find(|resource| resource["uri"] == *uri)
            .unwrap();
        assert_eq!(contents["mimeType"], listed["mimeType"], "{read}");
        assert!(
            contents["text"].is_string() ^ contents["blob"].is_string(),
            "{read}"
        );
        assert!(!read.to_string().contains("SECRET"), "{read}");
    }
    let templates = list(
        client,
        "resources/templates/list",
        "resourceTemplates",
        Pages::Large,
    );
    let templates = all(&templates, "uriTemplate");
    let mut templates = templates.iter().filter(|one| one.starts_with("file://"));
    if let Some(template) = templates.next() {
        expand(client, template);
    }
    let listed = list(client, "prompts/list", "prompts", Pages::Large);
    assert_eq!(listed.len(), if prompts { 2 } else { 0 }, "{listed:?}");
    for prompt in &listed {
        get(client, prompt);
    }
    client.subscribe(&uris);
}

/// Reads every completion of the template's variable, folder by folder.
fn expand(client: &mut dyn Client, template: &str) {
    let mut pending = vec![String::new()];
    let mut read = Vec::new();
    while let Some(typed) = pending.pop() {
        for value in completed(
            client,
            &json!({ "type": "ref/resource", "uri": template }),
            "path",
            &typed,
        ) {
            let uri = template.replace("{+path}", &ascii(&value));
            let answer = client.request("resources/read", json!({ "uri": uri }));
            assert_eq!(answer["contents"][0]["uri"], uri, "{answer}");
            if value.ends_with('/') && value != typed {
                pending.push(value.clone());
            }
            read.push(value);
        }
    }
    for path in [
        "readme.md",
        "deep/",
        "deep/er/",
        "deep/er/a b.txt",
        "link.txt",
    ] {
        assert!(read.iter().any(|name| name == path), "{path}: {read:?}");
    }
    assert!(
        !read
            .iter()
            .any(|path| path.contains("private") || path.contains("log")),
        "{read:?}"
    );
}

/// URIs are repeated in headers, so non-ASCII characters are encoded. A space may stay (X25).
fn ascii(path: &str) -> String {
    let encoded = path.bytes().map(|byte| match byte.is_ascii() {
        true => char::from(byte).to_string(),
        false => format!("%{byte:02X}"),
    });
    encoded.collect()
}

fn completed(client: &mut dyn Client, reference: &Value, name: &str, typed: &str) -> Vec<String> {
    let argument = json!({ "name": name, "value": typed });
    let params = json!({ "ref": reference, "argument": argument });
    let completed = client.request("completion/complete", params);
    let values = completed["completion"]["values"].as_array().unwrap();
    values
        .iter()
        .map(|name| name.as_str().unwrap().to_owned())
        .collect()
}

/// Fetches a prompt with the first completion of each required argument.
fn get(client: &mut dyn Client, prompt: &Value) {
    let name = prompt["name"].as_str().unwrap();
    let mut arguments = json!({});
    for argument in prompt["arguments"].as_array().into_iter().flatten() {
        if argument["required"] == true {
            let argument = argument["name"].as_str().unwrap();
            let reference = json!({ "type": "ref/prompt", "name": name });
            let values = completed(client, &reference, argument, "");
            arguments[argument] = values[0].as_str().into();
        }
    }
    let got = client.request(
        "prompts/get",
        json!({ "name": name, "arguments": arguments }),
    );
    let text = got["messages"][0]["content"]["text"].as_str().unwrap();
    assert!(!text.is_empty() && !text.contains("{{"), "{got}");
}

#[test]
fn everything_listed_works_over_http() {
    let server = start();
    for (path, files, prompts) in [
        ("/mcp", true, true),
        ("/mcp/notes", true, false),
        ("/mcp/team", false, true),
    ] {
        for revision in LEGACY {
            walk(&mut Sessions::open(&server, path, revision), files, prompts);
        }
        walk(&mut ModernClient::new(&server, path), files, prompts);
    }
    server.stop();
}

#[test]
fn everything_listed_works_over_stdio() {
    for revision in LEGACY {
        let mut stdio = Stdio::start_in(home());
        stdio.initialize(revision);
        let mut client = StdioClient::legacy(stdio, revision);
        walk(&mut client, true, true);
        client.end();
    }
    let mut client = StdioClient::modern(Stdio::start_in(home()));
    walk(&mut client, true, true);
    client.end();
}
