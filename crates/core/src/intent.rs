//! What a strategy wants: a decision and its terms.

use std::time::Duration;

use blake2::{Blake2s256, Digest};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::{Alias, Px, Qty, Strategy, Symbol, VenueTime};

/// The side of an order (FIX 54).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Side {
    /// Buy.
    Buy,
    /// Sell.
    Sell,
}

impl Side {
    /// `buy` or `sell`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Buy => "buy",
            Self::Sell => "sell",
        }
    }
}

/// What makes an intent itself, beside account, symbol and side: who decided, when, and which leg it is.
///
/// `decided_at` is the instant of the signal, kept by the strategy; never "now" at a retry.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Decision {
    /// Who decided.
    pub strategy: Strategy,
    /// When it was decided, venue time.
    pub decided_at: VenueTime,
    /// Which leg of the decision this is; 0 for the first.
    pub nonce: u32,
}

impl Decision {
    /// The first leg of what `strategy` decided at `decided_at_ms`.
    pub fn new(strategy: impl Into<Strategy>, decided_at_ms: u64) -> Self {
        Self {
            strategy: strategy.into(),
            decided_at: VenueTime::from_ms(decided_at_ms),
            nonce: 0,
        }
    }

    /// The same decision's leg `nonce`.
    #[must_use]
    pub fn leg(mut self, nonce: u32) -> Self {
        self.nonce = nonce;
        self
    }
}

/// How much: in base units, or in quote money where the venue takes that.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Amount {
    /// Base units.
    Base(Qty),
    /// Quote units; the quantity filled is the venue's word.
    Quote(Qty),
}

/// The order type (FIX 40) with what belongs to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OrdType {
    /// At the price or better.
    Limit {
        /// The worst price that is taken.
        price: Px,
    },
    /// At whatever price there is.
    Market,
}

impl OrdType {
    /// The limit price, if there is one.
    pub const fn price(self) -> Option<Px> {
        match self {
            Self::Limit { price } => Some(price),
            Self::Market => None,
        }
    }
}

/// How long an order works (FIX 59).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TimeInForce {
    /// Until it is filled or canceled.
    Gtc,
    /// What fills at once; the rest is canceled.
    Ioc,
    /// All at once or nothing.
    Fok,
    /// Never as a taker.
    PostOnly,
    /// Until the instant.
    Gtd(VenueTime),
}

/// Parameters that only one venue has, typed by its crate and kept with the intent as JSON.
pub trait VenueParams: Serialize + DeserializeOwned {
    /// Names the type in the journal, such as `bybit`.
    const KIND: &'static str;
}

/// [`VenueParams`] as they are stored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Params {
    /// [`VenueParams::KIND`].
    pub kind: Box<str>,
    /// The parameters, compact JSON.
    pub json: Box<str>,
}

/// Whether and on what ground an intent may be sent again while its fate is not known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Resubmit {
    /// Never.
    Never,
    /// On the venue's word alone: a revocation, bytes that it remembers, an id that it keeps unique.
    #[default]
    AfterProof,
    /// Also when absence is complete; at most one new attempt, because that rests on a number.
    AfterAbsence,
}

/// What happens to an intent that is stale, or canceled in doubt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GiveUp {
    /// Rejected once absence is complete, and watched where a number was only assumed.
    #[default]
    Accept,
    /// Halt where an assumed number would decide.
    Strict,
    /// Send the stored bytes until the venue knows them, then cancel what landed.
    Land,
}

/// An order that a strategy wants exactly once.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OrderIntent {
    /// What makes it itself.
    pub decision: Decision,
    /// The venue's name in the configuration.
    pub venue: Alias,
    /// The instrument.
    pub symbol: Symbol,
    /// The side.
    pub side: Side,
    /// How much.
    pub amount: Amount,
    /// The order type.
    pub ord_type: OrdType,
    /// How long it works.
    pub time_in_force: TimeInForce,
    /// Whether it may only make a position smaller.
    pub reduce_only: bool,
    /// What only this venue has.
    pub params: Option<Params>,
    /// On what ground it may be sent again.
    pub resubmit: Resubmit,
    /// What happens when it is stale.
    pub give_up: GiveUp,
    /// How long after `decided_at` it may still become an order.
    pub ttl: Duration,
}

impl OrderIntent {
    /// How long an intent stays fresh unless it says otherwise.
    pub const DEFAULT_TTL: Duration = Duration::from_secs(30);

    /// A limit order that works until canceled.
    pub fn limit(
        decision: Decision,
        venue: impl Into<Alias>,
        symbol: impl Into<Symbol>,
        side: Side,
        amount: Amount,
        price: Px,
    ) -> Self {
        Self {
            decision,
            venue: venue.into(),
            symbol: symbol.into(),
            side,
            amount,
            ord_type: OrdType::Limit { price },
            time_in_force: TimeInForce::Gtc,
            reduce_only: false,
            params: None,
            resubmit: Resubmit::default(),
            give_up: GiveUp::default(),
            ttl: Self::DEFAULT_TTL,
        }
    }

    /// A market order.
    pub fn market(
        decision: Decision,
        venue: impl Into<Alias>,
        symbol: impl Into<Symbol>,
        side: Side,
        amount: Amount,
    ) -> Self {
        Self {
            ord_type: OrdType::Market,
            time_in_force: TimeInForce::Ioc,
            ..Self::limit(decision, venue, symbol, side, amount, Px::ZERO)
        }
    }

    /// The instant from which it is stale.
    pub fn stale_at(&self) -> VenueTime {
        self.decision.decided_at.after(self.ttl)
    }

    /// Sets the parameters that only this venue has.
    ///
    /// # Errors
    /// The error of their `Serialize`.
    pub fn with_params<P: VenueParams>(mut self, params: &P) -> Result<Self, serde_json::Error> {
        self.params = Some(Params {
            kind: P::KIND.into(),
            json: serde_json::to_string(params)?.into(),
        });
        Ok(self)
    }

    /// Reads the parameters as the venue crate's type; `None` when there are none.
    ///
    /// # Errors
    /// Parameters of another venue, or JSON that is not this type's.
    pub fn params<P: VenueParams>(&self) -> Result<Option<P>, serde_json::Error> {
        let Some(params) = &self.params else {
            return Ok(None);
        };
        if &*params.kind != P::KIND {
            let text = format!(
                "parameters are of kind {:?}, not {:?}",
                params.kind,
                P::KIND
            );
            return Err(serde::de::Error::custom(text));
        }
        serde_json::from_str(&params.json).map(Some)
    }

    /// What the order is, without how long to pursue it: equal for the same order, whatever the scale of its decimals.
    pub fn digest(&self) -> TermsDigest {
        let (kind, amount) = match self.amount {
            Amount::Base(qty) => ("base", qty),
            Amount::Quote(qty) => ("quote", qty),
        };
        let price = self
            .ord_type
            .price()
            .map(|px| px.value().normalize().to_string());
        let terms = (
            (kind, amount.value().normalize().to_string()),
            price,
            self.time_in_force,
            self.reduce_only,
            &self.params,
            self.resubmit,
            self.give_up,
        );
        // Plain words and text always serialize; the fallback keeps different terms different all the same.
        let text = serde_json::to_string(&terms).unwrap_or_else(|_| format!("{terms:?}"));
        let mut first = [0; 16];
        for (to, from) in first.iter_mut().zip(Blake2s256::digest(text)) {
            *to = from;
        }
        TermsDigest(first)
    }
}

impl OrderIntent {
    /// Which terms of the same decision are not those of `placed`, for people.
    pub(crate) fn differs_from(&self, placed: &Self) -> String {
        let terms = |intent: &Self| {
            let (amount, unit) = match intent.amount {
                Amount::Base(qty) => (qty, "base"),
                Amount::Quote(qty) => (qty, "quote"),
            };
            let price = intent.ord_type.price();
            let params = intent.params.as_ref();
            [
                ("amount", format!("{} {unit}", amount.value().normalize())),
                (
                    "price",
                    price.map_or_else(
                        || "market".to_owned(),
                        |price| price.value().normalize().to_string(),
                    ),
                ),
                ("time in force", format!("{:?}", intent.time_in_force)),
                ("reduce-only", intent.reduce_only.to_string()),
                (
                    "parameters",
                    params.map_or_else(
                        || "none".to_owned(),
                        |params| format!("{} {}", params.kind, params.json),
                    ),
                ),
                ("resubmit", format!("{:?}", intent.resubmit)),
                ("give-up", format!("{:?}", intent.give_up)),
            ]
        };
        let pairs = terms(placed).into_iter().zip(terms(self));
        let differing: Vec<String> = pairs
            .filter(|((_, then), (_, now))| then != now)
            .map(|((name, then), (_, now))| format!("{name} {then} then, {now} now"))
            .collect();
        differing.join("; ")
    }
}

/// A digest of an intent's terms: the same decision with another digest is a conflict.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub struct TermsDigest(pub [u8; 16]);

#[cfg(test)]
mod tests {
    use super::*;

    fn intent(qty: &str, price: &str) -> OrderIntent {
        let decision = Decision::new("grid-7", 1_796_040_000_000);
        let amount = Amount::Base(qty.parse().expect("qty"));
        OrderIntent::limit(
            decision,
            "v",
            "BTCUSDT",
            Side::Buy,
            amount,
            price.parse().expect("px"),
        )
    }

    #[test]
    fn the_scale_of_a_decimal_is_no_term() {
        assert_eq!(
            intent("0.030", "60000.0").digest(),
            intent("0.03", "60000").digest()
        );
    }

    #[test]
    fn every_term_changes_the_digest_and_the_ttl_does_not() {
        let base = intent("0.03", "60000");
        let mut seen = vec![base.digest()];
        let others = [
            intent("0.04", "60000"),
            intent("0.03", "60001"),
            OrderIntent {
                amount: Amount::Quote("0.03".parse().expect("qty")),
                ..base.clone()
            },
            OrderIntent {
                ord_type: OrdType::Market,
                ..base.clone()
            },
            OrderIntent {
                time_in_force: TimeInForce::Ioc,
                ..base.clone()
            },
            OrderIntent {
                reduce_only: true,
                ..base.clone()
            },
            OrderIntent {
                params: Some(Params {
                    kind: "x".into(),
                    json: "{}".into(),
                }),
                ..base.clone()
            },
            OrderIntent {
                resubmit: Resubmit::Never,
                ..base.clone()
            },
            OrderIntent {
                give_up: GiveUp::Land,
                ..base.clone()
            },
        ];
        for other in others {
            let digest = other.digest();
            assert!(!seen.contains(&digest), "{other:?}");
            seen.push(digest);
        }
        assert_eq!(
            OrderIntent {
                ttl: Duration::from_secs(1),
                ..base.clone()
            }
            .digest(),
            base.digest()
        );
    }
}
