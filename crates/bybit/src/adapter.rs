//! The contract, out of the parts: glue only.

use std::collections::{HashMap, HashSet};
use std::hash::Hash;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use futures_core::stream::BoxStream;
use surefill_core::{
    AccountId, Amend, AmendOutcome, AsOf, Attempt, CancelAllOutcome, CancelOutcome, ClOrdId,
    ExecReport, Facts, Fill, Go, Handle, HeldBack, Instrument, Journaled, Key, LocalMark, Lookup,
    NotSent, OrderIntent, OrderRecord, Position, PrepareError, RateClass, Reading, Revocation,
    Snapshot, Submission, Symbol, Ticket, UnknownCause, Venue, VenueCtx, VenueError, VenueEvent,
    VenueProfile, VenueTime,
};

use crate::client::{Client, Query, Read};
use crate::codes::PARAMETER;
use crate::outcome::{self, Sent};
use crate::prepare::{CATEGORY, Listed, SETTLE_COIN, Wire, prepare};
use crate::rows::{self, FillRow, OrderRow, Page, ReadFailure};
use crate::wire::{ByLink, CancelAll};
use crate::{Network, id, sign};

/// Filters change twice a month; they are asked for again after a day, and after a refusal of parameters.
const FRESH: Duration = Duration::from_secs(24 * 60 * 60);

/// The venue takes windows of no more than seven days.
const WINDOW: Duration = Duration::from_secs(7 * 24 * 60 * 60 - 1);

/// Younger than this, a list read without a window holds it.
const RECENT: Duration = Duration::from_secs(6 * 24 * 60 * 60);

/// Nothing is kept for longer.
const RETENTION: Duration = Duration::from_secs(730 * 24 * 60 * 60);

/// A list that does not end after so many pages is not believed.
const MAX_PAGES: usize = 1_000;

/// Bybit, connected.
#[derive(Debug)]
pub(crate) struct Adapter {
    ctx: VenueCtx,
    profile: VenueProfile,
    network: Network,
    client: Client,
    listed: Mutex<HashMap<Symbol, (VenueTime, Facts)>>,
}

impl Adapter {
    pub(crate) fn new(
        ctx: VenueCtx,
        profile: VenueProfile,
        network: Network,
        client: Client,
    ) -> Self {
        Self {
            ctx,
            profile,
            network,
            client,
            listed: Mutex::default(),
        }
    }

    /// The venue's clock; the venue is asked when it has not been heard from.
    async fn clock(&self) -> Result<Reading, ReadFailure> {
        if self.ctx.clock.read().is_none() {
            self.ask_time().await?;
        }
        let reading = self.ctx.clock.read();
        reading.ok_or_else(|| ReadFailure::unreadable("the venue's time is not known"))
    }

    /// What requests other than creates are stamped with: rather behind than ahead, and well inside the window.
    async fn stamp(&self) -> Result<VenueTime, ReadFailure> {
        let reading = self.clock().await?;
        let behind = reading.error.min(self.client.receive_window() / 4);
        Ok(reading.now.before(behind))
    }

    /// Every answer tells the venue's time.
    fn hear(&self, mark: LocalMark, sent: &Sent) {
        if let Some(at) = outcome::answered_at(sent) {
            self.ctx.clock.observe(mark, at);
        }
    }

    async fn ask_time(&self) -> Result<VenueTime, ReadFailure> {
        self.ctx.rate.admit(RateClass::Lookup).await;
        let mark = self.ctx.clock.mark();
        let sent = self.client.public(Read::Time, &Query::new()).await;
        let time = rows::server_time(&sent)?;
        self.ctx.clock.observe(mark, time);
        Ok(time)
    }

    async fn read(&self, read: Read, query: &Query) -> Result<Sent, ReadFailure> {
        self.ctx.rate.admit(RateClass::Lookup).await;
        if !read.is_private() {
            return Ok(self.client.public(read, query).await);
        }
        let at = self.stamp().await?;
        let mark = self.ctx.clock.mark();
        let sent = self.client.private(read, at, query).await;
        self.hear(mark, &sent);
        Ok(sent)
    }

    /// Reads a list to its end: an empty cursor, an empty page, or one that adds nothing new. A row seen twice counts as it was seen
    /// last.
    async fn list<T, K: Eq + Hash>(
        &self,
        read: Read,
        query: Query,
        parse: fn(&Sent) -> Result<Page<T>, ReadFailure>,
        key: fn(&T) -> K,
    ) -> Result<Page<T>, ReadFailure> {
        let mut whole = Page {
            rows: Vec::new(),
            unreadable: Vec::new(),
            next: String::new(),
        };
        let mut at: HashMap<K, usize> = HashMap::new();
        let mut next = query.clone();
        for _ in 0..MAX_PAGES {
            let page = parse(&self.read(read, &next).await?)?;
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

    async fn order_rows(&self, read: Read, query: Query) -> Result<Page<OrderRow>, ReadFailure> {
        self.list(read, query.with("limit", 50), rows::orders, |row| {
            row.order_id.clone()
        })
        .await
    }

    async fn fill_rows(&self, query: Query) -> Result<Page<FillRow>, ReadFailure> {
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

    /// One round for one order: open, closed, fills. Nothing that failed is passed over.
    async fn round(&self, order: &OrderRecord) -> Result<Lookup, ReadFailure> {
        let key = id::spell(&order.id);
        let by_key = || of_symbol(Some(order.symbol())).with("orderLinkId", &key);
        let now = self.clock().await?.now;
        let begun = self.as_of(self.ctx.clock.begun())?;
        let mut orders = whole(self.order_rows(Read::OpenOrders, by_key()).await?)?;
        let windows = windows(order.created_at, now);
        for window in &windows {
            let query = in_window(by_key(), *window);
            orders.extend(whole(self.order_rows(Read::ClosedOrders, query).await?)?);
        }
        let mut fills: Vec<FillRow> = Vec::new();
        let mut seen = HashSet::new();
        for window in &windows {
            let rows = self.fill_rows(in_window(by_key(), *window)).await?;
            for row in whole(rows)? {
                if seen.insert((row.fill.order_id.clone(), row.fill.exec_id.clone())) {
                    fills.push(row);
                }
            }
        }
        let ended = self.as_of(self.ctx.clock.ended())?;
        Ok(outcome::lookup(&key, &orders, fills, begun, ended))
    }

    fn as_of(&self, at: Option<AsOf>) -> Result<AsOf, ReadFailure> {
        at.ok_or_else(|| ReadFailure::unreadable("the venue's time is not known"))
    }

    /// A list with what was known of the venue's time around it.
    async fn snapshot<T>(
        &self,
        rows: impl Future<Output = Result<Vec<T>, ReadFailure>> + Send,
    ) -> Result<Snapshot<T>, VenueError> {
        self.clock().await?;
        let begun = self.as_of(self.ctx.clock.begun())?;
        let rows = rows.await?;
        let ended = self.as_of(self.ctx.clock.ended())?;
        Ok(Snapshot { rows, begun, ended })
    }

    fn kept(&self, symbol: &Symbol, now: VenueTime) -> Option<Facts> {
        let listed = self.listed.lock().unwrap_or_else(PoisonError::into_inner);
        let (since, facts) = listed.get(symbol)?;
        (now.since(*since) < FRESH).then(|| facts.clone())
    }

    /// Asks for one symbol; one that the venue does not list is known as such.
    async fn list_symbol(&self, symbol: &Symbol) -> Result<Listed, ReadFailure> {
        let query = Query::new()
            .with("category", CATEGORY)
            .with("symbol", symbol);
        let sent = self.read(Read::Instruments, &query).await?;
        let page = match rows::instruments(&sent) {
            Err(ReadFailure::Refused(reason)) if *reason.code == *PARAMETER.to_string() => {
                return Ok(unlisted(symbol));
            }
            page => page?,
        };
        if let Some(row) = page.unreadable.first() {
            return Err(ReadFailure::unreadable(format!("{symbol}: {}", row.why)));
        }
        let mut rows = page.rows.into_iter();
        let filters = rows.find(|row| row.instrument.symbol == *symbol);
        Ok(Listed {
            filters,
            ..unlisted(symbol)
        })
    }
}

fn unlisted(symbol: &Symbol) -> Listed {
    Listed {
        symbol: symbol.clone(),
        filters: None,
    }
}

/// The orders of one symbol, or all that are settled in our coin.
fn of_symbol(symbol: Option<&Symbol>) -> Query {
    let query = Query::new().with("category", CATEGORY);
    match symbol {
        Some(symbol) => query.with("symbol", symbol),
        None => query.with("settleCoin", SETTLE_COIN),
    }
}

/// From when to when, milliseconds; none for the venue's default, the last seven days.
type Window = Option<(VenueTime, VenueTime)>;

fn in_window(query: Query, window: Window) -> Query {
    match window {
        None => query,
        Some((start, end)) => query.with("startTime", start).with("endTime", end),
    }
}

/// The windows that hold everything since `from`. Whether an id lifts the default window is not documented, so both are asked.
fn windows(from: VenueTime, now: VenueTime) -> Vec<Window> {
    let mut windows = vec![None];
    if now.since(from) > RECENT {
        let slack = Duration::from_secs(60);
        windows.extend(spans(from.before(slack), now.after(slack)).map(Some));
    }
    windows
}

/// Spans of at most seven days from `from` to `to`.
fn spans(from: VenueTime, to: VenueTime) -> impl Iterator<Item = (VenueTime, VenueTime)> {
    let first = from.max(to.before(RETENTION));
    std::iter::successors(Some(first), move |start| {
        Some(start.after(WINDOW)).filter(|next| *next < to)
    })
    .map(|start| (start, start.after(WINDOW)))
}

/// The rows, if every one could be read.
fn whole<T>(page: Page<T>) -> Result<Vec<T>, ReadFailure> {
    match page.unreadable.into_iter().next() {
        Some(row) => Err(ReadFailure::Unreadable(row.why)),
        None => Ok(page.rows),
    }
}

/// The rows of a list over the whole account. A row that cannot be read matters when it may be ours; another's is passed over.
fn ours_whole<T>(page: Page<T>) -> Result<Vec<T>, ReadFailure> {
    for row in page.unreadable {
        let foreign = |key: &Key| id::read(key.as_str()).is_none();
        if !row.key.as_ref().is_some_and(foreign) {
            return Err(ReadFailure::Unreadable(row.why));
        }
        tracing::warn!(key = ?row.key, why = %row.why, "a foreign row cannot be read");
    }
    Ok(page.rows)
}

/// The rows as reports, without second attempts that were refused as duplicates: they say nothing about the live order.
fn reports(page: Page<OrderRow>) -> Result<Vec<ExecReport>, ReadFailure> {
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

fn unknown(failure: &ReadFailure) -> UnknownCause {
    UnknownCause::new(failure)
}

#[async_trait]
impl Venue for Adapter {
    fn profile(&self) -> &VenueProfile {
        &self.profile
    }

    async fn account(&self) -> Result<AccountId, VenueError> {
        let sent = self.read(Read::ApiKey, &Query::new()).await?;
        let uid = rows::user_id(&sent)?;
        let network = self.network.as_str();
        Ok(AccountId::new(self.profile.name.as_str(), network, &uid))
    }

    fn spelled_id(&self, key: &Key) -> Option<ClOrdId> {
        id::read(key.as_str())
    }

    async fn facts(&self, intent: &OrderIntent) -> Result<Facts, VenueError> {
        let now = self.clock().await?.now;
        if let Some(facts) = self.kept(&intent.symbol, now) {
            return Ok(facts);
        }
        let listed = self.list_symbol(&intent.symbol).await?;
        let known = listed.filters.is_some();
        let facts = Facts::new(listed);
        if known {
            let mut kept = self.listed.lock().unwrap_or_else(PoisonError::into_inner);
            kept.insert(intent.symbol.clone(), (now, facts.clone()));
        }
        Ok(facts)
    }

    fn prepare(
        &self,
        id: &ClOrdId,
        intent: &OrderIntent,
        ticket: &Ticket,
    ) -> Result<Attempt, PrepareError> {
        prepare(id, intent, ticket, self.client.receive_window())
    }

    async fn submit(&self, attempt: &Journaled<Attempt>, go: &Go) -> Submission {
        let (Some(wire), Some(key)) = (Wire::decode(attempt), attempt.keys.first()) else {
            return Submission::Unknown(UnknownCause::new("the attempt is not in our format"));
        };
        // The gateway would refuse it: past the window, whatever `go` knows. Never refused here for being ahead of a slow clock.
        let late = |reading: Reading| {
            !sign::gateway_accepts(
                reading.latest().max(wire.timestamp),
                wire.timestamp,
                wire.receive_window,
            )
        };
        if self.ctx.clock.read().is_some_and(late) {
            return Submission::NotSent(NotSent::HeldBack(HeldBack::Fence));
        }
        let mark = self.ctx.clock.mark();
        let sent = self.client.create(&wire, go).await;
        self.hear(mark, &sent);
        let submission = outcome::submission(&sent, key.as_str());
        if let Submission::Rejected(reject) = &submission
            && *reject.reason.code == *PARAMETER.to_string()
        {
            let mut listed = self.listed.lock().unwrap_or_else(PoisonError::into_inner);
            listed.clear();
        }
        submission
    }

    async fn lookup(&self, order: &OrderRecord) -> Lookup {
        self.round(order)
            .await
            .unwrap_or_else(|failure| Lookup::Inconclusive(unknown(&failure)))
    }

    async fn revoke(&self, _: &Journaled<Attempt>) -> Revocation {
        Revocation::Unsupported
    }

    async fn cancel(&self, order: &OrderRecord) -> CancelOutcome {
        self.ctx.rate.admit(RateClass::Cancel).await;
        let at = match self.stamp().await {
            Ok(at) => at,
            Err(failure) => return CancelOutcome::Unknown(unknown(&failure)),
        };
        let key = id::spell(&order.id);
        let body = ByLink {
            category: CATEGORY,
            symbol: order.symbol().as_str(),
            order_link_id: &key,
            qty: None,
            price: None,
        };
        let mark = self.ctx.clock.mark();
        let sent = self.client.cancel(at, &body).await;
        self.hear(mark, &sent);
        outcome::cancel(&sent, &key)
    }

    async fn cancel_all(&self, symbol: Option<&Symbol>) -> Result<CancelAllOutcome, VenueError> {
        self.ctx.rate.admit(RateClass::Cancel).await;
        let at = self.stamp().await?;
        let body = CancelAll {
            category: CATEGORY,
            symbol: symbol.map(Symbol::as_str),
            settle_coin: symbol.is_none().then_some(SETTLE_COIN),
        };
        let mark = self.ctx.clock.mark();
        let sent = self.client.cancel_all(at, &body).await;
        self.hear(mark, &sent);
        outcome::cancel_all(&sent)
    }

    async fn amend(&self, request: &Journaled<Amend>) -> AmendOutcome {
        self.ctx.rate.admit(RateClass::Cancel).await;
        let at = match self.stamp().await {
            Ok(at) => at,
            Err(failure) => {
                let why = NotSent::Connect(failure.to_string().into());
                return AmendOutcome::NotSent(why);
            }
        };
        let key = id::spell(&request.id);
        let body = ByLink {
            category: CATEGORY,
            symbol: request.symbol.as_str(),
            order_link_id: &key,
            qty: request.order_qty.map(|qty| qty.to_string()),
            price: request.price.map(|price| price.to_string()),
        };
        let mark = self.ctx.clock.mark();
        let sent = self.client.amend(at, &body).await;
        self.hear(mark, &sent);
        outcome::amend(&sent, &key)
    }

    async fn open_orders(
        &self,
        symbol: Option<&Symbol>,
    ) -> Result<Snapshot<ExecReport>, VenueError> {
        let query = of_symbol(symbol).with("openOnly", 0);
        self.snapshot(async { reports(self.order_rows(Read::OpenOrders, query).await?) })
            .await
    }

    async fn closed_since(
        &self,
        symbol: Option<&Symbol>,
        since: VenueTime,
    ) -> Result<Snapshot<ExecReport>, VenueError> {
        let to = self.clock().await?.now.after(Duration::from_secs(60));
        self.snapshot(async {
            let mut all = Vec::new();
            for span in spans(since, to) {
                let query = in_window(of_symbol(symbol), Some(span));
                all.extend(reports(self.order_rows(Read::ClosedOrders, query).await?)?);
            }
            Ok(all)
        })
        .await
    }

    async fn fills_since(
        &self,
        symbol: Option<&Symbol>,
        since: VenueTime,
    ) -> Result<Snapshot<(Handle, Fill)>, VenueError> {
        let to = self.clock().await?.now.after(Duration::from_secs(60));
        let handle = |row: FillRow| {
            let handle = Handle {
                key: row.key,
                order_id: Some(row.fill.order_id.clone()),
            };
            (handle, row.fill)
        };
        self.snapshot(async {
            let mut all = Vec::new();
            for span in spans(since, to) {
                let mut query = Query::new().with("category", CATEGORY);
                if let Some(symbol) = symbol {
                    query = query.with("symbol", symbol);
                }
                let page = self.fill_rows(in_window(query, Some(span))).await?;
                all.extend(ours_whole(page)?.into_iter().map(handle));
            }
            Ok(all)
        })
        .await
    }

    async fn positions(&self) -> Result<Snapshot<Position>, VenueError> {
        let query = of_symbol(None).with("limit", 200);
        self.snapshot(async {
            let page = self
                .list(Read::Positions, query, rows::positions, |row| {
                    (row.symbol.clone(), row.position_idx.clone())
                })
                .await?;
            let mut sums: Vec<Position> = Vec::new();
            for row in whole(page)?
                .into_iter()
                .filter(|row| !row.signed_qty.is_zero())
            {
                match sums.iter_mut().find(|sum| sum.symbol == row.symbol) {
                    None => sums.push(Position {
                        symbol: row.symbol,
                        signed_qty: row.signed_qty,
                    }),
                    Some(sum) => {
                        let both = sum.signed_qty.checked_add(row.signed_qty);
                        sum.signed_qty =
                            both.ok_or_else(|| ReadFailure::unreadable("positions do not fit"))?;
                    }
                }
            }
            sums.retain(|sum| !sum.signed_qty.is_zero());
            Ok(sums)
        })
        .await
    }

    async fn follow(&self) -> Result<BoxStream<'static, VenueEvent>, VenueError> {
        Err(VenueError::Unsupported("a stream"))
    }

    async fn instruments(&self) -> Result<Vec<Instrument>, VenueError> {
        let query = Query::new().with("category", CATEGORY).with("limit", 1_000);
        let page = self
            .list(Read::Instruments, query, rows::instruments, |row| {
                row.instrument.symbol.clone()
            })
            .await?;
        let ours = page.rows.into_iter().filter(|row| {
            let coin = row.settle_coin.as_ref();
            coin.is_none_or(|coin| coin.as_str() == SETTLE_COIN)
        });
        Ok(ours.map(|row| row.instrument).collect())
    }

    async fn venue_time(&self) -> Result<VenueTime, VenueError> {
        Ok(self.ask_time().await?)
    }
}
