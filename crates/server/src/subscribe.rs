//! Subscribes a session to a resource: the request of the legacy era, as a change stream of the core.

use std::sync::Arc;

use futures_util::StreamExt;
use futures_util::stream;
use tidegate_core::{ChangeFilter, GatewayOperation, Operation, RawJson};
use tidegate_mcp::RequestId;
use tidegate_mcp::revision::Method;

use crate::Transports;
use crate::change_delivery::{Subscribed, deliver_updates};
use crate::dispatch::{Dispatched, empty_outcome, lowering_of};
use crate::error_response::record_rejection;
use crate::execution::single_message;
use crate::outgoing::Outgoing;
use crate::requester::Requester;
use crate::session::Session;

impl Transports {
    /// Starts a subscription of a session to a resource.
    pub(crate) fn subscribe(
        &self,
        requester: &Requester,
        session: &Arc<Session>,
        id: RequestId,
        uri: String,
    ) -> Dispatched {
        let (revision, method) = (session.revision, Method::Subscribe);
        let operation = Operation::Gateway(GatewayOperation::Listen(ChangeFilter::for_uri(&uri)));
        let params = RawJson::empty_object();
        let request = requester.request(method, operation, params, session.client());
        let lowering = lowering_of(revision, method, id.clone(), &request);
        // Added before the first await, so that an immediate unsubscribe ends it.
        let cancelled = match session.subscriptions.add(&uri, &session.ended) {
            Ok(Some(cancelled)) => cancelled,
            Ok(None) => return Dispatched::empty_result(revision, method, id),
            Err(error) => {
                record_rejection(&self.admission, request.correlation_id, &error);
                let messages = single_message(lowering.error(&error));
                return Dispatched::Call { id, messages };
            }
        };
        let (gateway, tasks) = (Arc::clone(&self.gateway), self.tasks.clone());
        let (admission, session) = (Arc::clone(&self.admission), Arc::clone(session));
        let correlation_id = request.correlation_id;
        let response = async move {
            let subscribed =
                deliver_updates(&gateway, &tasks, &session, request, &uri, cancelled).await;
            let error = match subscribed {
                Ok(Subscribed::Delivering) => return lowering.outcome(&empty_outcome()),
                Ok(Subscribed::Refused(error)) => {
                    record_rejection(&admission, correlation_id, &error);
                    error
                }
                Err(error) => error,
            };
            session.subscriptions.remove(&uri);
            lowering.error(&error)
        };
        Dispatched::Call {
            id,
            messages: stream::once(response).map(Outgoing::from).boxed(),
        }
    }
}
