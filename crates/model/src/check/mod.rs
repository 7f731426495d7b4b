//! The model check: the real decision, driven step by step against every kind of venue, with every fault at every moment.

pub mod action;
mod alike;
pub mod bot;
pub mod camp;
mod driver;
pub mod journal;
pub mod lie;
mod looks;
pub mod marks;
pub mod model;
mod next;
mod observe;
pub mod promise;
pub mod scenario;
mod sends;
mod steps;
pub mod table;
mod trace;
pub mod venue;
pub mod world;

pub use action::Action;
pub use bot::{Bot, Mode};
pub use camp::{Camp, FenceKind};
pub use journal::Journal;
pub use lie::Lie;
pub use marks::Marks;
pub use model::{Check, Found, Report};
pub use promise::Promise;
pub use scenario::{Scenario, check_all};
pub use venue::Venue;
pub use world::{Budget, World};
