//! What a venue's adapter must do, alone and under the engine: the suite, and what an adapter's author brings to it.

mod bot;
mod desk;
mod fixture;
mod judge;
mod macros;
mod port;
mod stage;
mod words;

pub mod cases;

pub use fixture::{Referee, Start, VenueFixture, start};
pub use port::ControlPort;
pub use words::{Act, Fate, Fault, List, Login, Op, SeenFill, SeenOrder, SeenRequest, SeenStatus};
