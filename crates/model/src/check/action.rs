//! What may happen next, and how it reads in a script.

use std::fmt;

/// What becomes of a cancel or a revocation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It arrives, and its answer comes.
    Answered,
    /// It arrives, and the answer is a receipt.
    Receipt,
    /// It arrives, and its answer is lost.
    AnswerLost,
    /// It never arrives.
    Lost,
}

/// What may happen next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// A tick passes.
    Tick,
    /// A process takes its next step.
    Step(u8),
    /// A process sends, and the connect fails.
    NoConnect(u8),
    /// A process sends, and the request is doubled below it.
    Doubled(u8),
    /// A copy reaches the gate.
    Gate {
        /// Which.
        copy: u8,
        /// What the gate says of it is lost.
        lost: bool,
    },
    /// The gate turns a copy away, because there are too many.
    Throttle(u8),
    /// A copy is lost before the gate.
    Lose(u8),
    /// A copy reaches the book.
    Book {
        /// Which.
        copy: u8,
        /// It is refused.
        refuse: bool,
        /// The answer is lost.
        lost: bool,
    },
    /// The answer to a send is not awaited any longer.
    TimeOut(u8),
    /// The next list of a round is read.
    Read {
        /// By whom.
        bot: u8,
        /// What changed less than a lag ago is shown.
        lucky: bool,
    },
    /// A read of a round fails.
    ReadFails(u8),
    /// A cancel or a revocation.
    Ask {
        /// By whom.
        bot: u8,
        /// What becomes of it.
        fate: Fate,
    },
    /// One unit of an order is executed.
    Fill(u8),
    /// An order ends at the venue's will.
    Expire(u8),
    /// The stream says how an order stands, or how it stood before.
    Push {
        /// To whom.
        bot: u8,
        /// Of which order.
        order: u8,
        /// How it stood when it was taken.
        old: bool,
    },
    /// The list of fills, or the stream, tells of an order that nobody drives.
    Hear {
        /// To whom.
        bot: u8,
        /// Of which order.
        order: u8,
    },
    /// The strategy asks for a cancel.
    AskCancel(u8),
    /// A person declares a halt.
    AskHalt,
    /// A process dies, with so many of its lazy writes.
    Crash {
        /// Which.
        bot: u8,
        /// How many lazy commits go with the power.
        lose: u8,
    },
    /// The next process starts and recovers.
    Recover(u8),
    /// A process stands still.
    Pause(u8),
    /// It goes on.
    GoOn(u8),
    /// Another process takes the lease and recovers.
    Takeover,
}

impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Tick => write!(f, "a tick passes"),
            Self::Step(bot) => write!(f, "bot {bot} goes on"),
            Self::NoConnect(bot) => write!(f, "bot {bot} sends, and the connect fails"),
            Self::Doubled(bot) => write!(f, "bot {bot} sends, and the request is doubled"),
            Self::Gate { copy, lost: false } => write!(f, "copy {copy} reaches the gate"),
            Self::Gate { copy, lost: true } => {
                write!(f, "copy {copy} reaches the gate, and the answer is lost")
            }
            Self::Throttle(copy) => write!(f, "copy {copy} is turned away at the gate"),
            Self::Lose(copy) => write!(f, "copy {copy} is lost"),
            Self::Book { copy, refuse, lost } => {
                let what = if refuse { "is refused at" } else { "reaches" };
                let lost = if lost { ", and the answer is lost" } else { "" };
                write!(f, "copy {copy} {what} the book{lost}")
            }
            Self::TimeOut(bot) => write!(f, "bot {bot} waits no longer for the answer"),
            Self::Read { bot, lucky } => {
                let lucky = if lucky { ", which show the newest" } else { "" };
                write!(f, "bot {bot} reads its next lists{lucky}")
            }
            Self::ReadFails(bot) => write!(f, "a read of bot {bot} fails"),
            Self::Ask { bot, fate } => match fate {
                Fate::Answered => write!(f, "bot {bot} asks the venue, and is answered"),
                Fate::Receipt => write!(f, "bot {bot} asks the venue, and gets a receipt"),
                Fate::AnswerLost => write!(f, "bot {bot} asks the venue, and the answer is lost"),
                Fate::Lost => write!(f, "bot {bot} asks the venue, and the request is lost"),
            },
            Self::Fill(order) => write!(f, "one unit of order {order} is executed"),
            Self::Expire(order) => write!(f, "the venue ends order {order}"),
            Self::Push { bot, order, old } => {
                let old = if old { " stood before" } else { " stands" };
                write!(f, "the stream tells bot {bot} how order {order}{old}")
            }
            Self::Hear { bot, order } => {
                write!(f, "the list of fills tells bot {bot} of order {order}")
            }
            Self::AskCancel(bot) => write!(f, "the strategy asks bot {bot} for a cancel"),
            Self::AskHalt => write!(f, "a person declares a halt"),
            Self::Crash { bot, lose: 0 } => write!(f, "bot {bot} dies"),
            Self::Crash { bot, lose } => {
                write!(
                    f,
                    "the power of bot {bot} fails; {lose} lazy commits are lost"
                )
            }
            Self::Recover(bot) => write!(f, "bot {bot} starts and recovers"),
            Self::Pause(bot) => write!(f, "bot {bot} stands still"),
            Self::GoOn(bot) => write!(f, "bot {bot} may go on"),
            Self::Takeover => write!(f, "bot 1 takes the lease and recovers"),
        }
    }
}
