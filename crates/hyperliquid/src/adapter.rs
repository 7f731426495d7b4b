//! The contract, out of the parts: glue only.

mod assets;
mod cancels;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use futures_core::stream::BoxStream;
use serde::Serialize;
use surefill_core::{
    AccountId, Amend, AmendOutcome, Attempt, AttemptState, CancelAllOutcome, CancelOutcome,
    ClOrdId, ExecReport, Facts, Fence, Fill, Go, Handle, Instrument, Journaled, Key, Lookup,
    Nonces, NotSent, OrdState, OrdType, OrderIntent, OrderRecord, Position, PrepareError,
    RateClass, Reason, Revocation, RevocationState, Snapshot, Submission, Symbol, Ticket,
    UnknownCause, Venue, VenueCtx, VenueError, VenueEvent, VenueProfile, VenueTime,
};
use surefill_evm::Address;
use surefill_transport::WsClient;
use tokio::time::Instant;

use crate::action::{Noop, ScheduleCancel, UpdateLeverage};
use crate::client::{Client, Read};
use crate::codes;
use crate::coins::{self, Asset, Universe};
use crate::error::ReadFailure;
use crate::follow::Feed;
use crate::list::About;
use crate::nonce::ActNonces;
use crate::number::Market;
use crate::outcome::{self, Sent};
use crate::prepare::{Listed, Signer, Wire, prepare};
use crate::reader::{Looked, Reader, SLACK, Who};
use crate::rows::{self, FillRow, OrderRow};
use crate::{Leverage, Network, id};

/// How long no entry is sent after the venue said that the address is over its limit: it takes one request in so long.
///
/// # Source
/// <https://hyperliquid.gitbook.io/hyperliquid-docs/for-developers/api/rate-limits-and-user-limits>.
const OVER_LIMIT: Duration = Duration::from_secs(10);

/// Hyperliquid, connected.
#[derive(Debug)]
pub(crate) struct Adapter {
    reader: Reader,
    profile: VenueProfile,
    network: Network,
    signer: Signer,
    nonces: ActNonces,
    feed: Option<Feed>,
    universe: Mutex<Option<(VenueTime, Arc<Universe>)>>,
    /// Settings that the venue has not taken yet.
    leverage: tokio::sync::Mutex<HashMap<Symbol, Leverage>>,
    /// Since when the address is over its limit, by the venue's last word.
    over_limit: Mutex<Option<Instant>>,
}

/// What an adapter is made of.
#[derive(Debug)]
pub(crate) struct Parts {
    pub(crate) network: Network,
    pub(crate) client: Client,
    pub(crate) signer: Signer,
    /// The account that the configuration names.
    pub(crate) account: Option<Address>,
    pub(crate) dexes: Vec<String>,
    pub(crate) leverage: HashMap<Symbol, Leverage>,
    pub(crate) nonces: Arc<Nonces>,
    /// What reads may weigh in a minute.
    pub(crate) budget: u32,
    /// The socket, where it is followed.
    pub(crate) socket: Option<(WsClient, String)>,
}

impl Adapter {
    pub(crate) fn new(ctx: VenueCtx, profile: VenueProfile, parts: Parts) -> Self {
        let who = Who {
            signer: parts.signer.key.address(),
            account: parts.account,
            vault: parts.signer.vault,
        };
        Self {
            reader: Reader::new(ctx, parts.client, who, parts.dexes, parts.budget),
            profile,
            network: parts.network,
            signer: parts.signer,
            nonces: ActNonces::new(parts.nonces),
            feed: parts.socket.map(|(ws, url)| Feed { ws, url }),
            universe: Mutex::default(),
            leverage: tokio::sync::Mutex::new(parts.leverage),
            over_limit: Mutex::default(),
        }
    }

    /// Signs and sends what must go out when it possibly can, with a nonce of its own: a cancel, the dead man's switch.
    async fn act(&self, action: &(impl Serialize + Sync)) -> Result<Sent, ReadFailure> {
        self.reader.ctx.rate.admit(RateClass::Cancel).await;
        let now = self.reader.clock_for_acts().await?.now;
        let nonce = self.nonces.urgent(now).await;
        self.send_act(action, nonce, now).await
    }

    /// The same for a setting, which waits like an order where the venue would refuse its nonce.
    async fn set(&self, action: &(impl Serialize + Sync)) -> Result<Sent, ReadFailure> {
        self.reader.ctx.rate.admit(RateClass::Cancel).await;
        let now = self.reader.clock_for_acts().await?.now;
        let nonce = self.nonces.checked(now).await;
        let nonce = nonce.map_err(|why| ReadFailure::unreadable(format!("no nonce: {why}")))?;
        self.send_act(action, nonce, now).await
    }

    async fn send_act(
        &self,
        action: &(impl Serialize + Sync),
        nonce: u64,
        now: VenueTime,
    ) -> Result<Sent, ReadFailure> {
        let body = self.signer.body(action, nonce, now);
        let body = body.map_err(|error| ReadFailure::unreadable(error.to_string()))?;
        Ok(self.reader.exchange(body, None).await)
    }

    /// The venue's time.
    pub(crate) async fn venue_now(&self) -> Result<VenueTime, ReadFailure> {
        Ok(self.reader.clock().await?.now)
    }

    /// Arms the dead man's switch, or takes it back.
    pub(crate) async fn schedule(&self, action: &ScheduleCancel) -> Result<(), ReadFailure> {
        outcome::done(&self.act(action).await?)
    }

    /// Each order that is refused for the limit is looked after until its bytes have expired; a bot that goes on would have so many of them
    /// that its other orders are not looked at any more.
    fn within_limit(&self) -> Result<(), ReadFailure> {
        let since = *self
            .over_limit
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let Some(left) = since.and_then(|since| OVER_LIMIT.checked_sub(since.elapsed())) else {
            return Ok(());
        };
        let text = format!(
            "the address is over its limit of requests, and the venue takes one in {} s: nothing is sent for another {} ms",
            OVER_LIMIT.as_secs(),
            left.as_millis()
        );
        Err(ReadFailure::Refused(Reason::new("", &text)))
    }

    /// What an answer to an order says besides.
    fn heed(&self, submission: &Submission) {
        let Submission::Rejected(reject) = submission else {
            return;
        };
        if codes::assets_changed(&reject.reason.text) {
            self.doubt_universe();
        }
        if codes::over_limit(&reject.reason.text) {
            let mut since = self
                .over_limit
                .lock()
                .unwrap_or_else(PoisonError::into_inner);
            *since = Some(Instant::now());
        }
    }

    /// Sets a perpetual's leverage where that is configured and not done. The value is absolute, so it is safe to set again.
    async fn set_leverage(&self, asset: &Asset) -> Result<(), ReadFailure> {
        let mut open = self.leverage.lock().await;
        let action = match open.get(&asset.coin) {
            None => return Ok(()),
            Some(Leverage::Cross(times)) => UpdateLeverage::new(asset.id, true, *times),
            Some(Leverage::Isolated(times)) => UpdateLeverage::new(asset.id, false, *times),
        };
        if asset.market == Market::Spot {
            let text = format!("{} has no leverage", asset.coin);
            return Err(ReadFailure::Refused(Reason::new("", &text)));
        }
        outcome::done(&self.set(&action).await?)?;
        open.remove(&asset.coin);
        Ok(())
    }

    /// One round for one order. One that the venue has named is looked for by its ids first; one in doubt, or watched, in every list.
    async fn round(&self, order: &OrderRecord) -> Result<Lookup, ReadFailure> {
        let key = id::key(&order.id);
        let now = self.reader.clock().await?.now;
        let about = About {
            key: &key,
            order_ids: &order.order_ids,
            symbol: order.symbol(),
            // The clock may have been ahead when the row was made.
            since: order.created_at.min(now).before(SLACK),
        };
        let found = if may_land(order, now) {
            // No round counts yet: what can be found is looked for, and the lists are read when their silence says something.
            if !self.reader.early(&key).await? {
                let text = "neither open nor known by its id, and it may still land";
                return Err(ReadFailure::unreadable(text));
            }
            // A lookup by id shows the newest order under it only: the lists tell whether there is another.
            None
        } else if in_doubt(order) {
            None
        } else {
            self.glance(order, &about).await?
        };
        if let Some(Looked { rows, fills }) = found {
            let begun = self.reader.as_of(self.reader.ctx.clock.begun())?;
            return Ok(rows::lookup(&key, &rows, fills, begun, begun));
        }
        // Its silence may end the order, so the clock is heard anew: one that was set back would say that the fence has passed.
        self.reader.ask_time().await?;
        let begun = self.reader.as_of(self.reader.ctx.clock.begun())?;
        let Looked { rows, fills } = self.reader.full_round(&about).await?;
        let ended = self.reader.as_of(self.reader.ctx.clock.ended())?;
        Ok(rows::lookup(&key, &rows, fills, begun, ended))
    }

    /// A look at an order that the venue has named, with its fills where more is executed than was booked.
    async fn glance(
        &self,
        order: &OrderRecord,
        about: &About<'_>,
    ) -> Result<Option<Looked>, ReadFailure> {
        let Some(mut looked) = self.reader.glance(about).await? else {
            return Ok(None);
        };
        let booked = order.booked_qty;
        let more = |row: &OrderRow| row.cum_qty.is_none_or(|cum_qty| cum_qty > booked);
        if order.fills_owed() || looked.rows.iter().any(more) {
            match self.reader.fills_of(about, &looked.rows).await {
                Ok(of_order) => looked.fills = of_order.fills,
                // What the order has come to is known all the same; its fills stay owed.
                Err(ReadFailure::Unreadable(why)) => {
                    tracing::error!(id = %order.id, %why, "the fills of an order cannot be read");
                }
                Err(failure) => return Err(failure),
            }
        }
        Ok(Some(looked))
    }

    /// A noop with the nonce of the attempt. Only the signer's own nonces are remembered, so another key's say nothing.
    async fn revoke_once(&self, wire: &Wire) -> Result<Revocation, ReadFailure> {
        if wire.signer != self.signer.key.address() {
            return Ok(Revocation::Unsupported);
        }
        self.reader.ctx.rate.admit(RateClass::Cancel).await;
        let now = self.reader.clock_for_acts().await?.now;
        let body = self.signer.own_body(&Noop::NEW, wire.nonce, now);
        let body = body.map_err(|error| ReadFailure::unreadable(error.to_string()))?;
        Ok(outcome::revocation(&self.reader.exchange(body, None).await))
    }

    fn of_symbol(rows: &mut Vec<ExecReport>, symbol: Option<&Symbol>) {
        rows.retain(|row| symbol.is_none_or(|symbol| row.seen.symbol.as_ref() == Some(symbol)));
    }
}

/// Whether only every list together can tell: the venue has not named the order, does not show it, or must not have it.
fn in_doubt(order: &OrderRecord) -> bool {
    let doubt = match order.state {
        OrdState::Pending | OrdState::Submitted | OrdState::Unknown | OrdState::Reconciling => true,
        OrdState::Acked | OrdState::Partial => false,
        OrdState::Filled | OrdState::Canceled | OrdState::Rejected => order.watch.is_some(),
    };
    doubt || order.order_ids.is_empty()
}

/// Whether an attempt of an order that the venue has not named may still come to be one: its fence lies ahead, and its nonce is not
/// known to be used.
fn may_land(order: &OrderRecord, now: VenueTime) -> bool {
    let ahead = |attempt: &AttemptState| match (attempt.fence, attempt.revocation) {
        (_, RevocationState::Revoked | RevocationState::Used(_)) => false,
        (Fence::Clock(fence), RevocationState::None | RevocationState::Asked) => now < fence,
        (Fence::None | Fence::Height(_), RevocationState::None | RevocationState::Asked) => true,
    };
    order.order_ids.is_empty() && order.attempts.iter().any(ahead)
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
        let user = self.reader.user().await?;
        // Cancels need the numbers of assets also when nothing can be read any more.
        self.universe(None).await?;
        let (kind, network) = (self.profile.name.as_str(), self.network.as_str());
        Ok(AccountId::new(kind, network, &user.to_string()))
    }

    fn spelled_id(&self, key: &Key) -> Option<ClOrdId> {
        id::read(key.as_str())
    }

    async fn facts(&self, intent: &OrderIntent) -> Result<Facts, VenueError> {
        // An exit is tried all the same.
        if !intent.reduce_only {
            self.within_limit()?;
        }
        self.reader.user().await?;
        // The fence rests on the clock.
        self.reader.clock().await?;
        let universe = self.universe(Some(&intent.symbol)).await?;
        let asset = universe.get(&intent.symbol).cloned();
        // Neither for an exit, which a setting that is refused must not stop, nor for what cannot be traded anyway.
        if let Some(asset) = &asset
            && !intent.reduce_only
            && asset.tradable().is_ok()
        {
            self.set_leverage(asset).await?;
        }
        let mid = match (intent.ord_type, &asset) {
            (OrdType::Market, Some(_)) => {
                let mids = self.reader.read(&Read::Mids).await;
                Some(coins::mid(&mids, &intent.symbol)?)
            }
            (OrdType::Market, None) | (OrdType::Limit { .. }, _) => None,
        };
        Ok(Facts::new(Listed {
            symbol: intent.symbol.clone(),
            asset,
            mid,
        }))
    }

    fn prepare(
        &self,
        id: &ClOrdId,
        intent: &OrderIntent,
        ticket: &Ticket,
    ) -> Result<Attempt, PrepareError> {
        let user = self.reader.known_user();
        let user = user.ok_or_else(|| PrepareError::Invalid {
            what: "the account has not been read".into(),
        })?;
        prepare(id, intent, ticket, &self.signer, user)
    }

    async fn submit(&self, attempt: &Journaled<Attempt>, go: &Go) -> Submission {
        let Some(wire) = Wire::decode(attempt) else {
            return Submission::Unknown(UnknownCause::new("the attempt is not in our format"));
        };
        // What the venue remembers of a signer that was replaced may be gone, and then the bytes could land twice.
        if wire.signer != self.signer.key.address() {
            let why = format!("signed by {}, which is not in use any more", wire.signer);
            return Submission::NotSent(NotSent::Connect(why.into()));
        }
        let sent = self.reader.exchange(wire.body, Some(go)).await;
        let submission = outcome::submission(&sent, &wire.asked);
        self.heed(&submission);
        submission
    }

    async fn lookup(&self, order: &OrderRecord) -> Lookup {
        self.round(order)
            .await
            .unwrap_or_else(|failure| Lookup::Inconclusive(unknown(&failure)))
    }

    async fn revoke(&self, attempt: &Journaled<Attempt>) -> Revocation {
        let Some(wire) = Wire::decode(attempt) else {
            return Revocation::Unsupported;
        };
        self.revoke_once(&wire)
            .await
            .unwrap_or_else(|failure| Revocation::Inconclusive(unknown(&failure)))
    }

    async fn cancel(&self, order: &OrderRecord) -> CancelOutcome {
        outcome::canceled(self.cancel_each(&[order]).await)
    }

    async fn cancel_batch(&self, orders: &[OrderRecord]) -> Vec<CancelOutcome> {
        let all: Vec<&OrderRecord> = orders.iter().collect();
        self.cancel_each(&all).await
    }

    async fn cancel_all(&self, symbol: Option<&Symbol>) -> Result<CancelAllOutcome, VenueError> {
        Ok(self.cancel_listed(symbol).await?)
    }

    /// `modify` is a cancel and a new order that may half fail: never.
    async fn amend(&self, _: &Journaled<Amend>, _: &Go) -> AmendOutcome {
        AmendOutcome::Unsupported
    }

    async fn open_orders(
        &self,
        symbol: Option<&Symbol>,
    ) -> Result<Snapshot<ExecReport>, VenueError> {
        self.reader
            .snapshot(async {
                let mut open = rows::reports(&self.reader.open_orders().await?.found()?);
                Self::of_symbol(&mut open, symbol);
                Ok(open)
            })
            .await
    }

    async fn closed_since(
        &self,
        symbol: Option<&Symbol>,
        since: VenueTime,
    ) -> Result<Snapshot<ExecReport>, VenueError> {
        self.reader
            .snapshot(async {
                let (list, reaches) = self.reader.history(since).await?;
                let mut rows = list.found()?;
                if !reaches {
                    tracing::warn!(%since, "the list of closed orders does not reach back so far");
                }
                rows.retain(|row| row.changed_at >= since);
                let mut closed = rows::reports(&rows);
                closed.retain(|report| report.status.is_ended());
                Self::of_symbol(&mut closed, symbol);
                Ok(closed)
            })
            .await
    }

    async fn fills_since(
        &self,
        symbol: Option<&Symbol>,
        since: VenueTime,
    ) -> Result<Snapshot<(Handle, Fill)>, VenueError> {
        let handle = |row: FillRow| {
            let handle = Handle {
                key: row.key,
                order_id: Some(row.fill.order_id.clone()),
            };
            (handle, row.fill)
        };
        self.reader
            .snapshot(async {
                let to = self
                    .reader
                    .clock()
                    .await?
                    .now
                    .after(Duration::from_secs(60));
                let (fills, _) = self.reader.fills(since, to).await?;
                let ours = |row: &FillRow| symbol.is_none_or(|symbol| row.fill.symbol == *symbol);
                Ok(fills
                    .booked()?
                    .into_iter()
                    .filter(ours)
                    .map(handle)
                    .collect())
            })
            .await
    }

    async fn positions(&self) -> Result<Snapshot<Position>, VenueError> {
        self.reader
            .snapshot(async {
                let user = self.reader.user().await?;
                let mut all = Vec::new();
                for dex in std::iter::once(None).chain(self.reader.dexes.iter().cloned().map(Some))
                {
                    let sent = self.reader.read(&Read::Positions(user, dex)).await;
                    all.extend(coins::positions(&sent)?);
                }
                let sent = self.reader.read(&Read::Balances(user)).await;
                all.extend(coins::balances(&sent)?);
                Ok(all)
            })
            .await
    }

    async fn follow(&self) -> Result<BoxStream<'static, VenueEvent>, VenueError> {
        let Some(feed) = &self.feed else {
            return Err(VenueError::Unsupported("a stream"));
        };
        let user = self.reader.user().await?;
        feed.open(user, self.reader.clock().await?.now).await
    }

    async fn instruments(&self) -> Result<Vec<Instrument>, VenueError> {
        Ok(self.universe(None).await?.instruments())
    }

    async fn venue_time(&self) -> Result<VenueTime, VenueError> {
        Ok(self.reader.ask_time().await?)
    }
}
