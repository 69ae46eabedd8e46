//! `tidegate schema`: the JSON Schema of the configuration file.

use std::io::{self, Write};

use crate::config;

/// Prints the schema.
pub fn run(out: &mut dyn Write) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut *out, &config::schema())?;
    writeln!(out)
}
