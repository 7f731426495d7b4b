//! What is traded, and which number it has: perpetuals, spot pairs, builders' dexes. Pure.
//!
//! Source: <https://hyperliquid.gitbook.io/hyperliquid-docs/for-developers/api/asset-ids>.

use std::collections::HashMap;

use rust_decimal::Decimal;
use surefill_core::{Instrument, Position, PrepareError, Qty, Symbol};

use crate::error::ReadFailure;
use crate::number::Market;
use crate::outcome::Sent;
use crate::rows::body;
use crate::wire::{Clearinghouse, DexRow, Meta, SpotMeta, SpotState};

/// The least value of an order, in quote money.
pub const MIN_NOTIONAL: Decimal = Decimal::TEN;

/// Spot pairs are numbered from here.
const SPOT: u32 = 10_000;

/// Perpetuals of builders' dexes are numbered from here.
const DEXES: u32 = 100_000;

/// How many numbers a dex has.
const PER_DEX: u32 = 10_000;

/// Something that is traded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asset {
    /// Its number in actions.
    pub id: u32,
    /// Its name in lists and fills.
    pub coin: Symbol,
    /// By which rule its price goes.
    pub market: Market,
    /// The most decimals of a size.
    pub sz_decimals: u32,
    /// It is not traded any more, and keeps its number.
    pub delisted: bool,
    /// On a builder's dex: orders are refused there until it is known how client order ids fare.
    pub builder: bool,
}

/// Everything that is traded, by name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Universe {
    assets: HashMap<Symbol, Asset>,
}

impl Universe {
    /// Of these assets.
    pub fn new(assets: impl IntoIterator<Item = Asset>) -> Self {
        let named = assets.into_iter().map(|asset| (asset.coin.clone(), asset));
        Self {
            assets: named.collect(),
        }
    }

    /// The asset of this name.
    pub fn get(&self, coin: &Symbol) -> Option<&Asset> {
        self.assets.get(coin)
    }

    /// All of them, in the order of their numbers.
    pub fn instruments(&self) -> Vec<Instrument> {
        let mut live: Vec<&Asset> = self
            .assets
            .values()
            .filter(|asset| !asset.delisted)
            .collect();
        live.sort_by_key(|asset| asset.id);
        live.into_iter().map(Asset::instrument).collect()
    }
}

impl Asset {
    /// The step of sizes.
    pub fn size_step(&self) -> Decimal {
        Decimal::new(1, self.sz_decimals)
    }

    /// The instrument. Its tick is the finest that any price has: five figures make it coarser for larger prices.
    fn instrument(&self) -> Instrument {
        let step = Qty::new(self.size_step()).unwrap_or_default();
        // No maximum is documented.
        let most = Qty::new(Decimal::MAX).unwrap_or_default();
        Instrument {
            symbol: self.coin.clone(),
            tick: Decimal::new(1, self.market.price_decimals(self.sz_decimals)),
            qty_step: step.value(),
            min_qty: step,
            min_notional: MIN_NOTIONAL,
            max_limit_qty: most,
            max_market_qty: most,
        }
    }

    /// Whether an order may be sent for it.
    ///
    /// # Errors
    /// [`PrepareError`]: delisted, or on a builder's dex.
    pub fn tradable(&self) -> Result<(), PrepareError> {
        if self.delisted {
            let what = format!("{} is delisted", self.coin).into();
            return Err(PrepareError::Invalid { what });
        }
        if self.builder {
            let what = format!("an order for {}, which is on a builder's dex,", self.coin).into();
            return Err(PrepareError::Unsupported { what });
        }
        Ok(())
    }
}

/// More decimals than a decimal has would be no size.
fn decimals(of: &str, sz_decimals: u32) -> Result<u32, ReadFailure> {
    let fits = sz_decimals <= 18;
    let unreadable = || ReadFailure::unreadable(format!("{of}: {sz_decimals} decimals"));
    fits.then_some(sz_decimals).ok_or_else(unreadable)
}

/// `meta`: perpetuals of the main dex, or of the builder's dex at this place of `perpDexs`, numbered by their place. Delisted ones
/// count.
///
/// # Errors
/// [`ReadFailure`].
pub fn perps(sent: &Sent, dex: Option<u32>) -> Result<Vec<Asset>, ReadFailure> {
    let meta: Meta = body(sent)?;
    let first = match dex {
        None => Some(0),
        Some(dex) => dex
            .checked_mul(PER_DEX)
            .and_then(|at| at.checked_add(DEXES)),
    };
    let mut all = Vec::with_capacity(meta.universe.len());
    for (at, row) in meta.universe.into_iter().enumerate() {
        let at = u32::try_from(at).ok();
        let id = first.zip(at).and_then(|(first, at)| first.checked_add(at));
        let id = id.ok_or_else(|| ReadFailure::unreadable("more assets than numbers"))?;
        all.push(Asset {
            id,
            sz_decimals: decimals(&row.name, row.sz_decimals)?,
            coin: Symbol::from(row.name),
            market: Market::Perp,
            delisted: row.is_delisted,
            builder: dex.is_some(),
        });
    }
    Ok(all)
}

/// `spotMeta`: pairs, numbered by their own index, which is neither their place nor a token's.
///
/// # Errors
/// [`ReadFailure`].
pub fn pairs(sent: &Sent) -> Result<Vec<Asset>, ReadFailure> {
    let meta: SpotMeta = body(sent)?;
    let tokens: HashMap<u32, u32> = meta
        .tokens
        .iter()
        .map(|token| (token.index, token.sz_decimals))
        .collect();
    let mut all = Vec::with_capacity(meta.universe.len());
    for row in meta.universe {
        let unreadable = |what: &str| ReadFailure::unreadable(format!("pair {}: {what}", row.name));
        let base = row.tokens.first().and_then(|base| tokens.get(base));
        let base = *base.ok_or_else(|| unreadable("its base token is not listed"))?;
        let id = SPOT.checked_add(row.index);
        all.push(Asset {
            id: id.ok_or_else(|| unreadable("its index"))?,
            sz_decimals: decimals(&row.name, base)?,
            coin: Symbol::from(row.name),
            market: Market::Spot,
            delisted: false,
            builder: false,
        });
    }
    Ok(all)
}

/// `perpDexs`: the builders' dexes by name, with their places. The first place is the main dex, without a name.
///
/// # Errors
/// [`ReadFailure`].
pub fn dexes(sent: &Sent) -> Result<Vec<(u32, String)>, ReadFailure> {
    let rows: Vec<Option<DexRow>> = body(sent)?;
    if rows.first().is_some_and(Option::is_some) {
        return Err(ReadFailure::unreadable("the main dex is not the first"));
    }
    let named = (0_u32..)
        .zip(rows)
        .filter_map(|(at, row)| row.map(|row| (at, row.name)));
    Ok(named.collect())
}

/// `clearinghouseState`: positions of perpetuals that are not flat.
///
/// # Errors
/// [`ReadFailure`].
pub fn positions(sent: &Sent) -> Result<Vec<Position>, ReadFailure> {
    let state: Clearinghouse = body(sent)?;
    let rows = state.asset_positions.into_iter().map(|row| row.position);
    held(rows.map(|row| (row.coin, row.szi)))
}

/// `spotClearinghouseState`: what is held of each token, as `spot:` and its name, because a perpetual may have the same name.
///
/// # Errors
/// [`ReadFailure`].
pub fn balances(sent: &Sent) -> Result<Vec<Position>, ReadFailure> {
    let state: SpotState = body(sent)?;
    let rows = state.balances.into_iter();
    held(rows.map(|row| (format!("spot:{}", row.coin), row.total)))
}

fn held(rows: impl Iterator<Item = (String, String)>) -> Result<Vec<Position>, ReadFailure> {
    let mut all = Vec::new();
    for (symbol, text) in rows {
        let signed_qty = crate::number::read(&text)
            .map_err(|_| ReadFailure::unreadable(format!("position {symbol}")))?;
        if !signed_qty.is_zero() {
            all.push(Position {
                symbol: Symbol::from(symbol),
                signed_qty,
            });
        }
    }
    Ok(all)
}

/// `allMids`: the middle of the book of a coin.
///
/// # Errors
/// [`ReadFailure`]: also where the coin has none.
pub fn mid(sent: &Sent, coin: &Symbol) -> Result<Decimal, ReadFailure> {
    let mids: HashMap<String, String> = body(sent)?;
    let text = mids.get(coin.as_str());
    let mid = text.and_then(|text| crate::number::read(text).ok());
    mid.filter(|mid| *mid > Decimal::ZERO)
        .ok_or_else(|| ReadFailure::unreadable(format!("{coin} has no mid price")))
}
