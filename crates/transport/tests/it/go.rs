//! The last check before the first byte.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use surefill_core::{Fence, Go, HeldBack, ManualTime, NotSent, Stop, VenueClock, VenueTime};
use surefill_transport::SendFailure;
use tokio::net::TcpListener;

use crate::server::{Act, Server, answer, client, hasty, post};

fn go(fence_ms: u64) -> (Go, Arc<Stop>) {
    let clock = VenueClock::new(Arc::new(ManualTime::default()));
    clock.observe(clock.mark(), VenueTime::from_ms(1_000_000));
    let stop = Arc::new(Stop::default());
    let fence = Fence::Clock(VenueTime::from_ms(fence_ms));
    (
        Go::new(Arc::new(clock), fence, None, Arc::clone(&stop)),
        stop,
    )
}

#[tokio::test]
async fn what_may_go_goes() {
    let server = Server::start(vec![answer("200 OK", "")]).await;
    let (go, _) = go(1_005_000);
    assert!(client().send(post(&server.url), Some(&go)).await.is_ok());
    assert_eq!(server.posts(), 1);
}

#[tokio::test]
async fn what_is_held_back_makes_no_connection() {
    let server = Server::start(vec![answer("200 OK", "")]).await;
    let (go, _) = go(1_000_000);
    let failure = client().send(post(&server.url), Some(&go)).await;
    assert_eq!(
        failure,
        Err(SendFailure::NotSent(NotSent::HeldBack(HeldBack::Fence)))
    );
    assert_eq!(server.connections(), 0);
}

/// The stop comes while the connection is being made: it stands, and not one byte is written to it.
#[tokio::test]
async fn what_is_stopped_while_connecting_sends_no_byte() {
    // The TLS handshake waits for an answer, which comes after the stop; the plain path is the next test.
    let server = Server::start(vec![Act::Listen]).await;
    let url = server.url.replace("http://", "https://");
    let (go, stop) = go(1_005_000);
    let sending = tokio::spawn(async move { hasty().send(post(&url), Some(&go)).await });
    while server.connections() == 0 {
        tokio::task::yield_now().await;
    }
    stop.cancel.store(true, Ordering::Release);
    let failure = sending.await.expect("joined");
    assert!(
        matches!(failure, Err(SendFailure::NotSent(_))),
        "{failure:?}"
    );
    assert_eq!(server.posts(), 0);
}

/// On one thread the flag is set after the first check has passed and before the connection stands.
#[tokio::test(flavor = "current_thread")]
async fn the_check_comes_again_when_the_connection_stands() {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let url = format!("http://{}", listener.local_addr().expect("an address"));
    let (go, stop) = go(1_005_000);
    let request = post(&url);
    let client = client();
    let mut sending = std::pin::pin!(client.send(request, Some(&go)));
    // One poll: the first check has passed and the connect is under way.
    let first = std::future::poll_fn(|cx| std::task::Poll::Ready(sending.as_mut().poll(cx))).await;
    assert!(first.is_pending());
    stop.cancel.store(true, Ordering::Release);
    let (failure, received) = tokio::join!(sending, async {
        let (mut stream, _) = listener.accept().await.expect("connected");
        let mut all = Vec::new();
        tokio::io::AsyncReadExt::read_to_end(&mut stream, &mut all)
            .await
            .ok();
        all
    });
    assert_eq!(
        failure,
        Err(SendFailure::NotSent(NotSent::HeldBack(
            HeldBack::CancelAsked
        )))
    );
    assert!(received.is_empty(), "{received:?}");
}
