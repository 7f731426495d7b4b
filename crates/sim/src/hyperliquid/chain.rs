//! What the venue knows besides orders: nonces, agents, leverage, dead man's switches, spent requests. Each change is a
//! note in the core, so that a replay finds it again.

use std::collections::BTreeMap;

use rust_decimal::Decimal;
use serde::{Deserialize, Serialize};

use super::nonces::{NonceRule, Nonces};
use crate::core::{Core, Note};

const TOPIC: &str = "hyperliquid";
const DAY_MS: u64 = 86_400_000;
/// How long an agent without a term of its own lives.
const AGENT_MS: u64 = 90 * DAY_MS;
const MOST_AGENT_MS: u64 = 180 * DAY_MS;
/// The end of an agent's term was seen not to be enforced for so long.
const GRACE_MS: u64 = 15 * 60_000;
/// Requests of an address before it has traded.
const FIRST_REQUESTS: u64 = 10_000;
/// Over the cap, one request may pass in this time.
const TRICKLE_MS: u64 = 10_000;
/// Most firings of a dead man's switch in a day.
pub(super) const MOST_FIRINGS: u32 = 10;

/// One change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Fact {
    /// An action was admitted.
    Admitted {
        signer: String,
        account: String,
        nonce: u64,
        at_ms: u64,
        cost: u64,
    },
    /// A master approved an agent, under a name or without one.
    Approved {
        master: String,
        agent: String,
        name: String,
        until_ms: u64,
    },
    /// An agent may no longer sign; `forgotten` if its nonces are forgotten too.
    Revoked { agent: String, forgotten: bool },
    /// An account set its leverage.
    Leverage {
        account: String,
        instrument: String,
        cross: bool,
        value: u32,
    },
    /// An account set, or took back, the time at which its orders are canceled.
    Schedule {
        account: String,
        time_ms: Option<u64>,
    },
    /// That time came.
    Fired { account: String, day: u64 },
}

impl Fact {
    /// The core's note of it.
    pub(super) fn note(&self) -> Note {
        Note {
            topic: TOPIC.to_owned(),
            // Types of ours serialize; should one not, the next start misses it and says so.
            text: serde_json::to_string(self).unwrap_or_default(),
        }
    }
}

/// An approved agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Agent {
    pub(super) master: String,
    /// Empty for the unnamed one.
    pub(super) name: String,
    pub(super) until_ms: u64,
}

/// Leverage of one account in one market.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Leverage {
    pub(super) cross: bool,
    pub(super) value: u32,
}

/// What has been spent by one address.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Spent {
    pub(super) requests: u64,
    last_ms: u64,
}

/// All of it.
#[derive(Debug, Default)]
pub(super) struct Chain {
    nonces: BTreeMap<String, Nonces>,
    agents: BTreeMap<String, Agent>,
    leverage: BTreeMap<(String, String), Leverage>,
    schedules: BTreeMap<String, u64>,
    firings: BTreeMap<String, (u64, u32)>,
    spent: BTreeMap<String, Spent>,
    volume: BTreeMap<String, Decimal>,
    /// Fills that `volume` knows of.
    counted: usize,
}

impl Chain {
    /// What the notes of a core say.
    pub(super) fn replayed(core: &Core) -> Self {
        let mut chain = Self::default();
        for note in core.notes().iter().filter(|note| note.topic == TOPIC) {
            match serde_json::from_str(&note.text) {
                Ok(fact) => chain.take(&fact),
                Err(error) => tracing::error!(%error, "a note cannot be read"),
            }
        }
        chain
    }

    /// One change happened.
    pub(super) fn take(&mut self, fact: &Fact) {
        match fact.clone() {
            Fact::Admitted {
                signer,
                account,
                nonce,
                at_ms,
                cost,
            } => {
                self.nonces.entry(signer).or_default().admit(nonce, at_ms);
                let spent = self.spent.entry(account).or_default();
                spent.requests = spent.requests.saturating_add(cost);
                if cost > 0 {
                    spent.last_ms = at_ms;
                }
            }
            Fact::Approved {
                master,
                agent,
                name,
                until_ms,
            } => {
                self.agents.insert(
                    agent,
                    Agent {
                        master,
                        name,
                        until_ms,
                    },
                );
            }
            Fact::Revoked { agent, forgotten } => {
                self.agents.remove(&agent);
                if forgotten {
                    self.nonces.remove(&agent);
                }
            }
            Fact::Leverage {
                account,
                instrument,
                cross,
                value,
            } => {
                self.leverage
                    .insert((account, instrument), Leverage { cross, value });
            }
            Fact::Schedule {
                account,
                time_ms: Some(time_ms),
            } => {
                self.schedules.insert(account, time_ms);
            }
            Fact::Schedule {
                account,
                time_ms: None,
            } => {
                self.schedules.remove(&account);
            }
            Fact::Fired { account, day } => {
                self.schedules.remove(&account);
                let count = self.firings(&account, day).saturating_add(1);
                self.firings.insert(account, (day, count));
            }
        }
    }

    /// Why a nonce of this signer is not admitted.
    pub(super) fn nonce_refusal(
        &self,
        signer: &str,
        nonce: u64,
        now_ms: u64,
        rule: NonceRule,
    ) -> Option<String> {
        let none = Nonces::default();
        self.nonces
            .get(signer)
            .unwrap_or(&none)
            .refusal(nonce, now_ms, rule)
    }

    /// The agent with this address, if it may sign.
    pub(super) fn agent(&self, address: &str, now_ms: u64) -> Option<&Agent> {
        let alive = |agent: &&Agent| now_ms <= agent.until_ms.saturating_add(GRACE_MS);
        self.agents.get(address).filter(alive)
    }

    /// The agents of a master, by address.
    pub(super) fn agents_of<'a>(
        &'a self,
        master: &'a str,
    ) -> impl Iterator<Item = (&'a String, &'a Agent)> {
        self.agents
            .iter()
            .filter(move |(_, agent)| agent.master == master)
    }

    /// The leverage of an account in a market.
    pub(super) fn leverage(&self, account: &str, instrument: &str) -> Leverage {
        let set = self
            .leverage
            .get(&(account.to_owned(), instrument.to_owned()));
        set.copied().unwrap_or(Leverage {
            cross: true,
            value: super::markets::LEVERAGE,
        })
    }

    /// The first time at which orders are to be canceled, and whose.
    pub(super) fn next_schedule(&self) -> Option<(String, u64)> {
        let next = self.schedules.iter().min_by_key(|(_, time)| **time);
        next.map(|(account, time)| (account.clone(), *time))
    }

    /// How often an account's switch fired on this day.
    pub(super) fn firings(&self, account: &str, day: u64) -> u32 {
        let fired = self.firings.get(account).filter(|(other, _)| *other == day);
        fired.map_or(0, |(_, count)| *count)
    }

    /// What an address has traded, in USDC.
    pub(super) fn volume(&mut self, core: &Core, account: &str) -> Decimal {
        for fill in core.fills().get(self.counted..).unwrap_or_default() {
            let volume = self.volume.entry(fill.account.clone()).or_default();
            *volume = volume.saturating_add(fill.qty.saturating_mul(fill.price));
        }
        self.counted = core.fills().len();
        self.volume.get(account).copied().unwrap_or_default()
    }

    /// Requests that an address has spent.
    pub(super) fn spent(&self, account: &str) -> Spent {
        self.spent.get(account).copied().unwrap_or_default()
    }
}

impl Spent {
    /// Whether one more action is over the cap of an address. Cancels have a cap of their own.
    pub(super) const fn over(self, volume: u64, cancels: bool, now_ms: u64) -> bool {
        let cap = cap(volume);
        let cap = if cancels {
            let (more, twice) = (cap.saturating_add(100_000), cap.saturating_mul(2));
            if more < twice { more } else { twice }
        } else {
            cap
        };
        self.requests >= cap && now_ms < self.last_ms.saturating_add(TRICKLE_MS)
    }
}

/// Requests that an address with this volume may send.
pub(super) const fn cap(volume: u64) -> u64 {
    FIRST_REQUESTS.saturating_add(volume)
}

/// The day of a time.
pub(super) const fn day(now_ms: u64) -> u64 {
    now_ms / DAY_MS
}

/// Name and end of an agent, from the name that was signed; none if it is no name.
pub(super) fn agent_term(signed: &str, now_ms: u64) -> Option<(String, u64)> {
    let (name, until_ms) = match signed.split_once(" valid_until ") {
        None => (signed, now_ms.saturating_add(AGENT_MS)),
        Some((name, until)) => (name, until.parse().ok()?),
    };
    let fits =
        name.len() <= 16 && until_ms > now_ms && until_ms <= now_ms.saturating_add(MOST_AGENT_MS);
    fits.then(|| (name.to_owned(), until_ms))
}
