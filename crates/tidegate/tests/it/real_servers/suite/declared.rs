//! Which lines of `parity.txt` occurred in a run of several servers.

use std::collections::BTreeMap;

use super::super::differences::Differences;

/// The lines that applied to a comparison, and whether they occurred in any.
#[derive(Default)]
pub(super) struct Declared {
    /// Lines that name the server, for each of these servers.
    named: BTreeMap<(&'static str, &'static str), bool>,
    /// Other lines.
    general: BTreeMap<&'static str, bool>,
}

impl Declared {
    pub(super) fn add(&mut self, source: &'static str, differences: &Differences) {
        for (line, names_server, has_occurred) in differences.lines() {
            let entry = match names_server {
                true => self.named.entry((line, source)).or_default(),
                false => self.general.entry(line).or_default(),
            };
            *entry |= has_occurred;
        }
    }

    /// The lines that did not occur; general ones only after a run of all servers.
    pub(super) fn unused(&self, with_general: bool) -> Vec<String> {
        let named = self
            .named
            .iter()
            .filter(|(_, has_occurred)| !**has_occurred);
        let named = named.map(|((line, source), _)| format!("{line} (for {source})"));
        let general = self
            .general
            .iter()
            .filter(|(_, has_occurred)| !**has_occurred);
        let general = general.map(|(line, _)| (*line).to_owned());
        named.chain(general.filter(|_| with_general)).collect()
    }
}
