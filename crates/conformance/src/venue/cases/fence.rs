//! Until when a request can land, and the word that makes it unlandable.

use std::time::Duration;

use surefill_core::{Fence, FenceRule, HeldBack, NotSent, Revocation, Submission};

use crate::venue::fixture::Start;
use crate::venue::stage::{Stage, on};
use crate::venue::words::{Act, Fate, Fault, Op};

/// Waits until a request that was built before now is past its fence, by the venue's clock and by ours.
async fn past_the_fence(stage: &Stage) {
    stage.pass(stage.over() + Duration::from_millis(100)).await;
}

/// C30.
pub async fn c30_held_past_its_fence_it_never_lands(start: Start) {
    on(start, async |stage| {
        let desk = stage.desk().await;
        let (_, attempt) = desk.write(&stage.intent(Fate::Rests).await, 1).await;
        // Without a fence this is long for a way, and lands all the same.
        let late = stage.over();
        stage
            .sim
            .fault(Fault::on(Op::Create, Act::ResetAfter(late)))
            .await;
        let answer = desk.submit(&attempt).await;
        assert!(matches!(answer, Submission::Unknown(_)), "{answer:?}");
        stage.no_order().await;
        if attempt.fence == Fence::None {
            stage.placed(1).await;
        }
        stage.pass(late + stage.over()).await;
        match attempt.fence {
            Fence::None => drop(stage.only_order().await),
            Fence::Clock(_) | Fence::Height(_) => stage.no_order().await,
        }
        assert_eq!(stage.creates().await, 1);
    })
    .await;
}

/// C31.
pub async fn c31_held_within_its_fence_it_lands(start: Start) {
    on(start, async |stage| {
        let desk = stage.desk().await;
        let (_, attempt) = desk.write(&stage.intent(Fate::Rests).await, 1).await;
        let late = stage.sim.window().unwrap_or_else(|| stage.over()) / 4;
        stage
            .sim
            .fault(Fault::on(Op::Create, Act::ResetAfter(late)))
            .await;
        let answer = desk.submit(&attempt).await;
        assert!(matches!(answer, Submission::Unknown(_)), "{answer:?}");
        stage.placed(1).await;
        assert_eq!(stage.creates().await, 1);
    })
    .await;
}

/// C32.
pub async fn c32_past_its_fence_it_is_not_sent(start: Start) {
    on(start, async |stage| {
        let desk = stage.desk().await;
        let (_, attempt) = desk.write(&stage.intent(Fate::Rests).await, 1).await;
        past_the_fence(stage).await;
        let answer = desk.submit(&attempt).await;
        match attempt.fence {
            Fence::Clock(_) => {
                let held = Submission::NotSent(NotSent::HeldBack(HeldBack::Fence));
                assert_eq!(answer, held);
                assert_eq!(stage.creates().await, 0);
                // The twin: a fresh one is sent.
                desk.place(&stage.intent(Fate::Rests).await).await;
                stage.only_order().await;
            }
            // The adapter knows the height, and the venue's gate decides.
            Fence::Height(_) => stage.no_order().await,
            Fence::None => {
                let taken = matches!(answer, Submission::Acked(_) | Submission::Received(_));
                assert!(taken, "{answer:?}");
                stage.only_order().await;
            }
        }
    })
    .await;
}

/// C33.
pub async fn c33_the_fence_is_no_further_than_the_profile_says(start: Start) {
    on(start, async |stage| {
        let desk = stage.desk().await;
        let (_, at, attempt) = desk.prepare(&stage.intent(Fate::Rests).await, 1).await;
        match (stage.profile.fence, attempt.fence, stage.sim.window()) {
            (FenceRule::Clock { max, .. }, Fence::Clock(fence), Some(window)) => {
                assert!(
                    fence <= at.after(max),
                    "the fence {fence:?} of {at:?} is beyond {max:?}"
                );
                assert!(
                    window <= max,
                    "the fixture's window is beyond the profile's"
                );
            }
            (FenceRule::Height { .. }, Fence::Height(_), Some(_)) => {}
            (_, Fence::None, None) => {}
            other => panic!("profile, attempt and fixture disagree: {other:?}"),
        }
        desk.place(&stage.intent(Fate::Rests).await).await;
    })
    .await;
}

/// C35.
pub async fn c35_what_is_revoked_never_lands(start: Start) {
    on(start, async |stage| {
        let desk = stage.desk().await;
        let (_, attempt) = desk.write(&stage.intent(Fate::Rests).await, 1).await;
        let before = stage.requests().await.len();
        let answer = desk.venue.revoke(&attempt).await;
        if !attempt.revocable {
            assert_eq!(answer, Revocation::Unsupported);
            assert_eq!(stage.requests().await.len(), before, "it sent something");
        } else {
            assert_eq!(answer, Revocation::Revoked);
        }
        let answer = desk.submit(&attempt).await;
        let taken = matches!(answer, Submission::Acked(_) | Submission::Received(_));
        // What cannot be revoked lands.
        assert_eq!(taken, !attempt.revocable, "{answer:?}");
        assert_eq!(stage.orders().await.len(), usize::from(!attempt.revocable));
    })
    .await;
}

/// C36.
pub async fn c36_what_has_landed_is_used_not_revoked(start: Start) {
    on(start, async |stage| {
        let desk = stage.desk().await;
        let (_, attempt) = desk.write(&stage.intent(Fate::Rests).await, 1).await;
        let answer = desk.submit(&attempt).await;
        let taken = matches!(answer, Submission::Acked(_) | Submission::Received(_));
        assert!(taken, "{answer:?}");
        let answer = desk.venue.revoke(&attempt).await;
        let right = if attempt.revocable {
            Revocation::Used
        } else {
            Revocation::Unsupported
        };
        assert_eq!(answer, right);
        stage.only_order().await;
    })
    .await;
}
