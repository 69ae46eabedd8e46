//! How the gateway presents itself.

use std::sync::Arc;

use super::{EndpointConfigs, GatewayHandle};
use crate::{Naming, Seal, Source};

/// How the gateway presents itself.
#[derive(Clone)]
pub struct GatewayConfig {
    /// Entries on one page of a list.
    pub page_size: usize,
    /// How tools and prompts are named at the endpoint of all sources.
    pub naming: Naming,
    /// Instructions for clients, before the summary of the sources.
    pub instructions: String,
    pub endpoints: EndpointConfigs,
    /// Serves the gateway tools, at endpoints that list them.
    pub gateway_tools: Option<Arc<dyn Source>>,
    /// Connected to the gateway when it is created.
    pub gateway_handle: GatewayHandle,
    /// Seals cursors and task ids.
    pub seal: Arc<Seal>,
}

impl Default for GatewayConfig {
    fn default() -> Self {
        Self {
            page_size: 1_000,
            naming: Naming::default(),
            instructions: String::new(),
            endpoints: EndpointConfigs::default(),
            gateway_tools: None,
            gateway_handle: GatewayHandle::default(),
            seal: Arc::new(Seal::generate()),
        }
    }
}
