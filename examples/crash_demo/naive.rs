//! The bot that most people write first: it tries again on a time-out, under a new id, and keeps no journal.

use std::time::Duration;

use surefill_transport::{HttpClient, HttpConfig};

use crate::Failure;
use crate::bot::Orders;
use crate::control::Control;
use crate::death::{once_acted, unread};
use crate::maker::Maker;
use crate::moment::{Moment, say, wait_to_be_killed};

/// How long it waits for an answer before it tries again.
const TIME_OUT: Duration = Duration::from_secs(2);

/// Sends until something answers.
pub(crate) async fn run(orders: Orders<'_>) -> Result<(), Failure> {
    let control = Control::new(orders.control)?;
    let http = HttpClient::new(HttpConfig {
        timeout: TIME_OUT,
        ..HttpConfig::default()
    })?;
    match orders.die {
        Some(moment @ (Moment::Journaled | Moment::Recovery)) => {
            // It has neither a journal nor a recovery: it dies about to send.
            wait_to_be_killed(moment);
        }
        Some(Moment::Acted | Moment::Unread | Moment::Partial) | None => {}
    }
    let maker = Maker::new(&orders).await?;
    let mut made = maker.make(&new_id(), control.now_ms().await?).await?;
    loop {
        let send = maker.send(&http, &made);
        let answer = match orders.die {
            Some(moment @ Moment::Acted) => once_acted(&control, moment, send).await,
            Some(Moment::Unread) => unread(&control, send).await,
            Some(Moment::Journaled | Moment::Partial | Moment::Recovery) | None => send.await,
        };
        match answer {
            Ok(true) => break,
            Ok(false) | Err(_) => {
                made = maker.make(&new_id(), control.now_ms().await?).await?;
            }
        }
    }
    if orders.die == Some(Moment::Partial) {
        control.fill(&made.wire_id, "0.01", orders.price).await?;
        wait_to_be_killed(Moment::Partial);
    }
    say("DONE naive");
    Ok(())
}

/// A new id for each try: the mistake.
fn new_id() -> String {
    let unique = std::process::id();
    static TRIES: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);
    let tries = TRIES.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
    format!("naive-{unique}-{tries}")
}
