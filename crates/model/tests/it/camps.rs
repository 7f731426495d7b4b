//! Every kind of venue, with everything that may go wrong at any step, to the end.

use surefill_core::DuplicateRule;
use surefill_model::check::{Budget, Camp, Check, FenceKind, Report, Scenario, check_all, table};

/// Fewer states than this and the model has lost a dimension.
const STATES: usize = 9_000_000;

/// Generated worlds after which a check is cut: five times what the largest one takes, so that a rule which makes the graph grow without end fails and does
/// not hang.
const LIMIT: usize = 5_000_000;

/// What the tests and the table rest on.
fn tested(camp: Camp, scenario: Scenario) -> Check {
    Check::new(camp, scenario.budget(0))
}

/// How many worlds were explored; none of them breaks a promise, and none is left out.
fn judge(reports: &[(Camp, Scenario, Report)]) -> usize {
    let mut broken = 0;
    for (camp, scenario, report) in reports {
        for found in &report.found {
            broken += 1;
            println!("{scenario}, {camp}: {:?}", found.promise);
            if broken <= 3 {
                println!("  {}", found.script.join("\n  "));
            }
        }
    }
    let states = reports.iter().map(|(.., report)| report.states).sum();
    let cut = reports.iter().filter(|(.., report)| report.cut).count();
    let most = reports.iter().map(|(.., report)| report.states).max();
    println!(
        "{} checks, {states} states, at most {} in one, {cut} checks cut",
        reports.len(),
        most.unwrap_or_default()
    );
    assert_eq!(broken, 0, "broken promises");
    assert_eq!(cut, 0, "every check goes to the end");
    states
}

#[test]
fn every_camp_keeps_every_promise_and_the_table_says_so() {
    let reports = check_all(&Scenario::ALL, 2, LIMIT, tested, |_, _, _| {});
    let states = judge(&reports);
    assert!(states >= STATES, "{states}");
    let document = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/guarantees.md");
    let text = std::fs::read_to_string(document).unwrap();
    let fresh = table::written(&text, &table::table(&reports)).expect("the marked section");
    if std::env::var_os("SUREFILL_WRITE_TABLE").is_some() {
        std::fs::write(document, &fresh).unwrap();
        return;
    }
    let differs = text
        .lines()
        .zip(fresh.lines())
        .find(|(old, new)| old != new);
    assert!(
        text == fresh,
        "{differs:?}: SUREFILL_WRITE_TABLE=1 cargo test -p surefill-model --test it table"
    );
}

#[test]
fn lists_that_lag_for_more_than_a_tick_keep_every_promise() {
    let mut reports = Vec::new();
    for camp in Camp::all() {
        if camp.duplicate == DuplicateRule::Accepted {
            for scenario in [Scenario::Crash, Scenario::Lists] {
                let check = Check::new(camp, scenario.budget(0)).lagging(2);
                reports.push((camp, scenario, check.run(LIMIT)));
            }
        }
    }
    judge(&reports);
}

/// What the checker leaves out changes nothing of what it finds: without it the same promises hold, and the same is met on the way.
#[test]
fn worlds_that_are_alike_are_alike() {
    let mut saved = (0, 0);
    for (at, camp) in Camp::all().into_iter().enumerate() {
        // Each rule for ids, fence, memory and revocation is among them, and each scenario beside each of them.
        let scenario = Scenario::ALL[at % Scenario::ALL.len()];
        if scenario == Scenario::Takeover || at % 4 != at / 16 % 4 {
            continue;
        }
        let plain = Check::new(camp, scenario.budget(0)).plain().run(LIMIT);
        let alike = Check::new(camp, scenario.budget(0)).run(LIMIT);
        let what = format!("{scenario}, {camp}");
        assert!(plain.found.is_empty() && alike.found.is_empty(), "{what}");
        assert!(!plain.cut && !alike.cut, "{what}");
        assert_eq!(plain.marks, alike.marks, "{what}");
        saved = (saved.0 + plain.states, saved.1 + alike.states);
    }
    println!(
        "{} states, {} without those that are alike",
        saved.0, saved.1
    );
    assert!(saved.1 * 3 < saved.0, "{saved:?}");
}

/// An id that is refused within a window spares the second round only where it is known until when the next attempt arrives: on an assumed way from the
/// gate to the book alone it is not. The first order ended in the gap between two lists, the window ran out, and the second one came.
#[test]
fn a_window_of_ids_and_an_assumed_drain_make_one_order() {
    let camp = Camp {
        duplicate: Camp::DUPLICATES[1],
        fence: FenceKind::Gate,
        revocable: true,
        ..Camp::PLAIN
    };
    let budget = Budget {
        faults: 2,
        trades: 1,
        crashes: 0,
        ..Scenario::Crash.budget(0)
    };
    let report = Check::new(camp, budget).run(LIMIT);
    judge(&[(camp, Scenario::Crash, report)]);
}
