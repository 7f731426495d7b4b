//! The table that the demo prints.

use std::fmt::Write;

use crate::Role;
use crate::moment::Moment;
use crate::run::Outcome;

/// The table: one line per moment and bot.
pub(crate) fn table(outcomes: &[Outcome]) -> String {
    let mut out = String::new();
    let head = [
        "killed",
        "bot",
        "kills",
        "orders",
        "filled at venue",
        "in journal",
        "verdict",
    ];
    let mut rows: Vec<[String; 7]> = vec![head.map(str::to_owned)];
    for moment in Moment::ALL {
        for role in [Role::Bot, Role::Naive] {
            let outcome = outcomes
                .iter()
                .find(|outcome| outcome.moment == moment && outcome.role == role);
            rows.extend(outcome.map(row));
        }
    }
    let width = |column: usize| {
        rows.iter()
            .filter_map(|row| row.get(column))
            .map(String::len)
            .max()
            .unwrap_or(0)
    };
    let widths: Vec<usize> = (0..head.len()).map(width).collect();
    for (line, row) in rows.iter().enumerate() {
        for (cell, width) in row.iter().zip(&widths) {
            // Writing to a String does not fail.
            let _written = write!(out, "{cell:width$}  ");
        }
        out.truncate(out.trim_end().len());
        out.push('\n');
        if line == 0 {
            let ruler: Vec<String> = widths.iter().map(|width| "-".repeat(*width)).collect();
            out.push_str(&ruler.join("  "));
            out.push('\n');
        }
    }
    out
}

fn row(outcome: &Outcome) -> [String; 7] {
    let bot = match outcome.role {
        Role::Naive => "naive",
        Role::Demo | Role::Sim | Role::Bot => "surefill",
    };
    let verdict = match (outcome.role, outcome.orders) {
        (Role::Naive, 0) => "no order",
        (Role::Naive, 1) => "one order, by luck",
        (Role::Naive, _) => "DOUBLED",
        (Role::Demo | Role::Sim | Role::Bot, _) if outcome.holds() => "exactly once",
        (Role::Demo | Role::Sim | Role::Bot, _) => "BROKEN",
    };
    [
        outcome.moment.text().to_owned(),
        bot.to_owned(),
        outcome.kills.to_string(),
        outcome.orders.to_string(),
        outcome.filled_at_venue.to_string(),
        outcome
            .filled_in_journal
            .map_or_else(|| "-".to_owned(), |filled| filled.to_string()),
        verdict.to_owned(),
    ]
}
