//! One decision, one order, one account.

use std::time::Duration;

use surefill_core::{HaltCause, OrdState, OrdType, PlaceError, RecoverError};

use crate::venue::bot::settled;
use crate::venue::fixture::Start;
use crate::venue::judge::judge;
use crate::venue::stage::on;
use crate::venue::words::{Fate, Login};

/// C76.
pub async fn c76_a_rejected_order_stays_rejected(start: Start) {
    on(start, async |stage| {
        let bot = stage.bot().await;
        let intent = stage.intent(Fate::Refused).await;
        let row = bot.settled(intent.clone()).await;
        assert_eq!(row.state, OrdState::Rejected, "{row:?}");
        assert!(row.reason.is_some(), "the venue's reason is kept: {row:?}");
        let again = bot.settled(intent.clone()).await;
        assert_eq!(again.state, OrdState::Rejected);
        stage.crash(bot);
        let bot = stage.bot().await;
        let again = bot.settled(intent.clone()).await;
        assert_eq!(again.state, OrdState::Rejected);
        assert_eq!(stage.creates().await, 1, "failure is sticky");
        let ledger = judge(stage, bot).await;
        ledger.no_order(stage, &intent, OrdState::Rejected);
    })
    .await;
}

/// C77.
pub async fn c77_one_decision_is_one_order(start: Start) {
    on(start, async |stage| {
        let bot = stage.bot().await;
        let intent = stage.intent(Fate::Rests).await;
        let racing = (0..4).map(|_| bot.place(intent.clone()));
        for placed in futures_util::future::join_all(racing).await {
            assert_eq!(placed.expect("placed").order().id(), stage.id(&intent));
        }
        settled(&bot.order(intent.clone()).await).await;
        let mut other = intent.clone();
        let price = intent.ord_type.price().expect("a limit order");
        other.ord_type = OrdType::Limit {
            price: price.checked_add(price).expect("a price"),
        };
        let refused = bot.place(other).await;
        assert!(
            matches!(refused, Err(PlaceError::IntentConflict { .. })),
            "{refused:?}"
        );
        let ledger = judge(stage, bot).await;
        ledger.one_order(stage, &intent, OrdState::Acked);
        assert_eq!(stage.creates().await, 1);
    })
    .await;
}

/// C78.
pub async fn c78_another_accounts_keys_are_refused(start: Start) {
    on(start, async |stage| {
        let bot = stage.bot().await;
        let intent = stage.intent(Fate::Rests).await;
        settled(&bot.order(intent.clone()).await).await;
        stage.crash(bot);
        let refused = stage.bot_of(Login::Other).await;
        match refused {
            Err(RecoverError::OtherAccount { bound, found, .. }) => {
                assert_eq!(bound, stage.account);
                assert_ne!(found, bound);
            }
            other => panic!("{other:?}"),
        }
        assert_eq!(stage.creates().await, 1);
        stage.handed_on();
        let ledger = judge(stage, stage.bot().await).await;
        ledger.one_order(stage, &intent, OrdState::Acked);
    })
    .await;
}

/// C79.
pub async fn c79_a_journal_that_went_back_halts(start: Start) {
    on(start, async |stage| {
        let bot = stage.bot().await;
        let intent = stage.intent(Fate::Rests).await;
        settled(&bot.order(intent.clone()).await).await;
        bot.shutdown().await.expect("stopped");
        // Made before the order was placed, as the journal that came out of a backup.
        let made = intent.decision.decided_at.before(Duration::from_secs(60));
        stage.older_journal(made);
        let bot = stage.bot().await;
        let desk = stage.desk().await;
        let tagged = stage
            .sample
            .keys
            .iter()
            .any(|key| desk.venue.spelled_id(key).is_some());
        if tagged {
            let halts = bot.halts();
            let said = halts
                .iter()
                .any(|halt| halt.cause == HaltCause::JournalWentBack);
            assert!(said, "{halts:?}");
            let refused = bot.place(intent).await;
            assert!(matches!(refused, Err(PlaceError::Halted(_))), "{refused:?}");
            assert_eq!(stage.creates().await, 1);
            stage.only_order().await;
        } else {
            // Nothing at the venue says whose it is: the decision is placed again, unless the id itself is refused.
            drop(bot.place(intent).await);
            assert_eq!(stage.creates().await, 2);
        }
    })
    .await;
}
