//! The process dies around every write and every send of a life, and the next one ends it.

use surefill_core::{OrdState, OrderIntent};
use tokio::sync::oneshot;

use crate::crash_at::{Call, CrashPoint, Edge, World};
use crate::venue::bot::{Bot, Process, done, settled};
use crate::venue::fixture::Start;
use crate::venue::judge::judge;
use crate::venue::stage::{BOUND, Ending, Stage, each, on, until};
use crate::venue::words::{Act, Fate, Fault, Login, Op};

/// What a process does until it dies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Life {
    /// It starts, places an order whose request or answer is lost, finds out, and cancels it.
    Doubt,
    /// It starts with three orders that an earlier process left, and settles them.
    Recovery,
    /// It starts, places an order in doubt past the cap, halts, and lifts the halt once the venue answers.
    Halt,
}

/// The calls around which this life is ended, and up to the how-many-th of a kind.
const fn walk(life: Life) -> &'static [(Call, u32)] {
    match life {
        Life::Doubt => &[
            (Call::Begin, 1),
            (Call::Apply, 9),
            (Call::Reserve, 2),
            (Call::Facts, 1),
            (Call::Submit, 2),
            (Call::Lookup, 3),
            (Call::Revoke, 1),
            (Call::Cancel, 1),
        ],
        Life::Recovery => &[
            (Call::Lease, 1),
            (Call::Bind, 1),
            (Call::VenueTime, 1),
            (Call::Account, 1),
            (Call::OpenOrders, 1),
            (Call::ClosedSince, 1),
            (Call::FillsSince, 1),
            (Call::SetCursor, 1),
            (Call::Follow, 1),
            (Call::Apply, 2),
        ],
        Life::Halt => &[(Call::Halt, 1), (Call::Lift, 1)],
    }
}

/// Whether the venue or its attempts have what this call is for.
fn has(stage: &Stage, call: Call) -> bool {
    match call {
        Call::Reserve => stage.profile.nonce_scope.is_some(),
        Call::Revoke => stage.sample.revocable,
        Call::Lease
        | Call::Bind
        | Call::Begin
        | Call::Apply
        | Call::Halt
        | Call::Lift
        | Call::SetCursor
        | Call::VenueTime
        | Call::Account
        | Call::Facts
        | Call::Submit
        | Call::Lookup
        | Call::Cancel
        | Call::OpenOrders
        | Call::ClosedSince
        | Call::FillsSince
        | Call::Follow => true,
    }
}

fn points(life: Life) -> Vec<CrashPoint> {
    let mut points = Vec::new();
    for (call, most) in walk(life) {
        for nth in 1..=*most {
            for edge in [Edge::Before, Edge::After] {
                points.push(CrashPoint {
                    call: *call,
                    edge,
                    nth,
                });
            }
        }
    }
    points
}

/// Lives until the point, or to its end; returns whether the point was met.
async fn lived(stage: &Stage, life: Life, intent: &OrderIntent, point: CrashPoint) -> bool {
    let world = World::until(point);
    let process = Process::new(world.clone());
    let cold = stage.cold(Login::Main, &world);
    let (placed, id) = (intent.clone(), stage.id(intent));
    let (recovered, hears) = oneshot::channel();
    let (lets, goes_on) = oneshot::channel();
    let script = process.spawn(async move {
        let (engine, _) = cold.recover().await.expect("recovered");
        if life == Life::Halt {
            // Nothing is read any more from here on.
            recovered.send(()).expect("somebody hears");
            goes_on.await.expect("somebody lets it");
        }
        if life == Life::Recovery {
            // It goes on until its cursor has moved and its stream is heard.
            return engine;
        }
        let placed = engine.place(placed).await.expect("placed");
        settled(placed.order()).await;
        if life == Life::Doubt {
            engine.cancel(id).await.expect("asked");
            done(placed.order()).await;
        }
        engine
    });
    let unblind = async {
        if life == Life::Doubt && stage.sample.revocable {
            // Nothing arrives until the attempt is revoked, which comes before another one.
            until("a revocation", async || {
                (world.count(Call::Revoke) > 0).then_some(())
            })
            .await;
            stage.sim.clear_faults().await;
        }
        if life == Life::Halt {
            hears.await.expect("it recovers");
            let lost = Fault::on(Op::Create, Act::ActThenStatus(504));
            stage.sim.fault(lost).await;
            stage.blind().await;
            stage.deaf().await;
            lets.send(()).expect("it goes on");
            until("a halt", async || {
                (world.count(Call::Halt) > 0).then_some(())
            })
            .await;
            stage.sim.clear_faults().await;
            until("a lift", async || {
                (world.count(Call::Lift) > 0).then_some(())
            })
            .await;
        }
        std::future::pending::<()>().await;
    };
    let ended = async {
        let engine = script.await.expect("no panic");
        let over = match life {
            Life::Doubt => std::time::Duration::ZERO,
            Life::Halt | Life::Recovery => stage.lag() * 4,
        };
        tokio::time::sleep(over).await;
        drop(engine);
    };
    let met = tokio::time::timeout(BOUND, async {
        tokio::select! {
            biased;
            () = world.stopped() => true,
            () = ended => false,
            () = unblind => false,
        }
    });
    let met = met.await.expect("a death or an end within the bound");
    drop(process);
    stage.handed_on();
    met
}

async fn walked(start: Start, life: Life) {
    each(start, points(life), async |stage, point| {
        let mut left = Vec::new();
        if life == Life::Recovery {
            let bot = stage.bot().await;
            for _ in 0..2 {
                let intent = stage.intent(Fate::Rests).await;
                settled(&bot.order(intent.clone()).await).await;
                left.push(intent);
            }
            // One of them in doubt, though the venue holds it: its pushes do not tell either.
            stage.deaf().await;
            stage
                .sim
                .fault(Fault::on(Op::Create, Act::DropAnswer))
                .await;
            let intent = stage.intent(Fate::Rests).await;
            bot.begin(intent.clone());
            left.push(intent);
            stage.placed(3).await;
            stage.crash(bot);
            stage.sim.clear_faults().await;
        }
        if life == Life::Doubt {
            let lost = if stage.sample.revocable {
                Fault::on(Op::Create, Act::ResetBefore).for_good()
            } else if stage.ending() == Ending::OneOrder {
                Fault::on(Op::Create, Act::ResetBefore)
            } else {
                // It would not be sent again: only its answer is lost.
                Fault::on(Op::Create, Act::ActThenStatus(504))
            };
            stage.sim.fault(lost).await;
        }
        let intent = match life {
            Life::Doubt => stage.doubtful_intent().await,
            Life::Recovery | Life::Halt => stage.intent(Fate::Rests).await,
        };
        let met = lived(stage, life, &intent, point).await;
        let sure = point.nth == 1 && has(stage, point.call);
        assert!(met || !sure, "{point:?} was not met in {life:?}");
        stage.sim.clear_faults().await;
        let bot = stage.bot().await;
        if life != Life::Recovery {
            again(stage, &bot, life, &intent, point).await;
        }
        if stage.ending() == Ending::Halted && life == Life::Doubt {
            assert!(stage.orders().await.len() <= 1, "{point:?}");
            return;
        }
        let ledger = judge(stage, bot).await;
        for intent in &left {
            ledger.one_order(stage, intent, OrdState::Acked);
        }
        if life == Life::Doubt {
            let state = ledger.of(stage, &intent).state;
            let over = matches!(state, OrdState::Canceled | OrdState::Rejected);
            assert!(over, "{point:?}: {state}");
        }
        if life == Life::Halt {
            ledger.one_order(stage, &intent, OrdState::Acked);
        }
    })
    .await;
}

/// The strategy decides the same again, and goes on from there.
async fn again(stage: &Stage, bot: &Bot, life: Life, intent: &OrderIntent, point: CrashPoint) {
    let placed = match bot.place(intent.clone()).await {
        Ok(placed) => placed,
        // Where it went stale meanwhile and was never journaled there is nothing to go on with.
        Err(error) => {
            let known = bot.row(stage.id(intent)).await;
            assert!(known.is_none(), "{point:?}: {error}");
            let mut fresh = intent.clone();
            fresh.ttl = OrderIntent::DEFAULT_TTL;
            bot.place(fresh).await.expect("placed")
        }
    };
    assert_eq!(placed.order().id(), stage.id(intent));
    if life == Life::Doubt {
        bot.cancel(placed.order().id()).await.expect("asked");
    }
}

/// C80.
pub async fn c80_it_dies_around_each_call_of_an_order_in_doubt(start: Start) {
    walked(start, Life::Doubt).await;
}

/// C81.
pub async fn c81_it_dies_around_each_call_of_a_recovery(start: Start) {
    walked(start, Life::Recovery).await;
}

/// C82.
pub async fn c82_it_dies_around_a_halt_and_its_end(start: Start) {
    walked(start, Life::Halt).await;
}

/// C83.
pub async fn c83_without_a_death_the_life_goes_on(start: Start) {
    on(start, async |stage| {
        let bot = stage.bot().await;
        stage
            .sim
            .fault(Fault::on(Op::Create, Act::ActThenStatus(504)))
            .await;
        let intent = stage.intent(Fate::Rests).await;
        let order = bot.order(intent.clone()).await;
        settled(&order).await;
        bot.cancel(order.id()).await.expect("asked");
        done(&order).await;
        let ledger = judge(stage, bot).await;
        ledger.one_order(stage, &intent, OrdState::Canceled);
    })
    .await;
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Between them the lives end around every call there is.
    #[test]
    fn every_call_is_walked() {
        let lives = [Life::Doubt, Life::Recovery, Life::Halt];
        for call in Call::ALL {
            let walked = lives
                .iter()
                .any(|life| walk(*life).iter().any(|(one, _)| *one == call));
            assert!(walked, "{call:?}");
        }
    }
}
