//! An adapter with a clock that stands still, an intent, and journaled attempts.

use std::sync::Arc;

use serde_json::{Value, json};
use surefill_bybit::{Bybit, Timing, id};
use surefill_core::{
    AccountId, Alias, Amount, Attempt, AttemptState, Begin, ClOrdId, Connect, Decision, Entered,
    Entry, Facts, Fence, Go, Journal, Journaled, ManualTime, MemoryStore, OrderIntent, OrderRecord,
    Rate, Side, Stop, Ticket, TimeSource, Venue, VenueClock, VenueCtx, VenueTime,
};

use crate::server::{NOW, keys};

pub(crate) struct World {
    pub(crate) venue: Arc<dyn Venue>,
    pub(crate) time: Arc<ManualTime>,
    pub(crate) clock: Arc<VenueClock>,
    pub(crate) stop: Arc<Stop>,
}

pub(crate) fn timing() -> Timing {
    Timing {
        receive_window_ms: 300,
        visibility_lag_ms: 100,
        drain_ms: 50,
        margin_ms: 100,
        watch_ms: 1_000,
    }
}

impl World {
    pub(crate) fn new(url: &str) -> Self {
        Self::at(url, NOW)
    }

    pub(crate) fn at(url: &str, now_ms: u64) -> Self {
        Self::unheard(url).heard(now_ms)
    }

    /// The adapter of this configuration.
    pub(crate) fn with(config: Bybit) -> Self {
        Self::of(config).heard(NOW)
    }

    fn heard(self, now_ms: u64) -> Self {
        let world = self;
        world
            .clock
            .observe(world.clock.mark(), VenueTime::from_ms(now_ms));
        world
    }

    /// The venue's time is not known yet.
    pub(crate) fn unheard(url: &str) -> Self {
        Self::of(
            Bybit::simulator(url, keys())
                .with_timing(timing())
                .without_stream(),
        )
    }

    fn of(config: Bybit) -> Self {
        let time = Arc::new(ManualTime::default());
        let source: Arc<dyn TimeSource> = Arc::<ManualTime>::clone(&time);
        let clock = Arc::new(VenueClock::new(source));
        let ctx = VenueCtx {
            alias: Alias::from("v"),
            clock: Arc::clone(&clock),
            nonces: None,
            rate: Arc::new(Rate::new(config.profile().rates)),
        };
        Self {
            venue: Box::new(config).connect(ctx).expect("connected"),
            time,
            clock,
            stop: Arc::default(),
        }
    }

    pub(crate) fn go(&self, fence: Fence) -> Go {
        Go::new(Arc::clone(&self.clock), fence, None, Arc::clone(&self.stop))
    }

    pub(crate) fn ticket(&self, facts: Facts) -> Ticket {
        Ticket {
            no: 1,
            now: self.clock.read().expect("heard").now,
            nonce: None,
            facts,
        }
    }

    /// An order of the usual intent, and its journaled first attempt.
    pub(crate) async fn order(&self) -> (OrderRecord, Journaled<Attempt>) {
        let intent = intent();
        let facts = self.venue.facts(&intent).await.expect("facts");
        let ticket = self.ticket(facts);
        let attempt = self
            .venue
            .prepare(&cl_ord_id(), &intent, &ticket)
            .expect("prepared");
        let order = record(&attempt, ticket.now);
        let journal = Journal::new(Arc::new(MemoryStore::new(VenueTime::from_ms(NOW))));
        let begin = Begin {
            order,
            attempt,
            entry: Entry::Risk { doubt_blocks: true },
        };
        match journal.begin(begin).await.expect("journaled") {
            Entered::Inserted(order, attempt) => (order, attempt),
            other => panic!("{other:?}"),
        }
    }
}

pub(crate) fn account() -> AccountId {
    AccountId::new("bybit", "simulator", "4711")
}

pub(crate) fn intent() -> OrderIntent {
    OrderIntent::limit(
        Decision::new("grid-7", NOW),
        "v",
        "BTCUSDT",
        Side::Buy,
        Amount::Base("0.030".parse().expect("qty")),
        "60000.0".parse().expect("px"),
    )
}

pub(crate) fn cl_ord_id() -> ClOrdId {
    let intent = intent();
    ClOrdId::derive(&intent.decision, &account(), &intent.symbol, intent.side)
}

pub(crate) fn key() -> String {
    id::spell(&cl_ord_id())
}

pub(crate) fn record(attempt: &Attempt, at: VenueTime) -> OrderRecord {
    OrderRecord::new(
        cl_ord_id(),
        account(),
        intent(),
        AttemptState::new(attempt, at),
        at,
    )
}

/// The list of instruments with one in it.
pub(crate) fn listing() -> Value {
    json!({"category": "linear", "nextPageCursor": "", "list": [{
        "symbol": "BTCUSDT", "status": "Trading", "settleCoin": "USDT", "somethingNew": {"a": [1]},
        "priceFilter": {"minPrice": "0.10", "maxPrice": "1999999.80", "tickSize": "0.10"},
        "lotSizeFilter": {"maxOrderQty": "1000.000", "minOrderQty": "0.001", "qtyStep": "0.001",
            "maxMktOrderQty": "400.000", "minNotionalValue": "5"}}]})
}

/// A row of an order.
pub(crate) fn order_row(order_id: &str, key: &str, status: &str, cum_qty: &str) -> Value {
    json!({"orderId": order_id, "orderLinkId": key, "symbol": "BTCUSDT", "price": "60000.0", "qty": "0.030",
        "side": "Buy", "orderStatus": status, "orderType": "Limit", "cancelType": "UNKNOWN",
        "rejectReason": "EC_NoError", "avgPrice": "", "leavesQty": "", "cumExecQty": cum_qty,
        "smpGroup": "7", "blockTradeId": null, "updatedTime": NOW.to_string()})
}

/// A row of an execution.
pub(crate) fn fill_row(order_id: &str, key: &str, exec_id: &str, qty: &str) -> Value {
    json!({"symbol": "BTCUSDT", "orderId": order_id, "orderLinkId": key, "execId": exec_id, "execType": "Trade",
        "execQty": qty, "execPrice": "60000.0", "execFee": "0.1", "feeCurrency": "USDT", "seq": 1,
        "execTime": NOW.to_string(), "isMaker": false})
}

/// One page.
pub(crate) fn page(rows: impl IntoIterator<Item = Value>, next: &str) -> Value {
    json!({"list": rows.into_iter().collect::<Vec<_>>(), "nextPageCursor": next, "category": "linear"})
}
