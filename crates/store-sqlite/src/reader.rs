//! Reads: on a thread of the store's own, or beside a running engine without its lock.

use std::path::Path;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Mutex, MutexGuard, PoisonError};

use rusqlite::Connection;
use surefill_core::{
    AccountId, Alias, Attempt, AttemptNo, ClOrdId, Fill, Halt, Key, OrderFilter, OrderId,
    OrderRecord, Requested, StoreError, Transition, VenueTime,
};
use tokio::sync::oneshot;

use crate::health::{self, Health};
use crate::inbox;
use crate::place::Place;
use crate::read::{self, Lifted};
use crate::schema::{self, Purpose};

type Read = Box<dyn FnOnce(&Connection) + Send>;

enum Order {
    Read(Read),
    Stop,
}

/// Hands reads to the reading thread.
#[derive(Clone, Debug)]
pub(crate) struct Reads {
    orders: Sender<Order>,
}

/// The reading thread's end.
#[derive(Debug)]
pub(crate) struct Reading {
    db: Connection,
    orders: Receiver<Order>,
}

/// Both ends, over a connection for the thread.
pub(crate) fn pair(db: Connection) -> (Reads, Reading) {
    let (sender, orders) = channel();
    (Reads { orders: sender }, Reading { db, orders })
}

impl Reads {
    /// Reads on the thread.
    pub(crate) async fn read<T: Send + 'static>(
        &self,
        read: impl FnOnce(&Connection) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let (reply, answer) = oneshot::channel();
        let read: Read = Box::new(move |db| {
            // Whoever asked may have stopped waiting.
            drop(reply.send(read(db)));
        });
        let sent = self.orders.send(Order::Read(read));
        sent.map_err(|_| StoreError::Closed)?;
        answer.await.map_err(|_| StoreError::Closed)?
    }

    pub(crate) fn stop(&self) {
        // The thread may have ended before.
        drop(self.orders.send(Order::Stop));
    }
}

impl Reading {
    /// Works until it is told to stop.
    pub(crate) fn work(self) {
        while let Ok(Order::Read(read)) = self.orders.recv() {
            read(&self.db);
        }
    }
}

/// A journal read without its lock, also while an engine runs on it. Calls block for the time of a read.
#[derive(Debug)]
pub struct SqliteReader {
    place: Place,
    db: Mutex<Connection>,
}

impl SqliteReader {
    /// Opens the journal at `path` for reading.
    ///
    /// # Errors
    /// [`StoreError::Read`] when it is not there, [`StoreError::Newer`], [`StoreError::Damaged`].
    pub fn open(path: impl AsRef<Path>) -> Result<Self, StoreError> {
        let place = Place::existing(path.as_ref())?;
        let db = schema::connect(&place, Purpose::Read)?;
        schema::check(&db)?;
        let db = Mutex::new(db);
        Ok(Self { place, db })
    }

    /// The row of an order.
    ///
    /// # Errors
    /// [`StoreError::Read`], [`StoreError::Damaged`]; so with every method here.
    pub fn order(&self, id: ClOrdId) -> Result<Option<OrderRecord>, StoreError> {
        read::order(&self.db(), id)
    }

    /// The rows that the filter takes, oldest first.
    ///
    /// # Errors
    /// As [`Self::order`].
    pub fn orders(&self, filter: &OrderFilter) -> Result<Vec<OrderRecord>, StoreError> {
        read::orders(&self.db(), filter)
    }

    /// The rows that are open, have fills owed, or are watched.
    ///
    /// # Errors
    /// As [`Self::order`].
    pub fn unfinished(&self) -> Result<Vec<OrderRecord>, StoreError> {
        read::unfinished(&self.db())
    }

    /// An attempt with its bytes.
    ///
    /// # Errors
    /// As [`Self::order`].
    pub fn attempt(&self, id: ClOrdId, no: AttemptNo) -> Result<Option<Attempt>, StoreError> {
        read::attempt(&self.db(), id, no)
    }

    /// The order that the venue knows by this key.
    ///
    /// # Errors
    /// As [`Self::order`].
    pub fn by_key(&self, alias: &Alias, key: &Key) -> Result<Option<ClOrdId>, StoreError> {
        read::by_key(&self.db(), alias, key)
    }

    /// The order that has this venue order id.
    ///
    /// # Errors
    /// As [`Self::order`].
    pub fn by_order_id(
        &self,
        alias: &Alias,
        order_id: &OrderId,
    ) -> Result<Option<ClOrdId>, StoreError> {
        read::by_order_id(&self.db(), alias, order_id)
    }

    /// The fills of an order, oldest first.
    ///
    /// # Errors
    /// As [`Self::order`].
    pub fn fills(&self, id: ClOrdId) -> Result<Vec<Fill>, StoreError> {
        read::fills(&self.db(), id)
    }

    /// The log of an order, oldest first.
    ///
    /// # Errors
    /// As [`Self::order`].
    pub fn history(&self, id: ClOrdId) -> Result<Vec<Transition>, StoreError> {
        read::history(&self.db(), id)
    }

    /// The halts in force.
    ///
    /// # Errors
    /// As [`Self::order`].
    pub fn halts(&self) -> Result<Vec<Halt>, StoreError> {
        read::halts(&self.db())
    }

    /// The halts that were lifted, oldest first.
    ///
    /// # Errors
    /// As [`Self::order`].
    pub fn lifted(&self) -> Result<Vec<Lifted>, StoreError> {
        read::lifted(&self.db())
    }

    /// The accounts that the aliases are bound to.
    ///
    /// # Errors
    /// As [`Self::order`].
    pub fn bindings(&self) -> Result<Vec<(Alias, AccountId)>, StoreError> {
        read::bindings(&self.db())
    }

    /// Up to where the fills of a venue are booked.
    ///
    /// # Errors
    /// As [`Self::order`].
    pub fn cursor(&self, alias: &Alias) -> Result<Option<VenueTime>, StoreError> {
        read::cursor(&self.db(), alias)
    }

    /// When the journal was made, wall-clock milliseconds.
    ///
    /// # Errors
    /// As [`Self::order`].
    pub fn made_at(&self) -> Result<VenueTime, StoreError> {
        schema::made_at(&self.db())
    }

    /// Requests that wait for the engine, oldest first.
    ///
    /// # Errors
    /// As [`Self::order`].
    pub fn requests(&self) -> Result<Vec<Requested>, StoreError> {
        inbox::waiting(&self.db())
    }

    /// What the journal looks like from here.
    ///
    /// # Errors
    /// As [`Self::order`].
    pub fn health(&self) -> Result<Health, StoreError> {
        Health::read(&self.place, &self.db())
    }

    /// Reads every page; what is wrong with the first that is damaged. Takes as long as the file is large.
    ///
    /// # Errors
    /// As [`Self::order`].
    pub fn fault(&self) -> Result<Option<String>, StoreError> {
        health::fault(&self.db())
    }

    fn db(&self) -> MutexGuard<'_, Connection> {
        self.db.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
