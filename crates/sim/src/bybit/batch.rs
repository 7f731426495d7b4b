//! Batches: a list of orders in one request, each with a code of its own.

use serde_json::{Value, json};

use super::{
    create,
    gate::Job,
    orders,
    params::Params,
    reply::{Code, Done},
    route::Endpoint,
    venue::Bybit,
};
use crate::core::Core;

/// One item: what it said of itself, and what it asks for.
#[derive(Debug)]
pub(super) struct Item {
    category: String,
    symbol: String,
    order_id: String,
    link_id: String,
    job: Result<Job, Code>,
}

/// Most items of a batch.
pub(super) const fn most(spot: bool) -> usize {
    if spot { 10 } else { 20 }
}

/// Reads the items; those beyond `allowed` fail by the rate limit.
pub(super) fn read(
    items: &[Params],
    endpoint: Endpoint,
    uid: &str,
    core: &Core,
    allowed: usize,
) -> Vec<Item> {
    let item = |(index, params): (usize, &Params)| {
        let job = if index >= allowed {
            Err(Code::rate())
        } else {
            if endpoint == Endpoint::CreateBatch {
                create::read(params, uid, core).map(|new| Job::Create(Box::new(new)))
            } else if endpoint == Endpoint::AmendBatch {
                orders::read_amend(params, core).map(Job::Amend)
            } else {
                orders::read_target(params, core).map(Job::Cancel)
            }
        };
        Item {
            category: params.echo("category"),
            symbol: params.echo("symbol"),
            order_id: params.echo("orderId"),
            link_id: params.echo("orderLinkId"),
            job,
        }
    };
    items.iter().enumerate().map(item).collect()
}

/// Does one item after the other. The outer code is 0 whatever becomes of them.
pub(super) fn run(venue: &Bybit, uid: &str, endpoint: Endpoint, items: Vec<Item>) -> Done {
    let (mut list, mut codes) = (Vec::new(), Vec::new());
    for item in items {
        let done = item.job.and_then(|job| match job {
            Job::Create(new) => orders::create(venue, *new),
            Job::Amend(amend) => orders::amend(venue, uid, &amend),
            Job::Cancel(target) => orders::cancel(venue, uid, &target),
            Job::CancelAll(_) | Job::Batch(_) | Job::Read => Err(Code::param("no batch")),
        });
        let mut row = json!({ "category": item.category, "symbol": item.symbol });
        let now_ms = venue.now_ms().to_string();
        let (order_id, created, code) = match &done {
            Ok(receipt) => {
                let id = receipt.get("orderId").cloned().unwrap_or_default();
                (id, now_ms, Code::new(0, "OK"))
            }
            Err(code) => {
                // A failed create has no id; a failed cancel or amend keeps the one that was sent.
                let id = if endpoint == Endpoint::CreateBatch {
                    String::new()
                } else {
                    item.order_id
                };
                (Value::from(id), String::new(), code.clone())
            }
        };
        if let Some(row) = row.as_object_mut() {
            row.insert("orderId".to_owned(), order_id);
            let link_id = done
                .as_ref()
                .ok()
                .and_then(|receipt| receipt.get("orderLinkId").cloned());
            row.insert(
                "orderLinkId".to_owned(),
                link_id.unwrap_or_else(|| Value::from(item.link_id)),
            );
            if matches!(endpoint, Endpoint::CreateBatch) {
                row.insert("createAt".to_owned(), Value::from(created));
            }
        }
        list.push(row);
        codes.push(json!({ "code": code.0, "msg": code.1 }));
    }
    Done {
        result: json!({ "list": list }),
        ext: json!({ "list": codes }),
    }
}
