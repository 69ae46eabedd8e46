//! What a source offers, as a snapshot. Definitions stay raw; only their keys are known.

use crate::{List, RawJson};

/// Everything one source offers one caller at one moment.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Catalog {
    pub features: Features,
    pub scope: CacheScope,
    /// What the source tells clients about itself.
    pub instructions: Option<String>,
    /// Why this is not all there is, where it is not.
    pub gap: Option<CatalogGap>,
    /// Lists of it that are not whole, and why.
    pub defects: Vec<ListDefect>,
    /// URIs that are this source's alone, with all that lies below. Only built-in sources have such.
    pub owned: Vec<String>,
    pub tools: Vec<CatalogEntry>,
    pub prompts: Vec<CatalogEntry>,
    pub resources: Vec<CatalogEntry>,
    pub templates: Vec<CatalogEntry>,
}

impl Catalog {
    pub fn list(&self, list: List) -> &[CatalogEntry] {
        match list {
            List::Tools => &self.tools,
            List::Prompts => &self.prompts,
            List::Resources => &self.resources,
            List::Templates => &self.templates,
        }
    }

    pub fn list_mut(&mut self, list: List) -> &mut Vec<CatalogEntry> {
        match list {
            List::Tools => &mut self.tools,
            List::Prompts => &mut self.prompts,
            List::Resources => &mut self.resources,
            List::Templates => &mut self.templates,
        }
    }

    /// What a list of it lacks, in words.
    pub fn defects_in(&self, list: List) -> Option<String> {
        let defects = self.defects.iter().filter(|defect| defect.list == list);
        let defects: Vec<_> = defects.map(|defect| defect.reason.as_str()).collect();
        (!defects.is_empty()).then(|| defects.join("; "))
    }

    /// How many of its lists are not whole; all of a catalog that is not there is one.
    pub fn incomplete_lists(&self) -> u64 {
        let flawed = List::ALL
            .iter()
            .filter(|list| self.defects_in(**list).is_some());
        u64::from(self.gap.is_some()) + u64::try_from(flawed.count()).unwrap_or(u64::MAX)
    }

    pub fn has(&self, list: List, key: &str) -> bool {
        self.list(list).iter().any(|entry| entry.key == key)
    }
}

/// What keeps a catalog from being whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CatalogGap {
    /// It is on its way: whoever lists may wait for it.
    Loading,
    /// It is not there, for this reason.
    Unavailable(String),
}

/// What keeps one list of a catalog from being whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListDefect {
    pub list: List,
    pub reason: String,
}

/// One tool, prompt, resource or template.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CatalogEntry {
    /// The name, the URI, or the template's text.
    pub key: String,
    /// The definition, an object, as the source wrote it.
    pub definition: RawJson,
}

/// What a source says it can do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Features {
    pub tools: bool,
    pub prompts: bool,
    pub resources: bool,
    pub subscribe: bool,
    pub completions: bool,
    pub logging: bool,
    /// Whether a call may go on after its answer, under an id.
    pub tasks: bool,
}

impl Features {
    /// Whether a source has such.
    pub fn has(self, list: List) -> bool {
        match list {
            List::Tools => self.tools,
            List::Prompts => self.prompts,
            List::Resources | List::Templates => self.resources,
        }
    }

    /// What the gateway as a whole offers, whatever its sources do.
    pub const ALL: Self = Self {
        tools: true,
        prompts: true,
        resources: true,
        subscribe: true,
        completions: true,
        logging: true,
        tasks: false,
    };
}

impl std::ops::BitOr for Features {
    type Output = Self;

    /// What either can do.
    fn bitor(self, other: Self) -> Self {
        Self {
            tools: self.tools || other.tools,
            prompts: self.prompts || other.prompts,
            resources: self.resources || other.resources,
            subscribe: self.subscribe || other.subscribe,
            completions: self.completions || other.completions,
            logging: self.logging || other.logging,
            tasks: self.tasks || other.tasks,
        }
    }
}

/// Who may be given a kept copy of a result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CacheScope {
    /// Anybody.
    Public,
    /// The same caller alone.
    #[default]
    Private,
}

impl CacheScope {
    /// The scope of a result made from two.
    #[must_use]
    pub fn combine(self, other: Self) -> Self {
        match (self, other) {
            (Self::Public, Self::Public) => Self::Public,
            _ => Self::Private,
        }
    }
}
