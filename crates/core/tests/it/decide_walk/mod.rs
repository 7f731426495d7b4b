//! Every pair of a row and an observation, in every camp: what `decide` may never do.

mod evidence;
mod sights;
mod stands;
mod taken;
mod walk;

use std::collections::BTreeMap;
use std::time::Duration;

use surefill_core::{DuplicateRule, GiveUp, Resubmit};

use crate::kit::{Camp, FenceKind};
use sights::Sights;
use walk::Walk;

#[test]
fn no_pair_of_row_and_observation_breaks_a_rule_in_any_camp() {
    let policies = [
        (Resubmit::AfterProof, GiveUp::Accept),
        (Resubmit::AfterAbsence, GiveUp::Strict),
        (Resubmit::AfterAbsence, GiveUp::Land),
        (Resubmit::Never, GiveUp::Land),
    ];
    let duplicates = [
        DuplicateRule::RefusedForever,
        DuplicateRule::RefusedWithin(Duration::from_secs(86_400)),
        DuplicateRule::RefusedWhileOpen,
        DuplicateRule::ReturnsExisting,
        DuplicateRule::Accepted,
    ];
    let fences = [
        FenceKind::None,
        FenceKind::Documented,
        FenceKind::Assumed,
        FenceKind::Height,
    ];
    let mut camps = Vec::new();
    for duplicate in duplicates {
        for mut fence in fences {
            // Two rules are read as another is: one fence each will do.
            let alike = match duplicate {
                DuplicateRule::ReturnsExisting | DuplicateRule::RefusedWhileOpen => true,
                DuplicateRule::RefusedForever
                | DuplicateRule::RefusedWithin(_)
                | DuplicateRule::Accepted => false,
            };
            if alike && fence != FenceKind::Height {
                continue;
            }
            if alike {
                fence = FenceKind::AssumedHeight;
            }
            for kind in 0..4_u8 {
                camps.push(Camp {
                    duplicate,
                    fence,
                    replayable: kind & 1 != 0,
                    revocable: kind & 2 != 0,
                    uses_up: camps.len() % 3 == 0,
                });
            }
        }
    }
    // Every camp meets every row and observation; the policies take turns over the camps.
    let sights: Vec<Sights> = camps.iter().map(|camp| Sights::of(*camp)).collect();
    let camps: Vec<(Camp, &Sights)> = camps.into_iter().zip(&sights).collect();
    let walked: Vec<Walk<'_>> = std::thread::scope(|scope| {
        let halves = camps.chunks(camps.len().div_ceil(2)).enumerate();
        let workers: Vec<_> = halves
            .map(|(half, camps)| {
                scope.spawn(move || {
                    let mut walks = Vec::new();
                    for (turn, (camp, sights)) in camps.iter().enumerate() {
                        let mut walk = Walk {
                            camp: *camp,
                            profile: camp.profile(),
                            sights,
                            pairs: 0,
                            steps: BTreeMap::new(),
                            faults: BTreeMap::new(),
                        };
                        let (resubmit, give_up) = policies[(turn / 4 + turn + half) % 4];
                        walk.camp(resubmit, give_up);
                        walks.push(walk);
                    }
                    walks
                })
            })
            .collect();
        workers
            .into_iter()
            .flat_map(|worker| worker.join().expect("a walk"))
            .collect()
    });
    let pairs: u64 = walked.iter().map(|walk| walk.pairs).sum();
    let mut steps: BTreeMap<&str, u64> = BTreeMap::new();
    let mut faults: BTreeMap<&str, &str> = BTreeMap::new();
    for walk in &walked {
        for (name, count) in &walk.steps {
            *steps.entry(name).or_default() += count;
        }
        for (fault, story) in &walk.faults {
            faults.entry(fault).or_insert(story);
        }
    }
    println!("{pairs} pairs walked, {} camps: {steps:?}", walked.len());
    if let Some((_, story)) = faults.iter().next() {
        let all: Vec<_> = faults.keys().collect();
        panic!("{} kinds of fault: {all:#?}\nthe first: {story}", all.len());
    }
    assert_eq!(walked.len(), 56);
    assert!(pairs > 2_000_000, "{pairs}");
    assert_eq!(steps.len(), 9, "every step occurs: {steps:?}");
}
