//! The journal and the engine over it, as the commands use them.

use std::path::Path;
use std::time::Duration;

use surefill_core::{
    Alert, Alerts, Alias, Answer, ClOrdId, Cold, Engine, OrderRecord, RecoveryReport, Request,
    Store, StoreError, VenueTime,
};
use surefill_store_sqlite::{Inbox, SqliteReader, SqliteStore};

use crate::config::{Config, VenueConfig};
use crate::failure::{Exit, Failure};
use crate::stop::{GRACE, Stop};
use crate::venue;

/// How long a running engine may take to answer a request. It reads its inbox several times a second.
const ANSWER: Duration = Duration::from_secs(10);

/// How often the journal is looked at while something is waited for.
const LOOK: Duration = Duration::from_millis(50);

/// Opens the journal for reading, without its lock.
pub(crate) fn reader(config: &Config) -> Result<SqliteReader, Failure> {
    let file = &config.journal;
    if !file.exists() {
        let text = format!(
            "there is no journal {}: nothing was ever placed here",
            file.display()
        );
        return Err(Failure::new(Exit::Journal, text));
    }
    Ok(SqliteReader::open(file)?)
}

/// An engine of this process, with the journal that it holds.
#[derive(Debug)]
pub(crate) struct Running {
    pub(crate) engine: Engine,
    pub(crate) report: RecoveryReport,
}

impl Running {
    /// Lets go in order: what is in flight is classified or left as it was sent, and the journal is closed.
    pub(crate) async fn shut_down(self) -> Result<(), Failure> {
        Ok(self.engine.shutdown(GRACE).await?)
    }
}

/// Recovers these venues over a journal that this process holds. `None` when a stop was asked meanwhile: the journal is closed then.
pub(crate) async fn recover(
    store: SqliteStore,
    venues: &[&VenueConfig],
    stop: &Stop,
) -> Result<Option<Running>, Failure> {
    let mut cold = Cold::new(store.clone()).leaving_other_venues();
    for venue in venues {
        let adapter = venue::adapter(venue)?;
        cold = cold.limited_venue(venue.alias.clone(), adapter, venue.limits);
    }
    tokio::select! {
        recovered = cold.recover() => {
            let (engine, report) = recovered?;
            Ok(Some(Running { engine, report }))
        }
        () = stop.asked() => {
            // What the engine's tasks had begun is durable before it was sent, and the next start looks at it.
            if tokio::time::timeout(GRACE, store.close()).await.is_err() {
                tracing::warn!("the journal was not closed in time");
            }
            Ok(None)
        }
    }
}

/// A journal, or the requests of a process that does not get it.
#[derive(Debug)]
pub(crate) enum Journal {
    /// This process holds it.
    Ours(SqliteStore),
    /// Another process holds it.
    Theirs(Inbox),
}

/// Takes the journal, or reaches the process that has it.
pub(crate) fn journal(file: &Path) -> Result<Journal, Failure> {
    match SqliteStore::open(file) {
        Ok(store) => Ok(Journal::Ours(store)),
        Err(StoreError::Held { .. }) => Ok(Journal::Theirs(Inbox::open(file)?)),
        Err(error) => Err(error.into()),
    }
}

/// What became of a request.
#[derive(Debug)]
pub(crate) enum Asked {
    /// The engine answered.
    Answered(Answer),
    /// Nobody holds the journal any more: this process does, and the request still waits in it.
    Ours {
        /// The journal.
        store: SqliteStore,
        /// The request.
        n: i64,
    },
}

/// Puts a request to the process that holds the journal, and waits for its answer.
pub(crate) async fn ask(
    file: &Path,
    inbox: &Inbox,
    request: &Request,
    stop: &Stop,
) -> Result<Asked, Failure> {
    let n = inbox.post(request)?;
    let started = tokio::time::Instant::now();
    let mut looks: u32 = 0;
    loop {
        if let Some(answer) = inbox.answer(n)? {
            return Ok(Asked::Answered(answer));
        }
        let waited = started.elapsed() >= ANSWER;
        if waited || stop.is_asked() {
            let text = format!(
                "request {n} is in the journal and not answered: the process that holds the journal, or the next one, will do it"
            );
            return Err(Failure::new(Exit::NotKnown, text));
        }
        // It may have ended without looking.
        looks = looks.wrapping_add(1);
        if looks.is_multiple_of(10) {
            match SqliteStore::open(file) {
                Ok(store) => return Ok(Asked::Ours { store, n }),
                Err(StoreError::Held { .. }) => {}
                Err(error) => return Err(error.into()),
            }
        }
        tokio::select! {
            () = tokio::time::sleep(LOOK) => {}
            () = stop.asked() => {}
        }
    }
}

/// Puts a request into a journal that this process holds, does it, and tells the answer. Asks no venue.
pub(crate) async fn do_it(
    store: SqliteStore,
    file: &Path,
    request: &Request,
) -> Result<Answer, Failure> {
    let inbox = Inbox::open(file)?;
    let n = inbox.post(request)?;
    do_posted(store, &inbox, n).await
}

/// Tells nobody: what a person asked for is no alert, and the command says it anyway.
#[derive(Debug)]
struct Quiet;

impl Alerts for Quiet {
    fn alert(&self, alert: &Alert) {
        tracing::info!("{alert}");
    }
}

/// Does what waits in a journal that this process holds, and tells the answer to one of the requests. Asks no venue.
pub(crate) async fn do_posted(
    store: SqliteStore,
    inbox: &Inbox,
    n: i64,
) -> Result<Answer, Failure> {
    let cold = Cold::new(store).leaving_other_venues().alerts(Quiet);
    let (engine, _) = cold.recover().await?;
    engine.shutdown(GRACE).await?;
    inbox
        .answer(n)?
        .ok_or_else(|| Failure::new(Exit::Journal, format!("request {n} was not answered")))
}

/// Waits until each of the orders has ended, as far as the journal says, and reads them.
pub(crate) async fn ended(
    reader: &SqliteReader,
    ids: &[ClOrdId],
    wait: Duration,
    stop: &Stop,
) -> Result<Vec<OrderRecord>, Failure> {
    let deadline = tokio::time::Instant::now() + wait;
    loop {
        let mut rows = Vec::with_capacity(ids.len());
        for id in ids {
            rows.extend(reader.order(*id)?);
        }
        let all = rows.iter().all(|row| row.state.is_terminal());
        if all || stop.is_asked() || tokio::time::Instant::now() >= deadline {
            return Ok(rows);
        }
        tokio::select! {
            () = tokio::time::sleep(LOOK) => {}
            () = stop.asked() => {}
        }
    }
}

/// The accounts that the journal knows; none where there is no journal yet.
pub(crate) fn bindings(config: &Config) -> Result<Vec<(Alias, surefill_core::AccountId)>, Failure> {
    if !config.journal.exists() {
        return Ok(Vec::new());
    }
    Ok(SqliteReader::open(&config.journal)?.bindings()?)
}

/// The wall clock, for what happens without a venue.
#[expect(
    clippy::disallowed_methods,
    reason = "a halt that is asked for without a venue, and the offset that doctor shows, are wall-clock time"
)]
pub(crate) fn wall_clock() -> VenueTime {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    let ms = since.unwrap_or_default().as_millis();
    VenueTime::from_ms(u64::try_from(ms).unwrap_or(u64::MAX))
}

/// Who asks, for the journal: the user's name, as far as the environment tells it.
pub(crate) fn who() -> Box<str> {
    let name = ["SUDO_USER", "USER", "LOGNAME"]
        .iter()
        .find_map(|name| std::env::var(name).ok().filter(|name| !name.is_empty()));
    name.unwrap_or_else(|| "operator".to_owned()).into()
}
