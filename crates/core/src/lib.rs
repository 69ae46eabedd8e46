//! The core of the gateway: what is asked, who asks, what answers.
//!
//! Read in this order: [`Request`] is lifted from a client's message, [`Gateway::handle`] resolves
//! it into a [`Call`] at one [`Source`], takes it through the [`Layer`]s and returns a [`Reply`].
//!
//! The core does no I/O. It knows no sockets, no SQL, no HTTP, no sessions and no protocol
//! revisions; it is shaped like the stateless protocol, where each request says all there is to know.

mod call;
mod caller;
mod catalog;
mod changes;
mod correlation;
mod error;
mod figure;
mod gateway;
mod health;
mod index;
mod json;
mod layer;
mod layered;
mod percent;
mod question;
mod reply;
mod request;
mod seal;
mod source;
mod stats;
mod step;
mod template;

pub use call::Call;
pub use caller::{Caller, Credential, Identify, Principal};
pub use catalog::{CacheScope, Catalog, Entry, Features, Flaw, Gap};
pub use changes::{Change, ChangeSender, ChangeStream, Hearers, News, Telling, covering};
pub use correlation::CorrelationId;
pub use error::{Code, Error, Result, Side, clip};
pub use figure::{Figure, FigureKind};
pub use gateway::{
    Endpoint, Endpoints, Exposure, Findings, Gateway, GatewayConfig, Lookout, Naming,
};
pub use health::{Health, Probe, Report, Vital};
pub use index::{Element, Facts, Hit, Index, Keyword, Wanted};
pub use json::{Object, RawJson, bounded_list, canonical, list_length};
pub use layer::{Layer, Next};
pub use layered::Layered;
pub use percent::{percent_decoded, percent_triplet};
pub use question::{Declined, PendingAnswer, Question, QuestionKind, Withdrawal};
pub use reply::{CacheHint, Event, EventStream, Outcome, Reply};
pub use request::{
    Ask, Filter, List, LogLevel, Own, Precondition, Reference, Request, Scope, TaskAsk, Terms,
};
pub use seal::{Purpose, Seal, Unsealed, fingerprint, random_bytes};
pub use source::{Audience, Followed, Source, SourceId, Watch};
pub use stats::Stats;
pub use step::Step;
pub use template::Template;

/// The boxed future that object-safe async functions return.
pub use futures_util::future::BoxFuture;
