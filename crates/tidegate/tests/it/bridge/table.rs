//! The table of clients in `docs/bridge.md`.

use std::fmt::Write as _;

use super::clients::CLIENTS;
use super::features::{FEATURES, Verdict};
use super::notes::{NOTES, Note};
use super::{PAGE, TESTS};

/// The outcome of a cell; no verdict if it failed.
pub(super) struct Outcome {
    pub(super) client: &'static str,
    pub(super) server: String,
    pub(super) feature: &'static str,
    pub(super) verdict: Option<Verdict>,
}

/// All cells, client by client.
pub(super) struct Table(pub(super) Vec<Outcome>);

impl Table {
    /// Panics if a cell failed or if the page differs.
    pub(super) fn check(&self) {
        let text = self.text();
        let failed: Vec<_> = self
            .0
            .iter()
            .filter(|outcome| outcome.verdict.is_none())
            .map(|cell| format!("{}, {}: {}", cell.client, cell.server, cell.feature))
            .collect();
        assert!(
            failed.is_empty(),
            "{} cells:\n{}\n{text}",
            failed.len(),
            failed.join("\n")
        );
        crate::generated_docs::check(PAGE, "clients", TESTS, &text);
    }

    fn text(&self) -> String {
        let mut text = String::new();
        let mut servers: Vec<_> = self.0.iter().map(|outcome| &outcome.server).collect();
        servers.dedup();
        servers.truncate(servers.len() / CLIENTS.len());
        for server in servers {
            self.write_server(server, &mut text);
        }
        for Note {
            letter,
            text: explanation,
        } in NOTES
        {
            write!(text, "\n- **{letter}** {explanation}").unwrap();
        }
        text + "\n"
    }

    fn write_server(&self, server: &str, text: &mut String) {
        write!(text, "\n### In front of {server}\n\n| |").unwrap();
        for client in CLIENTS {
            write!(text, " {} |", client.name).unwrap();
        }
        write!(text, "\n|---|{}\n", "---|".repeat(CLIENTS.len())).unwrap();
        for (feature, _) in FEATURES {
            write!(text, "| {feature} |").unwrap();
            for client in CLIENTS {
                let cell = self.0.iter().find(|cell| {
                    (cell.client, cell.server.as_str(), cell.feature)
                        == (client.name, server, feature)
                });
                write!(text, " {} |", cell_text(cell.and_then(|cell| cell.verdict))).unwrap();
            }
            text.push('\n');
        }
    }
}

fn cell_text(verdict: Option<Verdict>) -> String {
    match verdict {
        Some(Verdict::Works) => "yes".to_owned(),
        Some(Verdict::Changed(note)) => format!("yes ({})", note.letter),
        Some(Verdict::Unsupported(note)) => format!("– ({})", note.letter),
        None => "FAILED".to_owned(),
    }
}
