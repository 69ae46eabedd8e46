//! The gateway's own tools, for clients that know tools alone: search everything, list and read
//! resources, get prompts, call tools that are not listed.
//!
//! Each does what the protocol's method does, through the same layers. Knows no source.

mod calling;
mod listing;
mod prompting;
mod reading;
mod relay;
mod searching;

use std::sync::Arc;

use tidegate_core::{BoxFuture, Call, Catalog, GatewayHandle, Reply, Result, Source, Viewer};

use crate::declare::{Declarations, Hint, Offer, Tool};

/// The tools, as a source that the gateway takes for its own.
pub struct BridgeTools {
    gateway_handle: GatewayHandle,
    offer: Offer<GatewayHandle>,
}

impl BridgeTools {
    pub fn new(gateway_handle: GatewayHandle) -> Self {
        let declared = Declarations {
            tools: tools(),
            ..Declarations::default()
        };
        Self {
            gateway_handle,
            offer: Offer::new(declared),
        }
    }
}

impl Source for BridgeTools {
    fn catalog(&self, viewer: &Viewer<'_>) -> Arc<Catalog> {
        self.offer.catalog(viewer)
    }

    fn call(&self, call: Call) -> BoxFuture<'_, Result<Reply>> {
        Box::pin(async move { self.offer.serve(&self.gateway_handle, &call).await })
    }
}

fn tools() -> Vec<Tool<GatewayHandle>> {
    vec![
        Tool::briefly(
            "search",
            "Search everything",
            "Finds tools, prompts, resources and templates by words, the best fit first. A tool \
             comes with its input schema: call it by its name, with `gateway__call_tool` if it is \
             not in your list.",
            Hint::Reads,
            |gateway_handle, asking, arguments| {
                Box::pin(searching::search(gateway_handle, asking, arguments))
            },
        ),
        Tool::briefly(
            "list_resources",
            "List resources",
            "Lists the resources and resource templates that can be read with \
             `gateway__read_resource`.",
            Hint::Reads,
            |gateway_handle, asking, arguments| {
                Box::pin(listing::list(gateway_handle, asking, arguments))
            },
        ),
        Tool::relaying(
            "read_resource",
            "Read a resource",
            "Reads a resource by its URI, or a template with its variables in `arguments`. Long \
             text comes in parts: go on with the `offset` that the answer names.",
            Hint::Reads,
            |gateway_handle, asking, arguments| {
                Box::pin(reading::read(gateway_handle, asking, arguments))
            },
        ),
        Tool::relaying(
            "get_prompt",
            "Get a prompt",
            "Gets a prompt by its name, with its arguments filled in.",
            Hint::Reads,
            |gateway_handle, asking, arguments| {
                Box::pin(prompting::get(gateway_handle, asking, arguments))
            },
        ),
        Tool::relaying(
            "call_tool",
            "Call a tool",
            "Calls a tool that is not in your list, by the name and the input schema that \
             `gateway__search` tells. What it does depends on that tool.",
            Hint::Acts,
            |gateway_handle, asking, arguments| {
                Box::pin(calling::call(gateway_handle, asking, arguments))
            },
        ),
    ]
}
