//! Reads over the account: stamped by the venue's clock, metered by weight, whole.

use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use surefill_core::{
    AsOf, Key, OrderId, OrderRecord, RateClass, Reading, Snapshot, VenueCtx, VenueError, VenueTime,
};
use surefill_evm::Address;
use tokio::sync::OnceCell;
use tokio::time::Instant;

use crate::budget::Budget;
use crate::client::{Client, Read};
use crate::error::ReadFailure;
use crate::identity;
use crate::outcome::Sent;
use crate::rows::{self, FillRow, OrderRow};
use crate::wire::ExchangeStatus;

/// The venue's time is asked for again when it was heard longer ago than this: acts carry none in their answers.
const FRESH: Duration = Duration::from_secs(10);

/// The most rows that one answer has, of fills and of history.
const MOST_ROWS: usize = 2_000;

/// The most fills that the venue keeps.
const KEPT_FILLS: usize = 10_000;

/// How far a list is read before the first attempt was made.
const SLACK: Duration = Duration::from_secs(5);

/// Whom the configuration names.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Who {
    pub(crate) signer: Address,
    pub(crate) account: Option<Address>,
    pub(crate) vault: Option<Address>,
}

/// The client with the venue's clock and the buckets, for one account.
#[derive(Debug)]
pub(crate) struct Reader {
    pub(crate) ctx: VenueCtx,
    pub(crate) client: Client,
    who: Who,
    /// Whose orders they are: never the agent's address, whose lists are empty.
    user: OnceCell<Address>,
    /// Builders' dexes that are listed, too.
    pub(crate) dexes: Vec<String>,
    budget: Budget,
    heard: Mutex<Option<Instant>>,
}

impl Reader {
    pub(crate) fn new(
        ctx: VenueCtx,
        client: Client,
        who: Who,
        dexes: Vec<String>,
        budget: u32,
    ) -> Self {
        Self {
            ctx,
            client,
            who,
            user: OnceCell::new(),
            dexes,
            budget: Budget::new(budget),
            heard: Mutex::default(),
        }
    }

    /// Whose orders they are, read from the venue once.
    pub(crate) async fn user(&self) -> Result<Address, ReadFailure> {
        let read = || async {
            let signer = self.who.signer;
            let role = identity::role(&self.read(&Read::Role(signer)).await)?;
            let account = identity::account(signer, role, self.who.account)?;
            let Some(vault) = self.who.vault else {
                return Ok(account);
            };
            let role = identity::role(&self.read(&Read::Role(vault)).await)?;
            identity::vault(vault, role, account)?;
            Ok(vault)
        };
        self.user.get_or_try_init(read).await.copied()
    }

    /// The same, where it has been read.
    pub(crate) fn known_user(&self) -> Option<Address> {
        self.user.get().copied()
    }

    pub(crate) async fn read(&self, read: &Read) -> Sent {
        self.ctx.rate.admit(RateClass::Lookup).await;
        self.budget.admit(read.weight()).await;
        self.client.info(read).await
    }

    /// Asks for the venue's time.
    pub(crate) async fn ask_time(&self) -> Result<VenueTime, ReadFailure> {
        let read = Read::Status;
        self.ctx.rate.admit(RateClass::Lookup).await;
        self.budget.admit(read.weight()).await;
        let mark = self.ctx.clock.mark();
        let status: ExchangeStatus = rows::body(&self.client.info(&read).await)?;
        let time = VenueTime::from_ms(status.time);
        self.ctx.clock.observe(mark, time);
        let mut heard = self.heard.lock().unwrap_or_else(PoisonError::into_inner);
        *heard = Some(Instant::now());
        Ok(time)
    }

    /// The venue's clock, heard lately.
    pub(crate) async fn clock(&self) -> Result<Reading, ReadFailure> {
        let heard = *self.heard.lock().unwrap_or_else(PoisonError::into_inner);
        let lately = heard.is_some_and(|heard| heard.elapsed() < FRESH);
        if !lately || self.ctx.clock.read().is_none() {
            self.ask_time().await?;
        }
        let reading = self.ctx.clock.read();
        reading.ok_or_else(|| ReadFailure::unreadable("the venue's time is not known"))
    }

    /// The venue's clock for an act: an old reading is better than none.
    pub(crate) async fn clock_for_acts(&self) -> Result<Reading, ReadFailure> {
        match self.ctx.clock.read() {
            Some(reading) => Ok(reading),
            None => self.clock().await,
        }
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

    /// The open orders, of the main dex with all spot pairs, and of each dex that is listed.
    pub(crate) async fn open_orders(&self) -> Result<Vec<OrderRow>, ReadFailure> {
        let user = self.user().await?;
        let mut all = Vec::new();
        for dex in std::iter::once(None).chain(self.dexes.iter().cloned().map(Some)) {
            let sent = self.read(&Read::OpenOrders(user, dex)).await;
            let rows = rows::open_orders(&sent)?;
            self.book(rows.len());
            all.extend(rows);
        }
        Ok(all)
    }

    /// Changes of status, newest first, and whether they reach back to `since`.
    pub(crate) async fn history(
        &self,
        since: VenueTime,
    ) -> Result<(Vec<OrderRow>, bool), ReadFailure> {
        let rows = rows::history(&self.read(&Read::History(self.user().await?)).await)?;
        self.book(rows.len());
        let oldest = rows.iter().map(|row| row.changed_at).min();
        let reaches = rows.len() < MOST_ROWS || oldest.is_some_and(|oldest| oldest < since);
        Ok((rows, reaches))
    }

    /// The order of a client order id: the newest, where there are several.
    pub(crate) async fn by_cloid(&self, key: &Key) -> Result<Option<OrderRow>, ReadFailure> {
        let read = Read::ByCloid(self.user().await?, key.as_str().to_owned());
        rows::order_status(&self.read(&read).await)
    }

    pub(crate) async fn by_oid(&self, order_id: &OrderId) -> Result<Option<OrderRow>, ReadFailure> {
        let oid = order_id.as_str().parse();
        let oid = oid.map_err(|_| ReadFailure::unreadable(format!("order id {order_id}")))?;
        rows::order_status(&self.read(&Read::ByOid(self.user().await?, oid)).await)
    }

    /// The fills between two instants. Which end of a full answer is kept is not documented, so a full one is asked for in halves.
    pub(crate) async fn fills(
        &self,
        from: VenueTime,
        to: VenueTime,
    ) -> Result<Vec<FillRow>, ReadFailure> {
        let user = self.user().await?;
        let mut all = Vec::new();
        let mut seen = HashSet::new();
        let mut spans = vec![(from, to)];
        while let Some((from, to)) = spans.pop() {
            let rows = rows::fills(&self.read(&Read::Fills(user, from, to)).await)?;
            self.book(rows.len());
            if rows.len() >= MOST_ROWS {
                let half = to.since(from) / 2;
                if half < Duration::from_millis(1) {
                    return Err(ReadFailure::unreadable(
                        "more fills in a millisecond than an answer has",
                    ));
                }
                let middle = from.after(half);
                spans.push((middle.after(Duration::from_millis(1)), to));
                spans.push((from, middle));
                continue;
            }
            for row in rows {
                let fill = &row.fill;
                if seen.insert((fill.order_id.clone(), fill.exec_id.clone())) {
                    all.push(row);
                }
            }
        }
        if all.len() >= KEPT_FILLS {
            tracing::error!(
                fills = all.len(),
                "as many fills as the venue keeps: older ones cannot be read any more"
            );
        }
        Ok(all)
    }

    /// Lists weigh by their rows: one for each 20.
    fn book(&self, rows: usize) {
        self.budget
            .book(u32::try_from(rows / 20).unwrap_or(u32::MAX));
    }
}

/// What a look at one order found.
#[derive(Debug, Default)]
pub(crate) struct Found {
    pub(crate) rows: Vec<OrderRow>,
    pub(crate) fills: Vec<FillRow>,
}

impl Reader {
    /// A look at an order that the venue has named: by its ids, and its fills when more is executed than was booked. It can find, and
    /// shows nothing when it does not.
    pub(crate) async fn glance(
        &self,
        order: &OrderRecord,
        key: &Key,
    ) -> Result<Option<Found>, ReadFailure> {
        let mut rows: Vec<OrderRow> = self.by_cloid(key).await?.into_iter().collect();
        for order_id in &order.order_ids {
            if rows.iter().any(|row| row.order_id == *order_id) {
                continue;
            }
            let Some(row) = self.by_oid(order_id).await? else {
                return Ok(None);
            };
            rows.push(row);
        }
        if rows.is_empty() {
            return Ok(None);
        }
        let booked = order.booked_qty;
        let owed = order.fills_owed()
            || rows
                .iter()
                .any(|row| row.cum_qty.is_none_or(|cum_qty| cum_qty > booked));
        let fills = if owed {
            self.fills_of(order, key, &rows).await?
        } else {
            Vec::new()
        };
        Ok(Some(Found { rows, fills }))
    }

    /// Whether an order that may still land shows already: by its id, then among those that are open. It can find, and proves nothing.
    pub(crate) async fn early(&self, key: &Key) -> Result<bool, ReadFailure> {
        if self.by_cloid(key).await?.is_some() {
            return Ok(true);
        }
        let open = self.open_orders().await?;
        Ok(open.iter().any(|row| row.key.as_ref() == Some(key)))
    }

    /// One full round: open, by id, closed, fills. Nothing that failed is passed over, and nothing that does not reach back far enough.
    pub(crate) async fn full_round(
        &self,
        order: &OrderRecord,
        key: &Key,
    ) -> Result<Found, ReadFailure> {
        let known = |row: &OrderRow| {
            row.key.as_ref() == Some(key) || order.order_ids.contains(&row.order_id)
        };
        let mut rows: Vec<OrderRow> = self.open_orders().await?;
        rows.retain(known);
        rows.extend(self.by_cloid(key).await?);
        for order_id in &order.order_ids {
            rows.extend(self.by_oid(order_id).await?);
        }
        let since = order.created_at.before(SLACK);
        let (history, reaches) = self.history(since).await?;
        rows.extend(history.into_iter().filter(known));
        let fills = self.fills_of(order, key, &rows).await?;
        if rows.is_empty() && fills.is_empty() && !reaches {
            let text = "the list of closed orders does not reach back to this one";
            return Err(ReadFailure::unreadable(text));
        }
        Ok(Found { rows, fills })
    }

    async fn fills_of(
        &self,
        order: &OrderRecord,
        key: &Key,
        rows: &[OrderRow],
    ) -> Result<Vec<FillRow>, ReadFailure> {
        let now = self.clock().await?.now;
        let from = order.created_at.before(SLACK);
        let mut fills = self.fills(from, now.after(Duration::from_secs(60))).await?;
        fills.retain(|row| {
            let of = &row.fill.order_id;
            row.key.as_ref() == Some(key)
                || order.order_ids.contains(of)
                || rows.iter().any(|row| row.order_id == *of)
        });
        Ok(fills)
    }
}
