//! A snapshot of what a source offers. Definitions stay raw JSON; only their keys are parsed.

use crate::RawJson;

/// Everything that one source offers to one viewer at one moment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Catalog {
    pub features: Features,
    pub scope: CacheScope,
    /// The source's instructions for clients.
    pub instructions: Option<String>,
    /// What the source declares about itself: an object with its `capabilities`, and members that the
    /// gateway does not know. Built-in sources declare only features.
    pub declaration: Option<RawJson>,
    /// Why the whole catalog is unavailable, if it is.
    pub gap: Option<CatalogGap>,
    /// Whether the lists for this viewer are being loaded, and these are what is known until then.
    pub is_preliminary: bool,
    /// Lists that are incomplete, and why.
    pub defects: Vec<ListDefect>,
    /// Whether the source is part of the gateway, and not a server.
    pub is_built_in: bool,
    /// URIs that belong to this source alone, with everything below them. Only built-in sources have
    /// any.
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

    /// Why a list is incomplete, in one text.
    pub fn defects_in(&self, list: List) -> Option<String> {
        let defects = self.defects.iter().filter(|defect| defect.list == list);
        let reasons: Vec<_> = defects.map(|defect| defect.reason.as_str()).collect();
        (!reasons.is_empty()).then(|| reasons.join("; "))
    }

    /// The number of incomplete lists. A catalog that is not available at all counts as one.
    pub fn incomplete_lists(&self) -> u64 {
        let lists = List::ALL.into_iter();
        let incomplete = lists.filter(|list| self.defects_in(*list).is_some());
        u64::from(self.gap.is_some()) + u64::try_from(incomplete.count()).unwrap_or(u64::MAX)
    }

    pub fn has(&self, list: List, key: &str) -> bool {
        self.position(list, key).is_some()
    }

    pub(crate) fn position(&self, list: List, key: &str) -> Option<usize> {
        self.list(list).iter().position(|entry| entry.key == key)
    }
}

/// The four lists of the protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum List {
    Tools,
    Prompts,
    Resources,
    Templates,
}

impl List {
    pub const ALL: [Self; 4] = [Self::Tools, Self::Prompts, Self::Resources, Self::Templates];

    /// The member of a list result that holds the entries.
    pub fn member(self) -> &'static str {
        match self {
            Self::Tools => "tools",
            Self::Prompts => "prompts",
            Self::Resources => "resources",
            Self::Templates => "resourceTemplates",
        }
    }

    /// What one entry is called in messages.
    pub fn singular(self) -> &'static str {
        match self {
            Self::Tools => "tool",
            Self::Prompts => "prompt",
            Self::Resources => "resource",
            Self::Templates => "resource template",
        }
    }

    /// The member of a definition that holds its name or URI.
    pub(crate) fn key_member(self) -> &'static str {
        match self {
            Self::Tools | Self::Prompts => "name",
            Self::Resources => "uri",
            Self::Templates => "uriTemplate",
        }
    }
}

/// Why a catalog is not available.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CatalogGap {
    /// It is being loaded; a list request may wait for it.
    Loading,
    /// It could not be loaded, for this reason.
    Unavailable(String),
}

/// Why one list of a catalog is incomplete.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListDefect {
    pub list: List,
    pub reason: String,
}

/// One tool, prompt, resource or template.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CatalogEntry {
    /// The name, the URI, or the text of the template.
    pub key: String,
    /// The definition, an object, as the source wrote it.
    pub definition: RawJson,
}

/// The capabilities of a source.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Features {
    pub tools: bool,
    pub prompts: bool,
    pub resources: bool,
    pub subscribe: bool,
    pub completions: bool,
    pub logging: bool,
    /// Whether calls can become tasks.
    pub tasks: bool,
}

impl Features {
    /// Whether the source has entries of this kind.
    pub fn has(self, list: List) -> bool {
        match list {
            List::Tools => self.tools,
            List::Prompts => self.prompts,
            List::Resources | List::Templates => self.resources,
        }
    }

    /// The capabilities of the gateway itself, independent of its sources.
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

/// Who may reuse a cached result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CacheScope {
    /// Any caller.
    Public,
    /// Only the caller that the result was made for.
    #[default]
    Private,
}

impl CacheScope {
    /// The narrower of two scopes.
    #[must_use]
    pub fn combine(self, other: Self) -> Self {
        match (self, other) {
            (Self::Public, Self::Public) => Self::Public,
            _ => Self::Private,
        }
    }
}
