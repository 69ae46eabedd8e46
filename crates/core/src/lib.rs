//! The core of the gateway: requests, sources, layers, catalogs, and the gateway that connects them.
//!
//! A [`Request`] is lifted from a client's message. [`Gateway::handle`] resolves it into a
//! [`Call`] to one [`Source`], runs it through the [`Layer`]s and returns a [`Reply`].
//!
//! The core does no I/O. It must not know sockets, SQL, HTTP, sessions or protocol revisions. It has
//! the shape of the modern era, in which each request is complete in itself. Of a client it sees its
//! [`Era`], and of a session an opaque [`AffinityKey`].

mod call;
mod caller;
mod catalog;
mod changes;
mod client;
mod correlation;
mod era;
mod error;
pub mod extensions;
mod gateway;
mod health;
mod index;
mod json;
mod layer;
mod layered_source;
mod log_messages;
mod metric;
mod names;
mod operation;
mod percent;
mod question;
mod reply;
mod request;
mod seal;
mod source;
mod source_id;
mod stats;
mod step;
mod uri;
mod uri_template;

pub use call::Call;
pub use caller::{Caller, Credential, Identify, Principal};
pub use catalog::{CacheScope, Catalog, CatalogEntry, CatalogGap, Features, List, ListDefect};
pub use changes::{
    Change, ChangeEvent, ChangeFilter, ChangeNotice, ChangeSender, ChangeStream, ExtensionMembers,
    ExtensionNotification, Recipients, covering_uris,
};
pub use client::{AffinityKey, ClientContext, LoggingLevel, UnknownLoggingLevel, Viewer};
pub use correlation::CorrelationId;
pub use era::Era;
pub use error::{Code, Error, ErrorOrigin, Result, truncate_for_message};
pub use gateway::{
    EndpointConfig, EndpointConfigs, Exposure, Gateway, GatewayConfig, GatewayHandle,
    NameConflictCheck,
};
pub use health::{ComponentHealth, GaugeValue, Health, HealthCheck};
pub use index::{Element, ElementFacts, Keyword, SearchFilter, SearchHit, SearchIndex};
pub use json::{Object, RawJson, bounded_list, canonical_json, list_length};
pub use layer::{Layer, Next};
pub use layered_source::LayeredSource;
pub use log_messages::{LogMessage, LogRecipient, LogSender, LogStream};
pub use metric::{Metric, MetricKind};
pub use names::Naming;
pub use operation::{GatewayOperation, Operation, Reference, SkillOperation, TaskOperation};
pub use percent::{
    percent_decode, percent_decode_utf8, percent_encode, percent_encode_bytes,
    percent_encode_reserved,
};
pub use question::{Declined, PendingAnswer, Question, QuestionKind, Withdrawal};
pub use reply::{CacheHint, Event, EventStream, Outcome, Reply, on_end, unfold_events};
pub use request::{Precondition, Request, Scope};
pub use seal::{Seal, TokenPurpose, UnsealError, random_bytes, sha256};
pub use source::{ExtensionSubscription, ResourceSubscription, Source, TaskUpdates};
pub use source_id::{InvalidSourceId, SourceId};
pub use stats::CallStats;
pub use step::Step;
pub use uri_template::{InvalidTemplate, MissingVariable, TemplateValues, UriTemplate};

/// The boxed future that object-safe async functions return.
pub use futures_util::future::BoxFuture;
