//! Merged catalogs and their indexes that are kept: one for each endpoint and kind of viewer, and a
//! few that were.

use std::sync::{Arc, OnceLock, Weak};
use std::time::{Duration, Instant};

use parking_lot::{Mutex, MutexGuard};

use super::view::View;
use crate::index::{SearchIndex, Segment};
use crate::{Catalog, Scope};

const MOST: usize = 32;

/// What nobody asks for any more is of lists that are gone.
const UNUSED: Duration = Duration::from_secs(60);

#[derive(Default)]
pub(super) struct Views {
    kept: Mutex<Vec<Kept>>,
    /// What catalogs that are in use have been indexed to.
    segments: Mutex<Vec<Weak<Segment>>>,
}

struct Kept {
    scope: Scope,
    view: Arc<View>,
    /// Made when somebody searches.
    index: Arc<OnceLock<Arc<SearchIndex>>>,
    used: Instant,
}

type Snapshots = Vec<(usize, Arc<Catalog>)>;

impl Views {
    pub(super) fn get(
        &self,
        scope: &Scope,
        snapshots: &Snapshots,
        make: impl FnOnce(Snapshots) -> View,
    ) -> Arc<View> {
        if let Some(view) = find(&mut self.lock(), scope, snapshots) {
            return view;
        }
        // Made without the lock: it may take a while, and others go on.
        let view = Arc::new(make(snapshots.clone()));
        let mut all = self.lock();
        // Others may have made the same meanwhile. There is one: what is made of it is kept by it.
        if let Some(view) = find(&mut all, scope, snapshots) {
            return view;
        }
        all.retain(|kept| kept.used.elapsed() < UNUSED);
        if all.len() == MOST {
            all.remove(0);
        }
        all.push(Kept {
            scope: scope.clone(),
            view: Arc::clone(&view),
            index: Arc::default(),
            used: Instant::now(),
        });
        view
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Kept>> {
        self.kept.lock()
    }

    /// The index over a view. Of each source only what has changed is read again.
    pub(super) fn index(&self, view: &Arc<View>) -> Arc<SearchIndex> {
        let all = self.lock();
        let kept = all.iter().find(|kept| Arc::ptr_eq(&kept.view, view));
        let slot = kept.map(|kept| Arc::clone(&kept.index)).unwrap_or_default();
        drop(all);
        let index = slot.get_or_init(|| {
            let parts = view.parts().iter();
            let segments = parts.map(|part| self.segment(&part.catalog)).collect();
            Arc::new(SearchIndex::new(Arc::clone(view), segments))
        });
        Arc::clone(index)
    }

    fn segment(&self, catalog: &Arc<Catalog>) -> Arc<Segment> {
        let known = {
            let mut all = self.segments.lock();
            all.retain(|segment| segment.strong_count() > 0);
            let mut alive = all.iter().filter_map(Weak::upgrade);
            alive.find(|segment| segment.is_of(catalog))
        };
        known.unwrap_or_else(|| {
            let segment = Arc::new(Segment::new(catalog));
            let mut all = self.segments.lock();
            all.push(Arc::downgrade(&segment));
            segment
        })
    }
}

/// One that was made before. It stays for as long as it is used.
fn find(all: &mut Vec<Kept>, scope: &Scope, snapshots: &Snapshots) -> Option<Arc<View>> {
    let same = |kept: &Kept| kept.scope == *scope && kept.view.is_made_of(snapshots);
    let at = all.iter().position(same)?;
    let mut kept = all.remove(at);
    kept.used = Instant::now();
    let view = Arc::clone(&kept.view);
    all.push(kept);
    Some(view)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gateway::{Gateway, GatewayConfig};

    /// Two who look at once see the same, so that what is made of it is made once.
    #[test]
    fn of_two_that_are_made_at_once_one_stays() {
        let gateway = Gateway::new(GatewayConfig::default(), Vec::new(), Vec::new());
        let (views, scope) = (Views::default(), Scope::All);
        let make = |snapshots| View::new(&gateway.shared, &scope, snapshots);
        let mut meanwhile = None;
        let view = views.get(&scope, &Vec::new(), |snapshots| {
            meanwhile = Some(views.get(&scope, &Vec::new(), make));
            make(snapshots)
        });
        for seen in [meanwhile.unwrap(), views.get(&scope, &Vec::new(), make)] {
            assert!(Arc::ptr_eq(&view, &seen));
        }
        assert_eq!(views.lock().len(), 1);
    }
}
