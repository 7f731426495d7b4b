//! Completions and the man page, made from the command line itself.

use clap::CommandFactory;

use crate::args::Cli;
use crate::failure::{Exit, Failure};
use crate::output::Said;

pub(crate) fn completions(shell: clap_complete::Shell) -> Result<Said, Failure> {
    let mut text = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "surefill", &mut text);
    said(&text)
}

pub(crate) fn man(command: Option<&str>) -> Result<Said, Failure> {
    let mut whole = Cli::command();
    // Names the subcommands in full.
    whole.build();
    let page = match command {
        None => whole,
        Some(name) => {
            let found = whole.find_subcommand(name).cloned();
            let unknown = || Failure::usage(format!("there is no command {name:?}"));
            found.ok_or_else(unknown)?
        }
    };
    let mut text = Vec::new();
    let rendered = clap_mangen::Man::new(page).render(&mut text);
    rendered.map_err(|error| Failure::usage(error.to_string()))?;
    said(&text)
}

fn said(text: &[u8]) -> Result<Said, Failure> {
    let text = String::from_utf8_lossy(text).into_owned();
    Said::new(Exit::Done, &text, text.as_str())
}
