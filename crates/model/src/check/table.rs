//! The table "which promise holds for which kind of venue", from what the checker met, in the words of docs/guarantees.md.

use std::collections::BTreeMap;
use std::fmt::Write;

use surefill_core::DuplicateRule;

use super::marks::{Mark, Marks};
use super::promise::Promise;
use super::{Camp, FenceKind, Report, Scenario};

/// Where the table begins in the document.
pub const BEGIN: &str =
    "<!-- model: begin; written by `cargo run --release -p surefill-model -- table` -->";
/// Where it ends.
pub const END: &str = "<!-- model: end -->";

/// One kind of venue in words.
fn words(camp: &Camp) -> [&'static str; 4] {
    [
        match camp.duplicate {
            DuplicateRule::RefusedForever => "refused for ever",
            DuplicateRule::RefusedWithin(_) => "refused within a window",
            DuplicateRule::RefusedWhileOpen => "refused while open",
            DuplicateRule::ReturnsExisting => "answered with the first",
            DuplicateRule::Accepted => "accepted",
        },
        match camp.fence {
            FenceKind::None => "none",
            FenceKind::Gate => "gate, drain assumed",
            FenceKind::GateAndDrain => "gate, drain documented",
            FenceKind::Engine => "book",
        },
        if camp.replayable { "yes" } else { "no" },
        if camp.revocable { "yes" } else { "no" },
    ]
}

/// What holds for a camp, in words.
fn cells(reports: &[&(Camp, Scenario, Report)]) -> [String; 5] {
    let broken = |promise| {
        let mut found = reports.iter().flat_map(|(.., report)| &report.found);
        found.any(|found| found.promise == promise)
    };
    let (camp, ..) = reports[0];
    let met = |marks: Marks| {
        let mut words = Vec::new();
        for (mark, word) in [
            (Mark::Replayed, "the same bytes"),
            (Mark::Resent, "a next attempt"),
        ] {
            if marks.has(mark) {
                words.push(word);
            }
        }
        words.join(", ")
    };
    let all = reports
        .iter()
        .fold(Marks::default(), |all, (.., report)| all.and(report.marks));
    let again = met(all);
    let at_most_one = if broken(Promise::AtMostOne) {
        "broken"
    } else if camp.remembers() || camp.keeps_id() {
        "holds"
    } else {
        "holds; a request doubled below us is detected and halts"
    };
    let mut ends = vec!["one order, or rejected"];
    for (mark, word) in [
        (Mark::HaltFence, "or halted: no fence"),
        (
            Mark::HaltSurprise,
            "or canceled and halted: it came after the end",
        ),
        (Mark::HaltSecond, "or halted: two orders"),
    ] {
        if all.has(mark) {
            ends.push(word);
        }
    }
    let exactly_one = if broken(Promise::ExactlyOne) {
        "broken".to_owned()
    } else {
        ends.join(", ")
    };
    let lost = if broken(Promise::NothingLost) {
        "broken"
    } else {
        "holds"
    };
    let again = if again.is_empty() { "nothing" } else { &again };
    let cut = |report: &&&(Camp, Scenario, Report)| report.2.cut;
    let seen = match reports.iter().filter(cut).count() {
        0 => "whole".to_owned(),
        cut => {
            let whole = reports.len() - cut;
            format!("{whole} of {} whole", reports.len())
        }
    };
    [
        again.to_owned(),
        at_most_one.to_owned(),
        exactly_one,
        lost.to_owned(),
        seen,
    ]
}

/// A line of the table.
struct Line {
    kind: [&'static str; 3],
    duplicates: Vec<&'static str>,
    cells: [String; 5],
    states: usize,
}

/// The table; rules for ids that decide alike share a line.
pub fn table(reports: &[(Camp, Scenario, Report)]) -> String {
    let mut lines: Vec<Line> = Vec::new();
    let mut by_camp: BTreeMap<usize, Vec<&(Camp, Scenario, Report)>> = BTreeMap::new();
    let all = Camp::all();
    for report in reports {
        let place = all.iter().position(|camp| *camp == report.0);
        by_camp
            .entry(place.unwrap_or(usize::MAX))
            .or_default()
            .push(report);
    }
    for reports in by_camp.values() {
        let [duplicate, fence, bytes, revocable] = words(&reports[0].0);
        let cells = cells(reports);
        let states: usize = reports.iter().map(|(.., report)| report.states).sum();
        let kind = [fence, bytes, revocable];
        match lines
            .iter_mut()
            .find(|line| line.kind == kind && line.cells == cells)
        {
            Some(line) => {
                line.duplicates.push(duplicate);
                line.states += states;
            }
            None => lines.push(Line {
                kind,
                duplicates: vec![duplicate],
                cells,
                states,
            }),
        }
    }
    let order = |kind: &[&str; 3]| {
        let fences = [
            "none",
            "gate, drain assumed",
            "gate, drain documented",
            "book",
        ];
        let fence = fences.iter().position(|fence| *fence == kind[0]);
        (fence, kind[1] == "yes", kind[2] == "yes")
    };
    lines.sort_by_key(|line| order(&line.kind));
    let mut text = String::from(
        "| fence | bytes remembered | revocable | a used id is | sent again | P1 at most one | P2 ends as | P3 no fill lost | explored | states |\n|---|---|---|---|---|---|---|---|---|---|\n",
    );
    for line in lines {
        let [fence, bytes, revocable] = line.kind;
        let [again, one, ends, lost, seen] = line.cells;
        let duplicates = line.duplicates;
        let duplicates = if duplicates.len() == Camp::DUPLICATES.len() {
            "whatever".to_owned()
        } else {
            duplicates.join("; ")
        };
        writeln!(
            text,
            "| {fence} | {bytes} | {revocable} | {duplicates} | {again} | {one} | {ends} | {lost} | {seen} | {} |",
            line.states
        )
        .unwrap();
    }
    text
}

/// The document with the table in its marked section; `None` when there is no such section.
pub fn written(document: &str, table: &str) -> Option<String> {
    let (before, rest) = document.split_once(BEGIN)?;
    let (_, after) = rest.split_once(END)?;
    Some(format!("{before}{BEGIN}\n\n{table}\n{END}{after}"))
}
