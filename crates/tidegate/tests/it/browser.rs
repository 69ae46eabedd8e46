//! A real Chromium: a server that drives one for its clients, and a host that shows apps in one.

mod apps;
mod playwright;
