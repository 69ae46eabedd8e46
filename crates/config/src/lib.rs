//! The building blocks of configuration sections: units, secret references, ordered mappings, and
//! the checks that turn a section as written into a checked configuration.
//!
//! Each component defines its own [`Section`] next to its code. Must not know any component, nor
//! the file format: the reader handles positions in the file.

mod byte_size;
mod check;
mod duration;
mod environment;
mod file;
mod ordered_map;
mod scalar;
mod schema;
mod secret;
mod secret_text;

pub use byte_size::ByteSize;
pub use check::{Checker, FieldProblem, Location, Section};
pub use duration::HumanDuration;
pub use environment::Environment;
pub use file::read_limited;
pub use ordered_map::OrderedMap;
pub use scalar::Scalar;
pub use schema::{RangeBound, in_range, plain_enum};
pub use secret::{Secret, SecretReference};
pub use secret_text::{ResolvedText, SecretText};
