//! Gate, way and engine: what a venue does with a request, whoever still listens.

use std::sync::Arc;

use super::{
    exchange::{Reply, Request},
    stage::Venue,
};

/// Gate and engine at one moment.
pub(super) fn act_now<V: Venue>(venue: &V, seq: u64, request: &Request) -> Reply {
    match venue.gate(request) {
        Err(refused) => refused,
        Ok(passed) => {
            venue.stage().requests.acted(seq);
            venue.engine(passed)
        }
    }
}

/// Waits, then gate, then the way to the engine, then the engine: whether or not the client is still there.
pub(super) fn spawn_act<V: Venue>(
    venue: &Arc<V>,
    seq: u64,
    request: Request,
    ms: u64,
) -> tokio::task::JoinHandle<Reply> {
    let venue = Arc::clone(venue);
    let clock = &venue.stage().clock;
    let due = clock.now_ms().saturating_add(ms);
    tokio::spawn(async move {
        if ms > 0 {
            venue.stage().clock.reach(due).await;
        }
        let passed = match venue.gate(&request) {
            Err(refused) => return refused,
            Ok(passed) => passed,
        };
        let drain_ms = venue.drain_ms();
        if drain_ms > 0 {
            let clock = &venue.stage().clock;
            clock.reach(clock.now_ms().saturating_add(drain_ms)).await;
        }
        venue.stage().requests.acted(seq);
        let reply = venue.engine(passed);
        let ack_ms = venue.ack_ms(&request);
        if ack_ms > 0 {
            let clock = &venue.stage().clock;
            clock.reach(clock.now_ms().saturating_add(ack_ms)).await;
        }
        reply
    })
}

/// Acts after `ms` and gives the answer, even if the caller does not wait for it.
pub(super) async fn act<V: Venue>(venue: &Arc<V>, seq: u64, request: Request, ms: u64) -> Reply {
    match spawn_act(venue, seq, request, ms).await {
        Ok(reply) => reply,
        Err(error) => {
            tracing::error!(%error, "the simulated venue broke");
            Reply::page(500)
        }
    }
}

/// Acts before it returns, or, with a delay, goes on at once and acts later.
pub(super) async fn act_by<V: Venue>(venue: &Arc<V>, seq: u64, request: Request, ms: u64) {
    let acting = spawn_act(venue, seq, request, ms);
    if ms == 0
        && let Err(error) = acting.await
    {
        tracing::error!(%error, "the simulated venue broke");
    }
}

/// Whether every request may be answered at the moment in which it comes.
pub(super) fn at_once<V: Venue>(venue: &V, request: &Request) -> bool {
    venue.drain_ms() == 0 && venue.ack_ms(request) == 0
}
