//! The way to a world, in words.

use std::fmt;

use super::action::Action;
use super::{Check, World};

impl Check {
    /// The way to a world, one step a line: when, what, and how things stand after it.
    pub(super) fn script(&self, steps: &[(World, Option<Action>)]) -> Vec<String> {
        let mut lines = Vec::new();
        for (world, action) in steps {
            let mut before = world.clone();
            let mut next = *action;
            // What must follow an action is walked through again.
            while let Some(action) = next {
                let after = self.act(before.clone(), action);
                let stands = Stands(&before, &after);
                lines.push(format!("t{} {action}{stands}", before.now));
                next = self.forced(&after);
                before = after;
            }
        }
        lines
    }
}

/// What a step changed, in words.
struct Stands<'a>(&'a World, &'a World);

impl fmt::Display for Stands<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (before, after) = (self.0, self.1);
        let state = |w: &World| w.row().map(|row| row.record.state);
        let attempts = |w: &World| w.row().map_or(0, |row| row.record.attempts.len());
        for (old, new) in before.bots.iter().zip(&after.bots) {
            if old.mode != new.mode {
                write!(f, "; now {:?}", new.mode)?;
            }
        }
        if state(before) != state(after) {
            match state(after) {
                Some(state) => write!(f, "; the row is {state}")?,
                None => write!(f, "; the row is gone")?,
            }
        }
        if attempts(before) != attempts(after) {
            write!(f, ", attempts {}", attempts(after))?;
        }
        if let (Some(old), Some(new)) = (before.row(), after.row()) {
            let (old, new) = (&old.record, &new.record);
            if old.cum_qty != new.cum_qty {
                write!(f, ", executed {}", new.cum_qty)?;
            }
            for (old, new) in old.attempts.iter().zip(&new.attempts) {
                if old.revocation != new.revocation {
                    write!(
                        f,
                        ", revocation of attempt {}: {:?}",
                        new.no, new.revocation
                    )?;
                }
            }
        }
        if before.venue.orders.len() != after.venue.orders.len() {
            write!(f, "; orders at the venue: {}", after.venue.orders.len())?;
        }
        let halts = &after.journal.page.halts;
        if before.journal.page.halts != *halts {
            write!(f, "; halts: {halts:?}")?;
        }
        Ok(())
    }
}
