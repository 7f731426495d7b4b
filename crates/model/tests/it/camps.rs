//! Every kind of venue, with everything that may go wrong at any step.

use surefill_model::check::{Camp, Check, Report, Scenario, check_all, table};

/// Fewer states than this and the model has lost a dimension.
const STATES: usize = 1_000_000;

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
    println!(
        "{} checks, {states} states, {cut} checks cut",
        reports.len()
    );
    assert_eq!(broken, 0, "broken promises");
    states
}

#[test]
fn every_camp_keeps_every_promise_and_the_table_says_so() {
    let reports = check_all(&Scenario::TABLE, 0, 2, Scenario::LIMIT, |_, _, _| {});
    let states = judge(&reports);
    assert!(states >= STATES, "{states}");
    let document = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/guarantees.md");
    let text = std::fs::read_to_string(document).unwrap();
    let fresh = table::written(&text, &table::table(&reports)).expect("the marked section");
    if std::env::var_os("SUREFILL_WRITE_TABLE").is_some() {
        std::fs::write(document, &fresh).unwrap();
        return;
    }
    assert_eq!(
        text, fresh,
        "SUREFILL_WRITE_TABLE=1 cargo test -p surefill-model --test it table"
    );
}

#[test]
fn lists_that_lag_for_more_than_a_tick_keep_every_promise() {
    let mut reports = Vec::new();
    for camp in Camp::all() {
        if camp.duplicate == surefill_core::DuplicateRule::Accepted {
            let check = Check::new(camp, Scenario::Lists.budget(0)).lagging(2);
            reports.push((camp, Scenario::Lists, check.run(Scenario::LIMIT)));
        }
    }
    judge(&reports);
}

#[test]
fn orders_that_trade_and_cancels_keep_every_promise() {
    let mut reports = Vec::new();
    for camp in Camp::all() {
        for scenario in [Scenario::Lists, Scenario::Cancel] {
            if camp.duplicate == surefill_core::DuplicateRule::Accepted {
                let report = Check::new(camp, scenario.budget(0)).run(Scenario::LIMIT);
                reports.push((camp, scenario, report));
            }
        }
    }
    judge(&reports);
}
