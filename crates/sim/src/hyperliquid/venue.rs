//! The venue in front of the core: the gate, the settings, and the glue to the edge.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use hyper::{Method, header::CONTENT_TYPE};
use serde::Deserialize;
use serde_json::Value;
use tokio::sync::watch;

use super::{
    address::Address,
    chain::{Chain, Fact, agent_term, day},
    config::{StartError, Wallet},
    envelope::Envelope,
    exchange,
    ids::VenueIds,
    info::{self, Ask},
    nonces::NonceRule,
    reply::{self, Stop},
    session::{self, GREETING, SILENT_MS, Session},
    stream,
};
use crate::{
    core::{Core, Ended, Event, Fill, Happening, OrderNo, What},
    edge::{Fields, Heard, Op, Push, Reply, Request, Silence, Stage, Venue, Wrong},
};

/// What an address is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Relation {
    /// An account with a key.
    User,
    /// A sub-account of this user.
    Sub(String),
    /// A vault that this user leads.
    Vault(String),
}

/// What `/_sim/venue` sets.
#[derive(Debug, Clone, Copy)]
pub(super) struct Settings {
    drain_ms: u64,
    ack_ms: u64,
    /// Until then only post-only orders are taken.
    pub(super) gate_until_ms: u64,
    pub(super) gate_per_order: bool,
    nonce_margin_ms: u64,
    nonces_forgotten: bool,
    /// Whether an agent that is replaced leaves no nonces behind.
    pub(super) prunes: bool,
    pub(super) lookup_lag_ms: u64,
    /// So many of the next order actions come to nothing, and are answered as if they had not.
    vanish: u64,
    /// So many of the next answers to order actions name no order.
    no_status: u64,
    /// Weight of requests in a minute; zero is any.
    ip_weight: u64,
    /// Volume, in dollars, that a dead man's switch asks for.
    pub(super) schedule_volume: u64,
}

/// One simulated Hyperliquid.
#[derive(Debug)]
pub(super) struct Hyperliquid {
    stage: Stage,
    ids: VenueIds,
    relations: BTreeMap<String, Relation>,
    chain: Mutex<Chain>,
    weights: super::weights::Weights,
    settings: Mutex<Settings>,
    schedules: watch::Sender<u64>,
}

/// A request that the gate let through.
#[derive(Debug)]
pub(super) enum Passed {
    Exchange(Box<Envelope>, Option<Address>),
    Info(Box<Ask>),
}

impl Hyperliquid {
    pub(super) fn new(stage: Stage, seed: u64, wallets: &[Wallet]) -> Result<Self, StartError> {
        let relations = relations(wallets)?;
        let chain = Chain::replayed(stage.world().core());
        let settings = Settings {
            drain_ms: 0,
            ack_ms: 0,
            gate_until_ms: 0,
            gate_per_order: false,
            nonce_margin_ms: 120_000,
            nonces_forgotten: false,
            prunes: false,
            lookup_lag_ms: 0,
            vanish: 0,
            no_status: 0,
            ip_weight: 0,
            schedule_volume: 0,
        };
        let venue = Self {
            stage,
            ids: VenueIds { seed },
            relations,
            chain: Mutex::new(chain),
            weights: super::weights::Weights::default(),
            settings: Mutex::new(settings),
            schedules: watch::Sender::new(0),
        };
        for wallet in wallets {
            for (index, agent) in wallet.agents.iter().enumerate() {
                venue.approve(&wallet.address, agent, &format!("config {index}"))?;
            }
        }
        Ok(venue)
    }

    /// Approves an agent without a signature, if it is not yet.
    fn approve(&self, master: &str, agent: &str, name: &str) -> Result<(), StartError> {
        let wrong = |text: &str| StartError::Accounts {
            address: agent.to_owned(),
            text: text.to_owned(),
        };
        let address = Address::read(agent).ok_or_else(|| wrong("it is no address"))?;
        let (master, agent) = (master.to_ascii_lowercase(), address.to_string());
        if self.relations.contains_key(&agent) {
            return Err(wrong("it is an account"));
        }
        let mut chain = self.chain();
        let now_ms = self.now_ms();
        if chain.agent(&agent, now_ms).is_none() {
            let (name, until_ms) =
                agent_term(name, now_ms).ok_or_else(|| wrong("it cannot be named"))?;
            let fact = Fact::Approved {
                master,
                agent,
                name,
                until_ms,
            };
            if self.learn(&mut chain, &fact).is_err() {
                return Err(wrong("the journal cannot be written"));
            }
        }
        Ok(())
    }

    pub(super) const fn ids(&self) -> VenueIds {
        self.ids
    }

    pub(super) fn now_ms(&self) -> u64 {
        self.stage.clock.now_ms()
    }

    pub(super) fn relation(&self, address: &str) -> Option<&Relation> {
        self.relations.get(address)
    }

    /// The sub-accounts of a user.
    pub(super) fn subs_of<'a>(&'a self, user: &'a str) -> impl Iterator<Item = &'a String> {
        let of_user =
            move |relation: &Relation| matches!(relation, Relation::Sub(owner) if owner == user);
        self.relations
            .iter()
            .filter(move |(_, relation)| of_user(relation))
            .map(|(sub, _)| sub)
    }

    /// What is known besides orders. It is locked before the world, never after.
    pub(super) fn chain(&self) -> MutexGuard<'_, Chain> {
        self.chain.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn settings(&self) -> Settings {
        *self.settings.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether this order action vanishes.
    pub(super) fn vanishes(&self) -> bool {
        self.one_less(|settings| &mut settings.vanish)
    }

    /// Whether the answer to this order action names no order.
    pub(super) fn names_nothing(&self) -> bool {
        self.one_less(|settings| &mut settings.no_status)
    }

    fn one_less(&self, of: impl Fn(&mut Settings) -> &mut u64) -> bool {
        let mut settings = self.settings.lock().unwrap_or_else(PoisonError::into_inner);
        let left = of(&mut settings);
        let any = *left > 0;
        *left = left.saturating_sub(1);
        any
    }

    pub(super) fn nonce_rule(&self) -> NonceRule {
        let settings = self.settings();
        let (_, keep) = self.stage.world().core().rules();
        NonceRule {
            keep: usize::try_from(keep).unwrap_or(usize::MAX),
            margin_ms: settings.nonce_margin_ms,
            forgets: settings.nonces_forgotten,
        }
    }

    /// Gives the core a command, and says what happened.
    pub(super) fn act(&self, what: What) -> Result<Vec<Happening>, Stop> {
        match self.apply(what) {
            Ok(events) => Ok(events.into_iter().map(|event| event.what).collect()),
            Err(error) => {
                tracing::error!(%error, "journal failed");
                Err(Stop::Broken)
            }
        }
    }

    /// Journals a change, then makes it.
    pub(super) fn learn(&self, chain: &mut Chain, fact: &Fact) -> Result<(), Stop> {
        self.act(What::Note(fact.note()))?;
        chain.take(fact);
        Ok(())
    }

    /// Wakes up who waits for the next dead man's switch.
    pub(super) fn schedule_changed(&self) {
        self.schedules
            .send_modify(|count| *count = count.wrapping_add(1));
    }

    /// Cancels the orders of all accounts whose time has come.
    pub(super) fn fire_due(&self, chain: &mut Chain) -> Result<(), Stop> {
        let now_ms = self.now_ms();
        while let Some((account, _)) = chain.next_schedule().filter(|(_, time)| *time <= now_ms) {
            let open: Vec<OrderNo> = {
                let world = self.stage.world();
                let owner = world.core().accounts().get(&account);
                owner
                    .map(|owner| owner.open.iter().copied().collect())
                    .unwrap_or_default()
            };
            for order in open {
                drop(self.act(What::End {
                    order,
                    ended: Ended::Scheduled,
                })?);
            }
            self.learn(
                chain,
                &Fact::Fired {
                    account,
                    day: day(now_ms),
                },
            )?;
        }
        Ok(())
    }

    /// Fires dead man's switches when their time comes. Ends only when it is stopped, or the journal fails.
    pub(super) async fn keep_schedules(self: Arc<Self>) {
        let mut changed = self.schedules.subscribe();
        loop {
            let next = self.chain().next_schedule();
            let due = async {
                match next {
                    Some((_, time_ms)) => self.stage.clock.reach(time_ms).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                () = due => {
                    if self.fire_due(&mut self.chain()).is_err() {
                        return;
                    }
                }
                alive = changed.changed() => if alive.is_err() { return },
            }
        }
    }
}

/// Who is what. A sub-account and a vault belong to a user that is there.
fn relations(wallets: &[Wallet]) -> Result<BTreeMap<String, Relation>, StartError> {
    let mut relations = BTreeMap::new();
    for wallet in wallets {
        let wrong = |text: &str| StartError::Accounts {
            address: wallet.address.clone(),
            text: text.to_owned(),
        };
        let read = |text: &String| Address::read(text).map(|address| address.to_string());
        let address = read(&wallet.address).ok_or_else(|| wrong("it is no address"))?;
        let relation = match (&wallet.master, &wallet.leader) {
            (None, None) => Relation::User,
            (Some(owner), None) => {
                Relation::Sub(read(owner).ok_or_else(|| wrong("its master is no address"))?)
            }
            (None, Some(owner)) => {
                Relation::Vault(read(owner).ok_or_else(|| wrong("its leader is no address"))?)
            }
            (Some(_), Some(_)) => return Err(wrong("it has a master and a leader")),
        };
        if relations.insert(address, relation).is_some() {
            return Err(wrong("it is twice there"));
        }
    }
    for (address, relation) in &relations {
        let (Relation::Sub(owner) | Relation::Vault(owner)) = relation else {
            continue;
        };
        if relations.get(owner) != Some(&Relation::User) {
            return Err(StartError::Accounts {
                address: address.clone(),
                text: "its owner is no user".to_owned(),
            });
        }
    }
    Ok(relations)
}

/// As much of a body as tells what it asks for.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Outline {
    action: Named,
    #[serde(rename = "type")]
    kind: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Named {
    #[serde(rename = "type")]
    kind: String,
}

impl Venue for Hyperliquid {
    type Passed = Passed;
    type Session = Session;

    fn stage(&self) -> &Stage {
        &self.stage
    }

    fn open(&self, path: &str, _: &str) -> Option<Session> {
        (path == "/ws").then(Session::default)
    }

    fn greeting(&self, _: &Session) -> Option<String> {
        Some(GREETING.to_owned())
    }

    fn idle(&self, _: &Session) -> Silence {
        Silence::Venue(SILENT_MS)
    }

    fn hear(&self, session: &mut Session, text: &str) -> Heard {
        session.hear(self, text)
    }

    fn answer(&self, tag: &Value, reply: &Reply) -> String {
        session::answer(tag, reply)
    }

    fn pushes(&self, core: &Core, events: &[Event]) -> Vec<Push> {
        stream::pushes(self.ids, core, events)
    }

    fn push(&self, session: &Session, push: &Push) -> Option<String> {
        session.push(push)
    }

    fn op(&self, _: &Method, path: &str, _: &str, body: &[u8]) -> Op {
        let mut body = serde_json::Deserializer::from_slice(body);
        let outline = Outline::deserialize(&mut body).unwrap_or_default();
        match (path, outline.action.kind.as_str(), outline.kind.as_str()) {
            ("/exchange", "order", _) => Op::Create,
            // A noop makes sure that an order never lands: it cancels what is on its way.
            ("/exchange", "cancel" | "cancelByCloid" | "noop", _) => Op::Cancel,
            ("/exchange", "modify" | "batchModify", _) => Op::Amend,
            ("/info", _, "orderStatus" | "historicalOrders") => Op::Lookup,
            ("/info", _, "openOrders" | "frontendOpenOrders") => Op::OpenOrders,
            ("/info", _, "userFills" | "userFillsByTime") => Op::Fills,
            ("/info", _, "clearinghouseState" | "spotClearinghouseState") => Op::Positions,
            _ => Op::Other,
        }
    }

    fn barred(&self) -> Option<Reply> {
        None
    }

    fn throttled(&self, _: &Request) -> Reply {
        reply::null(429)
    }

    fn coded(&self, code: u32) -> Reply {
        match u16::try_from(code) {
            Ok(422) => reply::text(
                422,
                "Failed to deserialize the JSON body into the target type",
            ),
            Ok(status) if (400..600).contains(&status) => reply::null(status),
            Ok(_) | Err(_) => reply::null(500),
        }
    }

    fn gate(&self, request: &Request) -> Result<Passed, Reply> {
        if request.path != "/exchange" && request.path != "/info" {
            return Err(Reply::page(404));
        }
        if request.method != Method::POST {
            return Err(Reply::page(405));
        }
        let json = request.header(CONTENT_TYPE.as_str()).unwrap_or_default();
        if !json.starts_with("application/json") {
            return Err(reply::text(
                415,
                "Expected request with `Content-Type: application/json`",
            ));
        }
        let (passed, weight) = if request.path == "/info" {
            let ask = Ask::read(&request.body).map_err(|error| reply::unreadable(&error))?;
            let weight = ask.weight();
            (Passed::Info(Box::new(ask)), weight)
        } else {
            let envelope =
                Envelope::read(&request.body).map_err(|error| reply::unreadable(&error))?;
            let items = u64::try_from(envelope.action.items()).unwrap_or(u64::MAX);
            let signer = envelope.signer(false);
            (
                Passed::Exchange(Box::new(envelope), signer),
                (items / 40).saturating_add(1),
            )
        };
        if self
            .weights
            .spend(weight, self.settings().ip_weight, self.now_ms())
        {
            Ok(passed)
        } else {
            Err(reply::null(429))
        }
    }

    fn drain_ms(&self) -> u64 {
        self.settings().drain_ms
    }

    fn ack_ms(&self, request: &Request) -> u64 {
        if request.path == "/exchange" {
            self.settings().ack_ms
        } else {
            0
        }
    }

    fn engine(&self, passed: Passed) -> Reply {
        match passed {
            Passed::Exchange(envelope, signer) => {
                reply::acted(exchange::run(self, &envelope, signer))
            }
            Passed::Info(ask) => match info::answer(self, &ask) {
                Ok(value) => {
                    let rows = value
                        .as_array()
                        .filter(|_| ask.weighs_rows())
                        .map_or(0, Vec::len);
                    let weight = u64::try_from(rows / 20).unwrap_or(u64::MAX);
                    self.weights.add(weight, self.now_ms());
                    reply::json_reply(&value)
                }
                Err(info::Failed) => reply::null(500),
            },
        }
    }

    fn restarted(&self) {}

    fn set(&self, mut fields: Fields) -> Result<(), Wrong> {
        let mut next = self.settings();
        let now_ms = self.now_ms();
        let numbers: [(&str, &mut u64); 8] = [
            ("drain_ms", &mut next.drain_ms),
            ("ack_ms", &mut next.ack_ms),
            ("nonce_margin_ms", &mut next.nonce_margin_ms),
            ("lookup_lag_ms", &mut next.lookup_lag_ms),
            ("vanish", &mut next.vanish),
            ("no_status", &mut next.no_status),
            ("ip_weight", &mut next.ip_weight),
            ("schedule_volume", &mut next.schedule_volume),
        ];
        for (name, place) in numbers {
            if let Some(number) = fields.whole(name)? {
                *place = number;
            }
        }
        if let Some(ms) = fields.whole("upgrade_gate_ms")? {
            next.gate_until_ms = now_ms.saturating_add(ms);
        }
        let flags: [(&str, &mut bool); 3] = [
            ("upgrade_gate_per_order", &mut next.gate_per_order),
            ("forget_evicted_nonces", &mut next.nonces_forgotten),
            ("prune_nonces", &mut next.prunes),
        ];
        for (name, place) in flags {
            if let Some(value) = fields.value(name) {
                *place = value.as_bool().ok_or_else(|| Wrong::value(name, &value))?;
            }
        }
        let approve = fields.text("approve_agent")?;
        let master = fields.text("master")?;
        let revoke = fields.text("revoke_agent")?;
        fields.done()?;
        if let Some(agent) = approve {
            let master = master.ok_or_else(|| Wrong::missing("master"))?;
            if self.relation(&master.to_ascii_lowercase()) != Some(&Relation::User) {
                return Err(Wrong::value("master", &Value::from(master)));
            }
            self.approve(&master, &agent, "control")
                .map_err(|error| Wrong::new(error.to_string()))?;
        }
        if let Some(agent) = revoke {
            let mut chain = self.chain();
            let known = agent.to_ascii_lowercase();
            if chain.agent(&known, now_ms).is_none() {
                return Err(Wrong::value("revoke_agent", &Value::from(agent)));
            }
            let fact = Fact::Revoked {
                agent: known,
                forgotten: next.prunes,
            };
            self.learn(&mut chain, &fact)
                .map_err(|_| Wrong::new("the journal cannot be written"))?;
        }
        *self.settings.lock().unwrap_or_else(PoisonError::into_inner) = next;
        Ok(())
    }

    fn cl_ord_id(&self, wire_id: &str) -> Option<String> {
        wire_id
            .strip_prefix("0x")
            .filter(|digits| digits.len() == 32)
            .map(str::to_owned)
    }

    fn order_id(&self, _: &str, no: OrderNo) -> String {
        self.ids.oid(no).to_string()
    }

    /// Time and `tid`: the latter is a hash, and not alone the key of a fill.
    fn exec_id(&self, fill: &Fill) -> String {
        format!("{}-{}", fill.at_ms, self.ids.tid(fill.no))
    }
}
