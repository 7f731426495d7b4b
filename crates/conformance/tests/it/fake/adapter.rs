//! The venue's adapter: honest, as far as its claims are.

use std::sync::Arc;

use async_trait::async_trait;
use futures_util::stream::BoxStream;
use rust_decimal::Decimal;
use surefill_conformance::venue::{List, Op};
use surefill_core::*;

use super::edge::{Edge, Trouble};
use super::state::{Create, Held, Said};
use super::{PAGE, Traits, WINDOW};

/// The adapter as it is configured; without an edge nobody listens.
#[derive(Clone, Debug)]
pub(crate) struct Configured {
    pub(crate) edge: Option<Arc<Edge>>,
    pub(crate) account: &'static str,
    pub(crate) claims: Traits,
}

impl Connect for Configured {
    fn nonce_scope(&self) -> Option<NonceScope> {
        self.claims.profile().nonce_scope
    }

    fn profile(&self) -> VenueProfile {
        self.claims.profile()
    }

    fn connect(self: Box<Self>, ctx: VenueCtx) -> Result<Arc<dyn Venue>, VenueError> {
        let profile = self.claims.profile();
        Ok(Arc::new(Adapter {
            of: *self,
            profile,
            ctx,
        }))
    }
}

#[derive(Debug)]
struct Adapter {
    of: Configured,
    profile: VenueProfile,
    ctx: VenueCtx,
}

impl Adapter {
    fn edge(&self) -> Result<&Arc<Edge>, Trouble> {
        self.of.edge.as_ref().ok_or(Trouble::Connect)
    }

    /// One list of the account; each answer tells the time.
    async fn list(&self, op: Op, list: List) -> Result<Vec<Held>, Trouble> {
        let (account, mark) = (self.of.account, self.ctx.clock.mark());
        let asked = self.edge()?.ask(op, None, move |state, now| {
            (state.shown(account, list, now), now)
        });
        let (rows, now) = asked.await?;
        self.ctx.clock.observe(mark, now);
        Ok(rows)
    }

    async fn round(&self, ids: &[String]) -> Result<Vec<ExecReport>, Trouble> {
        let mut reports: Vec<ExecReport> = Vec::new();
        for list in [List::Open, List::Closed] {
            for held in self.list(Op::Lookup, list).await? {
                if ids.contains(&held.id) {
                    reports.push(held.report());
                }
            }
        }
        for held in self.list(Op::Fills, List::Fills).await? {
            if !ids.contains(&held.id) {
                continue;
            }
            let shown = reports
                .iter_mut()
                .find(|report| report.handle == held.handle());
            match shown {
                Some(report) => report.fills = held.fills,
                None => reports.push(ExecReport {
                    status: OrdStatus::NotShown,
                    cum_qty: None,
                    fills: held.fills.clone(),
                    ..held.report()
                }),
            }
        }
        Ok(reports)
    }

    fn snapshot<T>(&self, begun: AsOf, rows: Vec<T>) -> Snapshot<T> {
        let ended = self.ctx.clock.ended().unwrap();
        Snapshot { rows, begun, ended }
    }

    fn begun(&self) -> Result<AsOf, VenueError> {
        let unheard = || VenueError::Unreachable("the time is not known".into());
        self.ctx.clock.begun().ok_or_else(unheard)
    }
}

fn failed(trouble: Trouble) -> VenueError {
    VenueError::Unreachable(format!("{trouble:?}").into())
}

fn ids(order: &OrderRecord) -> Vec<String> {
    let keys = order.attempts.iter().flat_map(|attempt| &attempt.keys);
    keys.map(|key| key.as_str().to_owned()).collect()
}

fn wire(attempt: &Attempt) -> Create {
    serde_json::from_slice(&attempt.wire).unwrap()
}

#[async_trait]
impl Venue for Adapter {
    fn profile(&self) -> &VenueProfile {
        &self.profile
    }

    async fn account(&self) -> Result<AccountId, VenueError> {
        let asked = self.edge().map_err(failed)?.ask(Op::Other, None, |_, _| ());
        asked.await.map_err(failed)?;
        Ok(AccountId::new("fake", "test", self.of.account))
    }

    fn spelled_id(&self, key: &Key) -> Option<ClOrdId> {
        self.of.claims.tagged.then(|| key.as_str().parse().ok())?
    }

    async fn facts(&self, _: &OrderIntent) -> Result<Facts, VenueError> {
        Ok(Facts::new(()))
    }

    fn prepare(
        &self,
        id: &ClOrdId,
        intent: &OrderIntent,
        ticket: &Ticket,
    ) -> Result<Attempt, PrepareError> {
        let (Amount::Base(qty), Some(price)) = (intent.amount, intent.ord_type.price()) else {
            return Err(PrepareError::Unsupported {
                what: "that".into(),
            });
        };
        let (value, step) = (price.value(), Decimal::ONE);
        if value % step != Decimal::ZERO {
            return Err(PrepareError::OffStep {
                what: "price",
                value,
                step,
                below: value.floor(),
                above: value.ceil(),
            });
        }
        let fence = ticket.now.after(WINDOW);
        let create = Create {
            id: id.to_string(),
            nonce: ticket.nonce.unwrap_or(0),
            fence_ms: fence.as_ms(),
            qty: qty.value(),
            price: value,
        };
        Ok(Attempt {
            no: ticket.no,
            format: "fake.1".into(),
            wire: serde_json::to_vec(&create).unwrap(),
            keys: vec![Key::from(id.to_string())],
            fence: if self.of.claims.fence {
                Fence::Clock(fence)
            } else {
                Fence::None
            },
            replayable: self.of.claims.remembers,
            revocable: self.of.claims.remembers,
            rebuildable: true,
        })
    }

    async fn submit(&self, attempt: &Journaled<Attempt>, go: &Go) -> Submission {
        if let Err(why) = go.check() {
            return Submission::NotSent(NotSent::HeldBack(why));
        }
        let create = wire(attempt);
        let body = String::from_utf8(attempt.wire.clone()).unwrap();
        let Ok(edge) = self.edge() else {
            return Submission::NotSent(NotSent::Connect("nobody listens".into()));
        };
        let account = self.of.account;
        let asked = edge.ask(Op::Create, Some(&body), move |state, now| {
            state.create(account, &create, now)
        });
        match asked.await {
            Ok(Said::Taken(order_id)) => Submission::Acked(ExecReport::ack(
                attempt.keys[0].clone(),
                OrderId::from(order_id),
            )),
            Ok(Said::SameId) => Submission::Duplicate(DuplicateOf::Id),
            Ok(Said::SameBytes) => Submission::Duplicate(DuplicateOf::Bytes),
            Ok(Said::NoMoney) => Submission::Rejected(Reject {
                reason: Reason::new(7, "no money"),
                halts_account: false,
                leaves_bytes: false,
            }),
            Ok(Said::TooLate) => Submission::NotTaken {
                cause: Reason::new(8, "too late"),
                retry_after: None,
            },
            Err(Trouble::Throttled) => Submission::NotTaken {
                cause: Reason::new(9, "too often"),
                retry_after: None,
            },
            Err(Trouble::Connect) => Submission::NotSent(NotSent::Connect("refused".into())),
            Err(Trouble::Lost(why)) => Submission::Unknown(UnknownCause::new(why)),
        }
    }

    async fn lookup(&self, order: &OrderRecord) -> Lookup {
        let Some(begun) = self.ctx.clock.begun() else {
            return Lookup::Inconclusive(UnknownCause::new("the time is not known"));
        };
        match self.round(&ids(order)).await {
            Err(trouble) => Lookup::Inconclusive(UnknownCause::new(format!("{trouble:?}"))),
            Ok(reports) if reports.is_empty() => Lookup::Absent {
                begun,
                ended: self.ctx.clock.ended().unwrap(),
            },
            Ok(reports) => Lookup::Found(reports),
        }
    }

    async fn revoke(&self, attempt: &Journaled<Attempt>) -> Revocation {
        if !attempt.revocable {
            return Revocation::Unsupported;
        }
        let nonce = wire(attempt).nonce;
        let Ok(edge) = self.edge() else {
            return Revocation::Inconclusive(UnknownCause::new("nobody listens"));
        };
        let asked = edge.ask(Op::Cancel, None, move |state, _| state.used.insert(nonce));
        match asked.await {
            Ok(true) => Revocation::Revoked,
            Ok(false) => Revocation::Used,
            Err(trouble) => Revocation::Inconclusive(UnknownCause::new(format!("{trouble:?}"))),
        }
    }

    async fn cancel(&self, order: &OrderRecord) -> CancelOutcome {
        let (account, ids) = (self.of.account, ids(order));
        let Ok(edge) = self.edge() else {
            return CancelOutcome::Unknown(UnknownCause::new("nobody listens"));
        };
        let asked = edge.ask(Op::Cancel, None, move |state, now| {
            state.cancel(account, &ids, now)
        });
        match asked.await {
            Ok(Some(held)) => match self.profile.cancel {
                CancelRule::Receipt => CancelOutcome::Taken,
                CancelRule::Final => CancelOutcome::Canceled(held.report()),
            },
            Ok(None) => CancelOutcome::NotOpen,
            Err(trouble) => CancelOutcome::Unknown(UnknownCause::new(format!("{trouble:?}"))),
        }
    }

    async fn cancel_batch(&self, orders: &[OrderRecord]) -> Vec<CancelOutcome> {
        let mut outcomes = Vec::new();
        for order in orders {
            outcomes.push(self.cancel(order).await);
        }
        outcomes
    }

    async fn cancel_all(&self, _: Option<&Symbol>) -> Result<CancelAllOutcome, VenueError> {
        Err(VenueError::Unsupported("cancel-all"))
    }

    async fn amend(&self, _: &Journaled<Amend>, _: &Go) -> AmendOutcome {
        AmendOutcome::Unsupported
    }

    async fn open_orders(&self, _: Option<&Symbol>) -> Result<Snapshot<ExecReport>, VenueError> {
        let begun = self.begun()?;
        let mut rows = Vec::new();
        loop {
            // A page after the other, each a request.
            let page = self
                .list(Op::OpenOrders, List::Open)
                .await
                .map_err(failed)?;
            let page: Vec<_> = page.into_iter().skip(rows.len()).take(PAGE).collect();
            let last = page.len() < PAGE;
            rows.extend(page.iter().map(Held::report));
            if last {
                return Ok(self.snapshot(begun, rows));
            }
        }
    }

    async fn closed_since(
        &self,
        _: Option<&Symbol>,
        since: VenueTime,
    ) -> Result<Snapshot<ExecReport>, VenueError> {
        let begun = self.begun()?;
        let mut rows = self.list(Op::Lookup, List::Closed).await.map_err(failed)?;
        rows.retain(|held| held.changed >= since);
        Ok(self.snapshot(begun, rows.iter().map(Held::report).collect()))
    }

    async fn fills_since(
        &self,
        _: Option<&Symbol>,
        since: VenueTime,
    ) -> Result<Snapshot<(Handle, Fill)>, VenueError> {
        let begun = self.begun()?;
        let rows = self.list(Op::Fills, List::Fills).await.map_err(failed)?;
        let fills = rows.iter().flat_map(|held| {
            let of = held.fills.iter().filter(|fill| fill.transact_time >= since);
            of.map(|fill| (held.handle(), fill.clone()))
        });
        Ok(self.snapshot(begun, fills.collect()))
    }

    async fn positions(&self) -> Result<Snapshot<Position>, VenueError> {
        Err(VenueError::Unsupported("positions"))
    }

    async fn follow(&self) -> Result<BoxStream<'static, VenueEvent>, VenueError> {
        Err(VenueError::Unsupported("a stream"))
    }

    async fn instruments(&self) -> Result<Vec<Instrument>, VenueError> {
        let asked = self.edge().map_err(failed)?.ask(Op::Other, None, |_, _| ());
        asked.await.map_err(failed)?;
        let qty = |text: &str| text.parse().unwrap();
        Ok(vec![Instrument {
            symbol: Symbol::from("COIN"),
            tick: Decimal::ONE,
            qty_step: "0.1".parse().unwrap(),
            min_qty: qty("0.1"),
            min_notional: Decimal::ZERO,
            max_limit_qty: qty("10000"),
            max_market_qty: qty("10000"),
        }])
    }

    async fn venue_time(&self) -> Result<VenueTime, VenueError> {
        let mark = self.ctx.clock.mark();
        let asked = self
            .edge()
            .map_err(failed)?
            .ask(Op::Other, None, |_, now| now);
        let now = asked.await.map_err(failed)?;
        self.ctx.clock.observe(mark, now);
        Ok(now)
    }
}
