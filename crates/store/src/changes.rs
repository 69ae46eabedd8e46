//! What changed in the database, told to whoever wants to hear it, whichever process did it.
//!
//! Every write leaves a line in a log inside the database. `PRAGMA data_version` says cheaply
//! whether some process has written; only then the log is read on.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use sqlx::SqliteConnection;
use tokio::sync::broadcast;

use crate::open::Database;
use crate::{Kind, Result, Store};

/// How often other processes are looked after: while someone listens, and else.
const WHILE_HEARD: Duration = Duration::from_millis(250);
const UNHEARD: Duration = Duration::from_secs(2);

/// Lines that are read at once. One who is further behind is told that there is a gap.
const MOST_AT_ONCE: i64 = 500;

/// Lines that are kept for processes that are behind.
const KEPT: i64 = 10_000;
const PRUNED_AT_ONCE: i64 = 1_000;

/// Something that one principal has is not as it was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Changed {
    pub topic: String,
    pub source: String,
    pub principal: String,
    /// Which thing, by two names; none if there were too many to tell one by one.
    pub thing: Option<(String, String)>,
}

/// What a listener is told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Told {
    Changed(Changed),
    /// Some process has written something; told once, after the changes it made.
    Written,
    /// Changes may have been missed.
    Gap,
}

/// What one listener is told, from when it began.
pub struct Changes {
    receiver: broadcast::Receiver<Told>,
}

impl Changes {
    pub async fn next(&mut self) -> Told {
        match self.receiver.recv().await {
            Ok(told) => told,
            Err(broadcast::error::RecvError::Lagged(_)) => Told::Gap,
            // The store is gone: nothing will change any more.
            Err(broadcast::error::RecvError::Closed) => std::future::pending().await,
        }
    }
}

/// How many wait for changes of other processes.
#[derive(Debug, Default)]
pub(crate) struct Listeners(AtomicUsize);

/// Someone waits, until this is dropped.
pub struct Listening(Arc<Listeners>);

impl Drop for Listening {
    fn drop(&mut self) {
        self.0.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Store {
    /// What changes from now on, for as long as [`Store::run`] is polled.
    pub fn changes(&self) -> Changes {
        Changes {
            receiver: self.told.subscribe(),
        }
    }

    /// Someone wants to hear soon of what other processes do.
    pub fn listen(&self) -> Listening {
        self.listeners.0.fetch_add(1, Ordering::Relaxed);
        self.stirred.notify_one();
        Listening(Arc::clone(&self.listeners))
    }

    /// Waits until no change is missed any more, or it is known that there will be none soon.
    pub async fn followed(&self) {
        // An error means that the store is gone.
        self.followed
            .subscribe()
            .wait_for(|followed| *followed)
            .await
            .ok();
    }

    /// What this process has written: whoever listens hears of it at once.
    pub(crate) fn wrote<T>(&self, database: &Database, done: sqlx::Result<T>) -> Result<T> {
        self.stirred.notify_one();
        self.noted_write(database, done)
    }

    /// Opens the database, and tells what changes in it for as long as it is polled.
    pub async fn run(&self) {
        let (mut said, mut broken) = (None, false);
        loop {
            let Err(error) = self.follow(broken).await;
            broken = true;
            self.followed.send_replace(true);
            // Said again only when it is another. That it is gone is said when it is opened anew.
            let now = error.to_string();
            if said.as_ref() != Some(&now) && error.kind() != Kind::Gone {
                let cause = std::error::Error::source(&error).map(ToString::to_string);
                tracing::warn!(error = now, cause, "the database cannot be used");
                said = Some(now);
            }
            tokio::time::sleep(UNHEARD).await;
        }
    }

    /// After a break, what was missed is told as a gap: once, when nothing more is.
    async fn follow(&self, after_a_break: bool) -> Result<std::convert::Infallible> {
        let database = self.database().await?;
        let mut connection = self.noted(database.apart().await)?;
        let mut log = self.noted(Log::begin(&mut connection).await)?;
        self.followed.send_replace(true);
        if after_a_break {
            self.told.send(Told::Gap).ok();
            self.told.send(Told::Written).ok();
        }
        loop {
            let heard = self.listeners.0.load(Ordering::Relaxed) > 0;
            let pause = if heard { WHILE_HEARD } else { UNHEARD };
            // Each is a reason to look.
            tokio::select! {
                () = tokio::time::sleep(pause) => {}
                () = self.stirred.notified() => {}
                () = database.closing() => {}
            }
            database.in_place()?;
            for told in self.noted(log.read_on(&mut connection).await)? {
                // An error means that nobody listens.
                self.told.send(told).ok();
            }
            if log.read - log.pruned >= PRUNED_AT_ONCE {
                let forgotten = forget(&database, log.read - KEPT).await;
                self.noted_write(&database, forgotten)?;
                log.pruned = log.read;
            }
        }
    }
}

/// How far the log has been read.
struct Log {
    version: i64,
    read: i64,
    pruned: i64,
}

type Line = (i64, String, String, String, String, String);

impl Log {
    async fn begin(connection: &mut SqliteConnection) -> sqlx::Result<Self> {
        let version = version(connection).await?;
        let read = last(connection).await?;
        Ok(Self {
            version,
            read,
            pruned: read,
        })
    }

    async fn read_on(&mut self, connection: &mut SqliteConnection) -> sqlx::Result<Vec<Told>> {
        let version = version(connection).await?;
        if version == self.version {
            return Ok(Vec::new());
        }
        self.version = version;
        let lines: Vec<Line> = sqlx::query_as(
            "SELECT seq, topic, source, principal, place, item FROM changes \
             WHERE seq > $1 ORDER BY seq LIMIT $2",
        )
        .bind(self.read)
        .bind(MOST_AT_ONCE)
        .fetch_all(&mut *connection)
        .await?;
        let missed = lines.first().is_some_and(|line| line.0 != self.read + 1);
        let too_many = i64::try_from(lines.len()).unwrap_or(MOST_AT_ONCE) == MOST_AT_ONCE;
        if missed || too_many {
            self.read = last(connection).await?;
            return Ok(vec![Told::Gap, Told::Written]);
        }
        if let Some(line) = lines.last() {
            self.read = line.0;
        }
        let told = lines.into_iter().map(told);
        Ok(told.chain([Told::Written]).collect())
    }
}

fn told((_, topic, source, principal, place, item): Line) -> Told {
    let thing = (!place.is_empty()).then_some((place, item));
    Told::Changed(Changed {
        topic,
        source,
        principal,
        thing,
    })
}

/// Forgets the lines up to this one.
async fn forget(database: &Database, line: i64) -> sqlx::Result<()> {
    let mut transaction = database.write().await?;
    let old = sqlx::query("DELETE FROM changes WHERE seq <= $1").bind(line);
    old.execute(&mut *transaction).await?;
    transaction.commit().await
}

/// Another number whenever another connection has written.
async fn version(connection: &mut SqliteConnection) -> sqlx::Result<i64> {
    let asked = sqlx::query_as::<_, (i64,)>("PRAGMA data_version");
    asked.fetch_one(connection).await.map(|(version,)| version)
}

async fn last(connection: &mut SqliteConnection) -> sqlx::Result<i64> {
    let asked = sqlx::query_as::<_, (i64,)>("SELECT coalesce(max(seq), 0) FROM changes");
    asked.fetch_one(connection).await.map(|(seq,)| seq)
}
