//! Spot and inverse through the engine, over the wire, with faults: one order for a decision, the venue's fills, fees in the right coin.

use surefill_bybit::Category;
use surefill_core::{
    Amount, OrdState, Order, OrderIntent, PlaceError, PrepareError, Qty, Resubmit, Scope,
};
use surefill_referee::{Bot, settled};

use crate::stage::{ALIAS, BOUND, Fate, Stage, id_of, until};

/// A category with the terms of an order in it.
#[derive(Clone, Copy)]
struct Market {
    category: Category,
    symbol: &'static str,
    qty: &'static str,
    /// What the fee of a buy is paid in.
    fee: &'static str,
}

const SPOT: Market = Market {
    category: Category::Spot,
    symbol: "BTCUSDT",
    qty: "0.010",
    fee: "BTC",
};

const INVERSE: Market = Market {
    category: Category::Inverse,
    symbol: "BTCUSD",
    qty: "1",
    fee: "BTC",
};

impl Market {
    async fn bot(self, stage: &Stage) -> Bot {
        stage
            .bot_at(stage.venue().with_category(self.category))
            .await
    }

    async fn intent(self, stage: &Stage, fate: Fate) -> OrderIntent {
        OrderIntent {
            symbol: self.symbol.into(),
            amount: Amount::Base(self.qty.parse().expect("qty")),
            resubmit: Resubmit::AfterAbsence,
            ..stage.intent("first", fate).await
        }
    }

    /// The journal's order, its fills and its fees are those of the one order that the venue holds.
    async fn agrees(self, stage: &Stage, bot: &Bot, order: &Order, shown: &str) {
        let orders = stage.rows("/orders").await;
        assert_eq!(orders.len(), 1, "{shown}: {orders:?}");
        let category = self.category.as_str();
        assert_eq!(orders[0]["category"], category, "{shown}");
        let row = order.latest();
        assert_eq!(row.order_ids.len(), 1, "{shown}: {row:?}");
        assert_eq!(orders[0]["order_id"], row.order_ids[0].as_str(), "{shown}");
        let theirs = stage.rows("/fills").await;
        let ours = bot.engine().fills(row.id).await.expect("fills");
        assert_eq!(ours.len(), theirs.len(), "{shown}: {ours:?} {theirs:?}");
        for (ours, theirs) in ours.iter().zip(&theirs) {
            assert_eq!(theirs["exec_id"], ours.exec_id.as_str(), "{shown}");
            let qty: Qty = theirs["qty"]
                .as_str()
                .expect("a number")
                .parse()
                .expect("qty");
            assert_eq!(qty, ours.last_qty, "{shown}");
            assert_eq!(theirs["fee_currency"], self.fee, "{shown}");
            assert_eq!(ours.fee_currency.as_str(), self.fee, "{shown}");
        }
    }
}

async fn ends_as_one_order(market: Market) {
    let faults = [
        ("", 0),
        ("reset_before", 0),
        ("reset_after", 100),
        ("drop_answer", 0),
        ("status:504", 0),
        ("act_then_status:504", 0),
        ("duplicate", 100),
        ("throttle", 0),
        ("hold", 700),
    ];
    let fates = [Fate::Rests, Fate::Fills];
    let all = fates
        .iter()
        .flat_map(|fate| faults.map(|fault| (*fate, fault)));
    let runs = all.map(|(fate, (doing, ms))| async move {
        let shown = format!("{} {fate:?} {doing}", market.category.as_str());
        let stage = Stage::new().await;
        let bot = market.bot(&stage).await;
        if !doing.is_empty() {
            stage.fault("create", doing, ms).await;
        }
        let intent = market.intent(&stage, fate).await;
        let order = bot.order(intent).await;
        settled(&order).await;
        let state = match fate {
            Fate::Rests => OrdState::Acked,
            Fate::Fills => OrdState::Filled,
        };
        until(&shown, async || {
            let row = order.latest();
            (row.state == state && !row.fills_owed()).then_some(())
        })
        .await;
        market.agrees(&stage, &bot, &order, &shown).await;
        if fate == Fate::Rests {
            let scope = Scope::account(ALIAS, order.latest().account);
            bot.engine().cancel_all(&scope).await.expect("asked");
            let ended = tokio::time::timeout(BOUND, order.done()).await;
            assert_eq!(ended.expect("an end").state, OrdState::Canceled, "{shown}");
        }
        bot.shutdown().await.expect("stopped");
    });
    futures_util::future::join_all(runs).await;
}

#[tokio::test]
async fn on_spot_whatever_becomes_of_the_create() {
    ends_as_one_order(SPOT).await;
}

#[tokio::test]
async fn on_inverse_whatever_becomes_of_the_create() {
    ends_as_one_order(INVERSE).await;
}

/// It dies with the create on its way, and starts again.
#[tokio::test]
async fn it_dies_while_a_create_is_on_its_way() {
    let runs = [SPOT, INVERSE].map(|market| async move {
        for doing in ["drop_answer", "reset_before"] {
            let shown = format!("{} {doing}", market.category.as_str());
            let stage = Stage::new().await;
            let bot = market.bot(&stage).await;
            stage.fault("create", doing, 0).await;
            let intent = market.intent(&stage, Fate::Rests).await;
            let id = id_of(&intent);
            bot.begin(intent.clone());
            stage.asked("create", 1).await;
            bot.crash();
            let bot = market.bot(&stage).await;
            let order = bot.order(intent).await;
            until(&shown, async || {
                (order.latest().state == OrdState::Acked).then_some(())
            })
            .await;
            stage.fill(id, market.qty).await;
            let ended = tokio::time::timeout(BOUND, order.done()).await;
            assert_eq!(ended.expect("an end").state, OrdState::Filled, "{shown}");
            market.agrees(&stage, &bot, &order, &shown).await;
            bot.shutdown().await.expect("stopped");
        }
    });
    futures_util::future::join_all(runs).await;
}

/// Spot has no reduce-only: it is refused before anything is journaled, and is no exit that a halt would let pass.
#[tokio::test]
async fn reduce_only_on_spot_is_refused() {
    let stage = Stage::new().await;
    let bot = SPOT.bot(&stage).await;
    let intent = OrderIntent {
        reduce_only: true,
        ..SPOT.intent(&stage, Fate::Rests).await
    };
    let refused = bot.place(intent).await;
    let unsupported = matches!(
        refused,
        Err(PlaceError::Prepare(PrepareError::Unsupported { .. }))
    );
    assert!(unsupported, "{refused:?}");
    assert_eq!(stage.creates().await, 0);
}
