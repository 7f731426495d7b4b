//! A second process: this test binary once more, running one hidden test.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

const JOURNAL: &str = "SUREFILL_TEST_CHILD_JOURNAL";

/// A process that runs a hidden test on a journal. It is killed when dropped.
pub(crate) struct Process {
    child: Child,
    lines: BufReader<ChildStdout>,
    stdin: ChildStdin,
}

/// The journal of a hidden test; `None` in the run that everybody sees, where it does nothing.
pub(crate) fn journal() -> Option<PathBuf> {
    std::env::var_os(JOURNAL).map(PathBuf::from)
}

/// Says a line to the parent, past the test harness.
pub(crate) fn say(text: &str) {
    let mut out = std::io::stdout().lock();
    writeln!(out, "\n@{text}").unwrap();
    out.flush().unwrap();
}

impl Process {
    pub(crate) fn run(hidden: &str, journal: &Path) -> Self {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", hidden, "--nocapture"])
            .env(JOURNAL, journal)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap());
        let stdin = child.stdin.take().unwrap();
        Self {
            child,
            lines,
            stdin,
        }
    }

    pub(crate) fn pid(&self) -> String {
        self.child.id().to_string()
    }

    /// The next line that it says; `None` when it has ended.
    pub(crate) fn hears(&mut self) -> Option<String> {
        let mut line = String::new();
        loop {
            line.clear();
            if self.lines.read_line(&mut line).unwrap() == 0 {
                return None;
            }
            // A process that is killed may leave half a line.
            if let Some(said) = line.strip_prefix('@')
                && let Some(said) = said.strip_suffix('\n')
            {
                return Some(said.to_owned());
            }
        }
    }

    /// Ends it as SIGKILL does, and hands out what it had still said.
    pub(crate) fn kill(mut self) -> Vec<String> {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
        std::iter::from_fn(|| self.hears()).collect()
    }

    /// Lets it go on, and waits for its end.
    pub(crate) fn release(mut self) {
        writeln!(self.stdin, "go").unwrap();
        while self.hears().is_some() {}
        assert!(self.child.wait().unwrap().success());
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // It may have ended.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// Waits until the parent says so, or is gone.
pub(crate) fn wait() {
    let mut line = String::new();
    std::io::stdin().read_line(&mut line).unwrap();
}
