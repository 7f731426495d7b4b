//! The suite for venues, whole, over a venue of each camp: what is missing flips its cases, and none of them is skipped.

use std::time::Duration;

use surefill_core::{CancelRule, DuplicateRule};

use crate::fake::{Camp, Fake, Traits};

/// An id that is refused for ever, and a fence: as at Bybit.
pub(crate) struct Forever;

impl Camp for Forever {
    fn truth() -> Traits {
        Traits {
            duplicate: DuplicateRule::RefusedForever,
            fence: true,
            remembers: false,
            cancel: CancelRule::Receipt,
            tagged: true,
        }
    }
}

/// An id that says nothing, and bytes that are remembered and can be used up: as at Hyperliquid.
pub(crate) struct Nonces;

impl Camp for Nonces {
    fn truth() -> Traits {
        Traits {
            duplicate: DuplicateRule::Accepted,
            remembers: true,
            cancel: CancelRule::Final,
            ..Forever::truth()
        }
    }
}

/// An id that is free again once its order has ended, and a fence: as at Binance.
pub(crate) struct WhileOpen;

impl Camp for WhileOpen {
    fn truth() -> Traits {
        Traits {
            duplicate: DuplicateRule::RefusedWhileOpen,
            ..Forever::truth()
        }
    }
}

/// An id that is refused for a day.
pub(crate) struct ForADay;

impl Camp for ForADay {
    fn truth() -> Traits {
        Traits {
            duplicate: DuplicateRule::RefusedWithin(Duration::from_secs(86_400)),
            ..Forever::truth()
        }
    }
}

/// An id that is answered with its order, and no fence.
pub(crate) struct Returning;

impl Camp for Returning {
    fn truth() -> Traits {
        Traits {
            duplicate: DuplicateRule::ReturnsExisting,
            fence: false,
            ..Forever::truth()
        }
    }
}

/// Nothing at all: no fence, no memory, an id that says nothing and cannot be read back.
pub(crate) struct Bare;

impl Camp for Bare {
    fn truth() -> Traits {
        Traits {
            duplicate: DuplicateRule::Accepted,
            fence: false,
            tagged: false,
            ..Forever::truth()
        }
    }
}

mod forever {
    surefill_conformance::venue_suite!(super::Fake<super::Forever>);
}

mod nonces {
    surefill_conformance::venue_suite!(super::Fake<super::Nonces>);
}

mod while_open {
    surefill_conformance::venue_suite!(super::Fake<super::WhileOpen>);
}

mod for_a_day {
    surefill_conformance::venue_suite!(super::Fake<super::ForADay>);
}

mod returning {
    surefill_conformance::venue_suite!(super::Fake<super::Returning>);
}

mod bare {
    surefill_conformance::venue_suite!(super::Fake<super::Bare>);
}
