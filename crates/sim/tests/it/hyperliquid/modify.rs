//! Modify: cancel and replace.

use serde_json::{Value, json};

use super::client::{Sim, cloid, default, limit, refused, resting};

fn modify(which: Value, order: Value) -> Value {
    json!({ "type": "modify", "oid": which, "order": order })
}

async fn status_of(sim: &Sim, which: Value) -> Value {
    sim.lookup(which).await["order"]["status"].clone()
}

#[tokio::test]
async fn the_old_order_is_canceled_and_the_new_one_rests() {
    let sim = Sim::start().await;
    let old = sim.place(resting(1)).await["resting"]["oid"].clone();
    assert_eq!(
        sim.act(modify(old.clone(), limit(1, true, "2401", "0.03", "Gtc")))
            .await,
        default()
    );
    assert_eq!(status_of(&sim, old).await, "canceled");
    let new = sim.lookup(cloid(1)).await["order"]["order"].clone();
    assert_eq!(
        (&new["limitPx"], &new["tif"]),
        (&json!("2401.0"), &json!("Alo")),
        "GTC became post-only"
    );
    assert_eq!(sim.held(&cloid(1)).await.len(), 2);
    // By client id, to another one.
    assert_eq!(
        sim.act(modify(json!(cloid(1)), resting(2))).await,
        default()
    );
    assert_eq!(status_of(&sim, json!(cloid(1))).await, "canceled");
    assert_eq!(status_of(&sim, json!(cloid(2))).await, "open");
    // Without one, the lookup by the old one keeps showing the canceled order.
    let mut nameless = resting(0);
    nameless.as_object_mut().unwrap().remove("c");
    assert_eq!(sim.act(modify(json!(cloid(2)), nameless)).await, default());
    assert_eq!(status_of(&sim, json!(cloid(2))).await, "canceled");
    let open = sim.ask("openOrders").await;
    assert_eq!(open.as_array().unwrap().len(), 1);
    assert_eq!(open[0].get("cloid"), None);
}

#[tokio::test]
async fn a_modify_of_what_is_gone_changes_nothing_and_one_that_would_take_loses_the_order() {
    let sim = Sim::start().await;
    sim.place(resting(1)).await;
    // Decided by the payload: the old order stays.
    let wrong = sim
        .act(modify(
            json!(cloid(1)),
            limit(1, true, "2401.55", "0.02", "Gtc"),
        ))
        .await;
    assert!(
        wrong["response"]
            .as_str()
            .unwrap()
            .starts_with("Price must be"),
        "{wrong}"
    );
    let taker = sim
        .act(modify(
            json!(cloid(1)),
            limit(1, true, "2401", "0.02", "Ioc"),
        ))
        .await;
    assert_eq!(taker["status"], "err");
    assert_eq!(status_of(&sim, json!(cloid(1))).await, "open");
    // Decided by the book: it is gone.
    let crossing = sim
        .act(modify(
            json!(cloid(1)),
            limit(2, true, "3000.1", "0.02", "Gtc"),
        ))
        .await;
    let text = crossing["response"].as_str().unwrap();
    assert!(
        text.starts_with("Error placing new order during modify: Post only"),
        "{text}"
    );
    assert_eq!(status_of(&sim, json!(cloid(1))).await, "canceled");
    assert_eq!(sim.ask("openOrders").await, json!([]));
    let gone = sim.act(modify(json!(cloid(1)), resting(3))).await;
    assert_eq!(gone, refused("Cannot modify canceled or filled order"));
    assert!(sim.held(&cloid(3)).await.is_empty());
}

#[tokio::test]
async fn always_placing_can_make_a_second_position() {
    let sim = Sim::start().await;
    sim.place(limit(1, true, "3000.1", "0.5", "Ioc")).await;
    let mut again = modify(json!(cloid(1)), limit(1, true, "3000.1", "0.5", "Ioc"));
    again["a"] = json!(true);
    assert_eq!(sim.act(again).await, default());
    let state = sim.ask("clearinghouseState").await;
    assert_eq!(state["assetPositions"][0]["position"]["szi"], "1.0");
}

#[tokio::test]
async fn a_batch_answers_per_item() {
    let sim = Sim::start().await;
    sim.place(resting(1)).await;
    let batch = json!({ "type": "batchModify", "modifies": [
        { "oid": cloid(9), "order": resting(2) },
        { "oid": cloid(1), "order": resting(3) },
    ] });
    let found = sim.statuses(batch).await;
    assert_eq!(
        found[0],
        json!({ "error": "Cannot modify canceled or filled order" })
    );
    assert_eq!(found[1]["resting"]["cloid"], cloid(3));
}
