//! The gateway tools, for clients that support only tools: search everything, list and
//! read resources, get prompts, call unlisted tools.
//!
//! Each sends the corresponding request through the same layers. Must not know any source.

mod call_tool;
mod get_prompt;
mod list_resources;
mod read_resource;
mod relay;
mod search;

use std::sync::Arc;

use tidegate_core::{BoxFuture, Call, Catalog, GatewayHandle, Reply, Result, Source, Viewer};

use crate::declarations::{Declarations, DeclaredSource, DeclaredTool, ToolEffect, ToolInfo};

/// The gateway tools as a source. The gateway lists them as its own.
pub struct GatewayTools {
    gateway: GatewayHandle,
    declared: DeclaredSource<GatewayHandle>,
}

impl GatewayTools {
    pub fn new(gateway: GatewayHandle) -> Self {
        let declarations = Declarations {
            tools: tools(),
            ..Declarations::default()
        };
        Self {
            gateway,
            declared: DeclaredSource::new(declarations),
        }
    }
}

impl Source for GatewayTools {
    fn catalog(&self, viewer: &Viewer<'_>) -> Arc<Catalog> {
        self.declared.catalog(viewer)
    }

    fn call(&self, call: Call) -> BoxFuture<'_, Result<Reply>> {
        Box::pin(async move { self.declared.call(&self.gateway, &call).await })
    }
}

fn tools() -> Vec<DeclaredTool<GatewayHandle>> {
    vec![
        DeclaredTool::with_text_output(
            ToolInfo {
                name: "search",
                title: "Search everything",
                description: "Searches tools, prompts, resources and templates by words, best \
                    matches first. Tools come with their input schema: call a tool by its name, or \
                    with `gateway__call_tool` if it is not in your list.",
                effect: ToolEffect::ReadOnly,
            },
            |gateway, call, arguments| Box::pin(search::search(gateway, call, arguments)),
        ),
        DeclaredTool::with_text_output(
            ToolInfo {
                name: "list_resources",
                title: "List resources",
                description: "Lists the resources and resource templates that \
                    `gateway__read_resource` can read.",
                effect: ToolEffect::ReadOnly,
            },
            |gateway, call, arguments| Box::pin(list_resources::list(gateway, call, arguments)),
        ),
        DeclaredTool::with_reply(
            ToolInfo {
                name: "read_resource",
                title: "Read a resource",
                description: "Reads a resource by its URI, or a template with its variables in \
                    `arguments`. Long text is returned in parts: continue with the `offset` named \
                    in the result.",
                effect: ToolEffect::ReadOnly,
            },
            |gateway, call, arguments| Box::pin(read_resource::read(gateway, call, arguments)),
        ),
        DeclaredTool::with_reply(
            ToolInfo {
                name: "get_prompt",
                title: "Get a prompt",
                description: "Returns the messages of a prompt with its arguments filled in.",
                effect: ToolEffect::ReadOnly,
            },
            |gateway, call, arguments| Box::pin(get_prompt::get(gateway, call, arguments)),
        ),
        DeclaredTool::with_reply(
            ToolInfo {
                name: "call_tool",
                title: "Call a tool",
                description: "Calls a tool that is not in your list, with the name and input schema \
                    that `gateway__search` returned. Its effects are those of that tool.",
                effect: ToolEffect::Unknown,
            },
            |gateway, call, arguments| Box::pin(call_tool::call(gateway, call, arguments)),
        ),
    ]
}
