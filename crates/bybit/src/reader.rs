//! Reads over the account: stamped by the venue's clock, metered, to the last page.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use surefill_core::{
    AsOf, ExecReport, LocalMark, NotSent, RateClass, Reading, Snapshot, VenueCtx, VenueError,
    VenueTime,
};

use surefill_transport::SendFailure;

use crate::category::Category;
use crate::client::{Client, Query, Read};
use crate::outcome::{self, Sent};
use crate::rows::{self, FillRow, OrderRow, Page, ReadFailure};
use crate::{id, market};

/// The venue takes windows of no more than seven days.
const WINDOW: Duration = Duration::from_secs(7 * 24 * 60 * 60 - 1);

/// Younger than this, a list read without a window holds it.
const RECENT: Duration = Duration::from_secs(6 * 24 * 60 * 60);

/// Nothing is kept for longer.
const RETENTION: Duration = Duration::from_secs(730 * 24 * 60 * 60);

/// A list that does not end after so many pages is not believed.
const MAX_PAGES: usize = 1_000;

/// The client with the venue's clock and the buckets.
#[derive(Debug)]
pub(crate) struct Reader {
    pub(crate) ctx: VenueCtx,
    pub(crate) client: Client,
    pub(crate) category: Category,
    pub(crate) ban: Ban,
}

/// An address that is banned: every request over HTTP is refused, lookups too, and each one more may prolong it.
///
/// # Source
/// <https://bybit-exchange.github.io/docs/v5/error>: HTTP 403, lifted by itself after ten minutes.
#[derive(Debug)]
pub(crate) struct Ban {
    pub(crate) lasts: Duration,
    until: Mutex<Option<VenueTime>>,
}

impl Ban {
    pub(crate) fn new(lasts: Duration) -> Self {
        Self {
            lasts,
            until: Mutex::default(),
        }
    }
}

impl Reader {
    /// The venue's clock; the venue is asked when it has not been heard from.
    pub(crate) async fn clock(&self) -> Result<Reading, ReadFailure> {
        if self.ctx.clock.read().is_none() {
            self.ask_time().await?;
        }
        let reading = self.ctx.clock.read();
        reading.ok_or_else(|| ReadFailure::unreadable("the venue's time is not known"))
    }

    /// What requests other than creates are stamped with: rather behind than ahead, and well inside the window.
    pub(crate) async fn stamp(&self) -> Result<VenueTime, ReadFailure> {
        let reading = self.clock().await?;
        let behind = reading.error.min(self.client.receive_window() / 4);
        Ok(reading.now.before(behind))
    }

    /// Why nothing may be sent over HTTP now, if so: as a send of which no byte left.
    pub(crate) fn free(&self) -> Result<(), SendFailure> {
        let mut until = self
            .ban
            .until
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        match (*until, self.ctx.clock.read()) {
            (Some(end), Some(reading)) if reading.now < end => {
                let why = format!("HTTP status 403 came, nothing is sent until {end}");
                Err(SendFailure::NotSent(NotSent::Connect(why.into())))
            }
            _ => {
                *until = None;
                Ok(())
            }
        }
    }

    /// Every answer tells the venue's time and how much more of its kind is taken, and a 403 that the address is banned.
    pub(crate) fn hear(&self, mark: LocalMark, class: RateClass, sent: &Sent) {
        if let Some(wait) = outcome::used_up(sent) {
            tracing::debug!(?class, ?wait, "the rate limit is used up");
            self.ctx.rate.hold(class, wait);
        }
        if let (Ok(answer), Some(reading)) = (sent, self.ctx.clock.read())
            && answer.status() == 403
        {
            let end = reading.now.after(self.ban.lasts);
            tracing::error!(%end, "HTTP status 403: this address is banned or not served; lookups fail, too");
            let mut until = self
                .ban
                .until
                .lock()
                .unwrap_or_else(PoisonError::into_inner);
            *until = Some(end);
        }
        if let Some(at) = outcome::answered_at(sent) {
            self.ctx.clock.observe(mark, at);
        }
    }

    pub(crate) async fn ask_time(&self) -> Result<VenueTime, ReadFailure> {
        self.ctx.rate.admit(RateClass::Lookup).await;
        self.free()
            .map_err(|held| ReadFailure::unreachable(&held))?;
        let mark = self.ctx.clock.mark();
        let sent = self.client.public(Read::Time, &Query::new()).await;
        let time = market::server_time(&sent)?;
        self.ctx.clock.observe(mark, time);
        Ok(time)
    }

    pub(crate) async fn read(&self, read: Read, query: &Query) -> Result<Sent, ReadFailure> {
        self.ctx.rate.admit(RateClass::Lookup).await;
        if let Err(held) = self.free() {
            return Ok(Err(held));
        }
        if !read.is_private() {
            let mark = self.ctx.clock.mark();
            let sent = self.client.public(read, query).await;
            self.hear(mark, RateClass::Lookup, &sent);
            return Ok(sent);
        }
        let at = self.stamp().await?;
        let mark = self.ctx.clock.mark();
        let sent = self.client.private(read, at, query).await;
        self.hear(mark, RateClass::Lookup, &sent);
        Ok(sent)
    }

    /// Reads a list to its end: an empty cursor, an empty page, or one that adds nothing new. A row seen twice counts as it was seen
    /// last.
    pub(crate) async fn list<T, K: Eq + Hash>(
        &self,
        read: Read,
        query: Query,
        parse: fn(&Sent) -> Result<Page<T>, ReadFailure>,
        key: fn(&T) -> K,
    ) -> Result<Page<T>, ReadFailure> {
        let ours = self.category.as_str();
        let mut whole = Page {
            category: ours.into(),
            rows: Vec::new(),
            unreadable: Vec::new(),
            next: String::new(),
        };
        let mut at: HashMap<K, usize> = HashMap::new();
        let mut next = query.clone();
        for _ in 0..MAX_PAGES {
            let page = parse(&self.read(read, &next).await?)?;
            // A list of another category is empty, and proves nothing of ours.
            if !page.category.is_empty() && *page.category != *ours {
                let text = format!("a list of {}, not of {ours}", page.category);
                return Err(ReadFailure::unreadable(text));
            }
            let before = whole.rows.len();
            whole.unreadable.extend(page.unreadable);
            for row in page.rows {
                match at.get(&key(&row)).and_then(|at| whole.rows.get_mut(*at)) {
                    Some(have) => *have = row,
                    None => {
                        at.insert(key(&row), whole.rows.len());
                        whole.rows.push(row);
                    }
                }
            }
            if page.next.is_empty() || whole.rows.len() == before {
                return Ok(whole);
            }
            next = query.clone().with_cursor(&page.next);
        }
        Err(ReadFailure::unreadable(format!(
            "a list that does not end after {MAX_PAGES} pages"
        )))
    }

    pub(crate) async fn order_rows(
        &self,
        read: Read,
        query: Query,
    ) -> Result<Page<OrderRow>, ReadFailure> {
        self.list(read, query.with("limit", 50), rows::orders, |row| {
            row.order_id.clone()
        })
        .await
    }

    pub(crate) async fn fill_rows(&self, query: Query) -> Result<Page<FillRow>, ReadFailure> {
        self.list(
            Read::Executions,
            query.with("limit", 100),
            rows::fills,
            |row| {
                let fill = &row.fill;
                (
                    fill.symbol.clone(),
                    fill.order_id.clone(),
                    fill.exec_id.clone(),
                )
            },
        )
        .await
    }

    pub(crate) fn as_of(&self, at: Option<AsOf>) -> Result<AsOf, ReadFailure> {
        at.ok_or_else(|| ReadFailure::unreadable("the venue's time is not known"))
    }

    /// A list with what was known of the venue's time around it.
    pub(crate) async fn snapshot<T>(
        &self,
        rows: impl Future<Output = Result<Vec<T>, ReadFailure>> + Send,
    ) -> Result<Snapshot<T>, VenueError> {
        self.clock().await?;
        let begun = self.as_of(self.ctx.clock.begun())?;
        let rows = rows.await?;
        let ended = self.as_of(self.ctx.clock.ended())?;
        Ok(Snapshot { rows, begun, ended })
    }
}

/// From when to when, milliseconds; none for the venue's default, the last seven days.
pub(crate) type Window = Option<(VenueTime, VenueTime)>;

pub(crate) fn in_window(query: Query, window: Window) -> Query {
    match window {
        None => query,
        Some((start, end)) => query.with("startTime", start).with("endTime", end),
    }
}

/// The windows that hold everything since `from`. Whether an id lifts the default window is not documented, so both are asked.
pub(crate) fn windows(from: VenueTime, now: VenueTime) -> Vec<Window> {
    let mut windows = vec![None];
    if now.since(from) > RECENT {
        let slack = Duration::from_secs(60);
        windows.extend(spans(from.before(slack), now.after(slack)).map(Some));
    }
    windows
}

/// Spans of at most seven days from `from` to `to`.
pub(crate) fn spans(
    from: VenueTime,
    to: VenueTime,
) -> impl Iterator<Item = (VenueTime, VenueTime)> {
    let first = from.max(to.before(RETENTION));
    std::iter::successors(Some(first), move |start| {
        Some(start.after(WINDOW)).filter(|next| *next < to)
    })
    .map(|start| (start, start.after(WINDOW)))
}

/// The rows, if every one could be read.
pub(crate) fn whole<T>(page: Page<T>) -> Result<Vec<T>, ReadFailure> {
    match page.unreadable.into_iter().next() {
        Some(row) => Err(ReadFailure::Unreadable(row.why)),
        None => Ok(page.rows),
    }
}

/// The rows of a list over the whole account. A row that cannot be read matters when it may be ours; another's is passed over.
pub(crate) fn ours_whole<T>(page: Page<T>) -> Result<Vec<T>, ReadFailure> {
    for row in page.unreadable {
        let foreign = |key: &surefill_core::Key| id::read(key.as_str()).is_none();
        if !row.key.as_ref().is_some_and(foreign) {
            return Err(ReadFailure::Unreadable(row.why));
        }
        tracing::warn!(key = ?row.key, why = %row.why, "a foreign row cannot be read");
    }
    Ok(page.rows)
}

/// The rows as reports, without second attempts that were refused as duplicates: they say nothing about the live order.
pub(crate) fn reports(page: Page<OrderRow>) -> Result<Vec<ExecReport>, ReadFailure> {
    let mut reports = Vec::with_capacity(page.rows.len());
    for row in ours_whole(page)? {
        if row.is_refused_duplicate() {
            continue;
        }
        match row.report() {
            Some(report) => reports.push(report),
            None => {
                let ours = row
                    .key
                    .as_ref()
                    .is_some_and(|key| id::read(key.as_str()).is_some());
                let why = format!("order status {}", row.status.as_str());
                if ours {
                    return Err(ReadFailure::unreadable(why));
                }
                tracing::warn!(order_id = %row.order_id, %why, "a foreign order cannot be read");
            }
        }
    }
    Ok(reports)
}
