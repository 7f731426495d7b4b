//! What the answers to acts prove, as the venue documents them or as they were recorded.

use serde_json::{Value, json};
use surefill_core::{
    CancelOutcome, DuplicateOf, NotSent, OrdStatus, Reason, Revocation, Submission, UnknownCause,
};
use surefill_hyperliquid::ReadFailure;
use surefill_hyperliquid::outcome::{self, Asked, Sent};
use surefill_transport::{Answer, SendFailure};

const CLOID: &str = "0x5f015ede6b0095cb3688a42a28b7ec72";

fn asked(rests: bool) -> Asked {
    Asked {
        key: CLOID.into(),
        size: "0.03".parse().expect("a size"),
        rests,
    }
}

fn raw(status: u16, body: &str) -> Sent {
    Ok(Answer::new(status, [("content-type", "x")], body))
}

fn answered(body: &Value) -> Sent {
    raw(200, &body.to_string())
}

fn statuses(kind: &str, statuses: &Value) -> Sent {
    answered(&json!({"status": "ok", "response": {"type": kind, "data": {"statuses": statuses}}}))
}

fn err(text: &str) -> Sent {
    answered(&json!({"status": "err", "response": text}))
}

fn ordered(status: &Value, rests: bool) -> Submission {
    outcome::submission(&statuses("order", &json!([status])), &asked(rests))
}

fn is_unknown(submission: &Submission) -> bool {
    matches!(submission, Submission::Unknown(_))
}

#[test]
fn an_order_that_rests_is_acked() {
    for status in [
        json!({"resting": {"oid": 77_738_308}}),
        json!({"resting": {"oid": 77_738_308, "cloid": CLOID}}),
        json!({"resting": {"oid": 77_738_308, "cloid": CLOID.to_uppercase().replace('X', "x")}}),
    ] {
        let Submission::Acked(report) = ordered(&status, true) else {
            panic!("{status}");
        };
        assert_eq!(report.handle.order_id, Some("77738308".into()));
        assert_eq!((report.status, report.cum_qty), (OrdStatus::Open, None));
    }
}

#[test]
fn filled_does_not_mean_full() {
    let filled = |size: &str, rests| {
        let status = json!({"filled": {"totalSz": size, "avgPx": "1891.4", "oid": 7}});
        match ordered(&status, rests) {
            Submission::Acked(report) => {
                assert_eq!(report.cum_qty.expect("a size").to_string(), size);
                report.status
            }
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(filled("0.03", true), OrdStatus::Filled);
    assert_eq!(filled("0.03", false), OrdStatus::Filled);
    // What does not rest is gone; what rests works on.
    assert_eq!(filled("0.02", false), OrdStatus::Filled);
    assert_eq!(filled("0.02", true), OrdStatus::Open);
}

#[test]
fn what_is_not_known_is_neither_placed_nor_refused() {
    for status in [
        json!("waitingForTrigger"),
        json!("waitingForFill"),
        json!("success"),
        json!({"resting": {}}),
        json!({"resting": {"oid": 7, "cloid": "0x5f010000000000000000000000000000"}}),
        json!({"filled": {"totalSz": "0.0", "avgPx": "1", "oid": 7}}),
        json!({"filled": {"totalSz": "x", "avgPx": "1", "oid": 7}}),
        json!({"error": "Something that nobody has written down"}),
        json!({"error": "Order has invalid size: cloid was used"}),
        json!({"parked": {"oid": 7}}),
        json!(null),
    ] {
        let submission = ordered(&status, true);
        assert!(is_unknown(&submission), "{status}: {submission:?}");
    }
    let two = json!([{"resting": {"oid": 7}}, {"resting": {"oid": 8}}]);
    for sent in [
        statuses("order", &json!([])),
        statuses("order", &two),
        statuses("cancel", &json!(["success"])),
        answered(&json!({"status": "ok", "response": {"type": "default"}})),
        answered(&json!({"status": "ok", "response": {"type": "order"}})),
        answered(&json!({"status": "later", "response": ""})),
        raw(200, ""),
        raw(200, "{\"status\":\"ok\",\"resp"),
        raw(200, "<html>"),
        raw(
            201,
            "{\"status\":\"err\",\"response\":\"Order has invalid size.\"}",
        ),
        raw(400, "<html>bad gateway of someone"),
        raw(403, "null"),
        raw(404, "null"),
        raw(429, "null"),
        raw(500, "null"),
        raw(502, "<html>"),
        raw(504, ""),
        Err(SendFailure::Unknown(UnknownCause::new("reset"))),
        err("Action already expired"),
        err("Invalid nonce: nonce too high 9 > 3"),
        err("Internal error"),
    ] {
        let submission = outcome::submission(&sent, &asked(true));
        assert!(is_unknown(&submission), "{sent:?}: {submission:?}");
    }
}

#[test]
fn a_nonce_that_was_used_is_looked_up() {
    for text in [
        "Invalid nonce: duplicate nonce 7",
        "Invalid nonce: nonce too low 7 < 9",
    ] {
        let submission = outcome::submission(&err(text), &asked(true));
        assert_eq!(
            submission,
            Submission::Duplicate(DuplicateOf::Bytes),
            "{text}"
        );
    }
}

/// Whose fault a refusal is, and whether a copy of the bytes could still land after it.
#[test]
fn refusals_keep_their_text_and_say_whose_fault_it_is() {
    for (text, halts, leaves) in [
        ("Order must have minimum value of $10. asset=3", false, true),
        (
            "Order price cannot be more than 80% away from the reference price",
            false,
            true,
        ),
        (
            "Too many cumulative requests sent (5 > 4) for cumulative volume traded $1.",
            false,
            true,
        ),
        // This one was seen to use the nonce up, also where it is of the whole action.
        (
            "Only post-only orders allowed immediately after a network upgrade",
            false,
            false,
        ),
        ("Invalid spot", false, true),
        ("User or API Wallet 0xab does not exist.", true, true),
        (
            "L1 error: User or API Wallet 0xab does not exist.",
            true,
            true,
        ),
        (
            "Must deposit before performing actions. User: 0xab",
            true,
            true,
        ),
        ("Vault not registered: 0xab", true, true),
        ("Unable to recover signer.", true, true),
    ] {
        let inside = statuses("order", &json!([{"error": text}]));
        for (sent, admitted) in [(err(text), false), (inside, true)] {
            let Submission::Rejected(reject) = outcome::submission(&sent, &asked(true)) else {
                panic!("{text}");
            };
            assert_eq!(&*reject.reason.text, text);
            assert_eq!(reject.halts_account, halts, "{text}");
            // What stands inside of a yes was admitted, and admission uses the nonce up; keys are refused before it.
            let leaves = if admitted { halts } else { leaves };
            assert_eq!(reject.leaves_bytes, leaves, "{text}, admitted: {admitted}");
        }
    }
}

#[test]
fn a_request_that_could_not_be_read_was_not_admitted_and_its_nonce_is_not_used() {
    for (status, body) in [
        (400, "Failed to parse the request body as JSON"),
        (
            415,
            "Expected request with `Content-Type: application/json`",
        ),
        (
            422,
            "Failed to deserialize the JSON body into the target type",
        ),
    ] {
        let Submission::Rejected(reject) = outcome::submission(&raw(status, body), &asked(true))
        else {
            panic!("refused");
        };
        assert_eq!(
            (&*reject.reason.code, &*reject.reason.text),
            (&*format!("HTTP {status}"), body)
        );
        assert!(reject.leaves_bytes && !reject.halts_account);
    }
    // The same without the server's own words may be anybody's.
    for status in [400, 415, 422, 429] {
        let submission = outcome::submission(&raw(status, "null"), &asked(true));
        assert!(is_unknown(&submission), "{status}: {submission:?}");
    }
}

/// A setting is taken by a plain yes and by nothing else.
#[test]
fn a_setting_is_taken_by_a_plain_yes() {
    let taken = answered(&json!({"status": "ok", "response": {"type": "default"}}));
    assert_eq!(outcome::done(&taken), Ok(()));
    let refused = "Cannot switch leverage type with open position.";
    let said = outcome::done(&err(refused));
    assert_eq!(said, Err(ReadFailure::Refused(Reason::new("", refused))));
    for sent in [
        statuses("order", &json!([{"error": refused}])),
        raw(200, "{}"),
        raw(429, "null"),
        raw(502, ""),
        Err(SendFailure::Unknown(UnknownCause::new("reset"))),
        Err(SendFailure::NotSent(NotSent::Connect("refused".into()))),
    ] {
        let said = outcome::done(&sent);
        assert!(matches!(said, Err(ReadFailure::Unreachable(_))), "{said:?}");
    }
}

#[test]
fn no_byte_left_is_not_sent() {
    let why = NotSent::Connect("refused".into());
    let sent: Sent = Err(SendFailure::NotSent(why.clone()));
    assert_eq!(
        outcome::submission(&sent, &asked(true)),
        Submission::NotSent(why)
    );
}

/// When the payload alone decides, one error stands for the whole batch.
#[test]
fn one_error_for_a_batch_is_of_each_order() {
    let batch = [asked(true), asked(false), asked(true)];
    let one = statuses("order", &json!([{"error": "Order has zero size."}]));
    let all = outcome::submissions(&one, &batch);
    assert_eq!(all.len(), 3);
    assert!(
        all.iter()
            .all(|each| matches!(each, Submission::Rejected(_))),
        "{all:?}"
    );
    // One that says anything else, or two for three, proves nothing about any.
    for some in [
        json!([{"resting": {"oid": 7}}]),
        json!([{"error": "Order has zero size."}, {"error": "Order has zero size."}]),
        json!(["success"]),
    ] {
        let all = outcome::submissions(&statuses("order", &some), &batch);
        assert!(all.len() == 3 && all.iter().all(is_unknown), "{all:?}");
    }
    let mixed = json!([{"resting": {"oid": 7}}, {"error": "Insufficient margin to place order. asset=0"}, "x"]);
    let all = outcome::submissions(&statuses("order", &mixed), &batch);
    assert!(
        matches!(
            all[..],
            [
                Submission::Acked(_),
                Submission::Rejected(_),
                Submission::Unknown(_)
            ]
        ),
        "{all:?}"
    );
}

#[test]
fn a_cancel_ends_nothing_by_itself() {
    let gone = "Order was never placed, already canceled, or filled. asset=0";
    let sent = statuses(
        "cancel",
        &json!(["success", {"error": gone}, {"error": "new"}]),
    );
    let all = outcome::cancels(&sent, 3);
    assert!(
        matches!(
            all[..],
            [
                CancelOutcome::Taken,
                CancelOutcome::NotOpen,
                CancelOutcome::Unknown(_)
            ]
        ),
        "{all:?}"
    );
    for sent in [
        statuses("cancel", &json!([])),
        raw(502, ""),
        err("new"),
        raw(200, "x"),
    ] {
        let all = outcome::cancels(&sent, 1);
        assert!(matches!(all[..], [CancelOutcome::Unknown(_)]), "{all:?}");
    }
    let both = outcome::canceled(vec![CancelOutcome::NotOpen, CancelOutcome::Taken]);
    assert_eq!(both, CancelOutcome::Taken);
    let doubt = CancelOutcome::Unknown(UnknownCause::new("x"));
    let both = outcome::canceled(vec![doubt.clone(), CancelOutcome::Taken]);
    assert_eq!(both, doubt);
}

#[test]
fn only_a_noop_that_was_taken_revokes() {
    let taken = answered(&json!({"status": "ok", "response": {"type": "default"}}));
    assert_eq!(outcome::revocation(&taken), Revocation::Revoked);
    for text in [
        "Invalid nonce: duplicate nonce 7",
        "Invalid nonce: nonce too low 7 < 9",
    ] {
        assert_eq!(outcome::revocation(&err(text)), Revocation::Used, "{text}");
    }
    for sent in [
        err("Action already expired"),
        err("User or API Wallet 0xab does not exist."),
        statuses("order", &json!([{"resting": {"oid": 7}}])),
        raw(429, "null"),
        raw(502, ""),
        raw(200, "{}"),
        Err(SendFailure::Unknown(UnknownCause::new("reset"))),
        Err(SendFailure::NotSent(NotSent::Connect("refused".into()))),
    ] {
        let revocation = outcome::revocation(&sent);
        assert!(
            matches!(revocation, Revocation::Inconclusive(_)),
            "{sent:?}"
        );
    }
}
