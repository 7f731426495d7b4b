//! Reads over the account: stamped by the venue's clock, metered by weight, whole.

use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use surefill_core::{
    AsOf, Go, Key, OrderId, RateClass, Reading, Snapshot, VenueCtx, VenueError, VenueTime,
};
use surefill_evm::Address;
use tokio::sync::OnceCell;
use tokio::time::Instant;

use crate::budget::Budget;
use crate::client::{Client, Read};
use crate::error::ReadFailure;
use crate::identity;
use crate::list::{About, List, Unread};
use crate::outcome::{self, Sent};
use crate::rows::{self, FillRow, OrderRow};
use crate::wire::ExchangeStatus;

/// The venue's time is asked for again when it was heard longer ago than this: acts carry none in their answers.
const FRESH: Duration = Duration::from_secs(10);

/// The most rows that one answer has, of fills and of history.
const MOST_ROWS: usize = 2_000;

/// The most fills that the venue keeps.
const KEPT_FILLS: usize = 10_000;

/// How far a list is read before the first attempt was made.
pub(crate) const SLACK: Duration = Duration::from_secs(5);

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
    client: Client,
    who: Who,
    /// Whose orders they are: never the agent's address, whose lists are empty.
    user: OnceCell<Address>,
    /// Builders' dexes that are listed, too.
    pub(crate) dexes: Vec<String>,
    budget: Budget,
    heard: Mutex<Option<Instant>>,
    /// The venue has refused a request because of its time.
    doubted: AtomicBool,
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
            doubted: AtomicBool::new(false),
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
        self.doubted.store(false, Ordering::Release);
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

    /// The venue's clock for an act: an old reading is better than none, unless the venue's own word is against it.
    pub(crate) async fn clock_for_acts(&self) -> Result<Reading, ReadFailure> {
        match self.ctx.clock.read() {
            Some(reading) if !self.doubted.load(Ordering::Acquire) => Ok(reading),
            Some(old) => Ok(self.clock().await.unwrap_or(old)),
            None => self.clock().await,
        }
    }

    /// Signed requests are sent here: a refusal that speaks of time makes the next one hear the venue's clock first. An expired request
    /// costs five.
    pub(crate) async fn exchange(&self, body: String, go: Option<&Go>) -> Sent {
        let sent = self.client.exchange(body, go).await;
        if outcome::clock_differs(&sent) {
            tracing::warn!("the venue's clock is not what it was taken for");
            *self.heard.lock().unwrap_or_else(PoisonError::into_inner) = None;
            self.doubted.store(true, Ordering::Release);
        }
        sent
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
    pub(crate) async fn open_orders(&self) -> Result<List<OrderRow>, ReadFailure> {
        let user = self.user().await?;
        let mut all = List::default();
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
    ) -> Result<(List<OrderRow>, bool), ReadFailure> {
        let list = rows::history(&self.read(&Read::History(self.user().await?)).await)?;
        self.book(list.len());
        let oldest = list.rows.iter().map(|row| row.changed_at).min();
        let reaches = list.len() < MOST_ROWS || oldest.is_some_and(|oldest| oldest < since);
        Ok((list, reaches))
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

    /// The fills between two instants, each once, and whether none of them is gone. Which end of a full answer is kept is not
    /// documented, so a full one is asked for in halves.
    pub(crate) async fn fills(
        &self,
        from: VenueTime,
        to: VenueTime,
    ) -> Result<(List<FillRow>, bool), ReadFailure> {
        let user = self.user().await?;
        let mut all = List::default();
        let mut seen = HashSet::new();
        let mut spans = vec![(from, to)];
        while let Some((from, to)) = spans.pop() {
            let list = rows::fills(&self.read(&Read::Fills(user, from, to)).await)?;
            self.book(list.len());
            if list.len() >= MOST_ROWS {
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
            all.unread.extend(list.unread);
            for row in list.rows {
                let fill = &row.fill;
                if seen.insert((fill.order_id.clone(), fill.exec_id.clone())) {
                    all.rows.push(row);
                }
            }
        }
        let reaches = all.len() < KEPT_FILLS;
        if !reaches {
            tracing::error!(
                fills = all.len(),
                "as many fills as the venue keeps: older ones cannot be read any more"
            );
        }
        Ok((all, reaches))
    }

    /// Lists weigh by their rows: one for each 20.
    fn book(&self, rows: usize) {
        self.budget
            .book(u32::try_from(rows / 20).unwrap_or(u32::MAX));
    }
}

/// What a look at one order found.
#[derive(Debug, Default)]
pub(crate) struct Looked {
    pub(crate) rows: Vec<OrderRow>,
    pub(crate) fills: Vec<FillRow>,
}

/// The fills of one order.
pub(crate) struct OrderFills {
    pub(crate) fills: Vec<FillRow>,
    /// One that cannot be read and may be of the order.
    doubt: Option<Unread>,
    /// None of them is gone.
    reach: bool,
}

impl Reader {
    /// A look at an order that the venue has named: by its ids, and its fills when more is executed than was booked. It can find, and
    /// shows nothing when it does not.
    pub(crate) async fn glance(&self, about: &About<'_>) -> Result<Option<Looked>, ReadFailure> {
        let mut rows: Vec<OrderRow> = self.by_cloid(about.key).await?.into_iter().collect();
        for order_id in about.order_ids {
            if rows.iter().any(|row| row.order_id == *order_id) {
                continue;
            }
            let Some(row) = self.by_oid(order_id).await? else {
                return Ok(None);
            };
            rows.push(row);
        }
        Ok((!rows.is_empty()).then_some(Looked {
            rows,
            fills: Vec::new(),
        }))
    }

    /// Whether an order that may still land shows already: by its id, then among those that are open. It can find, and proves nothing.
    pub(crate) async fn early(&self, key: &Key) -> Result<bool, ReadFailure> {
        if self.by_cloid(key).await?.is_some() {
            return Ok(true);
        }
        let open = self.open_orders().await?;
        Ok(open.rows.iter().any(|row| row.key.as_ref() == Some(key)))
    }

    /// One full round: open, by id, closed, fills. Nothing that failed is passed over. Where nothing is found, no row may be there that
    /// cannot be read and may be of the order, and no list that does not reach back far enough.
    pub(crate) async fn full_round(&self, about: &About<'_>) -> Result<Looked, ReadFailure> {
        let known = |row: &OrderRow| {
            row.key.as_ref() == Some(about.key) || about.order_ids.contains(&row.order_id)
        };
        let (mut rows, in_open) = self.open_orders().await?.about(about)?;
        rows.retain(known);
        rows.extend(self.by_cloid(about.key).await?);
        for order_id in about.order_ids {
            rows.extend(self.by_oid(order_id).await?);
        }
        let (history, history_reaches) = self.history(about.since).await?;
        let (history, in_history) = history.about(about)?;
        rows.extend(history.into_iter().filter(known));
        let OrderFills {
            fills,
            doubt: in_fills,
            reach,
        } = self.fills_of(about, &rows).await?;
        if rows.is_empty() && fills.is_empty() {
            if let Some(row) = in_open.or(in_history).or(in_fills) {
                return Err(row.failure());
            }
            if !(history_reaches && reach) {
                let text = "the lists of closed orders and fills do not reach back to this one";
                return Err(ReadFailure::unreadable(text));
            }
        }
        Ok(Looked { rows, fills })
    }

    /// The fills of an order.
    pub(crate) async fn fills_of(
        &self,
        about: &About<'_>,
        rows: &[OrderRow],
    ) -> Result<OrderFills, ReadFailure> {
        let to = self.clock().await?.now.after(Duration::from_secs(60));
        let (fills, reach) = self.fills(about.since, to).await?;
        // A fill may come without the client order id, and the order's id may be one that only these rows tell.
        let mut order_ids = about.order_ids.to_vec();
        order_ids.extend(rows.iter().map(|row| row.order_id.clone()));
        let about = About {
            order_ids: &order_ids,
            ..*about
        };
        let (mut fills, doubt) = fills.about(&about)?;
        fills.retain(|row| {
            row.key.as_ref() == Some(about.key) || order_ids.contains(&row.fill.order_id)
        });
        Ok(OrderFills {
            fills,
            doubt,
            reach,
        })
    }
}
