//! `surefill probe`: what a venue does, found out by trying.

use crate::config::Config;
use crate::failure::Failure;
use crate::output::Said;

pub(crate) async fn run(
    config: &Config,
    venue: &str,
    _symbol: Option<&str>,
    _yes: bool,
) -> Result<Said, Failure> {
    config.venue(&venue.into())?;
    Err(Failure::usage("probe is not built in this build"))
}
