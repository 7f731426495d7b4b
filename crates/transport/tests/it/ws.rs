//! A WebSocket connection against raw servers: what is heard, what a failed send proves, and how each end is named.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use futures_util::{SinkExt, StreamExt};
use surefill_core::{Fence, Go, HeldBack, ManualTime, NotSent, Stop, VenueClock, VenueTime};
use surefill_transport::{
    Heartbeat, SendFailure, WsClient, WsConfig, WsConnectError, WsConnection, WsEnd,
};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::protocol::{CloseFrame, frame::coding::CloseCode};

type Peer = WebSocketStream<TcpStream>;

const SOON: Duration = Duration::from_secs(60);

/// Waits for as long as any machine takes.
fn config() -> WsConfig {
    WsConfig {
        connect_timeout: SOON,
        write_timeout: SOON,
        idle_timeout: SOON,
        heartbeat_every: Duration::from_secs(2),
        heartbeat: Heartbeat::Ping,
        max_message_bytes: 1_000,
        max_waiting: 16,
    }
}

fn client() -> WsClient {
    WsClient::new(config()).expect("a client")
}

/// A server that counts its connections and plays each one after the handshake.
async fn serve<F: Future<Output = ()> + Send>(
    play: impl Fn(Peer) -> F + Send + 'static,
) -> (String, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let url = format!(
        "ws://{}/v5/private?a=1",
        listener.local_addr().expect("an address")
    );
    let count = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&count);
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            counted.fetch_add(1, Ordering::SeqCst);
            let peer = tokio_tungstenite::accept_async(stream).await;
            play(peer.expect("a handshake")).await;
        }
    });
    (url, count)
}

/// A server that answers every connection with these bytes, and then reads on.
async fn raw(answer: &'static [u8]) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = listener.local_addr().expect("an address");
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            stream.write_all(answer).await.expect("write");
            stream.read_to_end(&mut Vec::new()).await.ok();
        }
    });
    address.to_string()
}

/// Everything up to the end, and the end.
async fn to_end(connection: &mut WsConnection) -> (Vec<String>, WsEnd) {
    let mut all = Vec::new();
    let drain = async {
        while let Some(text) = connection.messages.recv().await {
            all.push(text);
        }
    };
    tokio::time::timeout(SOON, drain).await.expect("an end");
    (all, connection.messages.end().expect("why").clone())
}

/// Plays one connection and says what the client made of it.
async fn ends<F: Future<Output = ()> + Send>(
    play: impl Fn(Peer) -> F + Send + 'static,
) -> (Vec<String>, WsEnd) {
    let (url, count) = serve(play).await;
    let mut connection = client().connect(&url).await.expect("connected");
    let heard = to_end(&mut connection).await;
    // Nobody connects again behind our back.
    tokio::time::sleep(Duration::from_millis(50)).await;
    assert_eq!(count.load(Ordering::SeqCst), 1);
    assert_eq!(connection.messages.recv().await, None);
    match connection.sender.send("late".into(), None).await {
        Err(SendFailure::NotSent(NotSent::Connect(_))) => {}
        other => panic!("must not be sent: {other:?}"),
    }
    heard
}

/// Frames as bytes, past the library of the server.
async fn write(peer: &mut Peer, bytes: &[u8]) {
    peer.get_mut().write_all(bytes).await.expect("write");
}

async fn listen(mut peer: Peer) {
    while peer.next().await.is_some_and(|message| message.is_ok()) {}
}

#[tokio::test]
async fn texts_go_both_ways_and_what_came_before_the_close_is_handed_out() {
    let (heard, end) = ends(|mut peer| async move {
        for text in ["one", "two", "three"] {
            peer.send(Message::text(text)).await.expect("sent");
        }
        let frame = CloseFrame {
            code: CloseCode::Restart,
            reason: "back soon".into(),
        };
        peer.close(Some(frame)).await.expect("closed");
        listen(peer).await;
    })
    .await;
    assert_eq!(heard, ["one", "two", "three"]);
    let (code, text) = (Some(1012), "back soon".into());
    assert_eq!(end, WsEnd::Closed { code, text });

    let (url, _) = serve(|mut peer| async move {
        while let Some(Ok(message)) = peer.next().await {
            if message.is_text() {
                peer.send(message).await.expect("sent");
            }
        }
    })
    .await;
    let mut connection = client().connect(&url).await.expect("connected");
    for n in 0..100 {
        let text = format!("{{\"n\":{n}}}");
        connection
            .sender
            .send(text.clone(), None)
            .await
            .expect("sent");
        assert_eq!(connection.messages.recv().await, Some(text));
    }
    assert_eq!(connection.messages.end(), None);
}

#[tokio::test]
async fn a_ping_is_answered_while_nobody_reads() {
    let (told, mut pongs) = tokio::sync::mpsc::channel(1);
    let (url, _) = serve(move |mut peer| {
        let told = told.clone();
        async move {
            let ping = Message::Ping(b"are you there"[..].into());
            peer.send(ping).await.expect("sent");
            while let Some(Ok(message)) = peer.next().await {
                if let Message::Pong(bytes) = message {
                    told.send(bytes).await.ok();
                }
            }
        }
    })
    .await;
    let _kept = client().connect(&url).await.expect("connected");
    let pong = tokio::time::timeout(SOON, pongs.recv())
        .await
        .expect("a pong");
    assert_eq!(pong.expect("a pong"), b"are you there"[..]);
}

/// How long the client of the next test waits in silence.
const IDLE: Duration = Duration::from_millis(200);

/// Whether a connection outlives the longest silence three times; and how many heartbeats came.
async fn stands(client: &WsClient, url: &str, beats: &AtomicUsize) -> (bool, usize) {
    let before = beats.load(Ordering::SeqCst);
    let mut connection = client.connect(url).await.expect("connected");
    let quiet = tokio::time::timeout(IDLE * 3, async {
        while connection.messages.recv().await.is_some() {}
    });
    let stands = quiet.await.is_err();
    let end = connection.messages.end();
    assert!(
        matches!(end, None | Some(WsEnd::Silent(IDLE))),
        "{stands}: {end:?}"
    );
    (stands, beats.load(Ordering::SeqCst) - before)
}

#[tokio::test]
async fn the_heartbeat_is_sent_and_an_answered_one_keeps_the_connection() {
    for heartbeat in [Heartbeat::Ping, Heartbeat::Text("{\"op\":\"ping\"}".into())] {
        let config = WsConfig {
            heartbeat_every: Duration::from_millis(20),
            idle_timeout: IDLE,
            heartbeat: heartbeat.clone(),
            ..config()
        };
        let beats = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&beats);
        let (url, _) = serve(move |mut peer| {
            let (counted, heartbeat) = (Arc::clone(&counted), heartbeat.clone());
            async move {
                while let Some(Ok(message)) = peer.next().await {
                    match (&heartbeat, message) {
                        (Heartbeat::Ping, Message::Ping(_)) => {}
                        (Heartbeat::Text(text), Message::Text(came)) if came == *text => {
                            if peer.send(Message::text("pong")).await.is_err() {
                                return;
                            }
                        }
                        (_, Message::Close(_)) => return,
                        (_, other) => panic!("{other:?}"),
                    }
                    counted.fetch_add(1, Ordering::SeqCst);
                }
            }
        })
        .await;
        let client = WsClient::new(config).expect("a client");
        // A machine that stands still is silent as well, or lets the time pass unheard, and does not stand still for ever.
        let standing =
            async { while !matches!(stands(&client, &url, &beats).await, (true, 3..)) {} };
        let stood = tokio::time::timeout(SOON, standing).await;
        stood.expect("one stands, by its heartbeats");
    }
}

#[tokio::test]
async fn a_server_that_falls_silent_ends_it() {
    let silent = Duration::from_millis(150);
    let config = WsConfig {
        idle_timeout: silent,
        heartbeat_every: Duration::from_millis(50),
        ..config()
    };
    // It reads nothing, so it answers no ping either.
    let (url, _) = serve(|peer| async move {
        std::future::pending::<()>().await;
        drop(peer);
    })
    .await;
    let client = WsClient::new(config).expect("a client");
    let mut connection = client.connect(&url).await.expect("connected");
    assert_eq!(to_end(&mut connection).await.1, WsEnd::Silent(silent));
}

#[tokio::test]
async fn a_connection_that_cannot_be_made_says_why() {
    let client = client();
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = listener.local_addr().expect("an address");
    drop(listener);
    match client.connect(&format!("ws://{address}")).await {
        Err(WsConnectError::Failed(why)) => assert!(why.contains("refused"), "{why}"),
        other => panic!("{other:?}"),
    }
    for url in ["http://127.0.0.1/", "not an address", "ws://", "/v5"] {
        let error = client.connect(url).await.expect_err("no address");
        assert!(
            matches!(error, WsConnectError::Address(_)),
            "{url}: {error}"
        );
    }
    // Nothing is answered to the handshake, of either kind.
    let address = raw(b"").await;
    let hasty = WsClient::new(WsConfig {
        connect_timeout: Duration::from_millis(300),
        ..config()
    });
    let hasty = hasty.expect("a client");
    for scheme in ["ws", "wss"] {
        let error = hasty.connect(&format!("{scheme}://{address}")).await;
        let error = error.expect_err("no answer");
        assert!(matches!(error, WsConnectError::TimedOut(_)), "{error}");
    }
    let address = raw(b"SSH-2.0-OpenSSH_9.6\r\n\r\n").await;
    for scheme in ["ws", "wss"] {
        let error = client.connect(&format!("{scheme}://{address}")).await;
        let error = error.expect_err("another protocol");
        assert!(matches!(error, WsConnectError::Failed(_)), "{error}");
    }
}

#[tokio::test]
async fn a_status_is_told_and_a_redirect_is_not_followed() {
    let forbidden = raw(b"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n").await;
    let elsewhere =
        raw(b"HTTP/1.1 302 Found\r\nLocation: ws://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n")
            .await;
    for (address, status) in [(forbidden, 403), (elsewhere, 302)] {
        match client().connect(&format!("ws://{address}")).await {
            Err(WsConnectError::Status(got)) => assert_eq!(got, status),
            other => panic!("{other:?}"),
        }
    }
}

#[tokio::test]
async fn a_reset_and_a_cut_frame_end_it() {
    let (heard, end) = ends(|mut peer| async move {
        peer.send(Message::text("one")).await.expect("sent");
        peer.get_mut().set_zero_linger().expect("linger");
    })
    .await;
    assert!(heard.len() <= 1, "{heard:?}");
    assert!(matches!(end, WsEnd::Broken(_)), "{end:?}");
    // A text of 100 bytes, of which three come.
    let (heard, end) = ends(|mut peer| async move {
        write(&mut peer, &[0x81, 100, b'{', b'"', b'o']).await;
    })
    .await;
    assert_eq!(heard, Vec::<String>::new());
    assert!(matches!(end, WsEnd::Broken(_)), "{end:?}");
}

#[tokio::test]
async fn a_message_that_is_too_long_is_not_read() {
    // A frame that says it holds 100 MB, and one whose length does not fit any memory.
    for length in [100_u64 << 20, u64::MAX >> 1] {
        let (heard, end) = ends(move |mut peer| async move {
            let head = [&[0x81, 127][..], &length.to_be_bytes()].concat();
            write(&mut peer, &head).await;
            listen(peer).await;
        })
        .await;
        assert_eq!(heard, Vec::<String>::new());
        assert_eq!(end, WsEnd::TooLong(1_000));
    }
    // Many pieces of one message that never ends.
    let (_, end) = ends(|mut peer| async move {
        let piece = [&[0x00, 100][..], &[b'x'; 100]].concat();
        write(&mut peer, &[0x01, 1, b'x']).await;
        for _ in 0..20 {
            peer.get_mut().write_all(&piece).await.ok();
        }
        listen(peer).await;
    })
    .await;
    assert_eq!(end, WsEnd::TooLong(1_000));
}

#[tokio::test]
async fn what_is_no_text_ends_it() {
    let (_, end) = ends(|mut peer| async move {
        peer.send(Message::binary(vec![1, 2, 3]))
            .await
            .expect("sent");
        listen(peer).await;
    })
    .await;
    assert_eq!(end, WsEnd::NotText);
    // Bytes that are no UTF-8, a reserved opcode, a masked frame, a compressed one.
    for bytes in [
        &[0x81, 2, 0xc3, 0x28][..],
        &[0x83, 0],
        &[0x81, 0x81, 0, 0, 0, 0, b'x'],
        &[0xc1, 1, b'x'],
    ] {
        let (heard, end) = ends(move |mut peer| async move {
            write(&mut peer, bytes).await;
            listen(peer).await;
        })
        .await;
        assert_eq!(heard, Vec::<String>::new());
        assert!(matches!(end, WsEnd::Broken(_)), "{bytes:?}: {end:?}");
    }
}

#[tokio::test]
async fn a_reader_that_is_behind_loses_the_connection_and_no_more_is_kept() {
    let (url, _) = serve(|mut peer| async move {
        for n in 0..100 {
            if peer.send(Message::text(n.to_string())).await.is_err() {
                return;
            }
        }
        listen(peer).await;
    })
    .await;
    let mut connection = client().connect(&url).await.expect("connected");
    let behind = async {
        while connection.messages.end().is_none() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(SOON, behind).await.expect("an end");
    let (heard, end) = to_end(&mut connection).await;
    assert_eq!(heard.len(), 16);
    assert_eq!(end, WsEnd::Behind(16));
}

#[tokio::test]
async fn a_write_that_does_not_end_leaves_doubt() {
    let (url, _) = serve(|peer| async move {
        std::future::pending::<()>().await;
        drop(peer);
    })
    .await;
    let client = WsClient::new(WsConfig {
        write_timeout: Duration::from_millis(300),
        max_message_bytes: 1 << 20,
        ..config()
    })
    .expect("a client");
    let mut connection = client.connect(&url).await.expect("connected");
    let text = "x".repeat(1 << 20);
    let failure = loop {
        if let Err(failure) = connection.sender.send(text.clone(), None).await {
            break failure;
        }
    };
    assert!(matches!(failure, SendFailure::Unknown(_)), "{failure:?}");
    let end = to_end(&mut connection).await.1;
    assert_eq!(end, WsEnd::Stuck(Duration::from_millis(300)));
}

#[tokio::test]
async fn what_is_held_back_never_reaches_the_server() {
    let (told, mut texts) = tokio::sync::mpsc::channel(4);
    let (url, _) = serve(move |mut peer| {
        let told = told.clone();
        async move {
            while let Some(Ok(message)) = peer.next().await {
                if let Message::Text(text) = message {
                    told.send(text.as_str().to_owned()).await.ok();
                }
            }
        }
    })
    .await;
    let connection = client().connect(&url).await.expect("connected");
    let clock = Arc::new(VenueClock::new(Arc::new(ManualTime::default())));
    clock.observe(clock.mark(), VenueTime::from_ms(10_000));
    let go = |fence| {
        let fence = Fence::Clock(VenueTime::from_ms(fence));
        Go::new(Arc::clone(&clock), fence, None, Arc::<Stop>::default())
    };
    let held = connection
        .sender
        .send("late".into(), Some(&go(9_000)))
        .await;
    match held {
        Err(SendFailure::NotSent(NotSent::HeldBack(why))) => assert_eq!(why, HeldBack::Fence),
        other => panic!("{other:?}"),
    }
    let go = go(20_000);
    let sent = connection.sender.send("in time".into(), Some(&go)).await;
    sent.expect("sent");
    assert_eq!(texts.recv().await.as_deref(), Some("in time"));
}

#[tokio::test]
async fn a_connection_that_nobody_holds_is_closed() {
    let (told, mut gone) = tokio::sync::mpsc::channel(1);
    let (url, _) = serve(move |peer| {
        let told = told.clone();
        async move {
            listen(peer).await;
            told.send(()).await.ok();
        }
    })
    .await;
    let connection = client().connect(&url).await.expect("connected");
    drop(connection);
    tokio::time::timeout(SOON, gone.recv())
        .await
        .expect("closed");
}
