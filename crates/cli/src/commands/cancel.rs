//! `surefill cancel`: asked durably, then until the venue says that the order ended.

use surefill_core::{Answer, OrderRecord, Request};
use surefill_store_sqlite::SqliteStore;

use crate::args::CancelArgs;
use crate::config::Config;
use crate::documents::{OrderDoc, PlaceDoc, outcome};
use crate::engine::{self, Asked, Journal};
use crate::failure::{Exit, Failure};
use crate::identity;
use crate::output::Said;
use crate::stop::Stop;
use crate::text;

pub(crate) async fn run(config: &Config, args: &CancelArgs, stop: &Stop) -> Result<Said, Failure> {
    let reader = engine::reader(config)?;
    let row = identity::order(&reader, &args.id)?;
    if row.state.is_terminal() {
        return said(&row);
    }
    let id = row.id;
    match engine::journal(&config.journal)? {
        Journal::Ours(store) => ours(config, &row, store, args, stop).await,
        Journal::Theirs(inbox) => {
            let request = Request::Cancel { id };
            match engine::ask(&config.journal, &inbox, &request, stop).await? {
                Asked::Ours { store, .. } => ours(config, &row, store, args, stop).await,
                Asked::Answered(Answer::Refused { text }) => Err(Failure::new(
                    Exit::NotKnown,
                    format!("the engine refused: {text}"),
                )),
                Asked::Answered(
                    Answer::CancelAsked { .. } | Answer::Halted | Answer::Resumed { .. },
                ) => {
                    let rows = engine::ended(&reader, &[id], args.wait, stop).await?;
                    said(rows.first().unwrap_or(&row))
                }
            }
        }
    }
}

/// Cancels with an engine of this process.
async fn ours(
    config: &Config,
    row: &OrderRecord,
    store: SqliteStore,
    args: &CancelArgs,
    stop: &Stop,
) -> Result<Said, Failure> {
    let venue = config.venue(row.alias())?;
    let stopped = || Failure::new(Exit::NotKnown, "a stop was asked before the cancel was");
    let running = engine::recover(store, &[venue], stop)
        .await?
        .ok_or_else(stopped)?;
    let asked = running.engine.cancel(row.id).await;
    let order = running.engine.order(row.id).await;
    let after = match (&asked, order) {
        (Ok(_), Ok(Some(order))) => tokio::select! {
            row = order.done() => row,
            () = tokio::time::sleep(args.wait) => order.latest(),
            () = stop.asked() => order.latest(),
        },
        _ => row.clone(),
    };
    let closed = running.shut_down().await;
    asked?;
    closed?;
    said(&after)
}

fn said(row: &OrderRecord) -> Result<Said, Failure> {
    let document = PlaceDoc {
        order: OrderDoc::of(row),
        outcome: outcome(row),
    };
    let (exit, tail) = if row.state.is_terminal() {
        (Exit::Done, "")
    } else {
        let tail =
            "the cancel is in the journal, and the venue has not said yet that the order ended\n";
        (Exit::NotKnown, tail)
    };
    Said::new(
        exit,
        &document,
        format!("{}{tail}", text::order(&document.order)),
    )
}
