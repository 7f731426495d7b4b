//! `surefill vectors`: recomputes a file of test vectors with the code that trades.

use std::path::Path;

use surefill_vectors::{Kind, Report, UnknownKind};

use crate::failure::{Exit, Failure, chain};
use crate::output::Said;

pub(crate) fn run(kind: &str, file: &Path) -> Result<Said, Failure> {
    let kind: Kind = kind
        .parse()
        .map_err(|error: UnknownKind| Failure::usage(format!("VENUE: {error}")))?;
    let report = surefill_vectors::run(kind, file);
    let report = report.map_err(|error| Failure::usage(chain(&error)))?;
    let exit = match report.failed {
        0 => Exit::Done,
        _ => Exit::CheckFailed,
    };
    Said::new(exit, &report, text(&report))
}

/// One line for each leaf that differs, and the counts.
fn text(report: &Report) -> String {
    let mut text = String::new();
    for one in &report.failures {
        text.push_str(&format!(
            "{} ({}), {}: expected {}, got {}\n",
            one.id, one.kind, one.path, one.expected, one.got
        ));
    }
    text.push_str(&format!(
        "{} passed, {} failed",
        report.passed, report.failed
    ));
    text
}
