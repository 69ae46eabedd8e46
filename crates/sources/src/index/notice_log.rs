//! When the gateway learned of changes. A change is detected when the index is next read, which may
//! be much later.

use std::collections::{HashMap, VecDeque};
use std::time::SystemTime;

use parking_lot::Mutex;
use tidegate_core::{Caller, Change, ChangeEvent, ChangeNotice, List, Recipients, SourceId};

/// When full, the oldest notices are dropped.
const MAX_NOTICES: usize = 4_096;

/// The recent change notices of all sources.
#[derive(Default)]
pub(super) struct NoticeLog(Mutex<VecDeque<LoggedNotice>>);

struct LoggedNotice {
    source: SourceId,
    recipients: Recipients,
    change: Change,
    at: SystemTime,
}

/// The time of the last notice about each change, for one caller.
pub(super) struct NoticeTimes(HashMap<(SourceId, Change), SystemTime>);

impl NoticeLog {
    pub(super) fn record(&self, source: SourceId, notice: ChangeNotice, at: SystemTime) {
        let ChangeEvent::Change(change) = notice.event else {
            return;
        };
        let mut notices = self.0.lock();
        if notices.len() == MAX_NOTICES {
            notices.pop_front();
        }
        notices.push_back(LoggedNotice {
            source,
            recipients: notice.recipients,
            change,
            at,
        });
    }

    /// The notices that this caller received since then.
    pub(super) fn times_for(&self, caller: &Caller, since: SystemTime) -> NoticeTimes {
        let notices = self.0.lock();
        let received = notices
            .iter()
            .filter(|notice| notice.at >= since && notice.recipients.includes(Some(caller)));
        let times = received
            .map(|notice| ((notice.source.clone(), notice.change.clone()), notice.at))
            .collect();
        NoticeTimes(times)
    }
}

impl NoticeTimes {
    /// When a change of this element was announced, by itself or through its list.
    pub(super) fn time_of(&self, source: &SourceId, list: List, name: &str) -> Option<SystemTime> {
        let time_of = |change| self.0.get(&(source.clone(), change)).copied();
        match list {
            List::Tools => time_of(Change::Tools),
            List::Prompts => time_of(Change::Prompts),
            List::Resources => {
                let qualifier = format!("gateway://{source}/");
                let native_uri = name.strip_prefix(&qualifier).unwrap_or(name);
                time_of(Change::ResourceUpdated(native_uri.into()))
                    .or_else(|| time_of(Change::Resources))
            }
            List::Templates => time_of(Change::Resources),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tidegate_core::Principal;

    use super::*;

    #[test]
    fn dates_a_change_by_its_last_notice() {
        let (log, start) = (NoticeLog::default(), SystemTime::UNIX_EPOCH);
        let at = |seconds| start + Duration::from_secs(seconds);
        let files: SourceId = "files".parse().unwrap();
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
            let notice = ChangeNotice { recipients, event };
            log.record(files.clone(), notice, at(seconds));
        }
        let times = log.times_for(&Caller::local(), start);
        let time_of = |name| times.time_of(&files, List::Resources, name);
        assert_eq!(time_of("file:///a"), Some(at(2)));
        assert_eq!(time_of("gateway://files/file:///a"), Some(at(2)));
        assert_eq!(time_of("file:///b"), Some(at(3)), "bob's notice is ignored");
        assert_eq!(times.time_of(&files, List::Tools, "a"), None);
        assert_eq!(times.time_of(&other, List::Resources, "file:///a"), None);
        let later = log.times_for(&Caller::local(), at(3));
        let time = later.time_of(&files, List::Resources, "file:///a");
        assert_eq!(time, Some(at(3)));
    }
}
