//! Rows of lists, as the venue spells them. Shapes: vectors `http-look-*`, `http-exec-*`, `http-pos-*`, `http-mkt-*`.

use rust_decimal::Decimal;
use serde_json::{Value, json};

use super::{ids::VenueIds, stream::picked};
use crate::core::{
    Core, Ended, Fill, Instrument, Kind, OrdStatus, OrdType, Order, Position, SelfTrade, Side,
    TimeInForce,
};

/// The venue's word for a status.
pub(super) fn status(order: &Order) -> &'static str {
    match order.status {
        // Only spot has a word for an end after some fills.
        OrdStatus::Canceled
            if order.instrument.starts_with("spot/") && !order.cum_qty.is_zero() =>
        {
            "PartiallyFilledCanceled"
        }
        OrdStatus::New => "New",
        OrdStatus::PartiallyFilled => "PartiallyFilled",
        OrdStatus::Filled => "Filled",
        OrdStatus::Canceled => "Cancelled",
        OrdStatus::Rejected => "Rejected",
    }
}

const fn side(side: Side) -> &'static str {
    match side {
        Side::Buy => "Buy",
        Side::Sell => "Sell",
    }
}

const fn ord_type(ord_type: OrdType) -> &'static str {
    match ord_type {
        OrdType::Limit => "Limit",
        OrdType::Market => "Market",
    }
}

/// `cancelType` and `rejectReason`.
const fn reasons(ended: Option<Ended>) -> (&'static str, &'static str) {
    match ended {
        None | Some(Ended::Filled) => ("UNKNOWN", "EC_NoError"),
        Some(Ended::Scheduled) => ("CancelByDCP", "EC_NoError"),
        Some(Ended::Refused(_)) => ("UNKNOWN", "EC_Others"),
        Some(Ended::ByRequest) => ("CancelByUser", "EC_PerCancelRequest"),
        Some(Ended::WouldTake) => ("UNKNOWN", "EC_PostOnlyWillTakeLiquidity"),
        Some(Ended::NoImmediate) => ("UNKNOWN", "EC_NoImmediateQtyToFill"),
        Some(Ended::NotEnough) => ("UNKNOWN", "EC_NoEnoughQtyToFill"),
        Some(Ended::ReduceOnly) => ("CancelByReduceOnly", "EC_NoError"),
        Some(Ended::SelfTrade) => ("CancelBySmp", "EC_BySelfMatch"),
    }
}

/// One order. Over realtime a closed one has empty leaves; history writes zeros and adds five fields.
pub(super) fn order(ids: VenueIds, order: &Order, instrument: &Instrument, history: bool) -> Value {
    let (cancel_type, reject_reason) = reasons(order.ended);
    let time_in_force = match order.time_in_force {
        TimeInForce::Gtc => "GTC",
        TimeInForce::Ioc => "IOC",
        TimeInForce::Fok => "FOK",
        TimeInForce::PostOnly => "PostOnly",
    };
    let smp_type = match order.self_trade {
        SelfTrade::None => "None",
        SelfTrade::CancelMaker => "CancelMaker",
        SelfTrade::CancelTaker => "CancelTaker",
        SelfTrade::CancelBoth => "CancelBoth",
    };
    let (leaves_qty, leaves_value) = if order.status.is_open() || history {
        let leaves = order.leaves_qty();
        (
            scaled(leaves, instrument.step),
            plain(instrument.kind.value(leaves, order.price)),
        )
    } else {
        (String::new(), String::new())
    };
    let fees = if order.cum_qty.is_zero() {
        json!({})
    } else {
        json!({ instrument.fee_coin(order.side): plain(order.cum_fee) })
    };
    let mut row = json!({
        "orderId": ids.order(&order.instrument, order.no), "orderLinkId": order.wire_id.clone().unwrap_or_default(),
        "parentOrderLinkId": "", "blockTradeId": "", "symbol": instrument.symbol,
        "price": scaled(order.price, instrument.tick), "qty": asked(order, instrument),
        "side": side(order.side), "isLeverage": "", "positionIdx": 0, "orderStatus": status(order),
        "createType": "CreateByUser", "cancelType": cancel_type, "rejectReason": reject_reason,
        "avgPrice": order.avg_px(instrument.kind).map(|px| plain(px.round_dp(6))).unwrap_or_default(),
        "leavesQty": leaves_qty, "leavesValue": leaves_value,
        "cumExecQty": scaled(order.cum_qty, instrument.step), "cumExecValue": plain(order.cum_value),
        "cumExecFee": plain(order.cum_fee), "cumFeeDetail": fees,
        "timeInForce": time_in_force, "orderType": ord_type(order.ord_type), "stopOrderType": "", "orderIv": "",
        "marketUnit": market_unit(order, instrument), "triggerPrice": "", "takeProfit": "", "stopLoss": "", "tpslMode": "", "tpLimitPrice": "0",
        "slLimitPrice": "0", "tpTriggerBy": "", "slTriggerBy": "", "triggerDirection": 0, "triggerBy": "",
        "lastPriceOnCreated": plain(instrument.mark()), "reduceOnly": order.reduce_only, "closeOnTrigger": false,
        "placeType": "", "smpType": smp_type, "smpGroup": 0, "smpOrderId": "",
        "createdTime": order.accepted_at_ms.to_string(), "updatedTime": order.updated_at_ms.to_string(),
    });
    if instrument.kind == Kind::Spot
        && let Some(row) = row.as_object_mut()
    {
        row.remove("createType");
        row.remove("lastPriceOnCreated");
        row.insert("isLeverage".to_owned(), json!("0"));
        row.insert("basePrice".to_owned(), json!(plain(instrument.mark())));
        row.insert("ocoTriggerBy".to_owned(), json!("OcoTriggerByUnknown"));
    }
    if history && let Some(row) = row.as_object_mut() {
        row.insert("slippageToleranceType".to_owned(), json!("UNKNOWN"));
        row.insert("slippageTolerance".to_owned(), json!(""));
        row.insert("extraFees".to_owned(), json!(""));
        row.insert("rpiTakerAccess".to_owned(), json!(false));
        row.insert("rpiMatchedQty".to_owned(), json!("0"));
    }
    row
}

/// What was asked: of a market order by money, the money.
fn asked(order: &Order, instrument: &Instrument) -> String {
    order
        .quote_qty
        .map_or_else(|| scaled(order.order_qty, instrument.step), plain)
}

fn market_unit(order: &Order, instrument: &Instrument) -> &'static str {
    match (instrument.kind, order.ord_type, order.quote_qty) {
        (Kind::Spot, OrdType::Market, Some(_)) => "quoteCoin",
        (Kind::Spot, OrdType::Market, None) => "baseCoin",
        (Kind::Spot | Kind::Linear | Kind::Inverse, OrdType::Limit | OrdType::Market, _) => "",
    }
}

/// One fill.
pub(super) fn execution(
    ids: VenueIds,
    fill: &Fill,
    order: &Order,
    instrument: &Instrument,
) -> Value {
    json!({
        "symbol": instrument.symbol, "orderId": ids.order(&fill.instrument, fill.order),
        "orderLinkId": order.wire_id.clone().unwrap_or_default(), "side": side(fill.side),
        "orderPrice": scaled(order.price, instrument.tick), "orderQty": asked(order, instrument),
        "leavesQty": plain(fill.leaves_qty), "createType": "CreateByUser", "orderType": ord_type(order.ord_type),
        "stopOrderType": "UNKNOWN", "execFee": plain(fill.fee), "execId": ids.exec(fill.no),
        "execPrice": scaled(fill.price, instrument.tick), "execQty": scaled(fill.qty, instrument.step),
        "execType": "Trade", "execValue": plain(instrument.kind.value(fill.qty, fill.price)),
        "execTime": fill.at_ms.to_string(), "feeCurrency": instrument.fee_coin(fill.side), "isMaker": fill.maker,
        "feeRate": plain(fill.fee_rate), "tradeIv": "", "markIv": "", "markPrice": plain(instrument.mark()),
        "indexPrice": "", "underlyingPrice": "", "blockTradeId": "", "closedSize": "",
        "seq": seq(fill.sweep), "extraFees": "",
    })
}

/// One order, as the stream has it: what is empty over REST is a zero here.
pub(super) fn pushed_order(ids: VenueIds, row: &Order, instrument: &Instrument) -> Value {
    let mut pushed = order(ids, row, instrument, true);
    if let Some(fields) = pushed.as_object_mut() {
        fields.remove("extraFees");
        let mut set = |name: &str, value: &str| fields.insert(name.to_owned(), json!(value));
        set("category", &instrument.category);
        set("closedPnl", "0");
        set("feeCurrency", "");
        set("slippageTolerance", "0");
        if row.cum_qty.is_zero() {
            set("avgPrice", "0");
        }
    }
    pushed
}

/// One fill, as the stream has it.
pub(super) fn pushed_execution(
    ids: VenueIds,
    fill: &Fill,
    order: &Order,
    instrument: &Instrument,
) -> Value {
    let mut pushed = execution(ids, fill, order, instrument);
    if let Some(fields) = pushed.as_object_mut() {
        let mut set = |name: &str, value: &str| fields.insert(name.to_owned(), json!(value));
        set("category", &instrument.category);
        set("isLeverage", "0");
        set("marketUnit", "");
        set("execPnl", "0");
    }
    pushed
}

/// One fill of the fast stream, which does not name the client's id of a maker.
pub(super) fn fast_execution(
    ids: VenueIds,
    fill: &Fill,
    order: &Order,
    instrument: &Instrument,
) -> Value {
    let full = pushed_execution(ids, fill, order, instrument);
    let names = [
        "category",
        "symbol",
        "execId",
        "execPrice",
        "execQty",
        "orderId",
        "isMaker",
        "orderLinkId",
        "side",
        "execTime",
        "seq",
    ];
    let mut fast = picked(&full, &names);
    if fill.maker
        && let Some(fields) = fast.as_object_mut()
    {
        fields.insert("orderLinkId".to_owned(), json!(""));
    }
    fast
}

/// One position, as the stream has it.
pub(super) fn pushed_position(
    held: Position,
    instrument: &Instrument,
    core: &Core,
    now_ms: u64,
) -> Value {
    let full = position(held, instrument, last_sweep(held, core), now_ms);
    let names = [
        "positionIdx",
        "symbol",
        "side",
        "size",
        "leverage",
        "positionValue",
        "markPrice",
        "liqPrice",
        "positionStatus",
        "seq",
        "createdTime",
        "updatedTime",
    ];
    let mut pushed = picked(&full, &names);
    if let Some(fields) = pushed.as_object_mut() {
        fields.insert("category".to_owned(), json!(instrument.category));
        fields.insert("entryPrice".to_owned(), json!(full.get("avgPrice")));
    }
    pushed
}

/// The sweep that changed a position last.
pub(super) fn last_sweep(position: Position, core: &Core) -> Option<u64> {
    let index = usize::try_from(position.last_fill?.saturating_sub(1)).ok()?;
    core.fills().get(index).map(|fill| fill.sweep)
}

/// The number that all fills of one sweep share.
pub(super) const fn seq(sweep: u64) -> u64 {
    sweep.saturating_add(9_112_000_000)
}

/// One position; a flat one has an empty side.
pub(super) fn position(
    position: Position,
    instrument: &Instrument,
    last_seq: Option<u64>,
    now_ms: u64,
) -> Value {
    let (side, value) = match position.qty {
        flat if flat.is_zero() => ("", String::new()),
        held => {
            let value = instrument.kind.value(held.abs(), position.avg_px);
            let side = if held > Decimal::ZERO { "Buy" } else { "Sell" };
            (side, plain(value))
        }
    };
    let seq = last_seq.map_or(json!(-1), |last| json!(seq(last)));
    json!({
        "positionIdx": 0, "riskId": 1, "riskLimitValue": "2000000", "symbol": instrument.symbol, "side": side,
        "size": plain(position.qty.abs()), "avgPrice": plain(position.avg_px.round_dp(6)), "positionValue": value,
        "tradeMode": 0, "positionStatus": "Normal", "autoAddMargin": 0, "adlRankIndicator": 0,
        "leverage": plain(instrument.leverage), "positionBalance": "0", "markPrice": plain(instrument.mark()),
        "liqPrice": "", "bustPrice": "", "positionMM": "0", "positionIM": "0", "tpslMode": "Full", "takeProfit": "",
        "stopLoss": "", "trailingStop": "0", "unrealisedPnl": "", "curRealisedPnl": plain(position.realized),
        "cumRealisedPnl": plain(position.realized), "seq": seq, "isReduceOnly": false, "mmrSysUpdatedTime": "",
        "leverageSysUpdatedTime": "", "sessionAvgPrice": "", "createdTime": "1760000000000",
        "updatedTime": if position.updated_at_ms == 0 { now_ms } else { position.updated_at_ms }.to_string(),
    })
}

/// One instrument.
pub(super) fn instrument(instrument: &Instrument) -> Value {
    let decimal = |number: Decimal, like: Decimal| scaled(number, like);
    if instrument.kind == Kind::Spot {
        return spot_instrument(instrument);
    }
    let contract = if instrument.kind == Kind::Inverse {
        "InversePerpetual"
    } else {
        "LinearPerpetual"
    };
    json!({
        "symbol": instrument.symbol, "contractType": contract, "status": "Trading",
        "baseCoin": instrument.base, "quoteCoin": instrument.quote, "launchTime": "1585526400000",
        "deliveryTime": "0", "deliveryFeeRate": "", "priceScale": "2",
        "leverageFilter": { "minLeverage": "1", "maxLeverage": "100.00", "leverageStep": "0.01" },
        "priceFilter": {
            "minPrice": decimal(instrument.min_price, instrument.tick),
            "maxPrice": decimal(instrument.max_price, instrument.tick),
            "tickSize": instrument.tick.to_string(),
        },
        "lotSizeFilter": {
            "maxOrderQty": decimal(instrument.max_qty, instrument.step),
            "minOrderQty": decimal(instrument.min_qty, instrument.step),
            "qtyStep": instrument.step.to_string(),
            "postOnlyMaxOrderQty": decimal(instrument.max_qty, instrument.step),
            "maxMktOrderQty": decimal(instrument.max_market_qty, instrument.step),
            "minNotionalValue": plain(instrument.min_notional),
        },
        "unifiedMarginTrade": true, "fundingInterval": 480, "settleCoin": instrument.money(), "copyTrading": "both",
        "upperFundingRate": "0.005", "lowerFundingRate": "-0.005", "isPreListing": false, "preListingInfo": null,
        "riskParameters": { "priceLimitRatioX": "0.01", "priceLimitRatioY": "0.02" }, "symbolType": "",
    })
}

fn spot_instrument(instrument: &Instrument) -> Value {
    json!({
        "symbol": instrument.symbol, "baseCoin": instrument.base, "quoteCoin": instrument.quote, "innovation": "0",
        "status": "Trading", "marginTrading": "utaOnly", "stTag": "0",
        "lotSizeFilter": {
            "basePrecision": instrument.step.to_string(), "quotePrecision": "0.0000001",
            "minOrderQty": plain(instrument.min_qty), "maxOrderQty": plain(instrument.max_qty),
            "minOrderAmt": plain(instrument.min_notional), "maxOrderAmt": "4000000",
            "maxLimitOrderQty": plain(instrument.max_qty), "maxMarketOrderQty": plain(instrument.max_market_qty),
            "postOnlyMaxLimitOrderSize": plain(instrument.max_qty),
        },
        "priceFilter": { "tickSize": instrument.tick.to_string() },
        "riskParameters": { "priceLimitRatioX": "0.005", "priceLimitRatioY": "0.01" }, "symbolType": "",
    })
}

/// With as many decimals as the tick or step has.
fn scaled(mut number: Decimal, like: Decimal) -> String {
    // The venue writes prices with the decimals that matter: a tick of 0.10 gives 60000.0.
    number.rescale(like.normalize().scale());
    number.to_string()
}

/// Without trailing zeros.
pub(super) fn plain(number: Decimal) -> String {
    number.normalize().to_string()
}
