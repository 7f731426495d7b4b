//! A referee over the control port that every simulated venue has.

use std::time::Duration;

use async_trait::async_trait;
use rust_decimal::Decimal;
use serde_json::{Value, json};
use surefill_core::{ClOrdId, OrderId, Qty, Side, VenueTime};

use super::fixture::Referee;
use super::words::{Fault, List, Op, SeenFill, SeenOrder, SeenRequest, SeenStatus};

/// The control port of a simulated venue.
#[async_trait]
pub trait ControlPort: Send + Sync {
    /// Asks the control port; `target` is what follows `/_sim`, and a null body is none. An answer other than 200 is a panic.
    async fn control(&self, method: &str, target: &str, body: &Value) -> Value;
}

#[async_trait]
impl<T: ControlPort> Referee for T {
    async fn now(&self) -> VenueTime {
        let clock = self.control("GET", "/clock", &Value::Null).await;
        VenueTime::from_ms(clock["now_ms"].as_u64().expect("now_ms"))
    }

    async fn orders(&self) -> Vec<SeenOrder> {
        let mut all = self.control("GET", "/orders", &Value::Null).await;
        // A venue that keeps a record of what it refused had no order.
        if let Some(all) = all.as_array_mut() {
            all.retain(|row| row["status"] != "rejected");
        }
        rows(all, order)
    }

    async fn fills(&self) -> Vec<SeenFill> {
        let fill = |row: &Value| SeenFill {
            exec_id: text(&row["exec_id"]).into(),
            order_id: OrderId::from(text(&row["order_id"])),
            qty: decimal(&row["qty"]),
        };
        rows(self.control("GET", "/fills", &Value::Null).await, fill)
    }

    async fn requests(&self) -> Vec<SeenRequest> {
        let request = |row: &Value| {
            let word = text(&row["op"]);
            SeenRequest {
                op: Op::ALL
                    .into_iter()
                    .find(|op| op.word() == word)
                    .unwrap_or_else(|| panic!("an operation: {word}")),
                at: VenueTime::from_ms(row["at_ms"].as_u64().expect("at_ms")),
                acted: row["acted"].as_bool().expect("acted"),
                body: row["body_sha256"].as_str().map(Into::into),
            }
        };
        rows(
            self.control("GET", "/requests", &Value::Null).await,
            request,
        )
    }

    async fn fault(&self, fault: Fault) {
        let body = json!({
            "op": fault.op.map_or("any", Op::word),
            "do": fault.act.word(),
            "nth": fault.nth,
            "times": fault.times,
            "ms": ms(fault.act.delay()),
        });
        self.control("POST", "/faults", &body).await;
    }

    async fn faults_left(&self) -> usize {
        let left = self.control("GET", "/faults", &Value::Null).await;
        left.as_array().expect("a list").len()
    }

    async fn clear_faults(&self) {
        self.control("DELETE", "/faults", &Value::Null).await;
    }

    async fn hide(&self, id: ClOrdId, from: &[List], time: Duration) {
        let from: Vec<&str> = from.iter().map(|list| list.word()).collect();
        let body = json!({"cl_ord_id": id.to_string(), "from": from, "ms": ms(time)});
        self.control("POST", "/hide", &body).await;
    }

    async fn fill(&self, id: ClOrdId, qty: Qty) {
        let body = json!({"cl_ord_id": id.to_string(), "qty": qty.to_string()});
        self.control("POST", "/fill", &body).await;
    }

    async fn skew(&self, ms: i64) {
        self.control("POST", "/clock", &json!({"skew_ms": ms}))
            .await;
    }

    async fn restart(&self, down: Duration) {
        self.control("POST", "/restart", &json!({"down_ms": ms(down)}))
            .await;
    }
}

fn order(row: &Value) -> SeenOrder {
    SeenOrder {
        cl_ord_id: row["cl_ord_id"].as_str().map(|id| {
            id.parse()
                .unwrap_or_else(|error| panic!("a client order id: {id}: {error}"))
        }),
        order_id: OrderId::from(text(&row["order_id"])),
        account: text(&row["account"]).into(),
        symbol: text(&row["symbol"]).into(),
        side: match text(&row["side"]) {
            "buy" => Side::Buy,
            "sell" => Side::Sell,
            other => panic!("a side: {other}"),
        },
        order_qty: decimal(&row["order_qty"]),
        price: row["price"].as_str().map(|_| decimal(&row["price"])),
        cum_qty: decimal(&row["cum_qty"]),
        status: match text(&row["status"]) {
            "new" => SeenStatus::New,
            "partially_filled" => SeenStatus::Partial,
            "filled" => SeenStatus::Filled,
            "canceled" | "expired" => SeenStatus::Canceled,
            other => panic!("a status: {other}"),
        },
    }
}

fn rows<T>(list: Value, row: impl Fn(&Value) -> T) -> Vec<T> {
    list.as_array().expect("a list").iter().map(row).collect()
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_else(|| panic!("text: {value}"))
}

fn decimal(value: &Value) -> Decimal {
    text(value)
        .parse()
        .unwrap_or_else(|error| panic!("a decimal: {value}: {error}"))
}

fn ms(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}
