//! Which worlds are alike: the same may happen to them, and the same is decided.
//!
//! The checker explores one world of those that hash alike. Two kinds of things are left out of the hash, and nothing else:
//!
//! - *What cannot happen any more*: faults after the last tick that has them, lazy commits where no crash can come.
//! - *How long ago something was, beyond the point from which every rule sees it as long ago.* Each rule compares an instant with now, or with the begin of a
//!   round of lookups; so it is a distance that counts, and it counts up to the longest one that a rule asks for. A round that is under way began before
//!   now, so its begin is what the distance is taken from.
//!
//! [`Check::plain`](super::Check::plain) takes this out, and a test compares what both find.

use std::hash::{Hash, Hasher};

use surefill_core::{
    Copies, DuplicateRule, Fence, Reading, RevocationState, Situation, VenueProfile, Watch,
};

use super::bot::{Mode, Seen};
use super::camp::{CAP, DRAIN, Tick, WATCH, WINDOW, at, span};
use super::journal::{Page, Row};
use super::venue::{Life, Order, Place};
use super::{Bot, World};

/// How long ago is long ago, for each kind of instant.
#[derive(Debug)]
pub(crate) struct Lens {
    /// Nothing is left out.
    pub(crate) plain: bool,
    /// What the adapter claims.
    pub(crate) profile: VenueProfile,
    /// How long the venue's lists keep what ended.
    pub(crate) kept: Tick,
}

impl Lens {
    /// After this no list changes its mind about what happened: a lag later it shows, and where the lists forget, they forgot.
    fn listed(&self, lag: Tick) -> Tick {
        if self.kept < super::camp::HORIZON {
            lag.max(self.kept)
        } else {
            lag
        }
    }
}

const fn age(now: Tick, instant: Tick, most: Tick) -> Tick {
    let age = now.saturating_sub(instant);
    if age < most { age } else { most }
}

impl World {
    /// From where distances are taken: the begin of the oldest round under way, or now.
    fn reference(&self) -> Tick {
        let begun = self.bots.iter().filter_map(|bot| match &bot.mode {
            Mode::Looking { begun, .. } | Mode::Decide(Seen::Absent { begun, .. }) => Some(*begun),
            _ => None,
        });
        begun.min().unwrap_or(self.now).min(self.now)
    }

    pub(super) fn hash_alike(&self, state: &mut impl Hasher) {
        let lens = &*self.lens;
        let from = self.reference();
        self.now.hash(state);
        if self.faulty() {
            self.left.hash(state);
        } else {
            (self.left.refusals, self.left.trades).hash(state);
        }
        (self.told, self.cancel_told, self.halt_told).hash(state);
        (self.doubled, self.broken).hash(state);
        let doubt = self.doubt_from;
        doubt.map(|since| age(self.now, since, CAP + 4)).hash(state);
        self.journal.leader.hash(state);
        self.hash_page(&self.journal.page, from, state);
        if self.faulty() && self.left.crashes > 0 {
            self.journal.lazy.len().hash(state);
            for page in &self.journal.lazy {
                self.hash_page(page, from, state);
            }
        }
        self.hash_venue(lens, state);
        for bot in &self.bots {
            self.hash_bot(bot, from, state);
        }
    }

    fn hash_page(&self, page: &Page, from: Tick, state: &mut impl Hasher) {
        (page.fills, &page.halts, &page.wires).hash(state);
        page.row.is_some().hash(state);
        if let Some(row) = &page.row {
            self.hash_row(row, from, state);
        }
    }

    fn hash_row(&self, row: &Row, from: Tick, state: &mut impl Hasher) {
        let profile = &self.lens.profile;
        let (lag, from) = (profile.absence.lag.value(), at(from));
        let row = &row.record;
        (row.state, row.cancel_requested, row.land).hash(state);
        (&row.order_ids, row.cum_qty, row.booked_qty).hash(state);
        match row.watch {
            None => 0_u64.hash(state),
            Some(Watch::UntilAbsent) => 1_u64.hash(state),
            Some(Watch::Surfaced) => 2_u64.hash(state),
            Some(Watch::Until(until)) => until.max(from).hash(state),
        }
        // An order that is not shown is in doubt a lag, or two, after the venue spoke, or, where it never did, after the last change.
        let old =
            |instant: surefill_core::VenueTime| instant.after(lag.saturating_mul(2)).max(from);
        if !row.state.is_terminal() {
            let spoken = row.seen_at.map(old);
            spoken.hash(state);
            if row.state.is_working() && row.seen_at.is_none() {
                old(row.updated_at).hash(state);
            }
        }
        if self.lens.kept < super::camp::HORIZON {
            (row.created_at, row.seen_at).hash(state);
        } else if let DuplicateRule::RefusedWithin(window) = profile.duplicate {
            row.created_at.after(window).max(from).hash(state);
        }
        let since = row
            .doubt_since
            .map(|since| since.after(span(CAP + 4)).max(from));
        since.hash(state);
        // At least what the profile says.
        let drain = span(DRAIN);
        for attempt in &row.attempts {
            let fence = match attempt.fence {
                Fence::None => (0_u8, 0),
                Fence::Clock(fence) => (1, fence.after(drain).after(lag).max(from).as_ms()),
                Fence::Height(height) => (2, height),
            };
            fence.hash(state);
            match attempt.revocation {
                RevocationState::None => 0_u8.hash(state),
                RevocationState::Asked => 1_u8.hash(state),
                RevocationState::Revoked => 2_u8.hash(state),
                RevocationState::Used(used) => match used {
                    surefill_core::AsOf::Clock(used) => {
                        (3_u8, used.after(drain).after(lag).max(from)).hash(state);
                    }
                    height @ surefill_core::AsOf::Height(_) => (4_u8, height).hash(state),
                },
            }
            let copies = match attempt.copies {
                Copies::None => 0_u8,
                Copies::Turned => 1,
                Copies::Loose => 2,
            };
            copies.hash(state);
            (attempt.admitted, attempt.bytes_known, attempt.refused).hash(state);
        }
    }

    fn hash_venue(&self, lens: &Lens, state: &mut impl Hasher) {
        let venue = &self.venue;
        let now = self.now;
        for copy in &venue.copies {
            (copy.no, copy.by).hash(state);
            copy.doubled.map(|since| age(now, since, WATCH)).hash(state);
            match copy.place {
                Place::Wire => Tick::MAX.hash(state),
                Place::Queue(since) => age(now, since, DRAIN + WATCH + 1).hash(state),
            }
        }
        u8::MAX.hash(state);
        (venue.remembered, venue.revoked).hash(state);
        for fence in &venue.fences {
            // One that has passed stays passed.
            fence
                .map(|fence| if fence >= now { fence } else { 0 })
                .hash(state);
        }
        for order in &venue.orders {
            hash_order(order, now, lens, state);
        }
    }

    fn hash_bot(&self, bot: &Bot, from: Tick, state: &mut impl Hasher) {
        (bot.paused, bot.looked).hash(state);
        match &bot.mode {
            // What is due is due.
            Mode::Waiting { until, look } => (7_u8, (*until).max(self.now), look).hash(state),
            mode => mode.hash(state),
        }
        if matches!(bot.mode, Mode::Down | Mode::Rest) {
            // Whatever wakes it, it starts from the journal.
            return;
        }
        bot.due.map(|due| due.max(self.now)).hash(state);
        let Some(row) = &bot.row else {
            return;
        };
        let newest = self.journal.page.row.as_ref();
        let current = newest
            .is_some_and(|newest| newest.record.version == row.record.version && **newest == **row);
        current.hash(state);
        if !current {
            self.hash_row(row, from, state);
        }
        let now = Reading {
            now: at(from),
            error: std::time::Duration::ZERO,
        };
        let situation = Situation {
            now,
            height: None,
            lease: true,
            entries_halted: false,
            alarms: Vec::new(),
        };
        let profile = &self.lens.profile;
        bot.pursuit
            .hash_decisive(&row.record, profile, &situation, state);
    }
}

fn hash_order(order: &Order, now: Tick, lens: &Lens, state: &mut impl Hasher) {
    order.life.hash(state);
    // It trades until a tick and a lag after it was taken; its id may be kept for longer.
    let window = match lens.profile.duplicate {
        DuplicateRule::RefusedWithin(_) => WINDOW,
        _ => 0,
    };
    let trades = if order.life == Life::Open {
        order.lag + 2
    } else {
        0
    };
    age(now, order.taken, window.max(trades)).hash(state);
    if order.life != Life::Open {
        age(now, order.ended, lens.listed(order.lag)).hash(state);
    }
    order.fills.len().hash(state);
    for fill in &order.fills {
        age(now, *fill, lens.listed(order.lag)).hash(state);
    }
}
