//! What a journal's store must do: the suite, its fixture and the orders that it journals.

mod draft;
mod fixture;
mod macros;

pub mod cases;

pub use draft::{Draft, T0, ack, doubt, fill, filled, found, next_attempt, rejected};
pub use fixture::{Lifted, MemoryFixture, StoreFixture};
