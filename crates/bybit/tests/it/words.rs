//! Every word of the control port's faults that other modules do not use: statuses, the venue's own codes, and faults of whatever comes.

use surefill_referee::{judge, settled};

use crate::stage::{Fate, Stage};

/// Whatever is answered, and whether the venue acted or not, over REST and over the trade socket: one order in the end.
#[tokio::test]
async fn each_status_and_code_that_proves_nothing_ends_as_one_order() {
    let statuses = [400, 401, 404, 408, 429, 500, 502, 503].map(|status| ("status", status));
    let codes = [10_000, 10_016, 170_007, 170_146, 99_999].map(|code| ("code", code));
    let all = statuses.into_iter().chain(codes);
    let both = all.flat_map(|(word, n)| [format!("{word}:{n}"), format!("act_then_{word}:{n}")]);
    let runs = both.enumerate().map(|(n, doing)| async move {
        let stage = Stage::new().await;
        let venue = if n % 4 < 2 {
            stage.venue()
        } else {
            stage.venue().with_trade_socket()
        };
        let bot = stage.bot_at(venue).await;
        stage.fault("create", &doing, 0).await;
        let order = bot.order(stage.intent("first", Fate::Rests).await).await;
        let row = settled(&order).await;
        assert_eq!(row.order_ids.len(), 1, "{doing}: {row:?}");
        let ledger = judge(&stage, bot).await;
        ledger.one_order("first");
        assert_eq!(stage.orders().await, 1, "{doing}");
    });
    futures_util::future::join_all(runs).await;
}

/// Whatever comes next is met, of any kind, three times in a row.
#[tokio::test]
async fn faults_of_whatever_comes() {
    let words = [
        ("refuse", 0),
        ("reset_before", 0),
        ("reset_after", 0),
        ("hold", 100),
        ("drop_answer", 0),
        ("truncate", 0),
        ("garbage", 0),
        ("throttle", 0),
        ("duplicate", 50),
        ("code:10016", 0),
        ("act_then_code:10016", 0),
    ];
    let runs = words.map(|(doing, ms)| async move {
        let stage = Stage::new().await;
        let bot = stage.bot().await;
        let order = bot.order(stage.intent("before", Fate::Rests).await).await;
        settled(&order).await;
        let intent = stage.intent("first", Fate::Fills).await;
        stage.faults("any", doing, ms, 3).await;
        let order = surefill_referee::insist(bot.engine(), intent).await;
        let row = settled(&order).await;
        assert_eq!(row.order_ids.len(), 1, "{doing}: {row:?}");
        let ledger = judge(&stage, bot).await;
        ledger.one_order("before");
        ledger.one_order("first");
        assert_eq!(stage.orders().await, 2, "{doing}");
    });
    futures_util::future::join_all(runs).await;
}
