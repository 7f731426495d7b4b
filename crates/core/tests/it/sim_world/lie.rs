//! Parts that are not what they claim to be.

use surefill_core::{Begin, DuplicateRule, Entry, GiveUp, MemoryStore, Resubmit, Store};

use super::World;
use crate::kit::{Camp, FenceKind, H0, T0, at, done, placed};

/// A part of the world that is not what it claims to be: with it the promises must break.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lie {
    /// The profile says that an id is unique for ever, and the venue takes it again.
    Unique,
    /// The venue takes what comes after the fence.
    Fence,
    /// The way from the gate to the book is longer than the profile says.
    Drain,
    /// Orders show later than the profile says.
    Lag,
    /// The venue forgets the bytes that it is said to remember.
    Memory,
    /// The venue says that it revoked, and did not.
    Revocation,
    /// The store says that a commit is durable, and it is not.
    Store,
}

impl Lie {
    /// Takes the world to where the lie matters.
    pub(super) fn tell(self, world: &mut World) {
        let weak = Camp {
            fence: FenceKind::Documented,
            ..Camp::PLAIN
        };
        let camp = match self {
            Self::Unique | Self::Fence | Self::Drain | Self::Lag | Self::Store => weak,
            Self::Memory => Camp {
                replayable: true,
                ..weak
            },
            Self::Revocation => Camp {
                revocable: true,
                ..weak
            },
        };
        world.camp = camp;
        world.profile = camp.profile();
        world.venue.camp = camp;
        world.doubles = false;
        if self == Self::Unique {
            world.profile.duplicate = DuplicateRule::RefusedForever;
        }
        world.venue.lie = Some(self);
        let mut intent = world.row.intent.clone();
        intent.resubmit = Resubmit::AfterAbsence;
        intent.give_up = GiveUp::Accept;
        world.row = placed(camp, intent);
        let first = camp.attempt(1, T0, H0);
        world.venue.fences = vec![first.fence];
        world.store = MemoryStore::new(at(T0));
        let begin = Begin {
            order: world.row.clone(),
            attempt: first,
            entry: Entry::Risk { doubt_blocks: true },
        };
        let _begun = done(world.store.begin(begin)).unwrap();
        world.cancel_at = None;
    }
}
