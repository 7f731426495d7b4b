//! Where the profile says otherwise.

use std::time::Duration;

use surefill_core::{DuplicateRule, FenceRule, VenueProfile};

use crate::bench::whole_ms;
use crate::{Duplicate, FenceSeen, Replay, Report, Reuse};

/// What was found, beside what the attempts claim.
pub(crate) struct Found<'r> {
    pub(crate) report: &'r Report,
    pub(crate) profile: &'r VenueProfile,
    /// So long after the answer a lookup still did not show the order.
    pub(crate) not_yet: Duration,
    /// The attempts claim that the venue remembers their bytes.
    pub(crate) replayable: bool,
    /// A simulator's day was ended, so that an id that is kept for a time is told from one that is kept for ever.
    pub(crate) days: bool,
}

/// One sentence for each thing that differs.
pub(crate) fn differences(found: &Found<'_>) -> Vec<String> {
    let (report, profile) = (found.report, found.profile);
    let mut all = Vec::new();
    let said = claimed(profile.duplicate);
    let unseen_end = !found.days
        && said == Duplicate::RefusedDay
        && report.duplicate == Duplicate::RefusedForever;
    if report.duplicate != said && !unseen_end {
        all.push(differs("duplicate", said, report.duplicate));
    }
    let said = match profile.duplicate {
        DuplicateRule::RefusedForever | DuplicateRule::RefusedWithin(_) => Reuse::Refused,
        DuplicateRule::ReturnsExisting => Reuse::ReturnsExisting,
        DuplicateRule::RefusedWhileOpen | DuplicateRule::Accepted => Reuse::Accepted,
    };
    let ends = [
        ("after_fill", report.after_fill),
        ("after_cancel", report.after_cancel),
    ];
    for (name, did) in ends {
        if did != said && did != Reuse::NotTested {
            all.push(differs(name, said, did));
        }
    }
    let second = matches!(report.replay, Replay::Accepted | Replay::WhileOpen);
    if found.replayable && second {
        let text = "replay: the attempts say that their bytes are remembered, and the venue did";
        all.push(format!("{text} {}", report.replay));
    }
    let by_id = matches!(
        report.duplicate,
        Duplicate::RefusedForever | Duplicate::RefusedDay | Duplicate::ReturnsExisting
    );
    let remembered = matches!(report.replay, Replay::Refused | Replay::ReturnsExisting);
    if !found.replayable && remembered && !by_id {
        let text =
            "replay: the attempts do not say that their bytes are remembered, and the venue did";
        all.push(format!("{text} {}", report.replay));
    }
    match (profile.fence, report.fence) {
        (FenceRule::Clock { .. } | FenceRule::Height { .. }, FenceSeen::NotEnforced) => {
            all.push("fence: the profile has one, and a request after it became an order".into());
        }
        (FenceRule::Clock { .. } | FenceRule::Height { .. }, FenceSeen::None) => {
            all.push("fence: the profile has one, and the attempts have none".into());
        }
        (
            FenceRule::None | FenceRule::Clock { .. } | FenceRule::Height { .. },
            FenceSeen::Enforced | FenceSeen::NotTested,
        )
        | (FenceRule::None, FenceSeen::NotEnforced | FenceSeen::None) => {}
    }
    all.extend(lag(
        profile.absence.lag.value(),
        found.not_yet,
        report.visibility_lag_ms,
    ));
    all
}

const fn claimed(rule: DuplicateRule) -> Duplicate {
    match rule {
        DuplicateRule::RefusedForever => Duplicate::RefusedForever,
        DuplicateRule::RefusedWithin(_) => Duplicate::RefusedDay,
        DuplicateRule::RefusedWhileOpen => Duplicate::WhileOpen,
        DuplicateRule::ReturnsExisting => Duplicate::ReturnsExisting,
        DuplicateRule::Accepted => Duplicate::Accepted,
    }
}

fn differs(name: &str, said: impl std::fmt::Display, did: impl std::fmt::Display) -> String {
    format!("{name}: the profile says {said}, the venue did {did}")
}

/// A lookup that came late and showed the order is no sign against the profile; one past the profile's lag that did not show it is.
fn lag(most: Duration, not_yet: Duration, seen: Option<u64>) -> Option<String> {
    let late = not_yet > most;
    let most = whole_ms(most);
    match seen {
        Some(_) if !late => None,
        Some(seen) => Some(format!(
            "visibility_lag_ms: the profile says at most {most}, it took {seen}"
        )),
        None => Some(format!(
            "visibility_lag_ms: the profile says at most {most}, and no lookup showed the order"
        )),
    }
}
