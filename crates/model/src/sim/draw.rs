//! Which schedule a seed stands for.

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::camp::{Camp, FenceKind};
use super::script::{At, Script, Step};

/// Orders of one schedule.
pub(super) const ORDERS: u32 = 3;

impl Script {
    /// The schedule of a seed.
    pub fn of(seed: u64) -> Self {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let camp = Camp::draw(&mut rng);
        let mut steps = Vec::new();
        for _ in 0..rng.random_range(8..28) {
            steps.push(step(&mut rng, camp));
            if rng.random_bool(0.5) {
                steps.push(Step::Advance(wait(&mut rng)));
            }
        }
        Self { seed, camp, steps }
    }
}

fn wait(rng: &mut impl Rng) -> u64 {
    match rng.random_range(0..3) {
        0 => rng.random_range(1..20),
        1 => rng.random_range(20..200),
        _ => rng.random_range(200..1_500),
    }
}

/// Half of what a strategy or a person does, half of what befalls it.
fn step(rng: &mut impl Rng, camp: Camp) -> Step {
    let n = rng.random_range(0..ORDERS);
    match rng.random_range(0..1_000) {
        0..200 => Step::Place {
            n,
            resubmit: rng.random_range(0..3),
            exit: rng.random_bool(0.2),
            give_up: rng.random_range(0..3),
        },
        200..210 => Step::Despite(n),
        210..220 => Step::Conflict(n),
        220..280 => Step::Amend {
            n,
            qty: rng.random_range(1..7),
            px: rng.random_range(100..103),
        },
        280..340 => Step::Cancel(n),
        340..350 => Step::CancelAll,
        350..370 => Step::Halt,
        370..390 => Step::Resume,
        390..610 => Step::OnCreate(create(rng, camp)),
        610..640 => Step::OnAmend(amend(rng)),
        640..675 => Step::OnCancel(small(rng)),
        675..705 => Step::OnRevoke(small(rng)),
        705..750 => Step::LookFails,
        750..770 => Step::ListFails,
        770..850 => Step::Fill {
            n,
            qty: rng.random_range(1..4),
        },
        850..865 => Step::Expire(n),
        _ => befalls(rng),
    }
}

/// What befalls the process, its disk, its clock and its stream.
fn befalls(rng: &mut impl Rng) -> Step {
    let (after, ms) = (rng.random_range(0..6), wait(rng));
    match rng.random_range(0..135) {
        0..15 => Step::Sleep(ms),
        15..20 => Step::ClockStep(rng.random_range(-100_000..100_000)),
        20..25 => Step::TimeBehind(rng.random_range(0..2_000)),
        25..40 => Step::Down(ms),
        40..50 => Step::Mute(rng.random_range(1..4)),
        50..55 => Step::Twice,
        55..60 => Step::Swap,
        60..65 => Step::Disconnect,
        65..72 => Step::FullDisk(ms),
        72..79 => Step::CommitFails {
            after,
            kept: rng.random_bool(0.5),
        },
        79..86 => Step::Pause { after, ms },
        86..96 => Step::TakeOver { after, ms },
        96..100 => Step::Second,
        _ => Step::Crash {
            after,
            lose: rng.random_range(0..6),
        },
    }
}

fn small(rng: &mut impl Rng) -> At {
    if rng.random_bool(0.5) {
        At::Lost
    } else {
        At::AnswerLost
    }
}

fn create(rng: &mut impl Rng, camp: Camp) -> At {
    // Without a fence a doubled request comes while the watch still sees it.
    let doubled = match camp.fence {
        FenceKind::None => rng.random_range(1..400),
        FenceKind::Book | FenceKind::Documented | FenceKind::Assumed => rng.random_range(1..300),
    };
    match rng.random_range(0..25) {
        0..4 => At::Lost,
        4..10 => At::AnswerLost,
        10..14 => At::Late(rng.random_range(50..1_200)),
        14..16 => At::Doubled(doubled),
        16..18 => At::Refused,
        18..20 => At::RefusedDoubled(doubled),
        20..22 => [At::Turned, At::NoConnection][rng.random_range(0..2)],
        22 => At::KeysRefused,
        _ => At::FillsAtOnce,
    }
}

fn amend(rng: &mut impl Rng) -> At {
    match rng.random_range(0..12) {
        0..2 => At::Lost,
        2..5 => At::AnswerLost,
        5..7 => At::Late(rng.random_range(50..600)),
        7..9 => At::Doubled(rng.random_range(1..300)),
        9..11 => At::Refused,
        _ => At::NoConnection,
    }
}
