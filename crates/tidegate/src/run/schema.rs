//! `tidegate schema`: the JSON Schema of the configuration file.

use std::io::{self, Write};

use crate::cli::Exit;
use crate::config;

pub(super) fn run(out: &mut dyn Write) -> io::Result<Exit> {
    serde_json::to_writer_pretty(&mut *out, &config::schema())?;
    writeln!(out)?;
    Ok(Exit::Success)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prints_the_schema_as_json() {
        let mut out = Vec::new();
        run(&mut out).unwrap();
        let schema: serde_json::Value = serde_json::from_slice(&out).unwrap();
        assert_eq!(schema["additionalProperties"], false);
        assert_eq!(schema["properties"]["listen"]["default"], "127.0.0.1:8080");
    }
}
