//! Recent views, and the index segments of the catalogs in them.

use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use parking_lot::Mutex;

use super::view::{View, ViewKey};
use crate::Catalog;
use crate::index::{SearchIndex, Segment};

const MAX_VIEWS: usize = 32;

/// Views unused for this long are evicted.
const UNUSED_VIEW_LIFETIME: Duration = Duration::from_secs(60);

#[derive(Default)]
pub(super) struct ViewCache {
    /// Least recently used first.
    views: Mutex<Vec<CachedView>>,
    /// The segments of catalogs that are in use.
    segments: Mutex<Vec<Weak<Segment>>>,
}

struct CachedView {
    key: ViewKey,
    view: Arc<View>,
    used: Instant,
}

impl ViewCache {
    pub(super) fn get_or_build(
        &self,
        key: &ViewKey,
        catalogs: &[Arc<Catalog>],
        build: impl FnOnce() -> View,
    ) -> Arc<View> {
        if let Some(view) = find(&mut self.views.lock(), key, catalogs) {
            return view;
        }
        // Built without the lock: it may take a while.
        let view = Arc::new(build());
        let mut views = self.views.lock();
        // Another call may have built the same view meanwhile. Keep that one, with its index.
        if let Some(view) = find(&mut views, key, catalogs) {
            return view;
        }
        views.retain(|cached| cached.used.elapsed() < UNUSED_VIEW_LIFETIME);
        if views.len() == MAX_VIEWS {
            views.remove(0);
        }
        views.push(CachedView {
            key: key.clone(),
            view: Arc::clone(&view),
            used: Instant::now(),
        });
        view
    }

    /// The index over a view. Catalogs that have a segment already are not indexed again.
    pub(super) fn index(&self, view: &View) -> Arc<SearchIndex> {
        let index = view.index.get_or_init(|| {
            let sources = view.names.sources().iter();
            let segments = sources.map(|source| self.segment(&source.catalog));
            Arc::new(SearchIndex::new(
                Arc::clone(&view.names),
                segments.collect(),
            ))
        });
        Arc::clone(index)
    }

    fn segment(&self, catalog: &Arc<Catalog>) -> Arc<Segment> {
        let known = {
            let mut segments = self.segments.lock();
            segments.retain(|segment| segment.strong_count() > 0);
            let mut in_use = segments.iter().filter_map(Weak::upgrade);
            in_use.find(|segment| segment.is_of(catalog))
        };
        known.unwrap_or_else(|| {
            let segment = Arc::new(Segment::new(catalog));
            self.segments.lock().push(Arc::downgrade(&segment));
            segment
        })
    }
}

/// A view of these catalogs, which becomes the most recently used.
fn find(
    views: &mut Vec<CachedView>,
    key: &ViewKey,
    catalogs: &[Arc<Catalog>],
) -> Option<Arc<View>> {
    let is_same = |cached: &CachedView| cached.key == *key && cached.view.is_made_of(catalogs);
    let index = views.iter().position(is_same)?;
    let mut cached = views.remove(index);
    cached.used = Instant::now();
    let view = Arc::clone(&cached.view);
    views.push(cached);
    Some(view)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Scope;
    use crate::gateway::GatewayConfig;

    #[test]
    fn of_two_views_built_at_once_one_stays() {
        let views = ViewCache::default();
        let key = ViewKey {
            scope: Scope::All,
            lists_app_tools: false,
        };
        let build = || View::new(&GatewayConfig::default(), &key, Vec::new(), &[]);
        let mut meanwhile = None;
        let view = views.get_or_build(&key, &[], || {
            meanwhile = Some(views.get_or_build(&key, &[], build));
            build()
        });
        for other in [meanwhile.unwrap(), views.get_or_build(&key, &[], build)] {
            assert!(Arc::ptr_eq(&view, &other));
        }
        assert_eq!(views.views.lock().len(), 1);
    }
}
