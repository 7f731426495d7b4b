//! The matching core that all simulated venues share: commands in, events out, no clock and no randomness of its own.

mod account;
mod book;
mod booking;
mod command;
mod depth;
mod engine;
mod event;
mod ids;
mod instrument;
mod matching;
mod order;

pub use account::{Account, Position};
pub use command::{Command, NewOrder, What};
pub use depth::Level;
pub use engine::Core;
pub use event::{Event, Fill, Happening, Note, Refusal};
pub use ids::DuplicateRule;
pub use instrument::{Flat, Instrument, Kind};
pub use order::{Ended, OrdStatus, OrdType, Order, OrderNo, SelfTrade, Side, TimeInForce};
