//! Opening: the lock first, then the file, then the threads.

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Sender, channel};
use std::thread::{Builder, JoinHandle};

use surefill_core::StoreError;

use crate::desk::Desk;
use crate::error::reading;
use crate::lock::Lock;
use crate::place::Place;
use crate::reader::Reads;
use crate::schema::{self, Purpose};
use crate::tap::Options;
use crate::writer::{Counts, Order, Writer};
use crate::{checkpoint, reader};

/// What a store holds of its threads.
#[derive(Debug)]
pub(crate) struct Opened {
    pub(crate) orders: Sender<Order>,
    pub(crate) reads: Reads,
    pub(crate) counts: Arc<Counts>,
}

pub(crate) fn open(path: &Path, options: Options) -> Result<Opened, StoreError> {
    let place = Place::resolve(path)?;
    place.refuse_network()?;
    let lock = Lock::take(&place)?;
    place.make()?;
    let mut db = schema::connect(&place, Purpose::Write)?;
    schema::prepare(&place, &mut db)?;
    if let Some(pages) = options.max_pages {
        db.query_row(&format!("PRAGMA max_page_count={pages}"), (), |_| Ok(()))
            .map_err(reading)?;
    }
    if options.unsynced {
        db.execute_batch("PRAGMA synchronous=OFF;")
            .map_err(reading)?;
    }
    let counts = Arc::<Counts>::default();
    let hooked = Arc::clone(&counts);
    db.wal_hook(Some(move |_: &mut rusqlite::hooks::Wal, frames: i32| {
        let frames = u64::try_from(frames).unwrap_or_default();
        hooked.frames.store(frames, Ordering::Relaxed);
        hooked.commits.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }))
    .map_err(reading)?;

    let (reads, reading_end) = reader::pair(schema::connect(&place, Purpose::Read)?);
    let (checkpoints, checkpointer) =
        checkpoint::pair(schema::connect(&place, Purpose::Checkpoint)?);
    let threads = vec![
        spawn(&place, "journal-read", move || reading_end.work())?,
        spawn(&place, "journal-checkpoint", move || checkpointer.work())?,
    ];
    let writer = Writer {
        desk: Desk::new(db),
        place: place.clone(),
        counts: Arc::clone(&counts),
        checkpoints,
        reads: reads.clone(),
        threads,
        lock,
        tap: options.tap,
        unsynced: options.unsynced,
        full: true,
        lazy: true,
        closed: false,
    };
    let (orders, taken) = channel();
    spawn(&place, "journal-write", move || writer.work(&taken))?;
    Ok(Opened {
        orders,
        reads,
        counts,
    })
}

fn spawn(
    place: &Place,
    name: &str,
    work: impl FnOnce() + Send + 'static,
) -> Result<JoinHandle<()>, StoreError> {
    let spawned: io::Result<_> = Builder::new().name(name.to_owned()).spawn(work);
    spawned.map_err(|error| place.not_writable(error))
}
