//! The source ids of the servers in `mcpServers`, whose names may contain anything.

use std::collections::HashSet;

use tidegate_core::SourceId;

use super::sources::RESERVED_IDS;

const MAX_ID_CHARS: usize = 32;

/// Assigns an id to each server.
pub(super) struct ServerIds {
    taken: HashSet<String>,
}

impl ServerIds {
    /// `names` are those of all servers: a name that is a valid id is not given to another server.
    pub(super) fn new<'a>(
        sources: impl Iterator<Item = &'a SourceId>,
        names: impl Iterator<Item = &'a str>,
    ) -> Self {
        let sources = sources.map(SourceId::as_str);
        let taken = sources.chain(names.filter(|name| is_usable(name)));
        Self {
            taken: taken.map(str::to_owned).collect(),
        }
    }

    /// The id of a server: its name if that is a valid id, otherwise one derived from it.
    pub(super) fn assign(&mut self, name: &str) -> String {
        if is_usable(name) {
            return name.to_owned();
        }
        let derived = derive_id(name);
        let id = match is_usable(&derived) && !self.taken.contains(&derived) {
            true => derived,
            false => with_hash(&derived, name),
        };
        self.taken.insert(id.clone());
        id
    }
}

fn is_usable(id: &str) -> bool {
    id.parse::<SourceId>().is_ok() && !RESERVED_IDS.contains(&id)
}

/// The name in lower case, with `-` for runs of characters that an id cannot have. Something is added
/// where that does not make an id: a word before a digit, a hash to a name that is too long.
fn derive_id(name: &str) -> String {
    let is_valid = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    let name_lowercase = name.to_ascii_lowercase();
    let parts = name_lowercase.split(|c| !is_valid(c));
    let parts: Vec<_> = parts.filter(|part| !part.is_empty()).collect();
    let id = parts.join("-");
    if id.is_empty() {
        return with_hash("server", name);
    }
    let id = match id.starts_with(|c: char| c.is_ascii_digit()) || RESERVED_IDS.contains(&&*id) {
        true => format!("server-{id}"),
        false => id,
    };
    match id.len() > MAX_ID_CHARS {
        true => with_hash(&id, name),
        false => id,
    }
}

/// The beginning of the id with a hash of the name.
fn with_hash(id: &str, name: &str) -> String {
    // FNV-1a: the same on every machine and in every version.
    let hash = name.bytes().fold(0x811c_9dc5_u32, |hash, byte| {
        (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193)
    });
    let hash = format!("{hash:08x}");
    let start = &id[..id.len().min(MAX_ID_CHARS - hash.len() - 1)];
    format!("{}-{hash}", start.trim_end_matches('-'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_gets_a_distinct_valid_id() {
        let names = [
            "github",
            "GitHub",
            "My Server",
            "@modelcontextprotocol/server-git",
            "com.example.files",
            "7zip",
            "系统",
            "数据",
            "System",
            "a-server-with-a-name-that-is-longer-than-an-id",
            "a-server-with-a-name-that-is-longer-than-others",
            "",
        ];
        let mut ids = ServerIds::new(std::iter::empty(), names.into_iter());
        let assigned = names.map(|name| ids.assign(name));
        for id in &assigned {
            assert!(is_usable(id), "{id}");
        }
        assert_eq!(
            assigned.iter().collect::<HashSet<_>>().len(),
            names.len(),
            "{assigned:?}"
        );
        assert_eq!(assigned[0], "github");
        assert!(assigned[1].starts_with("github-"), "{}", assigned[1]);
        assert_eq!(
            assigned[2..6],
            [
                "my-server",
                "modelcontextprotocol-server-git",
                "com-example-files",
                "server-7zip",
            ]
        );
        assert!(assigned[6].starts_with("server-"), "{}", assigned[6]);
        assert_eq!(assigned[8], "server-system");
        assert!(
            assigned[9].starts_with("a-server-with-a-name-th-"),
            "{}",
            assigned[9]
        );
    }
}
