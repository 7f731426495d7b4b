//! The program, as a person calls it.

use std::process::{Command, Output};

fn model(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_surefill-model"))
        .args(args)
        .output()
        .expect("the program runs")
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn check_says_what_each_camp_met_and_where_it_was_cut() {
    let args = [
        "check",
        "--scenario",
        "cancel",
        "--limit",
        "3000",
        "--deeper",
        "1",
        "--lag",
        "2",
    ];
    let output = model(&args);
    let said = said(&output);
    assert!(output.status.success(), "{said}");
    let lines: Vec<&str> = said.lines().collect();
    assert_eq!(lines.len(), 81, "a line for each camp, and the sum: {said}");
    assert!(
        lines.iter().all(|line| !line.starts_with("crash")),
        "{said}"
    );
    let cut = lines.iter().filter(|line| line.ends_with(", cut")).count();
    let sum = lines.last().expect("the sum");
    assert!(sum.starts_with("80 checks, "), "{sum}");
    assert!(cut > 0 && sum.ends_with(&format!(", {cut} cut")), "{sum}");
}

#[test]
fn a_scenario_that_there_is_not_is_named() {
    let output = model(&["check", "--scenario", "flood"]);
    assert_eq!(output.status.code(), Some(2));
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(
        error.contains("crash, lists, takeover, doubled, cancel"),
        "{error}"
    );
}

#[test]
fn table_writes_its_section_and_knows_when_it_is_fresh() {
    let dir = tempfile::tempdir().expect("a directory");
    let document = dir.path().join("guarantees.md");
    let begin = surefill_model::check::table::BEGIN;
    let end = surefill_model::check::table::END;
    std::fs::write(
        &document,
        format!("before\n\n{begin}\nold\n{end}\n\nafter\n"),
    )
    .expect("written");
    let path = document.to_str().expect("a path");
    let stale = model(&["table", path, "--limit", "500", "--verify"]);
    assert_eq!(stale.status.code(), Some(1), "{}", said(&stale));
    let written = model(&["table", path, "--limit", "500"]);
    assert!(written.status.success(), "{}", said(&written));
    let text = std::fs::read_to_string(&document).expect("read");
    assert!(
        text.starts_with("before\n\n") && text.ends_with("\n\nafter\n"),
        "{text}"
    );
    assert!(!text.contains("\nold\n"), "{text}");
    // So few worlds are not the whole, and the table says so.
    let rows: Vec<&str> = text
        .lines()
        .filter(|line| line.starts_with("| gate"))
        .collect();
    assert!(
        !rows.is_empty() && rows.iter().all(|row| row.contains("| 0 of 6 whole |")),
        "{text}"
    );
    let fresh = model(&["table", path, "--limit", "500", "--verify"]);
    assert!(fresh.status.success(), "{}", said(&fresh));
}

#[test]
fn a_document_without_the_section_or_none_is_an_error() {
    let dir = tempfile::tempdir().expect("a directory");
    let document = dir.path().join("other.md");
    let path = document.to_str().expect("a path");
    let output = model(&["table", path]);
    assert_eq!(output.status.code(), Some(1));
    assert!(said(&output).contains("other.md"), "{}", said(&output));
    std::fs::write(&document, "nothing\n").expect("written");
    let output = model(&["table", path]);
    assert_eq!(output.status.code(), Some(1));
    assert!(said(&output).contains("no section"), "{}", said(&output));
}
