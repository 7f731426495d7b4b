//! The cases. Each is played at fresh venues; what each shows, and what flips it, is in `docs/conformance.md`.

mod cancel;
mod crash;
mod doubt;
mod duplicate;
mod fence;
mod fills;
mod identity;
mod read;
mod restart;
mod send;

pub use cancel::*;
pub use crash::*;
pub use doubt::*;
pub use duplicate::*;
pub use fence::*;
pub use fills::*;
pub use identity::*;
pub use read::*;
pub use restart::*;
pub use send::*;
