//! The model check: the real decision, driven step by step against every kind of venue, with every fault at every moment.

pub mod action;
pub mod bot;
pub mod camp;
pub mod journal;
pub mod lie;
pub mod model;
pub mod scenario;
mod steps;
pub mod table;
pub mod venue;
pub mod world;

pub use action::Action;
pub use bot::{Bot, Mode};
pub use camp::{Camp, FenceKind};
pub use journal::Journal;
pub use lie::Lie;
pub use model::{Check, Found, Marks, Promise, Report};
pub use scenario::{Scenario, check_all};
pub use venue::Venue;
pub use world::{Budget, World};
