//! What we claim about Bybit, each number with its source.

use std::num::NonZeroU32;
use std::time::Duration;

use surefill_core::Sourced::{Assumed, Documented};
use surefill_core::{
    AbsenceRule, AmendRule, CancelRule, DuplicateRule, FenceRule, Rates, VenueName, VenueProfile,
};

use crate::category::Category;
use crate::{Timing, batch, id};

const ORDER_LIST: &str = "https://bybit-exchange.github.io/docs/v5/order/order-list";
const EXECUTION: &str = "https://bybit-exchange.github.io/docs/v5/order/execution";

const DAY: u64 = 24 * 60 * 60;

/// How long the gateway takes a request: our choice of what it allows. It is also the length of the fence.
pub(crate) const RECEIVE_WINDOW: Duration = Duration::from_secs(5);

/// No bound is published. One sample of a third party: visible 0.65 s after the create.
pub(crate) const LAG: Duration = Duration::from_secs(2);

/// No bound is published for the way from the gateway to matching.
pub(crate) const DRAIN: Duration = Duration::from_secs(2);

/// Added where we wait for an instant of the venue's clock.
pub(crate) const MARGIN: Duration = Duration::from_secs(2);

/// How long a row that ended on an assumed number is looked after.
pub(crate) const WATCH: Duration = Duration::from_secs(60);

/// How long an order may stay in doubt before its scope halts.
const CAP: Duration = Duration::from_secs(60);

/// The profile, with the durations of `timing`.
pub(crate) fn profile(timing: &Timing, category: Category) -> VenueProfile {
    let ms = Duration::from_millis;
    let lag = ms(timing.visibility_lag_ms);
    let creates = if category.is_spot() { 20 } else { 10 };
    VenueProfile {
        name: VenueName::from("bybit"),
        id_rule: id::RULE,
        // https://bybit-exchange.github.io/docs/v5/order/create-order: the id must always be unique. Seen to hold after the first
        // order ended, seconds later; how long "always" is was not measured, and until September 2023 the page said the opposite.
        duplicate: DuplicateRule::RefusedForever,
        refusal_uses_up_bytes: false,
        // https://bybit-exchange.github.io/docs/v5/guide: server - window <= timestamp < server + 1 s.
        fence: FenceRule::Clock {
            max: ms(timing.receive_window_ms),
            drain: Assumed(ms(timing.drain_ms)),
        },
        absence: AbsenceRule {
            lag: Assumed(lag),
            lag_blocks: 0,
            spacing: lag,
            margin: ms(timing.margin_ms),
            // Canceled, rejected and deactivated orders without a fill; others stay for 7 days and more.
            closed_retention: Documented(Duration::from_secs(DAY), ORDER_LIST),
            fills_retention: Documented(Duration::from_secs(730 * DAY), EXECUTION),
        },
        watch: ms(timing.watch_ms),
        cap: cap(timing),
        // https://bybit-exchange.github.io/docs/v5/rate-limit: per account and second, the default level.
        rates: Rates {
            create: per_second(creates),
            cancel: per_second(creates),
            lookup: per_second(50),
        },
        poll: lag.clamp(ms(50), ms(1_000)),
        nonce_scope: None,
        reduce_only: !category.is_spot(),
        successors: false,
        amend: AmendRule::KeepsIds,
        cancel: CancelRule::Receipt,
        cancel_batch: batch::MAX,
    }
}

/// Ten times as long as doubt lasts when all goes well, and no longer than a minute.
fn cap(timing: &Timing) -> Duration {
    let doubt = timing
        .receive_window_ms
        .saturating_add(timing.drain_ms)
        .saturating_add(timing.visibility_lag_ms.saturating_mul(2))
        .saturating_add(timing.margin_ms);
    Duration::from_millis(doubt.saturating_mul(10)).min(CAP)
}

/// How long an address is banned after it broke the IP limit; the ban ends by itself.
///
/// # Source
/// <https://bybit-exchange.github.io/docs/v5/rate-limit>: stop all HTTP for ten minutes.
pub const IP_BAN: Duration = Duration::from_secs(600);

/// The same; on a simulator that hurries, as long as doubt.
pub(crate) fn ban(timing: &Timing) -> Duration {
    if *timing == Timing::default() {
        IP_BAN
    } else {
        cap(timing)
    }
}

fn per_second(n: u32) -> NonZeroU32 {
    NonZeroU32::new(n).unwrap_or(NonZeroU32::MIN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_real_numbers_hold_without_timing() {
        let profile = profile(&Timing::default(), Category::Linear);
        assert_eq!(profile.cap, CAP);
        assert_eq!(profile.poll, Duration::from_secs(1));
        assert_eq!(profile.absence.margin, Duration::from_secs(2));
        assert!(profile.absence.spacing >= profile.absence.lag.value());
        assert_eq!(profile.rates.lookup.get(), 50);
        assert!(profile.fence.drain_assumed());
    }
}
