//! Ids come from decisions.

use std::collections::HashSet;

use surefill_core::{ClOrdId, Decision, Side};
use surefill_hyperliquid::id;
use surefill_referee::Simulated;

use crate::stage::Simulator;

/// A million decisions, of which each differs from another in one thing, have a million ids that the venue takes. An id comes from the
/// decision and not from a count, so that a journal that was made anew changes none.
#[test]
fn scenario_40_ids_do_not_collide() {
    let account = Simulator::account();
    let of = |n: u64| {
        let decision = Decision::new("grid", 1_700_000_000_000 + n / 10)
            .leg(u32::try_from(n % 10).expect("a digit"));
        ClOrdId::derive(&decision, &account, &"BTC".into(), Side::Buy)
    };
    let mut seen = HashSet::with_capacity(1_000_000);
    for n in 0..1_000_000 {
        let spelled = id::spell(&of(n));
        assert!(id::RULE.allows(&spelled), "{spelled}");
        assert!(seen.insert(spelled), "{n}");
    }
    assert!(seen.contains(&id::spell(&of(7))));
    assert!(!seen.contains(&id::spell(&of(1_000_000))));
}
