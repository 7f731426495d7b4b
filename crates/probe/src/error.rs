//! Why there is no report.

use surefill_core::{PrepareError, StoreError, VenueError};

/// Why there is no report. Whatever was placed has been canceled, but for [`ProbeError::NotCleaned`].
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ProbeError {
    /// A probe places orders: never with real money. Nothing was sent.
    #[error("a probe places orders, and {0} is a mainnet: use a simulator or a testnet")]
    Mainnet(String),
    /// A testnet has to be confirmed. Nothing was sent.
    #[error("a probe places and cancels small orders on {0}: confirm it with --yes")]
    NotConfirmed(String),
    /// A control port was given for a venue that is none of ours.
    #[error("only a simulator has a control port")]
    NoSimulator,
    /// The venue could not be read.
    #[error("the venue could not be read")]
    Venue(#[from] VenueError),
    /// An attempt could not be journaled.
    #[error("the probe's own journal failed")]
    Journal(#[from] StoreError),
    /// The venue does not list the symbol.
    #[error("{0} is not listed")]
    NotListed(String),
    /// A request could not be built.
    #[error("a request could not be built")]
    Prepare(#[from] PrepareError),
    /// No price was found at which a buy rests.
    #[error("no price was found at which a buy of {0} rests: name one")]
    NoRest(String),
    /// The control port refused or did not answer.
    #[error("the simulator's control port: {0}")]
    Control(String),
    /// What the venue did could not be told.
    #[error("what the venue did cannot be told: {0}")]
    Inconclusive(String),
    /// It was stopped.
    #[error("stopped; what was placed is canceled")]
    Stopped,
    /// Orders or a position are left at the venue.
    #[error("left at the venue: {left}")]
    NotCleaned {
        /// What, for a person who has to look.
        left: String,
    },
}
