//! The venue in front of the core: who may log in, what is barred, and which function answers.

use std::{
    collections::BTreeMap,
    sync::atomic::{AtomicU64, Ordering},
};

use hyper::Method;

use super::{
    config::{Login, StartError},
    gate::{self, Job, Passed},
    ids::{self, VenueIds},
    lookup, orders,
    rate::{Rate, Rates},
    reply::{Code, failed, ok},
    route::{self, Endpoint},
};
use crate::{
    core::OrderNo,
    edge::{Fields, Op, Reply, Request, Stage, Venue, Wrong},
};

/// One simulated Bybit.
#[derive(Debug)]
pub(super) struct Bybit {
    stage: Stage,
    ids: VenueIds,
    logins: BTreeMap<String, Login>,
    rates: Rates,
    banned_until_ms: AtomicU64,
    drain_ms: AtomicU64,
    /// Closed orders up to this event are gone from the recent list.
    wiped_seq: AtomicU64,
}

impl Bybit {
    pub(super) fn new(stage: Stage, seed: u64, logins: Vec<Login>) -> Result<Self, StartError> {
        let mut by_key = BTreeMap::new();
        for login in logins {
            let (uid, key) = (login.uid.clone(), login.api_key.clone());
            if uid.parse::<u64>().is_err() {
                return Err(StartError::Accounts {
                    uid,
                    text: "a UID is a number".to_owned(),
                });
            }
            if by_key.insert(key, login).is_some() {
                return Err(StartError::Accounts {
                    uid,
                    text: "its key is twice there".to_owned(),
                });
            }
        }
        let wiped_seq = AtomicU64::new(stage.world().core().seq());
        Ok(Self {
            stage,
            ids: VenueIds { seed },
            logins: by_key,
            rates: Rates::default(),
            banned_until_ms: AtomicU64::new(0),
            drain_ms: AtomicU64::new(0),
            wiped_seq,
        })
    }

    pub(super) const fn ids(&self) -> VenueIds {
        self.ids
    }

    pub(super) fn login(&self, api_key: &str) -> Option<&Login> {
        self.logins.get(api_key)
    }

    pub(super) fn wiped_seq(&self) -> u64 {
        self.wiped_seq.load(Ordering::Relaxed)
    }

    pub(super) fn count(&self, login: &Login, endpoint: Endpoint, now_ms: u64) -> Rate {
        let limit = if endpoint.is_order() {
            login.orders_per_s
        } else {
            login.reads_per_s
        };
        self.rates.count(&login.uid, endpoint, limit, now_ms)
    }
}

impl Venue for Bybit {
    type Passed = Passed;

    fn stage(&self) -> &Stage {
        &self.stage
    }

    fn op(&self, method: &Method, path: &str, query: &str) -> Op {
        route::op(method, path, query)
    }

    fn barred(&self) -> Option<Reply> {
        let now_ms = self.stage.clock.now_ms();
        let barred = now_ms < self.banned_until_ms.load(Ordering::Relaxed);
        barred.then(|| failed(403, now_ms, &Code::new(403, "access too frequent")))
    }

    fn throttled(&self, request: &Request) -> Reply {
        let now_ms = self.stage.clock.now_ms();
        let login = request
            .header("x-bapi-api-key")
            .and_then(|key| self.login(key));
        let order = Endpoint::find(&request.method, &request.path).is_some_and(Endpoint::is_order);
        let limit = login.map_or(0, |login| {
            if order {
                login.orders_per_s
            } else {
                login.reads_per_s
            }
        });
        let rate = Rate {
            allowed: false,
            limit,
            left: 0,
            reset_ms: now_ms.saturating_add(1_000),
        };
        let mut reply = failed(200, now_ms, &Code::rate());
        reply.headers = rate.headers();
        reply
    }

    fn gate(&self, request: &Request) -> Result<Passed, Reply> {
        gate::check(self, request)
    }

    fn drain_ms(&self) -> u64 {
        self.drain_ms.load(Ordering::Relaxed)
    }

    fn engine(&self, passed: Passed) -> Reply {
        let Passed {
            job,
            endpoint,
            login,
            rate,
            request,
        } = passed;
        let uid = login.as_ref().map_or("", |login| login.uid.as_str());
        let result = match job {
            Job::Create(new) => orders::create(self, *new),
            Job::Amend(amend) => orders::amend(self, uid, &amend),
            Job::Cancel(target) => orders::cancel(self, uid, &target),
            Job::CancelAll(scope) => orders::cancel_all(self, uid, &scope),
            Job::Read => lookup::read(self, endpoint, login.as_ref(), &request),
        };
        let now_ms = self.stage.clock.now_ms();
        let mut reply = match result {
            Ok(value) => ok(now_ms, &value),
            Err(code) => failed(200, now_ms, &code),
        };
        reply.headers = rate.map(Rate::headers).unwrap_or_default();
        reply
    }

    fn restarted(&self) {
        self.wiped_seq
            .store(self.stage.world().core().seq(), Ordering::Relaxed);
    }

    fn set(&self, mut fields: Fields) -> Result<(), Wrong> {
        let (ban_ms, drain_ms) = (fields.whole("ban_ms")?, fields.whole("drain_ms")?);
        fields.done()?;
        if let Some(ban_ms) = ban_ms {
            self.banned_until_ms.store(
                self.stage.clock.now_ms().saturating_add(ban_ms),
                Ordering::Relaxed,
            );
        }
        if let Some(drain_ms) = drain_ms {
            self.drain_ms.store(drain_ms, Ordering::Relaxed);
        }
        Ok(())
    }

    fn cl_ord_id(&self, wire_id: &str) -> Option<String> {
        ids::cl_ord_id(wire_id)
    }

    fn order_id(&self, no: OrderNo) -> String {
        self.ids.order(no)
    }

    fn exec_id(&self, no: u64) -> String {
        self.ids.exec(no)
    }
}
