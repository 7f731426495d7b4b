//! What we claim about Hyperliquid, each number with its source.

use std::num::NonZeroU32;
use std::time::Duration;

use surefill_core::Sourced::Assumed;
use surefill_core::{
    AbsenceRule, AmendRule, CancelRule, DuplicateRule, FenceRule, NonceScope, Rates, VenueName,
    VenueProfile,
};

use crate::Timing;
use crate::budget::PER_MINUTE;
use crate::id;

const DAY: u64 = 24 * 60 * 60;

/// How long the venue takes a request: our choice, sent as `expiresAfter` and signed.
///
/// # Source
/// <https://hyperliquid.gitbook.io/hyperliquid-docs/for-developers/api/exchange-endpoint>: refused after that time, by the chain's clock.
pub(crate) const WINDOW: Duration = Duration::from_secs(15);

/// No bound is published. A third party saw a filled order missing from a lookup 0.4 s after the fill, and not after 1.1 s.
pub(crate) const LAG: Duration = Duration::from_secs(4);

/// The chain itself refuses what has expired; how far its clock is from the one that is read is not documented.
pub(crate) const DRAIN: Duration = Duration::from_secs(2);

/// Added where we wait for an instant of the venue's clock.
pub(crate) const MARGIN: Duration = Duration::from_secs(5);

/// How long a row that ended on an assumed number is looked after.
pub(crate) const WATCH: Duration = Duration::from_secs(60);

/// How long an order may stay in doubt before its scope halts: fence, drain, margin and two rounds are 34 s.
const CAP: Duration = Duration::from_secs(90);

/// The profile, with the durations of `timing`.
pub(crate) fn profile(timing: &Timing, scope: NonceScope) -> VenueProfile {
    let ms = Duration::from_millis;
    let lag = ms(timing.visibility_lag_ms);
    VenueProfile {
        name: VenueName::from("hyperliquid"),
        id_rule: id::RULE,
        // No uniqueness is documented, and after an order ended its id was seen to make a new one.
        duplicate: DuplicateRule::Accepted,
        // Measured by a third party: admission uses the nonce up, also where the action then fails.
        refusal_uses_up_bytes: true,
        fence: FenceRule::Clock {
            max: ms(timing.receive_window_ms),
            drain: Assumed(ms(timing.drain_ms)),
        },
        absence: AbsenceRule {
            lag: Assumed(lag),
            lag_blocks: 0,
            spacing: lag,
            margin: ms(timing.margin_ms),
            // Lists keep numbers of rows, not times: 2000 changes of status, 10000 fills. A round that a list does not reach back for is
            // inconclusive, whatever these say.
            closed_retention: Assumed(Duration::from_secs(DAY)),
            fills_retention: Assumed(Duration::from_secs(2 * DAY)),
        },
        watch: ms(timing.watch_ms),
        cap: cap(timing),
        // Below what an address may send, which grows with what it has traded; reads are metered by weight besides.
        rates: Rates {
            create: per_second(10),
            cancel: per_second(10),
            lookup: per_second(50),
        },
        // A look at a working order weighs 4 of 1200 a minute.
        poll: lag.clamp(ms(50), ms(4_000)),
        nonce_scope: Some(scope),
        reduce_only: true,
        successors: false,
        amend: AmendRule::None,
        cancel: CancelRule::Receipt,
        // No maximum is documented; a batch of up to 39 weighs as one.
        cancel_batch: 20,
    }
}

/// Ten times as long as doubt lasts when all goes well, and no longer than the real cap.
fn cap(timing: &Timing) -> Duration {
    let doubt = timing
        .receive_window_ms
        .saturating_add(timing.drain_ms)
        .saturating_add(timing.visibility_lag_ms.saturating_mul(3))
        .saturating_add(timing.margin_ms);
    Duration::from_millis(doubt.saturating_mul(10)).min(CAP)
}

/// What reads may weigh in a minute; on a simulator that hurries, as much for each doubt as on the real venue.
pub(crate) fn budget(timing: &Timing) -> u32 {
    let real = u64::try_from(LAG.as_millis()).unwrap_or(u64::MAX);
    let faster = real / timing.visibility_lag_ms.clamp(1, real);
    PER_MINUTE.saturating_mul(u32::try_from(faster).unwrap_or(u32::MAX))
}

fn per_second(n: u32) -> NonZeroU32 {
    NonZeroU32::new(n).unwrap_or(NonZeroU32::MIN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_real_numbers_hold_without_timing() {
        let profile = profile(&Timing::default(), NonceScope("s".into()));
        assert_eq!(profile.cap, CAP);
        assert_eq!(profile.poll, Duration::from_secs(4));
        assert!(profile.absence.margin >= Duration::from_secs(2));
        assert!(profile.absence.spacing >= profile.absence.lag.value());
        let two_rounds = WINDOW + DRAIN + MARGIN + LAG + LAG + LAG;
        assert!(CAP > two_rounds * 2);
        assert!(profile.fence.drain_assumed());
        assert_eq!(budget(&Timing::default()), PER_MINUTE);
    }
}
