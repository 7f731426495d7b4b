//! HTTP 403: lookups are blocked as well, so nothing is sent over HTTP until it has passed.

use std::time::Duration;

use serde_json::json;
use surefill_bybit::{Bybit, IP_BAN};
use surefill_core::{CancelOutcome, Lookup, NotSent, Submission, VenueError};

use crate::server::{Asked, Reply, Server, keys};
use crate::world::{World, listing, page};

#[tokio::test]
async fn it_stops_every_request_for_ten_minutes() {
    let server = Server::start(|asked: &Asked| match asked.line().as_str() {
        "GET /v5/market/instruments-info" => Reply::Ok(listing()),
        "POST /v5/order/create" => Reply::Raw(403, "<html><body>403 Forbidden</body></html>"),
        "GET /v5/position/list" => Reply::Ok(page([], "")),
        "GET /v5/market/time" => Reply::Ok(json!({"timeNano": "1767225600000000000"})),
        other => panic!("not asked for: {other}"),
    })
    .await;
    let world = World::with(Bybit::simulator(&server.url, keys()).without_stream());
    let (order, attempt) = world.order().await;
    let go = world.go(attempt.fence);
    let answer = world.venue.submit(&attempt, &go).await;
    // Very likely not taken, and not proven.
    assert!(matches!(answer, Submission::Unknown(_)), "{answer:?}");
    let before = server.lines().len();

    let lookup = world.venue.lookup(&order).await;
    let Lookup::Inconclusive(why) = lookup else {
        panic!("{lookup:?}")
    };
    assert!(why.0.contains("403"), "{why}");
    let cancel = world.venue.cancel(&order).await;
    assert!(matches!(cancel, CancelOutcome::Unknown(_)), "{cancel:?}");
    let again = world.venue.submit(&attempt, &go).await;
    assert!(
        matches!(again, Submission::NotSent(NotSent::Connect(_))),
        "{again:?}"
    );
    for failed in [
        world.venue.positions().await.map(drop),
        world.venue.venue_time().await.map(drop),
        world.venue.cancel_all(None).await.map(drop),
    ] {
        assert!(
            !matches!(failed, Err(VenueError::Keys(_) | VenueError::Refused(_))),
            "{failed:?}"
        );
    }
    assert_eq!(server.lines().len(), before);

    world.time.advance(IP_BAN - Duration::from_millis(1));
    assert!(world.venue.positions().await.is_err());
    assert_eq!(server.lines().len(), before);
    world.time.advance(Duration::from_millis(2));
    world.venue.positions().await.expect("asked");
    assert_eq!(server.lines().len(), before + 1);
}
