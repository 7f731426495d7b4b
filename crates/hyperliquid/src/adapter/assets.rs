//! What is traded, kept for a while.

use std::sync::{Arc, PoisonError};
use std::time::Duration;

use surefill_core::{Symbol, VenueTime};

use super::Adapter;
use crate::client::Read;
use crate::coins::{self, Universe};
use crate::error::ReadFailure;

/// Assets are added and delisted now and then, and keep their numbers; they are asked for again after an hour, for a name that is not
/// known, and when the venue refuses what fits them.
const FRESH: Duration = Duration::from_secs(60 * 60);

/// How old they may be where they cannot be read again.
const OLDEST: Duration = Duration::from_secs(24 * 60 * 60);

/// A name that is not known is asked for again no sooner than this: a list weighs as much as ten looks.
const RELIST: Duration = Duration::from_secs(60);

impl Adapter {
    /// What is traded, from the cache where it is fresh and knows the name.
    pub(super) async fn universe(
        &self,
        coin: Option<&Symbol>,
    ) -> Result<Arc<Universe>, ReadFailure> {
        let now = self.reader.clock_for_acts().await?.now;
        let kept = self.kept_universe();
        let knows = |universe: &Universe| coin.is_none_or(|coin| universe.get(coin).is_some());
        if let Some((since, universe)) = &kept {
            let fresh = if knows(universe) { FRESH } else { RELIST };
            if now.since(*since) < fresh {
                return Ok(Arc::clone(universe));
            }
        }
        match (self.list_universe().await, kept) {
            (Ok(universe), _) => {
                let universe = Arc::new(universe);
                let mut kept = self.universe.lock().unwrap_or_else(PoisonError::into_inner);
                *kept = Some((now, Arc::clone(&universe)));
                Ok(universe)
            }
            (Err(failure), Some((since, universe)))
                if knows(&universe) && now.since(since) < OLDEST =>
            {
                tracing::warn!(%failure, "the assets could not be read again");
                Ok(universe)
            }
            (Err(failure), _) => Err(failure),
        }
    }

    fn kept_universe(&self) -> Option<(VenueTime, Arc<Universe>)> {
        let kept = self.universe.lock();
        kept.unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The next order asks again what is traded. The numbers stay for cancels.
    pub(super) fn doubt_universe(&self) {
        let mut kept = self.universe.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((since, _)) = kept.as_mut() {
            *since = VenueTime::default();
        }
    }

    async fn list_universe(&self) -> Result<Universe, ReadFailure> {
        let mut all = coins::perps(&self.reader.read(&Read::Meta(None)).await, None)?;
        all.extend(coins::pairs(&self.reader.read(&Read::SpotMeta).await)?);
        if self.reader.dexes.is_empty() {
            return Ok(Universe::new(all));
        }
        let dexes = coins::dexes(&self.reader.read(&Read::Dexes).await)?;
        for name in &self.reader.dexes {
            let found = dexes.iter().find(|(_, found)| found == name);
            let unknown = || ReadFailure::unreadable(format!("there is no dex {name:?}"));
            let (at, _) = found.ok_or_else(unknown)?;
            let meta = self.reader.read(&Read::Meta(Some(name.clone()))).await;
            all.extend(coins::perps(&meta, Some(*at))?);
        }
        Ok(Universe::new(all))
    }

    /// The number of an asset, for an act: a cache of any age will do, because numbers stay.
    pub(super) async fn asset(&self, coin: &Symbol) -> Result<u32, ReadFailure> {
        let kept = self.kept_universe();
        let known = kept.and_then(|(_, universe)| universe.get(coin).map(|asset| asset.id));
        if let Some(id) = known {
            return Ok(id);
        }
        let universe = self.universe(Some(coin)).await?;
        let asset = universe.get(coin);
        let unknown = || ReadFailure::unreadable(format!("{coin} is not traded here"));
        asset.map(|asset| asset.id).ok_or_else(unknown)
    }
}
