//! When the gateway learned of changes. What has changed is found out by whoever reads next, which
//! may be much later.

use std::collections::{HashMap, VecDeque};
use std::time::SystemTime;

use parking_lot::Mutex;
use tidegate_core::{Caller, Change, ChangeEvent, ChangeNotice, List, Recipients, SourceId};

/// Of more, the oldest are forgotten.
const MOST: usize = 4_096;

/// What was told, and when.
#[derive(Default)]
pub(super) struct Times(Mutex<VecDeque<Note>>);

struct Note {
    source: SourceId,
    recipients: Recipients,
    change: Change,
    when: SystemTime,
}

/// What one caller may have heard, and when last.
pub(super) struct Heard(HashMap<(SourceId, Change), SystemTime>);

impl Times {
    pub(super) fn note(&self, source: SourceId, telling: ChangeNotice, when: SystemTime) {
        let ChangeEvent::Change(change) = telling.event else {
            return;
        };
        let mut notes = self.0.lock();
        if notes.len() == MOST {
            notes.pop_front();
        }
        notes.push_back(Note {
            source,
            recipients: telling.recipients,
            change,
            when,
        });
    }

    /// What this caller may have heard since then.
    pub(super) fn heard(&self, caller: &Caller, since: SystemTime) -> Heard {
        let notes = self.0.lock();
        let own = notes.iter();
        let own = own.filter(|note| note.when >= since && note.recipients.includes(Some(caller)));
        let key = |note: &Note| (note.source.clone(), note.change.clone());
        Heard(own.map(|note| (key(note), note.when)).collect())
    }
}

impl Heard {
    /// When it was told that this element is another: of itself, or of its list.
    pub(super) fn when(&self, source: &SourceId, list: List, name: &str) -> Option<SystemTime> {
        let told = |change| self.0.get(&(source.clone(), change)).copied();
        let native = || {
            let qualified = format!("gateway://{source}/");
            name.strip_prefix(&qualified).unwrap_or(name)
        };
        match list {
            List::Tools => told(Change::Tools),
            List::Prompts => told(Change::Prompts),
            List::Resources => {
                told(Change::ResourceUpdated(native().into())).or_else(|| told(Change::Resources))
            }
            List::Templates => told(Change::Resources),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tidegate_core::Principal;

    use super::*;

    #[test]
    fn a_change_is_as_old_as_what_was_told_of_it() {
        let (times, start) = (Times::default(), SystemTime::UNIX_EPOCH);
        let at = |seconds| start + Duration::from_secs(seconds);
        let shelf: SourceId = "shelf".parse().unwrap();
        let other: SourceId = "other".parse().unwrap();
        let updated = |uri: &str| Change::ResourceUpdated(uri.into());
        let to_bob = Recipients::Principal(Principal::new("bob"));
        for (seconds, recipients, change) in [
            (1, Recipients::Everyone, updated("file:///a")),
            (2, Recipients::Everyone, updated("file:///a")),
            (3, Recipients::Everyone, Change::Resources),
            (4, to_bob, updated("file:///b")),
        ] {
            let event = ChangeEvent::Change(change);
            times.note(
                shelf.clone(),
                ChangeNotice { recipients, event },
                at(seconds),
            );
        }
        let heard = times.heard(&Caller::local(), start);
        let when = |name| heard.when(&shelf, List::Resources, name);
        assert_eq!(when("file:///a"), Some(at(2)));
        assert_eq!(when("gateway://shelf/file:///a"), Some(at(2)));
        assert_eq!(when("file:///b"), Some(at(3)), "bob's is not ours");
        assert_eq!(heard.when(&shelf, List::Tools, "a"), None);
        assert_eq!(heard.when(&other, List::Resources, "file:///a"), None);
        let later = times.heard(&Caller::local(), at(3));
        assert_eq!(
            later.when(&shelf, List::Resources, "file:///a"),
            Some(at(3))
        );
    }
}
