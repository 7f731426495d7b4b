//! `POST /v5/order/create`: from parameters to an order that the core understands.

use rust_decimal::Decimal;

use super::{ids::is_valid_id, params::Params, reply::Code};
use crate::core::{Core, Instrument, Kind, NewOrder, OrdType, SelfTrade, Side, TimeInForce};

/// Fields that would change what the order does, and that are not simulated.
const NOT_SIMULATED: [&str; 11] = [
    "triggerPrice",
    "triggerDirection",
    "takeProfit",
    "stopLoss",
    "tpslMode",
    "orderIv",
    "slippageTolerance",
    "bboSideType",
    "bboLevel",
    "tpLimitPrice",
    "slLimitPrice",
];
/// The value of `isLeverage` and of `orderFilter` that changes nothing.
const PLAIN_SPOT_ORDER: &str = "Order";

/// Checks all parameters.
pub(super) fn read(params: &Params, uid: &str, core: &Core) -> Result<NewOrder, Code> {
    let instrument = params.instrument(core)?;
    let side = match params.needed("side")? {
        "Buy" => Side::Buy,
        "Sell" => Side::Sell,
        _ => return Err(Code::param("side invalid")),
    };
    let ord_type = match params.needed("orderType")? {
        "Limit" => OrdType::Limit,
        "Market" => OrdType::Market,
        _ => return Err(Code::param("orderType invalid")),
    };
    let time_in_force = match (ord_type, params.text("timeInForce")?.unwrap_or("GTC")) {
        (OrdType::Market, "GTC" | "IOC" | "FOK" | "PostOnly") | (OrdType::Limit, "IOC") => {
            TimeInForce::Ioc
        }
        (OrdType::Limit, "GTC") => TimeInForce::Gtc,
        (OrdType::Limit, "FOK") => TimeInForce::Fok,
        (OrdType::Limit, "PostOnly") => TimeInForce::PostOnly,
        _ => return Err(Code::param("timeInForce invalid")),
    };
    if params.integer("positionIdx")?.unwrap_or(0) != 0 {
        return Err(Code::new(10_001, "position idx not match position mode"));
    }
    let self_trade = match params.text("smpType")?.unwrap_or("None") {
        "None" => SelfTrade::None,
        "CancelMaker" => SelfTrade::CancelMaker,
        "CancelTaker" => SelfTrade::CancelTaker,
        "CancelBoth" => SelfTrade::CancelBoth,
        _ => return Err(Code::param("smpType invalid")),
    };
    let reduce_only = params.flag("reduceOnly")?;
    if let Some(name) = NOT_SIMULATED.into_iter().find(|name| params.holds(name)) {
        return Err(Code::param(&format!("{name} is not simulated")));
    }
    if params
        .text("orderFilter")?
        .is_some_and(|filter| filter != PLAIN_SPOT_ORDER)
    {
        return Err(Code::param("orderFilter is not simulated"));
    }
    if params.integer("isLeverage")?.unwrap_or(0) != 0 {
        return Err(Code::param("isLeverage is not simulated"));
    }
    let spot = instrument.kind == Kind::Spot;
    if spot && reduce_only {
        return Err(Code::param("reduceOnly is not for spot"));
    }
    if params.flag("closeOnTrigger")? {
        return Err(Code::param("closeOnTrigger is not simulated"));
    }
    let wire_id = match params.text("orderLinkId")? {
        None => None,
        Some(id) if id.len() > 45 => {
            return Err(Code::new(10_001, "order link id is longer than 45"));
        }
        Some(id) if !is_valid_id(id) => return Err(Code::param("orderLinkId invalid")),
        Some(id) => Some(id.to_owned()),
    };
    let most = match ord_type {
        OrdType::Limit => instrument.max_qty,
        OrdType::Market => instrument.max_market_qty,
    };
    let qty = params
        .decimal("qty")?
        .ok_or_else(|| Code::param("qty is required"))?;
    let in_quote = match (ord_type, params.text("marketUnit")?) {
        (OrdType::Market, Some("quoteCoin")) if spot => true,
        (OrdType::Market, Some("baseCoin")) if spot => false,
        (OrdType::Market, None) => spot && side == Side::Buy,
        (OrdType::Limit, _) => false,
        (OrdType::Market, Some(_)) => return Err(Code::param("marketUnit invalid")),
    };
    let price = match ord_type {
        OrdType::Limit => params
            .decimal("price")?
            .ok_or_else(|| Code::param("price is required"))?,
        OrdType::Market => protection(side, instrument),
    };
    check_price(price, instrument)?;
    let (order_qty, quote_qty, value) = if in_quote {
        (Decimal::ZERO, Some(qty), qty)
    } else {
        check_qty(qty, most, instrument)?;
        (qty, None, qty.saturating_mul(price))
    };
    // Whether reduce-only orders are free of the floor is not known; here they are. Inverse contracts have none.
    if !reduce_only && value < instrument.min_notional {
        return Err(match instrument.kind {
            Kind::Spot => Code::new(170_140, "Order value exceeded lower limit"),
            Kind::Linear | Kind::Inverse => {
                Code::new(110_094, "Order does not meet minimum order value")
            }
        });
    }
    Ok(NewOrder {
        account: uid.to_owned(),
        instrument: instrument.key(),
        wire_id,
        side,
        ord_type,
        time_in_force,
        price,
        order_qty,
        quote_qty,
        reduce_only,
        self_trade,
    })
}

/// An amount within its bounds and on its step.
pub(super) fn check_qty(qty: Decimal, most: Decimal, instrument: &Instrument) -> Result<(), Code> {
    let on_step = is_multiple(qty, instrument.step);
    match instrument.kind {
        _ if on_step && qty >= instrument.min_qty && qty <= most => Ok(()),
        Kind::Spot if !on_step => Err(Code::new(170_137, "Order volume decimal too long.")),
        Kind::Spot if qty < instrument.min_qty => {
            Err(Code::new(170_136, "Order quantity exceeded lower limit."))
        }
        Kind::Spot => Err(Code::new(170_124, "Order quantity exceeded upper limit.")),
        Kind::Linear | Kind::Inverse => Err(Code::param("Qty invalid")),
    }
}

/// A price within its bounds and on its tick.
pub(super) fn check_price(price: Decimal, instrument: &Instrument) -> Result<(), Code> {
    let spot = instrument.kind == Kind::Spot;
    if spot && price < instrument.min_price {
        return Err(Code::new(170_133, "Order price lower than the minimum."));
    }
    if spot && price > instrument.max_price {
        return Err(Code::new(170_132, "Order price too high."));
    }
    if spot && !is_multiple(price, instrument.tick) {
        return Err(Code::new(170_134, "Order price decimal too long."));
    }
    if price < instrument.min_price || price > instrument.max_price {
        return Err(Code::new(
            110_003,
            "Order price exceeds the allowable range.",
        ));
    }
    if !is_multiple(price, instrument.tick) {
        return Err(Code::param("Price invalid"));
    }
    Ok(())
}

fn is_multiple(number: Decimal, step: Decimal) -> bool {
    number.checked_rem(step).is_some_and(|rest| rest.is_zero())
}

/// The limit that a market order gets: two percent beyond the best price, on the tick.
fn protection(side: Side, instrument: &Instrument) -> Decimal {
    let (best, factor) = match side {
        Side::Buy => (instrument.flat.ask, Decimal::new(102, 2)),
        Side::Sell => (instrument.flat.bid, Decimal::new(98, 2)),
    };
    let ticks = best
        .saturating_mul(factor)
        .checked_div(instrument.tick)
        .map_or(best, |ticks| ticks.trunc());
    ticks
        .saturating_mul(instrument.tick)
        .clamp(instrument.min_price, instrument.max_price)
}
