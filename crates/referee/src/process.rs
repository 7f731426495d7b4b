//! A second process: this test binary once more, running one hidden test, so that a bot can die of SIGKILL.

use std::io::{BufRead, Write};
use std::os::unix::process::ExitStatusExt;
use std::process::Stdio;

use tokio::io::{AsyncBufReadExt, BufReader, Lines};
use tokio::process::{Child, ChildStdout, Command};

use crate::stage::BOUND;

/// What tells the hidden test its part.
const PART: &str = "SUREFILL_TEST_PART";

/// A process that runs a hidden test. It is killed when dropped.
#[derive(Debug)]
pub struct Process {
    child: Child,
    lines: Lines<BufReader<ChildStdout>>,
}

impl Process {
    /// Runs the hidden test with this part.
    pub fn run(hidden: &str, part: &str) -> Self {
        let mut child = Command::new(std::env::current_exe().expect("a program"))
            .args(["--exact", hidden, "--nocapture"])
            .env(PART, part)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .expect("a process");
        let lines = BufReader::new(child.stdout.take().expect("a pipe")).lines();
        Self { child, lines }
    }

    /// Waits until it says this line.
    pub async fn says(&mut self, line: &str) {
        let said = async {
            loop {
                let said = self.lines.next_line().await.expect("a pipe");
                let said = said.unwrap_or_else(|| panic!("it ended and never said {line:?}"));
                if said.strip_prefix('@') == Some(line) {
                    return;
                }
            }
        };
        let said = tokio::time::timeout(BOUND, said).await;
        said.unwrap_or_else(|_| panic!("it never said {line:?}"));
    }

    /// Ends it with SIGKILL, and checks that it died of that.
    pub async fn kill(mut self) {
        self.child.start_kill().expect("killed");
        let status = self.child.wait().await.expect("an end");
        assert_eq!(status.signal(), Some(9), "{status}");
    }
}

/// The part of a hidden test; `None` in the run that everybody sees, where it does nothing.
pub fn told() -> Option<String> {
    std::env::var(PART).ok()
}

/// Says a line to the parent, past the test harness, and waits to be killed. Ends when the parent is gone.
pub fn wait(line: &str) {
    let mut out = std::io::stdout().lock();
    writeln!(out, "\n@{line}").expect("a pipe");
    out.flush().expect("a pipe");
    drop(out);
    let mut end = String::new();
    std::io::stdin().lock().read_line(&mut end).expect("a pipe");
}
