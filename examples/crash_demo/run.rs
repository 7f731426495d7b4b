//! One moment, one bot: kill it there, restart it, and count what the venue holds.

use std::collections::HashSet;

use surefill_core::{OrderFilter, Qty, Store};
use surefill_store_sqlite::SqliteStore;

use crate::child::{Bot, Simulator, Start, Told};
use crate::control::Control;
use crate::moment::Moment;
use crate::venue::At;
use crate::{Failure, QTY, Role};

/// How long a held request stays before the gate: well inside the receive window.
const HOLD_MS: u64 = 200;

/// How often a moment that slipped by is tried again.
const TRIES: u32 = 10;

/// What the referee and the journal say in the end.
#[derive(Debug)]
pub(crate) struct Outcome {
    pub(crate) moment: Moment,
    pub(crate) role: Role,
    /// Orders that the venue holds for the decision.
    pub(crate) orders: usize,
    pub(crate) filled_at_venue: Qty,
    /// What the journal holds; a naive bot has none.
    pub(crate) filled_in_journal: Option<Qty>,
    /// Every fill of the venue is in the journal once, and nothing else.
    pub(crate) fills_agree: bool,
    pub(crate) kills: u32,
}

impl Outcome {
    /// One order, every fill once, nothing too much.
    pub(crate) fn holds(&self) -> bool {
        let whole: Result<Qty, _> = QTY.parse();
        self.orders == 1
            && self.fills_agree
            && whole.is_ok_and(|whole| self.filled_at_venue == whole)
    }
}

/// Runs one bot through one moment, on a simulator of its own.
pub(crate) async fn run(at: At, moment: Moment, role: Role) -> Result<Outcome, Failure> {
    for _ in 0..TRIES {
        if let Some(outcome) = attempt(at, moment, role).await? {
            return Ok(outcome);
        }
    }
    Err(format!("the moment {:?} slipped by {TRIES} times", moment.text()).into())
}

async fn attempt(at: At, moment: Moment, role: Role) -> Result<Option<Outcome>, Failure> {
    let folder = tempfile::tempdir()?;
    let simulator = Simulator::start(at).await?;
    let control = Control::new(&simulator.control)?;
    let signal_ms = control.now_ms().await?;
    let journal = folder.path().join("orders.db");
    let start = Start {
        at,
        role,
        simulator: &simulator,
        journal: &journal,
        signal_ms,
        price: moment.price(),
    };

    // A death before recovery needs an order in doubt first.
    let first = if moment == Moment::Recovery {
        Moment::Acted
    } else {
        moment
    };
    match first {
        Moment::Acted => control.fault_next_create("drop_answer", 0).await?,
        Moment::Unread => control.fault_next_create("hold", HOLD_MS).await?,
        Moment::Journaled | Moment::Partial | Moment::Recovery => {}
    }
    let mut deaths = vec![first];
    if moment == Moment::Recovery {
        deaths.push(moment);
    }
    for death in &deaths {
        let mut bot = Bot::start(start, Some(*death))?;
        match bot.told().await? {
            Told::At(at) if at == *death => bot.kill().await?,
            Told::Missed => return Ok(None),
            told @ (Told::At(_) | Told::Done) => {
                return Err(format!("{told:?} instead of {death:?}").into());
            }
        }
    }
    if moment == Moment::Partial {
        // The rest fills while nobody listens.
        for order in control.orders().await? {
            control
                .fill(
                    order.wire_id.as_deref().unwrap_or_default(),
                    "0.02",
                    moment.price(),
                )
                .await?;
        }
    }
    let mut bot = Bot::start(start, None)?;
    match bot.told().await? {
        Told::Done => bot.end().await?,
        told @ (Told::At(_) | Told::Missed) => {
            return Err(format!("{told:?} instead of the end").into());
        }
    }
    let kills = u32::try_from(deaths.len())?;
    Ok(Some(count(moment, role, kills, &control, &journal).await?))
}

async fn count(
    moment: Moment,
    role: Role,
    kills: u32,
    control: &Control,
    journal: &std::path::Path,
) -> Result<Outcome, Failure> {
    let orders = control.orders().await?;
    let fills = control.fills().await?;
    let filled_at_venue = sum(orders.iter().map(|order| order.cum_qty))?;
    let (filled_in_journal, fills_agree) = match role {
        Role::Naive => (None, false),
        Role::Demo | Role::Sim | Role::Bot => {
            let store = SqliteStore::open(journal)?;
            let mut booked = Vec::new();
            for order in store.orders(&OrderFilter::default()).await? {
                booked.extend(store.fills(order.id).await?);
            }
            let filled = sum(booked.iter().map(|fill| fill.last_qty))?;
            let at_venue: HashSet<(&str, Qty)> = fills
                .iter()
                .map(|fill| (&*fill.exec_id, fill.qty))
                .collect();
            let here: HashSet<(&str, Qty)> = booked
                .iter()
                .map(|fill| (fill.exec_id.as_str(), fill.last_qty))
                .collect();
            let once = here.len() == booked.len() && at_venue.len() == fills.len();
            (Some(filled), once && here == at_venue)
        }
    };
    Ok(Outcome {
        moment,
        role,
        orders: orders.len(),
        filled_at_venue,
        filled_in_journal,
        fills_agree,
        kills,
    })
}

fn sum(mut qtys: impl Iterator<Item = Qty>) -> Result<Qty, Failure> {
    qtys.try_fold(Qty::ZERO, Qty::checked_add)
        .ok_or_else(|| "a sum does not fit".into())
}
