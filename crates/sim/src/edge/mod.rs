//! What all simulated venues have in front of them: sockets, faults, the request log and the control port.

mod acting;
mod body;
mod connection;
mod control;
mod exchange;
mod fault;
mod fields;
mod hidden;
mod pushes;
mod requests;
mod running;
mod server;
mod socket;
mod stage;
mod stale;

pub(crate) use exchange::{Reply, Request};
pub(crate) use fault::Op;
pub(crate) use fields::{Fields, Wrong};
pub(crate) use hidden::Shelf;
pub(crate) use pushes::Push;
pub use running::ControlError;
pub(crate) use running::Running;
pub(crate) use socket::{Called, Heard, Silence};
pub(crate) use stage::{Stage, Venue};
