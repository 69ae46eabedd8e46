//! Fetches whole lists of tools, prompts, resources and templates.

use serde_json::value::RawValue;
use tidegate_core::{Error, GatewayOperation, List, Operation, RawJson, Scope};
use tidegate_mcp::revision::Method;

use super::connection::GatewayConnection;

/// Every entry of a list, from all its pages.
pub(super) async fn entries(
    connection: &GatewayConnection,
    list: List,
) -> Result<Vec<RawJson>, Error> {
    entries_of(connection, connection.scope().clone(), list).await
}

/// Every entry of a list of a scope.
pub(super) async fn entries_of(
    connection: &GatewayConnection,
    scope: Scope,
    list: List,
) -> Result<Vec<RawJson>, Error> {
    let (mut entries, mut cursor) = (Vec::new(), None);
    loop {
        let operation = Operation::Gateway(GatewayOperation::List { list, cursor });
        let params = RawJson::empty_object();
        let page = connection
            .request_in(scope.clone(), list_method(list), operation, params)
            .await?;
        let members = page.object().unwrap_or_default();
        let text = members.get(list.member()).unwrap_or("[]");
        let page_entries: Vec<&RawValue> = serde_json::from_str(text)
            .map_err(|error| Error::internal("the list is not valid JSON").with_cause(error))?;
        entries.extend(page_entries.iter().map(|raw| RawJson::copy_of(raw.get())));
        cursor = members.string("nextCursor");
        if cursor.is_none() {
            return Ok(entries);
        }
    }
}

fn list_method(list: List) -> Method {
    match list {
        List::Tools => Method::ToolsList,
        List::Prompts => Method::PromptsList,
        List::Resources => Method::ResourcesList,
        List::Templates => Method::TemplatesList,
    }
}

/// The name or URI that identifies an entry.
pub(super) fn entry_key(list: List, entry: &RawJson) -> Option<String> {
    let member = match list {
        List::Tools | List::Prompts => "name",
        List::Resources => "uri",
        List::Templates => "uriTemplate",
    };
    entry.object()?.string(member)
}

/// The name of a list on the command line.
pub(super) fn list_name(list: List) -> &'static str {
    match list {
        List::Tools => "tools",
        List::Prompts => "prompts",
        List::Resources => "resources",
        List::Templates => "templates",
    }
}
