//! What a person should hear of at 3 a.m.

use std::fmt::{self, Debug};

use crate::{ClOrdId, Halt};

/// Something that a person should hear of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Alert {
    /// A scope is halted.
    Halted(Halt),
    /// A halt is lifted.
    Lifted(Halt),
    /// The journal failed: nothing is placed, cancels still go out.
    Journal(Box<str>),
    /// An order could not be driven on.
    Driver {
        /// The order.
        id: ClOrdId,
        /// Why.
        text: Box<str>,
    },
}

impl fmt::Display for Alert {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Halted(halt) => write!(f, "{} is halted: {}", halt.scope, halt.text),
            Self::Lifted(halt) => write!(f, "the halt of {} is lifted: {}", halt.scope, halt.cause),
            Self::Journal(text) => write!(f, "the journal failed: {text}"),
            Self::Driver { id, text } => write!(f, "order {id}: {text}"),
        }
    }
}

/// Tells people. Called from the engine's tasks: it must not block.
pub trait Alerts: Debug + Send + Sync + 'static {
    /// Tells of one alert.
    fn alert(&self, alert: &Alert);
}

/// Alerts as log lines of level error, or warn where a halt is lifted.
#[derive(Clone, Copy, Debug, Default)]
pub struct LogAlerts;

impl Alerts for LogAlerts {
    fn alert(&self, alert: &Alert) {
        match alert {
            Alert::Lifted(_) => tracing::warn!("{alert}"),
            Alert::Halted(_) | Alert::Journal(_) | Alert::Driver { .. } => {
                tracing::error!("{alert}")
            }
        }
    }
}
