//! The command line of MCP Inspector and the Rust SDK use both folders.

use rmcp::model::{
    ArgumentInfo, CompleteRequestParams, GetPromptRequestParams, ReadResourceRequestParams,
    Reference,
};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::{ClientLifecycleMode, ClientServiceExt};
use serde_json::json;
use tokio::time::timeout;

use super::{start, uri};
use crate::support::PATIENCE;
use crate::support::inspector::inspect;

#[test]
fn inspector_uses_both_folders() {
    let server = start();
    let home = server.home.path().to_owned();
    for era in ["legacy", "modern"] {
        let readme = uri(&home, "notes/readme.md");
        let listed = inspect(&server, era, "resources/list", &[]).to_string();
        assert!(listed.contains(&readme) && listed.contains("skill://skills/pdf/SKILL.md"));
        let read = inspect(&server, era, "resources/read", &["--uri", &readme]);
        assert_eq!(read["contents"][0]["text"], "# Notes\n");
        let skill = ["--uri", "skill://skills/pdf/forms.md"];
        let read = inspect(&server, era, "resources/read", &skill);
        assert_eq!(read["contents"][0]["text"], "# Forms\n");
        let templates = inspect(&server, era, "resources/templates/list", &[]).to_string();
        assert!(
            templates.contains(&uri(&home, "notes/{+path}")),
            "{templates}"
        );
        let review = [
            "--prompt-name",
            "team/review",
            "--prompt-args",
            "language=go",
        ];
        let got = inspect(&server, era, "prompts/get", &review);
        assert_eq!(
            got["messages"][0]["content"]["text"],
            "Review this go code to depth 2."
        );
    }
    server.stop();
}

#[tokio::test]
async fn rust_sdk_uses_both_folders() {
    let server = start();
    let home = server.home.path().to_owned();
    let everything = async {
        let transport = StreamableHttpClientTransport::from_uri(server.url());
        let mode = ClientLifecycleMode::Initialize;
        let mut client = ().serve_with_lifecycle(transport, mode).await.unwrap();
        let resources = client.list_all_resources().await.unwrap();
        let mut read = 0;
        for resource in &resources {
            let params = ReadResourceRequestParams::new(resource.uri.clone());
            client.read_resource(params).await.unwrap();
            read += 1;
        }
        assert!(read >= 10, "{resources:?}");
        let complete = CompleteRequestParams::new(
            Reference::for_resource(uri(&home, "notes/{+path}")),
            ArgumentInfo::new("path", "deep/"),
        );
        let completed = client.complete(complete).await.unwrap();
        assert_eq!(completed.completion.values[0], "deep/er/");
        let prompts = client.list_all_prompts().await.unwrap();
        assert_eq!(prompts.len(), 2, "{prompts:?}");
        let arguments = json!({ "language": "rust" }).as_object().cloned().unwrap();
        let get = GetPromptRequestParams::new("team/review").with_arguments(arguments);
        let got = serde_json::to_value(client.get_prompt(get).await.unwrap()).unwrap();
        let text = &got["messages"][0]["content"]["text"];
        assert_eq!(text, "Review this rust code to depth 2.");
        client.close().await.unwrap();
    };
    timeout(PATIENCE, everything)
        .await
        .expect("the SDK client timed out");
    server.stop();
}
