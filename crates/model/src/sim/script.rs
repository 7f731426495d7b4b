//! A schedule: a camp and a list of steps, made from a seed, printed and read as one line of JSON a step.

use std::fmt;
use std::str::FromStr;

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};

use super::camp::{Camp, FenceKind};

/// What happens to one request, or one answer. Times in milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum At {
    /// The request is lost.
    Lost,
    /// The request is acted upon, and its answer is lost.
    AnswerLost,
    /// A create arrives so much later; nobody waits so long.
    Late(u64),
    /// A second copy arrives so much later.
    Doubled(u64),
    /// Refused for good.
    Refused,
    /// Refused for good, and a copy that was doubled on the way arrives so much later, when nothing speaks against it.
    RefusedDoubled(u64),
    /// Turned away before it was acted upon.
    Turned,
    /// No connection.
    NoConnection,
    /// It fills as it arrives.
    FillsAtOnce,
}

/// One step of a schedule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Step {
    /// The strategy decides on order `n` and places it, or places the same decision again.
    Place {
        /// Which.
        n: u32,
        /// On the ground of what it may be sent again: never, after proof, after absence.
        resubmit: u8,
        /// Whether it only makes a position smaller.
        exit: bool,
        /// Accept, strict, land.
        give_up: u8,
    },
    /// The strategy cancels its order `n`.
    Cancel(u32),
    /// It cancels everything.
    CancelAll,
    /// What happens to the next create.
    OnCreate(At),
    /// What happens to the next look at an order: it fails.
    LookFails,
    /// The next list fails.
    ListFails,
    /// What happens to the next cancel.
    OnCancel(At),
    /// What happens to the next revocation.
    OnRevoke(At),
    /// The venue executes so much of the newest open order of `n`.
    Fill {
        /// Which.
        n: u32,
        /// How much.
        qty: u32,
    },
    /// The venue ends an order by itself.
    Expire(u32),
    /// Time passes.
    Advance(u64),
    /// The machine sleeps: time passes and no task runs.
    Sleep(u64),
    /// The strategy's own clock is wrong by so much from now on.
    ClockStep(i64),
    /// The venue answers nothing for so long.
    Down(u64),
    /// The next so many events of the stream are lost.
    Mute(u32),
    /// The next event of the stream comes twice.
    Twice,
    /// The stream ends.
    Disconnect,
    /// The process dies after so many more writes and sends, and with it go so many of the newest lazy writes.
    Crash {
        /// How many.
        after: u32,
        /// How many.
        lose: u32,
    },
    /// A person halts the account.
    Halt,
    /// A person lifts its halts.
    Resume,
}

/// A schedule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Script {
    /// What the venue's own choices are drawn from.
    pub seed: u64,
    /// The venue.
    pub camp: Camp,
    /// What happens.
    pub steps: Vec<Step>,
}

#[derive(Serialize, Deserialize)]
struct Head {
    seed: u64,
    camp: Camp,
}

/// A text that is no script.
#[derive(Debug)]
pub struct Unread(String);

impl fmt::Display for Unread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "no script: {}", self.0)
    }
}

impl std::error::Error for Unread {}

impl fmt::Display for Script {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let head = Head {
            seed: self.seed,
            camp: self.camp,
        };
        writeln!(
            f,
            "{}",
            serde_json::to_string(&head).map_err(|_| fmt::Error)?
        )?;
        for step in &self.steps {
            writeln!(
                f,
                "{}",
                serde_json::to_string(step).map_err(|_| fmt::Error)?
            )?;
        }
        Ok(())
    }
}

impl FromStr for Script {
    type Err = Unread;

    fn from_str(text: &str) -> Result<Self, Unread> {
        let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
        let unread = |error: serde_json::Error| Unread(error.to_string());
        let head = lines.next().ok_or_else(|| Unread("it is empty".into()))?;
        let Head { seed, camp } = serde_json::from_str(head).map_err(unread)?;
        let steps = lines.map(serde_json::from_str).collect::<Result<_, _>>();
        Ok(Self {
            seed,
            camp,
            steps: steps.map_err(unread)?,
        })
    }
}

/// Orders of one schedule.
pub(super) const ORDERS: u32 = 3;

impl Script {
    /// The schedule of a seed.
    pub fn of(seed: u64) -> Self {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let camp = Camp::draw(&mut rng);
        let mut steps = Vec::new();
        for _ in 0..rng.random_range(6..18) {
            steps.push(step(&mut rng, camp));
            if rng.random_bool(0.5) {
                steps.push(Step::Advance(draw_ms(&mut rng)));
            }
        }
        Self { seed, camp, steps }
    }
}

fn draw_ms(rng: &mut ChaCha8Rng) -> u64 {
    match rng.random_range(0..3) {
        0 => rng.random_range(1..20),
        1 => rng.random_range(20..200),
        _ => rng.random_range(200..1_500),
    }
}

fn step(rng: &mut ChaCha8Rng, camp: Camp) -> Step {
    let n = rng.random_range(0..ORDERS);
    match rng.random_range(0..100) {
        0..22 => Step::Place {
            n,
            resubmit: rng.random_range(0..3),
            exit: rng.random_bool(0.2),
            give_up: rng.random_range(0..3),
        },
        22..46 => Step::OnCreate(create(rng, camp)),
        46..52 => Step::Cancel(n),
        52..53 => Step::CancelAll,
        53..58 => Step::LookFails,
        58..60 => Step::ListFails,
        60..64 => Step::OnCancel(small(rng)),
        64..67 => Step::OnRevoke(small(rng)),
        67..76 => Step::Fill {
            n,
            qty: rng.random_range(1..4),
        },
        76..78 => Step::Expire(n),
        78..80 => Step::Sleep(draw_ms(rng)),
        80..81 => Step::ClockStep(rng.random_range(-100_000..100_000)),
        81..83 => Step::Down(draw_ms(rng)),
        83..85 => Step::Mute(rng.random_range(1..4)),
        85..86 => Step::Twice,
        86..87 => Step::Disconnect,
        87..96 => Step::Crash {
            after: rng.random_range(0..6),
            lose: rng.random_range(0..6),
        },
        96..98 => Step::Halt,
        _ => Step::Resume,
    }
}

fn small(rng: &mut ChaCha8Rng) -> At {
    if rng.random_bool(0.5) {
        At::Lost
    } else {
        At::AnswerLost
    }
}

fn create(rng: &mut ChaCha8Rng, camp: Camp) -> At {
    // Without a fence a doubled request comes while the watch still sees it.
    let doubled = match camp.fence {
        FenceKind::None => rng.random_range(1..400),
        FenceKind::Book | FenceKind::Documented | FenceKind::Assumed => rng.random_range(1..300),
    };
    match rng.random_range(0..12) {
        0..2 => At::Lost,
        2..5 => At::AnswerLost,
        5..7 => At::Late(rng.random_range(50..1_200)),
        7 => At::Doubled(doubled),
        8 => At::Refused,
        9 => At::RefusedDoubled(doubled),
        10 => [At::Turned, At::NoConnection][rng.random_range(0..2)],
        _ => At::FillsAtOnce,
    }
}
