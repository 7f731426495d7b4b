//! What a strategy or an operator can get wrong: an error that says what to do, nothing at the venue, nothing in the journal.

use std::error::Error;
use std::time::Duration;

use serde_json::json;
use surefill_bybit::Keys;
use surefill_core::{Amount, OrdType, OrderFilter, OrderIntent, Px, Qty, RecoverError};
use surefill_referee::Bot;

use crate::stage::{Fate, Stage, id_of};

/// What is done wrong.
enum Wrong {
    /// A decision that cannot be an order.
    Intent(fn(&mut OrderIntent)),
    /// The same decision again, with this changed.
    Again(fn(&mut OrderIntent)),
    /// A text that is no quantity.
    Qty(&'static str),
    /// A text that is no price.
    Px(&'static str),
    /// A start with these keys, over a journal that is bound already.
    Keys(&'static str, &'static str),
    /// A start while the venue is down.
    Down,
}

fn qty(text: &str) -> Amount {
    Amount::Base(text.parse().expect("qty"))
}

fn limit(text: &str) -> OrdType {
    OrdType::Limit {
        price: text.parse().expect("px"),
    }
}

fn older(intent: &mut OrderIntent, by: Duration) {
    intent.decision.decided_at = intent.decision.decided_at.before(by);
}

/// What is wrong, and the parts of the error that tell.
const TABLE: &[(&str, Wrong, &[&str])] = &[
    (
        "a price off the tick",
        Wrong::Intent(|intent| intent.ord_type = limit("50000.05")),
        &["nothing sent: price 50000.05 is no multiple of 0.10: the nearest are 50000 and 50000.1"],
    ),
    (
        "an amount off the step",
        Wrong::Intent(|intent| intent.amount = qty("0.0105")),
        &["nothing sent: quantity 0.0105 is no multiple of 0.001: the nearest are 0.01 and 0.011"],
    ),
    (
        "an amount under the minimum",
        Wrong::Intent(|intent| intent.amount = qty("0.0005")),
        &["nothing sent: quantity 0.0005 is below the minimum of 0.001"],
    ),
    (
        "a notional under the minimum",
        Wrong::Intent(|intent| {
            intent.amount = qty("0.001");
            intent.ord_type = limit("4000.0");
        }),
        &["nothing sent: notional 4 is below the minimum of 5"],
    ),
    (
        "an unknown symbol",
        Wrong::Intent(|intent| intent.symbol = "NOPEUSDT".into()),
        &["nothing sent: NOPEUSDT is not traded here"],
    ),
    (
        "a strategy name that is too long",
        Wrong::Intent(|intent| intent.decision.strategy = "x".repeat(65).into()),
        &["nothing sent: the strategy's name has 65 bytes, and 64 are allowed"],
    ),
    (
        "no strategy name",
        Wrong::Intent(|intent| intent.decision.strategy = "".into()),
        &["nothing sent: the strategy has no name"],
    ),
    (
        "a zero amount",
        Wrong::Intent(|intent| intent.amount = Amount::Base(Qty::ZERO)),
        &["nothing sent: the amount is zero"],
    ),
    (
        "an unknown venue",
        Wrong::Intent(|intent| intent.venue = "bybit-mian".into()),
        &["nothing sent: there is no venue \"bybit-mian\""],
    ),
    (
        "a decision of the future",
        Wrong::Intent(|intent| {
            let ahead = Duration::from_secs(90);
            intent.decision.decided_at = intent.decision.decided_at.after(ahead);
        }),
        &[
            "nothing sent: decided_at ",
            " ms ahead of the venue's time ",
            "at most 60000 ms are allowed: check the clock that stamps decisions",
        ],
    ),
    (
        "a decision that is stale",
        Wrong::Intent(|intent| older(intent, Duration::from_secs(31))),
        &[
            "nothing sent: decided_at ",
            "is older than its ttl of 30000 ms at the venue's time ",
        ],
    ),
    (
        "a decision placed again with another amount and price",
        Wrong::Again(|intent| {
            intent.amount = qty("0.011");
            intent.ord_type = limit("50000.1");
        }),
        &[
            "nothing sent: decision ",
            "was placed before with other terms: ",
            "amount 0.01 base then, 0.011 base now; price 50000 then, 50000.1 now",
        ],
    ),
    (
        "a negative amount",
        Wrong::Qty("-0.010"),
        &["-0.010 is negative"],
    ),
    (
        "no number",
        Wrong::Qty("NaN"),
        &["\"NaN\" is not a plain decimal number"],
    ),
    (
        "an exponent",
        Wrong::Px("5e4"),
        &["\"5e4\" is not a plain decimal number"],
    ),
    ("a negative price", Wrong::Px("-1"), &["-1 is negative"]),
    (
        "a wrong secret",
        Wrong::Keys("SUREFILLFAKEKEY001", "fakefakefakefakefakefakefakefake0002"),
        &["bybit-main cannot be used: the venue refused the keys: 10004: "],
    ),
    (
        "a wrong key",
        Wrong::Keys("SUREFILLFAKEKEY009", "fakefakefakefakefakefakefakefake0001"),
        &["bybit-main cannot be used: the venue refused the keys: 10003: "],
    ),
    (
        "another account's key",
        Wrong::Keys("SUREFILLFAKEKEY002", "fakefakefakefakefakefakefakefake0002"),
        &[
            "bybit-main is bound to account bybit:simulator:1001, and the keys in use are those of bybit:simulator:1002",
            "use the keys of bybit:simulator:1001, or another name and journal",
        ],
    ),
    (
        "a venue that cannot be reached",
        Wrong::Down,
        &[
            "nothing sent: bybit-main is halted: bybit-main did not answer (",
            "Connection refused",
            "recovery goes on until it does",
        ],
    ),
];

#[tokio::test]
async fn bad_input_is_refused_with_words_that_help() {
    let mut runs = Vec::new();
    for (what, wrong, says) in TABLE {
        runs.push(async move {
            let (said, stage, bot) = said(wrong).await;
            for part in *says {
                assert!(said.contains(part), "{what}: {part:?} is not in {said:?}");
            }
            let placed = usize::from(matches!(wrong, Wrong::Again(_)));
            assert_eq!(stage.creates().await, placed, "{what}: a create was sent");
            assert_eq!(stage.orders().await, placed, "{what}");
            if let Some(bot) = bot {
                let rows = bot.engine().orders(&OrderFilter::default()).await;
                assert_eq!(rows.expect("rows").len(), placed, "{what}: journaled");
            }
        });
    }
    futures_util::future::join_all(runs).await;
}

/// The error in one line, as a log would have it, and what is left behind.
async fn said(wrong: &Wrong) -> (String, Stage, Option<Bot>) {
    let stage = Stage::new().await;
    let bot = stage.bot().await;
    let mut intent = stage.intent("grid-7", Fate::Rests).await;
    let text = match wrong {
        Wrong::Intent(change) => {
            change(&mut intent);
            line(&bot.place(intent).await.expect_err("refused"))
        }
        Wrong::Again(change) => {
            bot.order(intent.clone()).await;
            change(&mut intent);
            let text = line(&bot.place(intent.clone()).await.expect_err("refused"));
            assert!(text.contains(&id_of(&intent).to_string()), "{text}");
            text
        }
        Wrong::Qty(text) => line(&text.parse::<Qty>().expect_err("no quantity")),
        Wrong::Px(text) => line(&text.parse::<Px>().expect_err("no price")),
        Wrong::Keys(key, secret) => {
            bot.shutdown().await.expect("stopped");
            let keys = Keys::hmac(*key, *secret).expect("keys");
            let refused: Result<Bot, RecoverError> =
                stage.try_bot_at(stage.sim.adapter_of(keys, false)).await;
            let text = line(&refused.expect_err("refused"));
            assert!(!text.contains(secret), "a secret in {text}");
            return (text, stage, None);
        }
        Wrong::Down => {
            bot.shutdown().await.expect("stopped");
            stage.post("/restart", json!({"down_ms": 600_000})).await;
            let bot = stage.bot().await;
            let text = line(&bot.place(intent).await.expect_err("refused"));
            return (text, stage, Some(bot));
        }
    };
    (text, stage, Some(bot))
}

/// The error's own words. Display does not repeat its causes unless it says so itself.
fn line(error: &dyn Error) -> String {
    error.to_string()
}
