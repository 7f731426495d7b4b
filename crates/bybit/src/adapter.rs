//! The contract, out of the parts: glue only.

use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use futures_core::stream::BoxStream;
use surefill_core::{
    AccountId, Amend, AmendOutcome, Attempt, CancelAllOutcome, CancelOutcome, ClOrdId, ExecReport,
    Facts, Fill, Go, Handle, HeldBack, Instrument, Journaled, Key, Lookup, NotSent, OrderIntent,
    OrderRecord, Position, PrepareError, RateClass, Reading, Revocation, Snapshot, Submission,
    Symbol, Ticket, UnknownCause, Venue, VenueCtx, VenueError, VenueEvent, VenueProfile, VenueTime,
};

use crate::batch;
use crate::client::{Client, Query, Read};
use crate::codes::PARAMETER;
use crate::follow::Feed;
use crate::outcome;
use crate::prepare::{Listed, Wire, prepare};
use crate::reader::{Ban, Reader, in_window, ours_whole, reports, spans, whole, windows};
use crate::rows::{FillRow, ReadFailure};
use crate::trade::Op;
use crate::trader::{TradeRequest, Trader};
use crate::wire::{ByLink, CancelAll};
use crate::{Category, Network, id, market, sign};

/// Filters change twice a month; they are asked for again after a day, and after a refusal of parameters.
const FRESH: Duration = Duration::from_secs(24 * 60 * 60);

/// Bybit, connected.
#[derive(Debug)]
pub(crate) struct Adapter {
    reader: Reader,
    profile: VenueProfile,
    network: Network,
    feed: Option<Feed>,
    trader: Option<Trader>,
    listed: Mutex<HashMap<Symbol, (VenueTime, Facts)>>,
}

/// What an adapter is made of.
#[derive(Debug)]
pub(crate) struct Parts {
    pub(crate) network: Network,
    pub(crate) category: Category,
    pub(crate) client: Client,
    /// How long an address is banned.
    pub(crate) ban: Duration,
    /// The private stream, where it is followed.
    pub(crate) feed: Option<Feed>,
    /// The trade socket, where creates and cancels go over it.
    pub(crate) trader: Option<Trader>,
}

impl Adapter {
    pub(crate) fn new(ctx: VenueCtx, profile: VenueProfile, parts: Parts) -> Self {
        Self {
            reader: Reader {
                ctx,
                client: parts.client,
                category: parts.category,
                ban: Ban::new(parts.ban),
            },
            profile,
            network: parts.network,
            feed: parts.feed,
            trader: parts.trader,
            listed: Mutex::default(),
        }
    }

    /// One round for one order: open, closed, fills. Nothing that failed is passed over.
    async fn round(&self, order: &OrderRecord) -> Result<Lookup, ReadFailure> {
        let key = id::spell(&order.id);
        let by_key = || {
            self.of_symbol(Some(order.symbol()))
                .with("orderLinkId", &key)
        };
        let now = self.reader.clock().await?.now;
        let begun = self.reader.as_of(self.reader.ctx.clock.begun())?;
        let mut orders = whole(self.reader.order_rows(Read::OpenOrders, by_key()).await?)?;
        let windows = windows(order.created_at, now);
        for window in &windows {
            let query = in_window(by_key(), *window);
            orders.extend(whole(
                self.reader.order_rows(Read::ClosedOrders, query).await?,
            )?);
        }
        let mut fills: Vec<FillRow> = Vec::new();
        let mut seen = HashSet::new();
        for window in &windows {
            let rows = self.reader.fill_rows(in_window(by_key(), *window)).await?;
            for row in whole(rows)? {
                if seen.insert((row.fill.order_id.clone(), row.fill.exec_id.clone())) {
                    fills.push(row);
                }
            }
        }
        let ended = self.reader.as_of(self.reader.ctx.clock.ended())?;
        Ok(outcome::lookup(&key, &orders, fills, begun, ended))
    }

    fn of_symbol(&self, symbol: Option<&Symbol>) -> Query {
        self.reader.category.of_symbol(symbol)
    }

    fn kept(&self, symbol: &Symbol, now: VenueTime) -> Option<Facts> {
        let listed = self.listed.lock().unwrap_or_else(PoisonError::into_inner);
        let (since, facts) = listed.get(symbol)?;
        (now.since(*since) < FRESH).then(|| facts.clone())
    }

    async fn cancel_each(&self, symbol: Option<&Symbol>) -> Result<CancelAllOutcome, VenueError> {
        self.reader.ctx.rate.admit(RateClass::Cancel).await;
        let at = self.reader.stamp().await?;
        let category = self.reader.category;
        let body = CancelAll {
            category: category.as_str(),
            symbol: symbol.map(Symbol::as_str),
            settle_coin: category.settle_coin().filter(|_| symbol.is_none()),
        };
        let mark = self.reader.ctx.clock.mark();
        let sent = match self.reader.free() {
            Ok(()) => self.reader.client.cancel_all(at, &body).await,
            Err(held) => Err(held),
        };
        self.reader.hear(mark, RateClass::Cancel, &sent);
        outcome::cancel_all(&sent)
    }

    /// What is held of each coin: on spot there are no positions.
    async fn balances(&self) -> Result<Vec<Position>, ReadFailure> {
        let query = Query::new().with("accountType", "UNIFIED");
        let sent = self.reader.read(Read::Wallet, &query).await?;
        let coins = market::wallet(&sent)?.coins.into_iter();
        let held = coins.map(|(coin, balance)| Position {
            symbol: Symbol::from(coin.as_str()),
            signed_qty: balance.value(),
        });
        Ok(held.filter(|held| !held.signed_qty.is_zero()).collect())
    }

    /// Asks for one symbol; one that the venue does not list is known as such.
    async fn list_symbol(&self, symbol: &Symbol) -> Result<Listed, ReadFailure> {
        let query = self.reader.category.query().with("symbol", symbol);
        let sent = self.reader.read(Read::Instruments, &query).await?;
        let page = match market::instruments(&sent) {
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

fn unknown(failure: &ReadFailure) -> UnknownCause {
    UnknownCause::new(failure)
}

#[async_trait]
impl Venue for Adapter {
    fn profile(&self) -> &VenueProfile {
        &self.profile
    }

    async fn account(&self) -> Result<AccountId, VenueError> {
        let sent = self.reader.read(Read::ApiKey, &Query::new()).await?;
        let uid = market::user_id(&sent)?;
        let sent = self.reader.read(Read::Account, &Query::new()).await?;
        market::check_account(&sent)?;
        let network = self.network.as_str();
        Ok(AccountId::new(self.profile.name.as_str(), network, &uid))
    }

    fn spelled_id(&self, key: &Key) -> Option<ClOrdId> {
        id::read(key.as_str())
    }

    async fn facts(&self, intent: &OrderIntent) -> Result<Facts, VenueError> {
        let now = self.reader.clock().await?.now;
        if let Some(trader) = &self.trader {
            trader.warm(now).await;
        }
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
        let window = self.reader.client.receive_window();
        prepare(id, intent, ticket, window, self.reader.category)
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
        if self.reader.ctx.clock.read().is_some_and(late) {
            return Submission::NotSent(NotSent::HeldBack(HeldBack::Fence));
        }
        let mark = self.reader.ctx.clock.mark();
        let sent = match &self.trader {
            Some(trader) => {
                let request = TradeRequest {
                    id: format!("{key}-{}", attempt.no),
                    op: Op::Create,
                    timestamp: wire.timestamp,
                    receive_window: wire.receive_window,
                    body: wire.body,
                };
                let now = self.reader.ctx.clock.read();
                let now = now.map_or(wire.timestamp, |reading| reading.now);
                trader.send(request, now, Some(go)).await
            }
            None => match self.reader.free() {
                Ok(()) => self.reader.client.create(&wire, go).await,
                Err(held) => Err(held),
            },
        };
        self.reader.hear(mark, RateClass::Create, &sent);
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
        self.reader.ctx.rate.admit(RateClass::Cancel).await;
        let at = match self.reader.stamp().await {
            Ok(at) => at,
            Err(failure) => return CancelOutcome::Unknown(unknown(&failure)),
        };
        let key = id::spell(&order.id);
        let body = serde_json::to_string(&ByLink {
            category: self.reader.category.as_str(),
            symbol: order.symbol().as_str(),
            order_link_id: &key,
            qty: None,
            price: None,
        });
        let body = match body {
            Ok(body) => body,
            Err(error) => return CancelOutcome::Unknown(UnknownCause::new(error)),
        };
        let mark = self.reader.ctx.clock.mark();
        let sent = match &self.trader {
            Some(trader) => {
                let request = TradeRequest {
                    id: trader.number(at),
                    op: Op::Cancel,
                    timestamp: at,
                    receive_window: self.reader.client.receive_window(),
                    body,
                };
                trader.send(request, at, None).await
            }
            None => match self.reader.free() {
                Ok(()) => self.reader.client.cancel(at, body).await,
                Err(held) => Err(held),
            },
        };
        self.reader.hear(mark, RateClass::Cancel, &sent);
        outcome::cancel(&sent, &key)
    }

    async fn cancel_batch(&self, orders: &[OrderRecord]) -> Vec<CancelOutcome> {
        let nothing = |why: UnknownCause| {
            let each = orders.iter().map(|_| CancelOutcome::Unknown(why.clone()));
            each.collect()
        };
        let named: Vec<_> = orders.iter().map(|row| (row.symbol(), row.id)).collect();
        let body = match batch::cancels(self.reader.category, &named) {
            Ok(body) => body,
            Err(error) => return nothing(UnknownCause::new(error)),
        };
        // The venue counts each order of a batch.
        for _ in orders {
            self.reader.ctx.rate.admit(RateClass::Cancel).await;
        }
        let at = match self.reader.stamp().await {
            Ok(at) => at,
            Err(failure) => return nothing(unknown(&failure)),
        };
        let mark = self.reader.ctx.clock.mark();
        let sent = match self.reader.free() {
            Ok(()) => self.reader.client.cancel_batch(at, body).await,
            Err(held) => Err(held),
        };
        self.reader.hear(mark, RateClass::Cancel, &sent);
        let keys: Vec<String> = orders.iter().map(|order| id::spell(&order.id)).collect();
        let keys: Vec<&str> = keys.iter().map(String::as_str).collect();
        outcome::cancels(&sent, &keys)
    }

    async fn cancel_all(&self, symbol: Option<&Symbol>) -> Result<CancelAllOutcome, VenueError> {
        // The venue wants a symbol or a coin for inverse contracts, whose coins differ.
        if symbol.is_some() || self.reader.category != Category::Inverse {
            return self.cancel_each(symbol).await;
        }
        let open = self.of_symbol(None).with("openOnly", 0);
        let open = whole(self.reader.order_rows(Read::OpenOrders, open).await?)?;
        let symbols: HashSet<Symbol> = open.into_iter().filter_map(|row| row.seen.symbol).collect();
        let mut all = Vec::new();
        for symbol in &symbols {
            match self.cancel_each(Some(symbol)).await? {
                CancelAllOutcome::Taken(handles) => all.extend(handles),
                CancelAllOutcome::Unknown(cause) => return Ok(CancelAllOutcome::Unknown(cause)),
            }
        }
        Ok(CancelAllOutcome::Taken(all))
    }

    async fn amend(&self, request: &Journaled<Amend>, go: &Go) -> AmendOutcome {
        let reading = match self.reader.clock().await {
            Ok(reading) => reading,
            Err(failure) => {
                let why = NotSent::Connect(failure.to_string().into());
                return AmendOutcome::NotSent(why);
            }
        };
        // Rather behind than ahead, and never later than it was asked, so that its fence holds.
        let window = self.reader.client.receive_window();
        let at = request.at.before(reading.error.min(window / 4));
        if !sign::gateway_accepts(reading.latest().max(at), at, window) {
            return AmendOutcome::NotSent(NotSent::HeldBack(HeldBack::Fence));
        }
        let key = id::spell(&request.id);
        let body = ByLink {
            category: self.reader.category.as_str(),
            symbol: request.symbol.as_str(),
            order_link_id: &key,
            qty: request.order_qty.map(|qty| qty.to_string()),
            price: request.price.map(|price| price.to_string()),
        };
        let mark = self.reader.ctx.clock.mark();
        let sent = match self.reader.free() {
            Ok(()) => self.reader.client.amend(at, &body, go).await,
            Err(held) => Err(held),
        };
        self.reader.hear(mark, RateClass::Cancel, &sent);
        outcome::amend(&sent, &key)
    }

    async fn open_orders(
        &self,
        symbol: Option<&Symbol>,
    ) -> Result<Snapshot<ExecReport>, VenueError> {
        let query = self.of_symbol(symbol).with("openOnly", 0);
        self.reader
            .snapshot(async { reports(self.reader.order_rows(Read::OpenOrders, query).await?) })
            .await
    }

    async fn closed_since(
        &self,
        symbol: Option<&Symbol>,
        since: VenueTime,
    ) -> Result<Snapshot<ExecReport>, VenueError> {
        let to = self
            .reader
            .clock()
            .await?
            .now
            .after(Duration::from_secs(60));
        self.reader
            .snapshot(async {
                let mut all = Vec::new();
                for span in spans(since, to) {
                    let query = in_window(self.of_symbol(symbol), Some(span));
                    all.extend(reports(
                        self.reader.order_rows(Read::ClosedOrders, query).await?,
                    )?);
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
        let to = self
            .reader
            .clock()
            .await?
            .now
            .after(Duration::from_secs(60));
        let handle = |row: FillRow| {
            let handle = Handle {
                key: row.key,
                order_id: Some(row.fill.order_id.clone()),
            };
            (handle, row.fill)
        };
        self.reader
            .snapshot(async {
                let mut all = Vec::new();
                for span in spans(since, to) {
                    let mut query = self.reader.category.query();
                    if let Some(symbol) = symbol {
                        query = query.with("symbol", symbol);
                    }
                    let page = self.reader.fill_rows(in_window(query, Some(span))).await?;
                    all.extend(ours_whole(page)?.into_iter().map(handle));
                }
                Ok(all)
            })
            .await
    }

    async fn positions(&self) -> Result<Snapshot<Position>, VenueError> {
        if self.reader.category.is_spot() {
            return self.reader.snapshot(self.balances()).await;
        }
        let query = self.of_symbol(None).with("limit", 200);
        self.reader
            .snapshot(async {
                let page = self
                    .reader
                    .list(Read::Positions, query, market::positions, |row| {
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
                            sum.signed_qty = both
                                .ok_or_else(|| ReadFailure::unreadable("positions do not fit"))?;
                        }
                    }
                }
                sums.retain(|sum| !sum.signed_qty.is_zero());
                Ok(sums)
            })
            .await
    }

    async fn follow(&self) -> Result<BoxStream<'static, VenueEvent>, VenueError> {
        let Some(feed) = &self.feed else {
            return Err(VenueError::Unsupported("a stream"));
        };
        feed.open(self.reader.clock().await?.now).await
    }

    async fn instruments(&self) -> Result<Vec<Instrument>, VenueError> {
        let query = self.reader.category.query().with("limit", 1_000);
        let page = self
            .reader
            .list(Read::Instruments, query, market::instruments, |row| {
                row.instrument.symbol.clone()
            })
            .await?;
        let settled = self.reader.category.settle_coin();
        let ours = page.rows.into_iter().filter(|row| {
            let coin = row.settle_coin.as_ref().zip(settled);
            coin.is_none_or(|(coin, settled)| coin.as_str() == settled)
        });
        Ok(ours.map(|row| row.instrument).collect())
    }

    async fn venue_time(&self) -> Result<VenueTime, VenueError> {
        Ok(self.reader.ask_time().await?)
    }
}
