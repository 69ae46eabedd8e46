//! Errors of sources: their codes and statuses in each era.

use serde_json::{Value, json};
use tidegate_core::Code;
use tidegate_server::ErrorStatus;
use tidegate_testkit::{FakeSource, NEWEST_LEGACY, ScriptedTool, TestGateway};

/// Calls a tool that fails with a code, in both eras. Returns both statuses and messages.
async fn call_failing_tool(code: Code) -> [(u16, Value); 2] {
    call_failing_tool_with(ErrorStatus::Spec, code).await
}

async fn call_failing_tool_with(error_status: ErrorStatus, code: Code) -> [(u16, Value); 2] {
    let source = FakeSource::empty().tool(ScriptedTool::new("fail").fails(code));
    let gateway = TestGateway::with(source);
    let gateway = gateway.http(|http| http.error_status = error_status);
    let gateway = gateway.start().await;
    let session = gateway.client().initialize(NEWEST_LEGACY).await;
    let modern = gateway
        .client()
        .modern_call("fake__fail", json!({}))
        .send()
        .await;
    let legacy = session.call("fake__fail", json!({})).send().await;
    let statuses = [modern.status, legacy.status];
    let messages = [modern.json().await, legacy.json().await];
    let [modern, legacy] = messages;
    [(statuses[0], modern), (statuses[1], legacy)]
}

#[tokio::test]
async fn every_error_has_its_code_and_status_and_hides_its_cause() {
    for (code, modern, legacy) in [
        (Code::InvalidParams, (200, -32602), (200, -32602)),
        (Code::MethodNotFound, (404, -32601), (200, -32601)),
        (Code::MissingCapability, (400, -32021), (200, -32603)),
        (Code::ResourceNotFound, (200, -32602), (200, -32002)),
        (Code::UnknownTarget, (200, -32602), (200, -32602)),
        (Code::Forbidden, (200, -31403), (200, -31403)),
        (Code::Timeout, (200, -31408), (200, -31408)),
        (Code::RateLimited, (429, -31429), (429, -31429)),
        (Code::Unavailable, (503, -31503), (503, -31503)),
        (Code::SourceDown, (200, -31503), (200, -31503)),
        (Code::SourceFailed, (200, -31503), (200, -31503)),
        (Code::Storage, (200, -32603), (200, -32603)),
        (Code::Internal, (200, -32603), (200, -32603)),
        (Code::Source(-1), (200, -1), (200, -1)),
        (Code::Source(1234), (200, 1234), (200, 1234)),
    ] {
        let responses = call_failing_tool(code).await;
        for ((status, message), expected) in responses.into_iter().zip([modern, legacy]) {
            let number = message["error"]["code"].as_i64().unwrap();
            assert_eq!((status, number), expected, "{code:?}");
            assert!(!message.to_string().contains("secret"), "{message}");
            let data = &message["error"]["data"];
            assert!(
                data["kind"].is_string() && data["correlationId"].is_string(),
                "{message}"
            );
        }
    }
}

/// These codes are reserved or have another meaning in the modern era.
#[tokio::test]
async fn reserved_codes_of_sources_are_translated_for_modern_clients() {
    for number in [-32002, -32042, -32000, -32019, -32023, -32099] {
        let [(_, modern), (_, legacy)] = call_failing_tool(Code::Source(number)).await;
        let code = modern["error"]["code"].as_i64().unwrap();
        let defined = [
            -32700, -32600, -32601, -32602, -32603, -32020, -32021, -32022,
        ];
        let is_own_code = !(-32768..=-32000).contains(&code);
        assert!(
            is_own_code || defined.contains(&code),
            "a modern client gets {code}"
        );
        assert_eq!(
            legacy["error"]["code"], number,
            "a legacy client gets the code unchanged"
        );
    }
}

/// S0.27, X3: every error says which status describes it, and has that status if the configuration
/// says so.
#[tokio::test]
async fn errors_have_their_mapped_status_in_their_data_or_as_their_status() {
    for (code, mapped) in [
        (Code::InvalidParams, 400),
        (Code::MalformedUri, 400),
        (Code::MethodNotFound, 404),
        (Code::ResourceNotFound, 404),
        (Code::UnknownTarget, 404),
        (Code::Forbidden, 403),
        (Code::SourceFailed, 500),
        (Code::Storage, 500),
        (Code::Internal, 500),
        (Code::Source(-32603), 500),
        (Code::Source(1234), 500),
        (Code::Source(-32602), 400),
        (Code::Source(-32601), 404),
        (Code::SourceDown, 503),
        (Code::Timeout, 504),
        (Code::RateLimited, 429),
    ] {
        for (_, message) in call_failing_tool(code).await {
            assert_eq!(message["error"]["data"]["httpStatus"], mapped, "{code:?}");
        }
        for (status, message) in call_failing_tool_with(ErrorStatus::Mapped, code).await {
            assert_eq!(status, mapped, "{code:?}");
            assert_eq!(message["error"]["data"]["httpStatus"], mapped, "{code:?}");
        }
    }
}
