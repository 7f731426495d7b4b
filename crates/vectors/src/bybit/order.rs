//! An order of the file, as the engine would drive it.

use serde_json::Value;
use surefill_bybit::rows::OrderRow;
use surefill_bybit::{Bybit, Category, Keys, sign};
use surefill_core::{
    AccountId, Amount, Attempt, Connect, Decision, Fence, FenceRule, Fill, Key, OrdType,
    OrderIntent, Px, Side, Symbol, VenueProfile, VenueTime,
};

use crate::driver::Driver;
use crate::file::VectorFile;
use crate::input::{Unfit, text};

use super::shown;

/// The file's base time, from which the steps of a sequence count. The notes in the head say it.
pub(super) fn start(file: &VectorFile) -> Result<VenueTime, Unfit> {
    let notes = file.head().get("notes").and_then(Value::as_array);
    let words = notes.into_iter().flatten().filter_map(Value::as_str);
    let mut said = words.filter_map(|note| {
        let (_, ms) = note.split_once("base time is ")?;
        ms.trim().parse().ok()
    });
    let ms = said.next();
    ms.map(VenueTime::from_ms)
        .ok_or_else(|| Unfit::new("the head's notes do not say the base time"))
}

/// What an order is, as far as the file shows it.
struct Terms {
    category: Category,
    symbol: Symbol,
    side: Side,
    amount: Amount,
    ord_type: OrdType,
}

/// The order known as `key`, with the terms that the file's creates send, or else its rows show. Nothing was sent yet.
pub(super) fn driver(file: &VectorFile, key: &str) -> Result<Driver, Unfit> {
    let terms = match (shown::create_body(file, key), shown::first_row(file, key)) {
        (Some(body), _) => of_create(&body)?,
        (None, Some(row)) => of_row(&row, Category::default())?,
        (None, None) => return Err(Unfit(format!("no case shows the terms of {key}"))),
    };
    journaled(file, key, terms)
}

/// The order of a pushed row.
pub(super) fn of_pushed(
    file: &VectorFile,
    row: &OrderRow,
    category: Category,
) -> Result<Driver, Unfit> {
    let key = row.key.as_ref().map_or("", Key::as_str);
    let mut driver = journaled(file, key, of_row(row, category)?)?;
    driver.sending();
    Ok(driver)
}

/// The order of a pushed fill, which shows no terms: as much as was filled.
pub(super) fn of_fill(file: &VectorFile, key: &Key, fill: &Fill) -> Result<Driver, Unfit> {
    let terms = Terms {
        category: Category::default(),
        symbol: fill.symbol.clone(),
        side: Side::Buy,
        amount: Amount::Base(fill.last_qty),
        ord_type: OrdType::Market,
    };
    let mut driver = journaled(file, key.as_str(), terms)?;
    driver.sending();
    Ok(driver)
}

fn journaled(file: &VectorFile, key: &str, terms: Terms) -> Result<Driver, Unfit> {
    let start = start(file)?;
    // Nothing is signed with these keys: a profile belongs to a configuration, and that has some.
    let keys = Keys::hmac("vectors", "vectors").map_err(Unfit::new)?;
    let profile = Bybit::mainnet(keys).with_category(terms.category).profile();
    let decision = Decision::new("vectors", start.as_ms());
    let (symbol, side, amount) = (terms.symbol, terms.side, terms.amount);
    let intent = match terms.ord_type {
        OrdType::Limit { price } => {
            OrderIntent::limit(decision, "bybit", symbol, side, amount, price)
        }
        OrdType::Market => OrderIntent::market(decision, "bybit", symbol, side, amount),
    };
    let account = AccountId::new("bybit", "vectors", "0");
    let first = attempt(&profile, 1, key, start);
    Ok(Driver::new(intent, account, profile, &first, start))
}

/// An attempt that was signed at `at`.
pub(super) fn attempt(profile: &VenueProfile, no: u32, key: &str, at: VenueTime) -> Attempt {
    let fence = match profile.fence {
        FenceRule::Clock { max, .. } => Fence::Clock(sign::fence(at, max)),
        FenceRule::None | FenceRule::Height { .. } => Fence::None,
    };
    Attempt {
        no,
        format: "bybit.create.1".into(),
        wire: Vec::new(),
        keys: vec![Key::from(key)],
        fence,
        replayable: false,
        revocable: false,
        rebuildable: true,
    }
}

fn of_create(body: &Value) -> Result<Terms, Unfit> {
    let category = serde_json::from_value(Value::from(text(body, "category")?));
    let in_quote = body
        .get("marketUnit")
        .is_some_and(|unit| unit == "quoteCoin");
    let qty = text(body, "qty")?.parse().map_err(Unfit::new)?;
    Ok(Terms {
        category: category.map_err(|_| Unfit::new("a category that the adapter does not trade"))?,
        symbol: Symbol::from(text(body, "symbol")?),
        side: match text(body, "side")? {
            "Buy" => Side::Buy,
            "Sell" => Side::Sell,
            other => return Err(Unfit(format!("side {other:?}"))),
        },
        amount: if in_quote {
            Amount::Quote(qty)
        } else {
            Amount::Base(qty)
        },
        ord_type: match text(body, "orderType")? {
            "Limit" => limit(text(body, "price")?.parse().map_err(Unfit::new)?),
            "Market" => OrdType::Market,
            other => return Err(Unfit(format!("order type {other:?}"))),
        },
    })
}

fn of_row(row: &OrderRow, category: Category) -> Result<Terms, Unfit> {
    let lacks = || Unfit::new("the row shows no symbol or no side");
    Ok(Terms {
        category,
        symbol: row.seen.symbol.clone().ok_or_else(lacks)?,
        side: row.seen.side.ok_or_else(lacks)?,
        amount: Amount::Base(row.seen.order_qty.unwrap_or(row.cum_qty)),
        ord_type: row.seen.price.map_or(OrdType::Market, limit),
    })
}

const fn limit(price: Px) -> OrdType {
    OrdType::Limit { price }
}
