//! `surefill halt` and `surefill resume`: by this process where nobody holds the journal, else through its inbox.

use surefill_core::{Answer, Request, SeenHalts};

use crate::args::HaltArgs;
use crate::config::Config;
use crate::documents::{HaltDoc, HaltedDoc};
use crate::engine::{self, Asked, Journal};
use crate::failure::{Exit, Failure};
use crate::identity;
use crate::output::Said;
use crate::stop::Stop;
use crate::text;

pub(crate) async fn halt(config: &Config, args: &HaltArgs, stop: &Stop) -> Result<Said, Failure> {
    let scope = identity::scope(config, &engine::bindings(config)?, &args.scope)?;
    let request = Request::Halt {
        scope,
        who: engine::who(),
        reason: args.reason.as_str().into(),
        at: engine::wall_clock(),
    };
    ask(config, &request, stop).await
}

pub(crate) async fn resume(config: &Config, args: &HaltArgs, stop: &Stop) -> Result<Said, Failure> {
    let scope = identity::scope(config, &engine::bindings(config)?, &args.scope)?;
    let request = Request::Resume {
        scope,
        who: engine::who(),
        reason: args.reason.as_str().into(),
        at: engine::wall_clock(),
        seen: SeenHalts::default(),
    };
    ask(config, &request, stop).await
}

async fn ask(config: &Config, request: &Request, stop: &Stop) -> Result<Said, Failure> {
    let file = &config.journal;
    let answer = match engine::journal(file)? {
        Journal::Ours(store) => engine::do_it(store, file, request).await?,
        Journal::Theirs(inbox) => match engine::ask(file, &inbox, request, stop).await? {
            Asked::Answered(answer) => answer,
            // It still waits in the journal, and is done once, by whoever holds that.
            Asked::Ours { store, n } => engine::do_posted(store, &inbox, n).await?,
        },
    };
    let (lifted, said) = match answer {
        Answer::Halted => (Vec::new(), "halted".to_owned()),
        Answer::Resumed { lifted } => {
            let said = match lifted.len() {
                0 => "nothing was halted here".to_owned(),
                n => format!("lifted {n}"),
            };
            (lifted, said)
        }
        Answer::Refused { text } => {
            return Err(Failure::new(
                Exit::NotKnown,
                format!("the engine refused: {text}"),
            ));
        }
        Answer::CancelAsked { .. } => {
            return Err(Failure::new(
                Exit::NotKnown,
                "the engine answered something else",
            ));
        }
    };
    let halts = engine::reader(config)?.halts()?;
    let document = HaltedDoc {
        lifted: HaltDoc::all(&lifted),
        halts: HaltDoc::all(&halts),
    };
    let text = format!("{said}\n\n{}", text::halts(&document.halts));
    Said::new(Exit::Done, &document, text)
}
