//! `surefill show`: everything that the journal knows of one order.

use crate::config::Config;
use crate::documents::{OrderDoc, ShowDoc, TransitionDoc, attempts, fills};
use crate::engine;
use crate::failure::{Exit, Failure};
use crate::identity;
use crate::output::Said;
use crate::text;

pub(crate) fn run(config: &Config, id: &str) -> Result<Said, Failure> {
    let reader = engine::reader(config)?;
    let row = identity::order(&reader, id)?;
    let mut stored = Vec::new();
    for attempt in &row.attempts {
        stored.extend(reader.attempt(row.id, attempt.no)?);
    }
    let history = reader.history(row.id)?;
    let document = ShowDoc {
        order: OrderDoc::of(&row),
        attempts: attempts(&row, &stored, &history),
        transitions: history.iter().map(TransitionDoc::of).collect(),
        fills: fills(&row, &reader.fills(row.id)?),
    };
    let text = text::show(&document);
    Said::new(Exit::Done, &document, text)
}
