//! `surefill halts`: where no new risk is taken, and why.

use crate::config::Config;
use crate::documents::HaltDoc;
use crate::engine;
use crate::failure::{Exit, Failure};
use crate::output::Said;
use crate::text;

pub(crate) fn run(config: &Config) -> Result<Said, Failure> {
    let halts = HaltDoc::all(&engine::reader(config)?.halts()?);
    let text = text::halts(&halts);
    Said::new(Exit::Done, &halts, text)
}
