//! Checks a whole file.

use std::path::Path;

use serde_json::Value;

use crate::compare::differences;
use crate::file::{Case, VectorFile};
use crate::{Failure, FrameError, Kind, Report};

/// Checks the file at that path.
///
/// # Errors
/// [`FrameError`]; a case that fails is no error.
pub fn run(kind: Kind, file: &Path) -> Result<Report, FrameError> {
    let name = file.display().to_string();
    match std::fs::read(file) {
        Ok(bytes) => check(kind, &name, &bytes),
        Err(source) => Err(FrameError::Read { file: name, source }),
    }
}

/// Checks what a file named `file` holds.
///
/// # Errors
/// [`FrameError`].
pub fn check(kind: Kind, file: &str, bytes: &[u8]) -> Result<Report, FrameError> {
    let read = VectorFile::read(kind, file, bytes)?;
    let mut report = Report {
        file: file.to_owned(),
        passed: 0,
        failed: 0,
        failures: Vec::new(),
    };
    for case in read.cases() {
        let failures = one(kind, &case);
        if failures.is_empty() {
            report.passed += 1;
        } else {
            report.failed += 1;
            report.failures.extend(failures);
        }
    }
    Ok(report)
}

fn one(kind: Kind, case: &Case<'_>) -> Vec<Failure> {
    let failure = |path: String, expected: Value, got: Value| Failure {
        id: case.id.to_owned(),
        kind: case.kind.to_owned(),
        path,
        expected,
        got,
    };
    let not_done =
        |path: &str, why: String| vec![failure(path.to_owned(), Value::Null, Value::from(why))];
    let recompute = match kind.recompute(case.kind) {
        Ok(Some(recompute)) => recompute,
        Ok(None) => return not_done("kind", format!("unknown kind {:?}", case.kind)),
        Err(not_built) => return not_done("kind", not_built),
    };
    let got = match recompute(case) {
        Ok(got) => got,
        Err(unfit) => return not_done("input", unfit.0),
    };
    let differing = differences(case.expect, &got, case.file.not_checked());
    differing
        .into_iter()
        .map(|one| failure(one.path, one.expected, one.got))
        .collect()
}
