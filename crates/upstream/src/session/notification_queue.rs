//! What a server says has changed, until it is looked at: each thing once, however often it is said.
//!
//! Must not know: what is done about it.

use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;

use parking_lot::{Mutex, MutexGuard};
use tidegate_core::{Change, ChangeEvent};
use tokio::sync::mpsc;

/// Resources that may wait to be looked at. With more, all that is watched may have changed.
const MOST_UPDATES: usize = 1024;

/// Errands of users that may wait to be looked at.
const MOST_ERRANDS: usize = 256;

/// Somewhere to say what changed, and somewhere to hear it until nobody can say more.
pub(crate) fn mailbox() -> (NewsSender, NewsReceiver) {
    let (bell, rung) = mpsc::channel(1);
    let waiting = Arc::<Mutex<Waiting>>::default();
    let sender = NewsSender {
        waiting: Arc::clone(&waiting),
        bell,
    };
    (sender, NewsReceiver { waiting, rung })
}

#[derive(Default)]
struct Waiting {
    /// Tools, prompts, resources.
    lists: [bool; 3],
    updated: BTreeSet<Arc<str>>,
    /// What users were sent to do elsewhere and have done.
    elicited: VecDeque<Arc<str>>,
    /// More was said than could wait.
    gap: bool,
}

/// Where changes are said.
#[derive(Clone)]
pub(crate) struct NewsSender {
    waiting: Arc<Mutex<Waiting>>,
    bell: mpsc::Sender<()>,
}

impl NewsSender {
    /// Something may have been said that was not heard: anything may have changed.
    pub(crate) fn missed(&self) {
        lock(&self.waiting).is_incomplete();
        self.bell.try_send(()).ok();
    }

    pub(crate) fn say(&self, change: Change) {
        lock(&self.waiting).add(change);
        // A bell that rings already is heard.
        self.bell.try_send(()).ok();
    }
}

impl Waiting {
    fn is_incomplete(&mut self) {
        self.lists = [true; 3];
        self.gap = true;
    }

    fn add(&mut self, change: Change) {
        match change {
            Change::Tools => self.lists[0] = true,
            Change::Prompts => self.lists[1] = true,
            Change::Resources => self.lists[2] = true,
            Change::ResourceUpdated(uri) if self.updated.len() < MOST_UPDATES => {
                self.updated.insert(uri);
            }
            Change::ResourceUpdated(uri) => self.gap |= !self.updated.contains(&uri),
            Change::ElicitationComplete(id) => {
                if self.elicited.len() == MOST_ERRANDS {
                    self.elicited.pop_front();
                }
                self.elicited.push_back(id);
            }
        }
    }

    fn take(&mut self) -> Option<ChangeEvent> {
        if std::mem::take(&mut self.gap) {
            self.updated.clear();
            return Some(ChangeEvent::Missed);
        }
        let updated = self.updated.pop_first().map(Change::ResourceUpdated);
        let elicited = || self.elicited.pop_front().map(Change::ElicitationComplete);
        let change = updated.or_else(elicited).or_else(|| {
            let told = self.lists.iter_mut().position(std::mem::take)?;
            Some([Change::Tools, Change::Prompts, Change::Resources][told].clone())
        });
        change.map(ChangeEvent::Change)
    }
}

/// Where changes are heard.
pub(crate) struct NewsReceiver {
    waiting: Arc<Mutex<Waiting>>,
    rung: mpsc::Receiver<()>,
}

impl NewsReceiver {
    /// The next news; none when nobody can say more.
    pub(crate) async fn next(&mut self) -> Option<ChangeEvent> {
        loop {
            if let Some(news) = lock(&self.waiting).take() {
                return Some(news);
            }
            self.rung.recv().await?;
        }
    }
}

fn lock(waiting: &Mutex<Waiting>) -> MutexGuard<'_, Waiting> {
    waiting.lock()
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;

    use super::*;

    fn updated(uri: &str) -> Change {
        Change::ResourceUpdated(uri.into())
    }

    #[tokio::test]
    async fn what_is_said_again_and_again_is_heard_once() {
        let (sender, mut receiver) = mailbox();
        for _ in 0..10_000 {
            sender.say(Change::Tools);
            sender.say(updated("a"));
        }
        let heard = [receiver.next().await, receiver.next().await];
        assert_eq!(heard[0], Some(ChangeEvent::Change(updated("a"))));
        assert_eq!(heard[1], Some(ChangeEvent::Change(Change::Tools)));
        assert_eq!(receiver.next().now_or_never(), None);
        sender.say(Change::Tools);
        assert_eq!(
            receiver.next().await,
            Some(ChangeEvent::Change(Change::Tools))
        );
        drop(sender);
        assert_eq!(receiver.next().await, None);
    }

    #[tokio::test]
    async fn what_does_not_fit_is_not_missed_silently() {
        let (sender, mut receiver) = mailbox();
        for number in 0..=MOST_UPDATES {
            sender.say(updated(&number.to_string()));
        }
        assert_eq!(receiver.next().await, Some(ChangeEvent::Missed));
        assert_eq!(receiver.next().now_or_never(), None);
    }
}
