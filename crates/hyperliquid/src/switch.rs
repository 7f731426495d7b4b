//! The dead man's switch: `scheduleCancel`, for a bot that wants its orders gone when it is.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use surefill_core::{VenueError, VenueTime};

use crate::action::ScheduleCancel;
use crate::adapter::Adapter;

/// The venue cancels every open order of the account, ours and others', when nobody has said for a while that the bot is alive.
///
/// It is the venue's, so it works when the bot is dead and its network gone. It does not touch positions, and does not stop orders that are
/// sent later. It is armed by the caller only, and best again and again: nothing here re-arms it.
///
/// ```no_run
/// # async fn run(keys: surefill_hyperliquid::Keys) -> Result<(), Box<dyn std::error::Error>> {
/// # use std::time::Duration;
/// # use surefill_core::{Cold, MemoryStore};
/// # use surefill_hyperliquid::Hyperliquid;
/// let venue = Hyperliquid::testnet(keys);
/// let switch = venue.dead_mans_switch();
/// let (engine, _) = Cold::new(MemoryStore::default()).venue("hl", venue).recover().await?;
/// switch.arm(Duration::from_secs(60)).await?; // and again before the minute has passed
/// # drop(engine); Ok(()) }
/// ```
#[derive(Clone, Default)]
pub struct DeadMansSwitch {
    adapter: Arc<Mutex<Weak<Adapter>>>,
}

impl DeadMansSwitch {
    /// The least time ahead that the venue takes.
    ///
    /// # Source
    /// <https://hyperliquid.gitbook.io/hyperliquid-docs/for-developers/api/exchange-endpoint>.
    pub const LEAST: Duration = Duration::from_secs(5);

    /// Cancels everything that is open when this much has passed on the venue's clock; returns the instant. Arming again moves it.
    ///
    /// The venue lets it fire ten times a day, and has been seen to refuse it to accounts that have traded little.
    ///
    /// # Errors
    /// [`VenueError::Config`] below [`Self::LEAST`] and before the venue is connected, [`VenueError::Refused`] with the venue's words,
    /// [`VenueError::Unreachable`] where it may be armed or not: arm it again.
    ///
    /// # Cancel safety
    /// Dropping the future after its first poll leaves it armed or not.
    pub async fn arm(&self, after: Duration) -> Result<VenueTime, VenueError> {
        if after < Self::LEAST {
            let text = format!("the venue takes no less than {} s", Self::LEAST.as_secs());
            return Err(VenueError::Config(text.into()));
        }
        let adapter = self.adapter()?;
        let at = adapter.venue_now().await?.after(after);
        adapter
            .schedule(&ScheduleCancel::new(Some(at.as_ms())))
            .await?;
        Ok(at)
    }

    /// Takes it back.
    ///
    /// # Errors
    /// As [`Self::arm`].
    ///
    /// # Cancel safety
    /// Dropping the future after its first poll leaves it armed or not.
    pub async fn disarm(&self) -> Result<(), VenueError> {
        Ok(self.adapter()?.schedule(&ScheduleCancel::new(None)).await?)
    }

    /// From here on it works. The last connection counts.
    pub(crate) fn connect(&self, adapter: &Arc<Adapter>) {
        *self.adapter.lock().unwrap_or_else(PoisonError::into_inner) = Arc::downgrade(adapter);
    }

    fn connected(&self) -> Option<Arc<Adapter>> {
        let adapter = self.adapter.lock();
        adapter.unwrap_or_else(PoisonError::into_inner).upgrade()
    }

    fn adapter(&self) -> Result<Arc<Adapter>, VenueError> {
        let connected = self.connected();
        connected.ok_or_else(|| VenueError::Config("the venue is not connected".into()))
    }
}

impl fmt::Debug for DeadMansSwitch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let connected = self.connected().is_some();
        f.debug_struct("DeadMansSwitch")
            .field("connected", &connected)
            .finish()
    }
}
