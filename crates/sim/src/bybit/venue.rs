//! The venue in front of the core: who may log in, what is barred, and which function answers.

use std::{
    collections::BTreeMap,
    sync::atomic::{AtomicU32, AtomicU64, Ordering},
};

use hyper::Method;
use serde_json::Value;

use super::{
    batch,
    config::{Login, StartError},
    gate::{self, Job, Passed},
    ids::{self, VenueIds},
    lookup, orders,
    rate::{Rate, Rates},
    reply::{Code, Done, failed, ok},
    route::{self, Endpoint},
    session::{self, Session},
    stream,
};
use crate::{
    core::{Core, Event, Fill, OrderNo, Refusal},
    edge::{Fields, Heard, Op, Push, Reply, Request, Silence, Stage, Venue, Wrong},
};

/// How long an address stays out that asked too often.
const BAN_MS: u64 = 600_000;

/// One simulated Bybit.
#[derive(Debug)]
pub(super) struct Bybit {
    stage: Stage,
    ids: VenueIds,
    logins: BTreeMap<String, Login>,
    rates: Rates,
    banned_until_ms: AtomicU64,
    drain_ms: AtomicU64,
    ack_ms: AtomicU64,
    /// Requests of one address in five seconds; 0 is any number.
    ip_limit: AtomicU32,
    /// Answers of the trade socket that are to come without a `reqId`.
    nameless: AtomicU64,
    /// Cancels and amends of ended orders that are to be acked as if they had lost a race.
    lost_races: AtomicU64,
    /// What a used id is answered with on spot.
    spot_duplicate: AtomicU32,
    /// Sockets and socket answers so far.
    numbers: AtomicU64,
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
            ack_ms: AtomicU64::new(0),
            ip_limit: AtomicU32::new(0),
            nameless: AtomicU64::new(0),
            lost_races: AtomicU64::new(0),
            spot_duplicate: AtomicU32::new(170_141),
            numbers: AtomicU64::new(0),
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

    /// Whether this cancel or amend of an ended order is acked all the same.
    pub(super) fn loses_race(&self) -> bool {
        let take = |left: u64| left.checked_sub(1);
        self.lost_races
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, take)
            .is_ok()
    }

    /// What the engine's refusal is called in a category.
    pub(super) fn refused(&self, category: &str, refusal: Refusal) -> Code {
        match (category, refusal) {
            ("spot", Refusal::Duplicate) => match self.spot_duplicate.load(Ordering::Relaxed) {
                170_141 => Code::spot(refusal),
                _ => Code::refusal(refusal),
            },
            ("spot", _) => Code::spot(refusal),
            _ => Code::refusal(refusal),
        }
    }

    pub(super) fn now_ms(&self) -> u64 {
        self.stage.clock.now_ms()
    }

    /// Counts as many of `asked` orders or reads as the account may send now.
    pub(super) fn count(
        &self,
        login: &Login,
        class: (Endpoint, bool),
        asked: usize,
        now_ms: u64,
    ) -> (usize, Rate) {
        let asked = u32::try_from(asked).unwrap_or(u32::MAX);
        let limit = limit(login, class);
        let (granted, rate) = self.rates.count(&login.uid, class, limit, asked, now_ms);
        (usize::try_from(granted).unwrap_or(usize::MAX), rate)
    }
}

/// Requests in a rolling second: of the notes' table, a spot order may be sent twice as often as another one, but not
/// amended.
fn limit(login: &Login, (endpoint, spot): (Endpoint, bool)) -> u32 {
    match (endpoint.is_order(), spot, endpoint) {
        (false, _, _) => login.reads_per_s,
        (true, false, _) | (true, true, Endpoint::Amend) => login.orders_per_s,
        (true, true, _) => login.orders_per_s.saturating_mul(2),
    }
}

impl Venue for Bybit {
    type Passed = Passed;
    type Session = Session;

    fn stage(&self) -> &Stage {
        &self.stage
    }

    fn open(&self, path: &str, query: &str) -> Option<Session> {
        let no = self.numbers.fetch_add(1, Ordering::Relaxed);
        Session::open(path, query, self.ids.connection(no))
    }

    fn greeting(&self, _: &Session) -> Option<String> {
        None
    }

    fn idle(&self, session: &Session) -> Silence {
        Silence::Client(session.idle_ms)
    }

    fn hear(&self, session: &mut Session, text: &str) -> Heard {
        session.hear(self, text)
    }

    fn answer(&self, tag: &Value, reply: &Reply) -> String {
        let take = |left: u64| left.checked_sub(1);
        if self
            .nameless
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, take)
            .is_ok()
        {
            return session::nameless(tag);
        }
        let trace = self.numbers.fetch_add(1, Ordering::Relaxed);
        session::answer(tag, reply, trace, self.now_ms())
    }

    fn pushes(&self, core: &Core, events: &[Event]) -> Vec<Push> {
        stream::pushes(self.ids, core, events)
    }

    fn push(&self, session: &Session, push: &Push) -> Option<String> {
        session.push(push)
    }

    fn coded(&self, code: u32) -> Reply {
        failed(200, self.now_ms(), &Code::named(code))
    }

    fn op(&self, method: &Method, path: &str, query: &str, _: &[u8]) -> Op {
        route::op(method, path, query)
    }

    fn barred(&self) -> Option<Reply> {
        let now_ms = self.stage.clock.now_ms();
        let limit = self.ip_limit.load(Ordering::Relaxed);
        if limit > 0 && !self.rates.count_address(limit, now_ms) {
            let until = now_ms.saturating_add(BAN_MS);
            self.banned_until_ms.fetch_max(until, Ordering::Relaxed);
        }
        let barred = now_ms < self.banned_until_ms.load(Ordering::Relaxed);
        barred.then(|| failed(403, now_ms, &Code::new(403, "access too frequent")))
    }

    fn throttled(&self, request: &Request) -> Reply {
        let now_ms = self.stage.clock.now_ms();
        let login = request
            .known
            .as_deref()
            .or_else(|| request.header("x-bapi-api-key"))
            .and_then(|key| self.login(key));
        let endpoint = Endpoint::find(&request.method, &request.path);
        let limit = match (login, endpoint) {
            (Some(login), Some(endpoint)) => limit(login, (endpoint, false)),
            _ => 0,
        };
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

    fn ack_ms(&self, request: &Request) -> u64 {
        let order = Endpoint::find(&request.method, &request.path).is_some_and(Endpoint::is_order);
        if order {
            self.ack_ms.load(Ordering::Relaxed)
        } else {
            0
        }
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
            Job::Create(new) => orders::create(self, *new).map(Done::from),
            Job::Amend(amend) => orders::amend(self, uid, &amend).map(Done::from),
            Job::Cancel(target) => orders::cancel(self, uid, &target).map(Done::from),
            Job::CancelAll(scope) => orders::cancel_all(self, uid, &scope).map(Done::from),
            Job::Batch(items) => Ok(batch::run(self, uid, endpoint, items)),
            Job::Read => lookup::read(self, endpoint, login.as_ref(), &request).map(Done::from),
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
        let ack_ms = fields.whole("ack_ms")?;
        let ip_limit = match fields.whole("ip_limit")? {
            None => None,
            Some(count) => Some(
                u32::try_from(count).map_err(|_| Wrong::value("ip_limit", &Value::from(count)))?,
            ),
        };
        let spot_duplicate = match fields.whole("spot_duplicate")? {
            None => None,
            Some(170_141) => Some(170_141),
            Some(110_072) => Some(110_072),
            Some(other) => return Err(Wrong::value("spot_duplicate", &Value::from(other))),
        };
        let lost_races = fields.whole("lost_races")?;
        let nameless = fields.whole("socket_error_without_reqid")?;
        fields.done()?;
        if let Some(lost_races) = lost_races {
            self.lost_races.store(lost_races, Ordering::Relaxed);
        }
        if let Some(ip_limit) = ip_limit {
            self.ip_limit.store(ip_limit, Ordering::Relaxed);
        }
        if let Some(code) = spot_duplicate {
            self.spot_duplicate.store(code, Ordering::Relaxed);
        }
        if let Some(ack_ms) = ack_ms {
            self.ack_ms.store(ack_ms, Ordering::Relaxed);
        }
        if let Some(nameless) = nameless {
            self.nameless.store(nameless, Ordering::Relaxed);
        }
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

    fn order_id(&self, instrument: &str, no: OrderNo) -> String {
        self.ids.order(instrument, no)
    }

    fn exec_id(&self, fill: &Fill) -> String {
        self.ids.exec(fill.no)
    }
}
