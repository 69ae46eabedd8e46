//! The legacy handshake: opens a session.

use tidegate_core::{
    ClientContext, Code, Error, GatewayOperation, Operation, RawJson, Reply, Result,
};
use tidegate_mcp::revision::{Method, lift_legacy};
use tidegate_mcp::{Lifted, Message, OutgoingMessage, Revision};

use crate::Transports;
use crate::dispatch::lowering_of;
use crate::error_response::ErrorResponse;
use crate::requester::Requester;
use crate::session::Session;

impl Transports {
    /// Runs a legacy handshake as a discover request. There is no session if the gateway rejects it.
    pub(crate) async fn handshake(
        &self,
        requester: &Requester,
        message: Message,
    ) -> Result<(OutgoingMessage, Option<Session>), ErrorResponse> {
        let lifted = lift_legacy(message, Revision::NEWEST_LEGACY, ClientContext::default());
        let Lifted::Handshake { id, handshake } = lifted.map_err(ErrorResponse::legacy)? else {
            let message = "`initialize` must be a request";
            return Err(Error::client(Code::InvalidRequest, message).into());
        };
        let operation = Operation::Gateway(GatewayOperation::Discover);
        let client = ClientContext {
            capabilities: handshake.capabilities.clone(),
            client_info: handshake.client_info.clone(),
            ..ClientContext::default()
        };
        let method = Method::Initialize;
        let request = requester.request(method, operation, RawJson::empty_object(), client);
        let lowering = lowering_of(handshake.revision, method, id, &request);
        let response = match self.gateway.handle(request).await {
            Ok(Reply::Done(outcome)) => lowering.outcome(&outcome),
            Ok(Reply::Stream(_)) => lowering.error(&Error::internal("unexpected event stream")),
            Err(error) => lowering.error(&error),
        };
        let succeeded = matches!(response, OutgoingMessage::Response { code: None, .. });
        let session = succeeded.then(|| {
            let limits = &self.limits;
            Session::new(requester.clone(), handshake, limits, &self.aborted)
        });
        Ok((response, session))
    }
}
