//! The client order id, from the decision to each venue's spelling.

use serde_json::json;
use surefill_core::{AccountId, ClOrdId, Decision, Side, Symbol};

use crate::file::Case;
use crate::input::{Got, Recompute, Unfit, number, text};

pub(crate) fn recompute(kind: &str) -> Option<Recompute> {
    (kind == "cl_ord_id").then_some(cl_ord_id)
}

fn cl_ord_id(case: &Case<'_>) -> Result<Got, Unfit> {
    let input = case.input;
    let leg = number(input, "nonce")?;
    let leg = u32::try_from(leg).map_err(|_| Unfit::new("`nonce` is above 32 bits"))?;
    let decision =
        Decision::new(text(input, "strategy")?, number(input, "decided_at_ms")?).leg(leg);
    let account = AccountId::from(text(input, "account_id")?);
    let symbol = Symbol::from(text(input, "symbol")?);
    let side = match text(input, "side")? {
        "buy" => Side::Buy,
        "sell" => Side::Sell,
        other => return Err(Unfit(format!("side {other:?}"))),
    };
    let id = ClOrdId::derive(&decision, &account, &symbol, side);
    let preimage = ClOrdId::preimage(&decision, &account, &symbol, side);
    // A venue with an adapter spells by it; the others by the rule in the file's head, over the forms that core gives.
    let prefixed = format!("sf1-{}", id.to_base32());
    let got = json!({
        "preimage_hex": hex::encode(preimage),
        "cl_ord_id": id.to_string(),
        "spelling": {
            "bybit": surefill_bybit::id::spell(&id),
            "binance": prefixed,
            "fix": prefixed,
            "okx": format!("sf1{}", id.to_base32()),
            "hyperliquid": surefill_hyperliquid::id::spell(&id),
            "metaflux": format!("0x{id}"),
            "coinbase": id.to_uuid(),
            "polymarket_salt": id.to_salt53().to_string(),
        },
    });
    Ok(got.into())
}
