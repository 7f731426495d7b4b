//! What the adapter sends is what the official SDK packs. The file itself is recomputed by surefill-vectors.

use serde_json::{Value, json};
use surefill_hyperliquid::action::{
    Cancel, CancelByCloid, CancelItem, CloidItem, Limit, Noop, Order, OrderItem, ScheduleCancel,
    Tif, UpdateLeverage,
};
use surefill_hyperliquid::sign;

const VECTORS: &str = include_str!("../../../vectors/tests/vectors/hyperliquid.json");

/// The actions that the adapter sends are those of the file, byte for byte.
#[test]
fn our_actions_are_packed_as_the_official_sdk_packs_them() {
    let file: Value = serde_json::from_str(VECTORS).expect("JSON");
    let packed = |id: &str| {
        let case = file["vectors"]
            .as_array()
            .expect("cases")
            .iter()
            .find(|case| case["id"] == json!(id))
            .expect(id);
        case["expect"]["action_msgpack_hex"]
            .as_str()
            .expect("hex")
            .to_owned()
    };
    let order = |a, b, p: &str, s: &str, r, tif, c: Option<&str>| OrderItem {
        a,
        b,
        p: p.to_owned(),
        s: s.to_owned(),
        r,
        t: Limit::new(tif),
        c: c.map(str::to_owned),
    };
    let hex = |bytes: Result<Vec<u8>, sign::SignError>| hex::encode(bytes.expect("packed"));
    let cloid = "0x1234567890abcdef1234567890abcdef";
    let orders = [
        (
            "l1-order-gtc-mainnet",
            order(0, true, "80000", "0.001", false, Tif::Gtc, None),
        ),
        (
            "l1-order-ioc-cloid",
            order(5, false, "101.37", "1.25", true, Tif::Ioc, Some(cloid)),
        ),
        (
            "l1-order-alo-cloid",
            order(
                1,
                true,
                "2399.9",
                "0.5",
                false,
                Tif::Alo,
                Some("0xfedcba98765432100123456789abcdef"),
            ),
        ),
    ];
    for (id, order) in orders {
        assert_eq!(
            hex(sign::msgpack(&Order::new(vec![order]))),
            packed(id),
            "{id}"
        );
    }
    let cancel = Cancel::new(vec![CancelItem {
        a: 0,
        o: 569_017_209_592,
    }]);
    assert_eq!(hex(sign::msgpack(&cancel)), packed("l1-cancel"));
    let item = CloidItem {
        asset: 1,
        cloid: cloid.to_owned(),
    };
    assert_eq!(
        hex(sign::msgpack(&CancelByCloid::new(vec![item]))),
        packed("l1-cancel-by-cloid")
    );
    assert_eq!(hex(sign::msgpack(&Noop::NEW)), packed("l1-noop"));
    let armed = ScheduleCancel::new(Some(1_791_480_010_000));
    assert_eq!(hex(sign::msgpack(&armed)), packed("l1-schedule-cancel-set"));
    assert_eq!(
        hex(sign::msgpack(&ScheduleCancel::new(None))),
        packed("l1-schedule-cancel-clear")
    );
    let leverage = UpdateLeverage::new(1, true, 21);
    assert_eq!(
        hex(sign::msgpack(&leverage)),
        packed("l1-update-leverage-cross")
    );
}
