//! Lists over time: pages of a list that changes, entries that are left out, and how often servers are
//! asked for them.

mod missing;
mod pages;
mod refreshes;
