//! `surefill place`: one order for one decision, whatever happens on the way.

use std::time::Duration;

use surefill_core::{
    AccountId, Amount, ClOrdId, Decision, OrdState, OrdType, OrderIntent, OrderRecord, Placement,
    TimeInForce,
};
use surefill_store_sqlite::{SqliteReader, SqliteStore};
use tokio::time::Instant;

use crate::args::{PlaceArgs, TypeArg};
use crate::config::Config;
use crate::documents::{OrderDoc, PlaceDoc, outcome};
use crate::engine::{self, Running};
use crate::failure::{Exit, Failure};
use crate::output::{Said, say_aside};
use crate::stop::Stop;
use crate::text;

pub(crate) async fn run(config: &Config, args: &PlaceArgs, stop: &Stop) -> Result<Said, Failure> {
    let venue = config.venue(&args.venue.as_str().into())?;
    check(args)?;
    // Before the journal is made: a name that is mistyped leaves nothing behind.
    crate::venue::adapter(venue)?;
    let store = SqliteStore::open(&config.journal)?;
    let stopped = || {
        let text = "nothing sent: a stop was asked during recovery";
        Failure::new(Exit::NotKnown, text)
    };
    let running = engine::recover(store, &[venue], stop)
        .await?
        .ok_or_else(stopped)?;
    let alias = &venue.alias;
    let decided_at = match args.decided_at {
        Some(at) => at,
        None => {
            let now = running.engine.venue_time(alias);
            let at = now.unwrap_or_else(engine::wall_clock);
            // Before anything is sent: whoever asks again after a crash needs it.
            say_aside(&format!(
                "--decided-at {at} (pass it to ask about this very order again)"
            ));
            at
        }
    };
    let decision = Decision::new(args.strategy.as_str(), decided_at.as_ms()).leg(args.nonce);
    let intent = crate::venue::shaped(venue, intent(args, decision))?;
    let placed = place(running, intent.clone(), args.wait, stop).await;
    let row = match placed {
        Ok(Some(row)) => row,
        // What was left is in the journal.
        Ok(None) => left(config, &intent)?.ok_or_else(|| {
            let why = if stop.is_asked() {
                "a stop was asked"
            } else {
                "the time was over"
            };
            let text = format!("nothing sent: {why} (--decided-at {decided_at})");
            Failure::new(Exit::NotKnown, text)
        })?,
        Err(failure) => return Err(failure),
    };
    let document = PlaceDoc {
        order: OrderDoc::of(&row),
        outcome: outcome(&row),
    };
    let head = match document.outcome {
        "unknown" => "its fate is not known; ask again with the same decision, or run recover\n",
        _ => "",
    };
    let text = format!("{}{head}", text::order(&document.order));
    Said::new(exit(&row), &document, text)
}

/// What is wrong with the arguments, before anything is opened.
fn check(args: &PlaceArgs) -> Result<(), Failure> {
    match (args.ord_type, args.price) {
        (TypeArg::Limit, None) => Err(Failure::usage("--price is missing: a limit order has one")),
        (TypeArg::Market, Some(_)) => Err(Failure::usage("--price: a market order has none")),
        (TypeArg::Limit, Some(_)) | (TypeArg::Market, None) => Ok(()),
    }
}

fn intent(args: &PlaceArgs, decision: Decision) -> OrderIntent {
    let market = args.ord_type == TypeArg::Market;
    let usual = if market {
        TimeInForce::Ioc
    } else {
        TimeInForce::Gtc
    };
    OrderIntent {
        decision,
        venue: args.venue.as_str().into(),
        symbol: args.symbol.as_str().into(),
        side: args.side.into(),
        amount: Amount::Base(args.qty),
        ord_type: match args.price {
            Some(price) => OrdType::Limit { price },
            None => OrdType::Market,
        },
        time_in_force: args.tif.unwrap_or(usual),
        reduce_only: args.reduce_only,
        params: None,
        resubmit: args.resubmit.into(),
        give_up: args.give_up.into(),
        ttl: args.ttl,
    }
}

/// Places and waits for the verdict; `None` when the time was over, or a stop was asked, before `place` returned. The engine is gone afterwards.
async fn place(
    running: Running,
    intent: OrderIntent,
    wait: Duration,
    stop: &Stop,
) -> Result<Option<OrderRecord>, Failure> {
    let at_once = ends_at_once(&intent);
    let deadline = Instant::now() + wait;
    let placing = running.engine.place(intent);
    let placed = tokio::select! {
        placed = placing => Some(placed),
        () = tokio::time::sleep_until(deadline) => None,
        () = stop.asked() => None,
    };
    let verdict = match placed {
        None => Ok(None),
        Some(Err(error)) => Err(error.into()),
        Some(Ok(placement)) => Ok(Some(verdict(placement, at_once, deadline, stop).await)),
    };
    let closed = running.shut_down().await;
    // The verdict stands also where the journal could not be closed in order.
    match (verdict, closed) {
        (Ok(None), Err(failure)) => Err(failure),
        (Ok(Some(row)), Err(failure)) => {
            tracing::warn!(failure.text, "the journal was not closed in order");
            Ok(Some(row))
        }
        (verdict, _) => verdict,
    }
}

/// Waits until the fate is known; of an order that cannot rest, until it has ended.
async fn verdict(
    placement: Placement,
    at_once: bool,
    deadline: Instant,
    stop: &Stop,
) -> OrderRecord {
    let order = placement.order();
    let wanted = async {
        let row = order.settled().await;
        if at_once && !row.state.is_terminal() {
            order.done().await
        } else {
            row
        }
    };
    tokio::select! {
        row = wanted => row,
        () = tokio::time::sleep_until(deadline) => order.latest(),
        () = stop.asked() => order.latest(),
    }
}

/// Whether the order never rests in the book.
const fn ends_at_once(intent: &OrderIntent) -> bool {
    match (intent.ord_type, intent.time_in_force) {
        (OrdType::Market, _) | (_, TimeInForce::Ioc | TimeInForce::Fok) => true,
        (OrdType::Limit { .. }, TimeInForce::Gtc | TimeInForce::PostOnly | TimeInForce::Gtd(_)) => {
            false
        }
    }
}

/// The order of an intent, as it was left in the journal.
fn left(config: &Config, intent: &OrderIntent) -> Result<Option<OrderRecord>, Failure> {
    let reader = SqliteReader::open(&config.journal)?;
    let bindings = reader.bindings()?;
    let account: Option<&AccountId> = bindings
        .iter()
        .find_map(|(alias, account)| (*alias == intent.venue).then_some(account));
    let Some(account) = account else {
        return Ok(None);
    };
    let id = ClOrdId::derive(&intent.decision, account, &intent.symbol, intent.side);
    Ok(reader.order(id)?)
}

const fn exit(row: &OrderRecord) -> Exit {
    match row.state {
        OrdState::Acked | OrdState::Partial | OrdState::Filled | OrdState::Canceled => Exit::Done,
        OrdState::Rejected => Exit::Rejected,
        OrdState::Pending | OrdState::Submitted | OrdState::Unknown | OrdState::Reconciling => {
            Exit::NotKnown
        }
    }
}
