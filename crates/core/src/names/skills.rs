//! The folders of skills: what is below the folder of a listed `SKILL.md` belongs to the same source.

use super::NameMap;
use crate::List;

const SKILL_FILE: &str = "/SKILL.md";

impl NameMap {
    /// The source of the skill whose folder is this URI, or contains it.
    pub(super) fn by_skill(&self, uri: &str) -> Option<usize> {
        let mut folder = uri;
        loop {
            let file = format!("{folder}{SKILL_FILE}");
            if let Some(listed) = self.entry_named(List::Resources, &file) {
                let catalog = &self.sources[listed.source()].catalog;
                let native = &catalog.resources[listed.position as usize].key;
                return (*native == file).then(|| listed.source());
            }
            folder = folder.rsplit_once('/')?.0;
        }
    }

    /// What is put in front of the URIs of a skill, so that all of them lead to its source; `None` if
    /// they lead there as they are. The URIs of one skill stay below one folder.
    pub(crate) fn skill_prefix<'a>(
        &self,
        source: usize,
        skill: &'a str,
        files: impl Iterator<Item = &'a str>,
    ) -> Option<String> {
        let folder = skill.strip_suffix(SKILL_FILE);
        let uris = [skill].into_iter().chain(folder).chain(files);
        let id = &self.sources[source].id;
        let mut uris = uris.filter(|_| self.is_merged());
        let leads_elsewhere = uris.any(|uri| self.client_uri(source, uri).is_some());
        leads_elsewhere.then(|| super::qualified_uri(id, ""))
    }
}
