//! One order from its placing to its end, at any venue, and what a script can tell by the exit code.

use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use surefill_core::{
    Alias, Amount, Attempt, BootTime, ClOrdId, Cold, Connect, Decision, Engine, Halt, HaltCause,
    Journal, MemoryStore, Nonces, OrderIntent, OrderRecord, PlaceError, Placement, Rate,
    RecoverError, Side, Ticket, VenueClock, VenueCtx, VenueError, VenueTime,
};

/// Why a program ended without its order. The codes are those of the command `surefill`.
#[derive(Debug, thiserror::Error)]
pub enum Failed {
    /// Exit code 2: flags, environment, keys, or terms that are no order there.
    #[error("{0}")]
    Usage(String),
    /// Exit code 5: refused by a halt.
    #[error("{0}")]
    Halted(String),
    /// Exit code 7: the venue cannot be reached, or does not answer.
    #[error("the venue cannot be reached: {0}")]
    Unreachable(String),
    /// Exit code 1: anything else.
    #[error("{0}")]
    Other(String),
}

impl Failed {
    /// Wrong from the start, in the words of its cause.
    pub fn usage(cause: impl std::fmt::Display) -> Self {
        Self::Usage(cause.to_string())
    }

    /// Anything else, in the words of its cause.
    pub fn other(cause: impl std::fmt::Display) -> Self {
        Self::Other(cause.to_string())
    }

    const fn code(&self) -> u8 {
        match self {
            Self::Other(_) => 1,
            Self::Usage(_) => 2,
            Self::Halted(_) => 5,
            Self::Unreachable(_) => 7,
        }
    }
}

impl From<VenueError> for Failed {
    fn from(error: VenueError) -> Self {
        if let VenueError::Unreachable(why) = error {
            return Self::Unreachable(why.into());
        }
        if matches!(error, VenueError::Keys(_) | VenueError::Config(_)) {
            return Self::usage(error);
        }
        Self::other(error)
    }
}

/// The exit code of a program, with its failure on stderr.
pub fn exit(ended: Result<(), Failed>) -> ExitCode {
    match ended {
        Ok(()) => ExitCode::SUCCESS,
        Err(failed) => {
            eprintln!("error: {failed}");
            ExitCode::from(failed.code())
        }
    }
}

/// A variable of the environment.
///
/// # Errors
/// [`Failed::Usage`], which names it.
pub fn variable(name: &str) -> Result<String, Failed> {
    std::env::var(name).map_err(|_| Failed::Usage(format!("{name} is not set")))
}

/// What is bought.
#[derive(Clone, Debug)]
pub struct Terms {
    /// The venue's name in the program.
    pub venue: &'static str,
    /// The instrument.
    pub symbol: String,
    /// How much.
    pub qty: String,
    /// The limit price.
    pub price: String,
}

impl Terms {
    fn intent(&self, now: VenueTime) -> Result<OrderIntent, Failed> {
        let wrong = |what: &str, text: &str, why: &dyn std::fmt::Display| {
            Failed::Usage(format!("{what} {text:?}: {why}"))
        };
        let qty = self.qty.parse();
        let price = self.price.parse();
        Ok(OrderIntent::limit(
            Decision::new("example", now.as_ms()),
            self.venue,
            &*self.symbol,
            Side::Buy,
            Amount::Base(qty.map_err(|why| wrong("qty", &self.qty, &why))?),
            price.map_err(|why| wrong("price", &self.price, &why))?,
        ))
    }
}

/// Places one order, follows it, and cancels it.
///
/// # Errors
/// [`Failed`].
pub async fn trade(terms: &Terms, venue: impl Connect) -> Result<(), Failed> {
    let store = MemoryStore::new(VenueTime::from_ms(0));
    let recovered = Cold::new(store).venue(terms.venue, venue).recover().await;
    let (engine, _report) = recovered.map_err(not_recovered)?;
    let ended = on(&engine, terms).await;
    let closed = engine.shutdown(Duration::from_secs(5)).await;
    ended?;
    closed.map_err(Failed::other)
}

async fn on(engine: &Engine, terms: &Terms) -> Result<(), Failed> {
    let silent = |halt: &Halt| halt.cause == HaltCause::Unreachable;
    if let Some(halt) = engine.halts().into_iter().find(silent) {
        return Err(Failed::Unreachable(halt.text.to_string()));
    }
    let now = engine.venue_time(&terms.venue.into());
    let now = now.ok_or_else(|| Failed::Unreachable("it was not heard".to_owned()))?;
    let placed = engine.place(terms.intent(now)?).await;
    let order = match placed.map_err(not_placed)? {
        Placement::Live(order) => {
            show("works", order.record());
            order
        }
        Placement::Done(order) => {
            show("done", order.record());
            return Ok(());
        }
        Placement::Unknown(order) => {
            show("was in doubt", &order.settled().await);
            order
        }
    };
    // Nobody else knows of it: the journal is this process's memory.
    let row = engine.cancel(order.id()).await.map_err(Failed::other)?;
    show("cancel asked", &row);
    let row = order.done().await;
    if !row.state.is_terminal() {
        return Err(Failed::other(format!(
            "{} is {}: look after it",
            row.id, row.state
        )));
    }
    show("ended", &row);
    Ok(())
}

fn not_recovered(error: RecoverError) -> Failed {
    if let RecoverError::Venue { error, .. } = error {
        return error.into();
    }
    Failed::other(error)
}

fn not_placed(error: PlaceError) -> Failed {
    if let PlaceError::Venue { error, .. } = error {
        return error.into();
    }
    if matches!(error, PlaceError::Prepare(_) | PlaceError::Invalid { .. }) {
        return Failed::usage(error);
    }
    if matches!(error, PlaceError::Halted(_)) {
        return Failed::Halted(error.to_string());
    }
    Failed::other(error)
}

fn show(what: &str, row: &OrderRecord) {
    println!(
        "{what}: {} is {}, {} filled",
        row.id, row.state, row.cum_qty
    );
}

/// A request that was built and is not sent.
#[derive(Debug)]
pub struct Unsent {
    /// Our id of the order.
    pub id: ClOrdId,
    /// The request.
    pub attempt: Attempt,
}

/// Builds the request as the engine would: it reads what must be known of the venue, and sends no order.
///
/// # Errors
/// [`Failed`].
pub async fn unsent(terms: &Terms, venue: impl Connect) -> Result<Unsent, Failed> {
    let nonces = venue.nonce_scope().map(|scope| {
        let journal = Journal::new(Arc::new(MemoryStore::new(VenueTime::from_ms(0))));
        Arc::new(Nonces::new(journal, scope))
    });
    let ctx = VenueCtx {
        alias: Alias::from(terms.venue),
        clock: Arc::new(VenueClock::new(Arc::new(BootTime))),
        nonces: nonces.clone(),
        rate: Arc::new(Rate::new(venue.profile().rates)),
    };
    let venue = Box::new(venue).connect(ctx)?;
    let now = venue.venue_time().await?;
    let intent = terms.intent(now)?;
    let account = venue.account().await?;
    let facts = venue.facts(&intent).await?;
    let nonce = match nonces {
        Some(nonces) => Some(nonces.next(now).await.map_err(Failed::other)?),
        None => None,
    };
    let ticket = Ticket {
        no: 1,
        now,
        nonce,
        facts,
    };
    let id = ClOrdId::derive(&intent.decision, &account, &intent.symbol, intent.side);
    let attempt = venue.prepare(&id, &intent, &ticket);
    let attempt = attempt.map_err(Failed::usage)?;
    Ok(Unsent { id, attempt })
}
