//! What a command says: one JSON document on stdout, or text for people; everything else goes to stderr.

use std::io::{self, Write};
use std::process::ExitCode;

use serde::Serialize;
use serde_json::json;

use crate::failure::{Exit, Failure};

/// What a command has to say, and how it ends.
#[derive(Debug)]
pub(crate) struct Said {
    pub(crate) exit: Exit,
    /// The document.
    pub(crate) json: String,
    /// The same for people.
    pub(crate) text: String,
}

impl Said {
    /// A document and the same for people.
    pub(crate) fn new(
        exit: Exit,
        document: &impl Serialize,
        text: impl Into<String>,
    ) -> Result<Self, Failure> {
        let json = serde_json::to_string(document)
            .map_err(|error| Failure::new(Exit::Journal, error.to_string()))?;
        Ok(Self {
            exit,
            json,
            text: text.into(),
        })
    }
}

/// Says what there is to say, once, at the end.
pub(crate) fn finish(done: Result<Said, Failure>, as_json: bool) -> ExitCode {
    let (exit, out, err) = match done {
        Ok(said) if as_json => (said.exit, said.json, None),
        Ok(said) => (said.exit, said.text, None),
        Err(failure) => {
            let document = json!({ "error": failure.text, "exit": failure.exit.code() });
            let out = if as_json {
                document.to_string()
            } else {
                String::new()
            };
            (failure.exit, out, Some(failure.text))
        }
    };
    if let Some(text) = err {
        say_aside(&text);
    }
    // Where nobody reads, the exit code still says it.
    drop(print(&out));
    ExitCode::from(exit.code())
}

/// Tells people something beside the document.
pub(crate) fn say_aside(text: &str) {
    // Where nobody reads, there is nobody to tell.
    drop(writeln!(io::stderr().lock(), "surefill: {text}"));
}

fn print(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    let text = text.trim_end_matches('\n');
    if !text.is_empty() {
        writeln!(out, "{text}")?;
    }
    out.flush()
}
