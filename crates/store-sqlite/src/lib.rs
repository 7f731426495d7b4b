#![doc = include_str!("../README.md")]

mod checkpoint;
mod desk;
mod error;
mod health;
mod inbox;
mod jobs;
mod lock;
mod marks;
mod open;
mod place;
mod read;
mod reader;
mod recent;
mod rows;
mod schema;
mod store;
mod writer;

#[doc(hidden)]
pub mod tap;

pub use health::Health;
pub use inbox::Inbox;
pub use read::Lifted;
pub use reader::SqliteReader;
pub use store::SqliteStore;
