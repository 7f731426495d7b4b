//! The bot that most people write first: it tries again on a time-out, under a new id, and keeps no journal.

use std::time::Duration;

use hmac::{Hmac, KeyInit, Mac};
use serde_json::{Value, json};
use sha2::Sha256;
use surefill_examples::{SIMULATED_KEY, SIMULATED_SECRET};
use surefill_transport::{HttpClient, HttpConfig, Method, Request};

use crate::bot::Orders;
use crate::control::Control;
use crate::death::{once_acted, unread};
use crate::moment::{Moment, say, wait_to_be_killed};
use crate::{Failure, QTY};

/// How long it waits for an answer before it tries again.
const TIME_OUT: Duration = Duration::from_secs(2);

/// Sends until something answers.
pub(crate) async fn run(orders: Orders<'_>) -> Result<(), Failure> {
    let control = Control::new(orders.control)?;
    let http = HttpClient::new(HttpConfig {
        timeout: TIME_OUT,
        ..HttpConfig::default()
    })?;
    match orders.die {
        Some(moment @ (Moment::Journaled | Moment::Recovery)) => {
            // It has neither a journal nor a recovery: it dies about to send.
            wait_to_be_killed(moment);
        }
        Some(Moment::Acted | Moment::Unread | Moment::Partial) | None => {}
    }
    let mut wire_id = new_id();
    loop {
        let now_ms = control.now_ms().await?;
        let send = create(&http, &orders, &wire_id, now_ms);
        let answer = match orders.die {
            Some(moment @ Moment::Acted) => once_acted(&control, moment, send).await,
            Some(Moment::Unread) => unread(&control, send).await,
            Some(Moment::Journaled | Moment::Partial | Moment::Recovery) | None => send.await,
        };
        match answer {
            Ok(true) => break,
            Ok(false) | Err(_) => wire_id = new_id(),
        }
    }
    if orders.die == Some(Moment::Partial) {
        control.fill(&wire_id, "0.01", orders.price).await?;
        wait_to_be_killed(Moment::Partial);
    }
    say("DONE naive");
    Ok(())
}

/// A new id for each try: the mistake.
fn new_id() -> String {
    let unique = std::process::id();
    static TRIES: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);
    let tries = TRIES.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
    format!("naive-{unique}-{tries}")
}

/// One create; whether the venue said yes.
async fn create(
    http: &HttpClient,
    orders: &Orders<'_>,
    wire_id: &str,
    now_ms: u64,
) -> Result<bool, Failure> {
    let body = json!({
        "category": "linear", "symbol": "BTCUSDT", "side": "Buy", "orderType": "Limit", "qty": QTY,
        "price": orders.price, "timeInForce": "GTC", "positionIdx": 0, "orderLinkId": wire_id,
    })
    .to_string();
    let window = "5000";
    let mut mac = Hmac::<Sha256>::new_from_slice(SIMULATED_SECRET.as_bytes())?;
    mac.update(format!("{now_ms}{SIMULATED_KEY}{window}{body}").as_bytes());
    let signature = hex::encode(mac.finalize().into_bytes());
    let request = Request::new(Method::Post, format!("{}/v5/order/create", orders.url))
        .header("X-BAPI-API-KEY", SIMULATED_KEY)
        .header("X-BAPI-TIMESTAMP", now_ms.to_string())
        .header("X-BAPI-RECV-WINDOW", window)
        .header("X-BAPI-SIGN", signature)
        .header("Content-Type", "application/json")
        .body(body);
    let answer = http.send(request, None).await?;
    let answer: Value = serde_json::from_slice(answer.body())?;
    Ok(answer.get("retCode").and_then(Value::as_i64) == Some(0))
}
