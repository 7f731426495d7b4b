//! Each thing that can go wrong with a create, for an order that rests and one that fills at once: exactly one order.

use serde_json::json;
use surefill_core::{HaltCause, OrdState, PlaceError};
use surefill_referee::{judge, settled};

use crate::stage::{Fate, Stage, id_of, until};

/// What happens to the first create.
#[derive(Clone, Copy, Debug)]
struct Fault {
    doing: &'static str,
    ms: u64,
    /// Whether the venue must not act on the copy that was met.
    unacted: bool,
}

const fn fault(doing: &'static str) -> Fault {
    Fault {
        doing,
        ms: 0,
        unacted: false,
    }
}

const fn late(doing: &'static str, ms: u64) -> Fault {
    Fault { ms, ..fault(doing) }
}

const fn lost(doing: &'static str) -> Fault {
    Fault {
        unacted: true,
        ..fault(doing)
    }
}

/// Both fates at once, with and without a stream, each with a venue of its own.
async fn exactly_one(fault: Fault) {
    tokio::join!(
        one_of(fault, Fate::Rests, true),
        one_of(fault, Fate::Fills, true),
        one_of(fault, Fate::Rests, false),
        one_of(fault, Fate::Fills, false),
    );
}

async fn one_of(fault: Fault, fate: Fate, streams: bool) {
    let stage = Stage::with_stream(streams).await;
    let bot = stage.bot().await;
    stage.fault("create", fault.doing, fault.ms).await;
    let intent = stage.intent("first", fate).await;
    let id = id_of(&intent);
    let first = bot.order(intent).await;
    // While the fate is not known nothing new is placed in the symbol; once it is known, the next one is like any other.
    let other = bot.place(stage.intent("other", Fate::Rests).await).await;
    let row = first.latest();
    let other = match other {
        Ok(placed) => {
            assert!(
                !row.state.is_doubt(),
                "placed beside an order in doubt: {row:?}"
            );
            Some(placed.order().clone())
        }
        Err(PlaceError::Doubt { id: of }) => {
            assert_eq!(of, id);
            None
        }
        Err(PlaceError::Halted(halt)) => {
            assert_eq!(halt.cause.order(), Some(id), "{halt:?}");
            None
        }
        Err(error) => panic!("{error}"),
    };
    if let Some(other) = &other {
        settled(other).await;
    }
    let row = settled(&first).await;
    assert!(!row.cancel_requested, "{row:?}");
    if fate == Fate::Rests {
        stage.fill(id, "0.004").await;
    }
    // A copy that is held somewhere has come by then, and is refused or was the one.
    let creates = stage.requests("create").await;
    let (last, met) = (creates.len(), &creates[0]["at_ms"]);
    let landed = met.as_u64().expect("ms") + fault.ms + 350;
    stage.reach(landed).await;
    let ledger = judge(&stage, bot).await;
    let row = ledger.one_order("first");
    let state = match fate {
        Fate::Rests => OrdState::Partial,
        Fate::Fills => OrdState::Filled,
    };
    assert_eq!(row.state, state, "{row:?}");
    if other.is_some() {
        ledger.one_order("other");
    }
    let creates = stage.requests("create").await;
    // A copy that a proxy made is a request of its own.
    let doubled = usize::from(fault.doing == "duplicate");
    assert!(
        creates.len() <= last + doubled,
        "a create after the verdict: {creates:?}"
    );
    if fault.unacted {
        assert_eq!(creates[0]["acted"], false, "{creates:?}");
        assert!(creates.len() >= 2, "{creates:?}");
    }
}

#[tokio::test]
async fn nothing_goes_wrong() {
    exactly_one(fault("hold")).await;
}

#[tokio::test]
async fn a_refused_connection() {
    exactly_one(lost("refuse")).await;
}

#[tokio::test]
async fn a_reset_before_it_was_taken() {
    exactly_one(lost("reset_before")).await;
}

#[tokio::test]
async fn a_reset_after_it_was_taken() {
    exactly_one(fault("reset_after")).await;
}

/// The client is gone when it is taken.
#[tokio::test]
async fn a_reset_and_it_is_taken_within_the_window() {
    exactly_one(late("reset_after", 150)).await;
}

/// The client is gone, and so is the window.
#[tokio::test]
async fn a_reset_and_it_comes_past_the_window() {
    exactly_one(Fault {
        ms: 1_500,
        ..lost("reset_after")
    })
    .await;
}

#[tokio::test]
async fn held_within_the_window() {
    exactly_one(late("hold", 150)).await;
}

/// The gate refuses it in time for the client to hear of it.
#[tokio::test]
async fn held_past_the_window() {
    exactly_one(Fault {
        ms: 600,
        ..lost("hold")
    })
    .await;
}

/// The gate refuses it long after the client gave up, and after the next one was placed.
#[tokio::test]
async fn held_past_the_window_and_the_client() {
    exactly_one(Fault {
        ms: 4_000,
        ..lost("hold")
    })
    .await;
}

#[tokio::test]
async fn a_lost_answer() {
    exactly_one(fault("drop_answer")).await;
}

#[tokio::test]
async fn a_gateway_page_and_it_was_not_taken() {
    exactly_one(lost("status:504")).await;
}

#[tokio::test]
async fn a_gateway_page_and_it_was_taken() {
    exactly_one(fault("act_then_status:504")).await;
}

/// The page comes first, the order later.
#[tokio::test]
async fn a_gateway_page_and_it_is_taken_within_the_window() {
    exactly_one(late("act_then_status:504", 200)).await;
}

#[tokio::test]
async fn half_an_answer() {
    exactly_one(fault("truncate")).await;
}

#[tokio::test]
async fn an_unreadable_answer() {
    exactly_one(fault("garbage")).await;
}

#[tokio::test]
async fn too_many_requests() {
    exactly_one(lost("throttle")).await;
}

#[tokio::test]
async fn doubled_on_the_way() {
    exactly_one(late("duplicate", 150)).await;
}

#[tokio::test]
async fn doubled_on_the_way_and_the_second_copy_comes_past_the_window() {
    exactly_one(late("duplicate", 600)).await;
}

/// Faults one after the other, of every send that there is.
#[tokio::test]
async fn one_thing_after_the_other() {
    let stage = Stage::new().await;
    let bot = stage.bot().await;
    for doing in [
        "reset_before",
        "throttle",
        "status:502",
        "act_then_status:502",
        "reset_before",
    ] {
        stage.fault("create", doing, 0).await;
    }
    let order = bot.order(stage.intent("first", Fate::Fills).await).await;
    settled(&order).await;
    stage.no_more_faults().await;
    judge(&stage, bot).await.one_order("first");
    assert_eq!(stage.orders().await, 1);
    assert!(stage.creates().await >= 4);
}

/// A venue that takes one id twice, against its word, and hides the first order for too long: the second one is found out, it
/// halts, and nothing more is placed. Without the venue's rule there are two, which is what the referee looks for elsewhere.
#[tokio::test]
async fn a_venue_that_breaks_its_word_is_found_out() {
    let stage = Stage::without_stream().await;
    let bot = stage.bot().await;
    stage.post("/rules", json!({"duplicate": "accepted"})).await;
    let intent = stage.intent("first", Fate::Rests).await;
    let id = id_of(&intent);
    stage.hide(id, &["open", "closed", "fills"], 3_000).await;
    stage.fault("create", "reset_after", 0).await;
    bot.order(intent).await;
    let halt = until("a halt", async || {
        let mut halts = bot.halts().into_iter();
        halts.find(|halt| halt.cause == HaltCause::SecondOrder { id })
    })
    .await;
    assert!(halt.cause.needs_person());
    assert_eq!(stage.orders().await, 2);
    let sent = stage.creates().await;
    let refused = bot.place(stage.intent("other", Fate::Rests).await).await;
    assert!(matches!(refused, Err(PlaceError::Halted(_))), "{refused:?}");
    assert_eq!(stage.creates().await, sent);
}
