//! The moments at which a bot is killed.

use clap::ValueEnum;

/// Where in the life of an order the process dies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Moment {
    /// The attempt is durable and no byte has left.
    Journaled,
    /// The venue has acted and has not answered.
    Acted,
    /// The answer is in the socket and nobody has read it.
    Unread,
    /// One of two fills is booked.
    Partial,
    /// A second death, while the first one's order is being found again.
    Recovery,
}

impl Moment {
    pub(crate) const ALL: [Self; 5] = [
        Self::Journaled,
        Self::Acted,
        Self::Unread,
        Self::Partial,
        Self::Recovery,
    ];

    /// What the table calls it.
    pub(crate) const fn text(self) -> &'static str {
        match self {
            Self::Journaled => "journaled, not yet sent",
            Self::Acted => "venue acted, no answer yet",
            Self::Unread => "answer in the socket, unread",
            Self::Partial => "between two partial fills",
            Self::Recovery => "in the middle of recovery",
        }
    }

    /// The word by which a child is told, and tells.
    pub(crate) fn word(self) -> String {
        self.to_possible_value()
            .map_or_else(String::new, |value| value.get_name().to_owned())
    }

    /// The limit price: across the book, or resting where fills come when the demo says so.
    pub(crate) const fn price(self) -> &'static str {
        match self {
            Self::Partial => "59000",
            Self::Journaled | Self::Acted | Self::Unread | Self::Recovery => "60100",
        }
    }
}

/// Tells the parent that the moment is here, and waits to be killed.
///
/// The whole runtime waits with it, for there is only this thread: nothing more is sent, read or decided.
pub(crate) fn wait_to_be_killed(moment: Moment) -> ! {
    say(&format!("AT {}", moment.word()));
    loop {
        std::thread::park();
    }
}

/// Tells the parent one line.
pub(crate) fn say(line: &str) {
    use std::io::Write;
    let mut out = std::io::stdout().lock();
    if writeln!(out, "{line}").and_then(|()| out.flush()).is_err() {
        // The parent is gone: so is the reason to go on.
        std::process::exit(1);
    }
}
