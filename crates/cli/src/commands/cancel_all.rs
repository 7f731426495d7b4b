//! `surefill cancel-all`: every order of ours in a scope.

use surefill_core::{Answer, OrderRecord, Request, Scope};
use surefill_store_sqlite::SqliteStore;

use crate::args::CancelAllArgs;
use crate::config::Config;
use crate::documents::{CancelAllDoc, OrderDoc, ids};
use crate::engine::{self, Asked, Journal};
use crate::failure::{Exit, Failure};
use crate::identity;
use crate::output::Said;
use crate::stop::Stop;
use crate::text;

pub(crate) async fn run(
    config: &Config,
    args: &CancelAllArgs,
    stop: &Stop,
) -> Result<Said, Failure> {
    let scope = identity::scope(config, &engine::bindings(config)?, &args.scope)?;
    let reader = engine::reader(config)?;
    match engine::journal(&config.journal)? {
        Journal::Ours(store) => ours(config, &scope, store, args, stop).await,
        Journal::Theirs(inbox) => {
            let request = Request::CancelAll {
                scope: scope.clone(),
            };
            match engine::ask(&config.journal, &inbox, &request, stop).await? {
                Asked::Ours { store, .. } => ours(config, &scope, store, args, stop).await,
                Asked::Answered(Answer::CancelAsked { orders }) => {
                    said(&engine::ended(&reader, &orders, args.wait, stop).await?)
                }
                Asked::Answered(Answer::Refused { text }) => Err(Failure::new(
                    Exit::NotKnown,
                    format!("the engine refused: {text}"),
                )),
                Asked::Answered(Answer::Halted | Answer::Resumed { .. }) => Err(Failure::new(
                    Exit::NotKnown,
                    "the engine answered something else",
                )),
            }
        }
    }
}

/// Cancels with an engine of this process.
async fn ours(
    config: &Config,
    scope: &Scope,
    store: SqliteStore,
    args: &CancelAllArgs,
    stop: &Stop,
) -> Result<Said, Failure> {
    let venue = config.venue(&scope.venue)?;
    let stopped = || Failure::new(Exit::NotKnown, "a stop was asked before the cancels were");
    let running = engine::recover(store, &[venue], stop)
        .await?
        .ok_or_else(stopped)?;
    let asked = running.engine.cancel_all(scope).await;
    let rows = match &asked {
        Ok(rows) => {
            let reader = engine::reader(config)?;
            engine::ended(&reader, &ids(rows), args.wait, stop).await
        }
        Err(_) => Ok(Vec::new()),
    };
    let closed = running.shut_down().await;
    asked?;
    closed?;
    said(&rows?)
}

fn said(rows: &[OrderRecord]) -> Result<Said, Failure> {
    let document = CancelAllDoc {
        orders: rows.iter().map(OrderDoc::of).collect(),
    };
    let open = rows.iter().filter(|row| !row.state.is_terminal()).count();
    let (exit, tail) = match open {
        0 => (Exit::Done, String::new()),
        open => (
            Exit::NotKnown,
            format!(
                "of {open} the venue has not said yet that they ended; the cancels are in the journal\n"
            ),
        ),
    };
    let text = format!("{}{tail}", text::orders(&document.orders));
    Said::new(exit, &document, text)
}
