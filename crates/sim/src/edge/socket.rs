//! One WebSocket: frames in, answers and pushes out, and the ways in which streams break.

use std::{pin::Pin, sync::Arc, time::Duration};

use bytes::Bytes;
use futures_util::{SinkExt, StreamExt};
use hyper::Method;
use serde_json::Value;
use tokio::{
    io::AsyncReadExt,
    net::TcpStream,
    sync::{broadcast::error::RecvError, mpsc, watch},
    time::Sleep,
};
use tokio_tungstenite::{
    WebSocketStream, accept_async,
    tungstenite::{Message, protocol::CloseFrame, protocol::frame::coding::CloseCode},
};

use super::{
    acting::{act, act_by, act_now, at_once, spawn_act},
    connection::reset,
    exchange::{Reply, Request},
    fault::{Do, Op},
    server::Power,
    stage::Venue,
};

/// A frame that asks for what REST can be asked for too.
#[derive(Debug)]
pub(crate) struct Called {
    /// The same request as REST would bring it.
    pub(crate) request: Request,
    /// What the answer's frame needs besides.
    pub(crate) tag: Value,
}

/// What a frame comes to.
#[derive(Debug)]
pub(crate) enum Heard {
    /// Answered after the time that an answer is on its way.
    Say(String),
    /// Answered at this moment, before any later push.
    Now(Vec<String>),
    /// For the gate and the engine.
    Called(Box<Called>),
}

/// When a socket has been silent for too long, in ms.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Silence {
    /// Nothing came from the client.
    Client(u64),
    /// Nothing was sent to it.
    Venue(u64),
}

/// What a task of a socket wants to leave by it.
#[derive(Debug)]
enum Out {
    Text(String),
    Reset,
}

/// A push that waits to be overtaken.
#[derive(Debug)]
struct Late {
    text: String,
    due_ms: u64,
}

/// How long an answer to a frame is on its way: some clients prepare for it only after they have sent the frame.
const WAY_BACK: Duration = Duration::from_millis(10);
/// How long a client may leave its socket unread.
const MOST_UNREAD: Duration = Duration::from_secs(5);
/// How long a push that is to be overtaken waits for another one, if the fault does not say.
const REORDER_MS: u64 = 1_000;

type Socket = WebSocketStream<TcpStream>;

/// Serves one socket until it ends, breaks, or the venue goes down.
pub(super) async fn serve<V: Venue>(
    venue: Arc<V>,
    mut power: watch::Receiver<Power>,
    stream: TcpStream,
    path: &str,
    mut session: V::Session,
) {
    let stage = venue.stage();
    let seq = stage
        .requests
        .came(stage.clock.now_ms(), Op::Other, "GET", path, None);
    let accepted = tokio::select! {
        accepted = accept_async(stream) => accepted,
        changed = power.changed() => return drop(changed),
    };
    let mut socket = match accepted {
        Ok(socket) => socket,
        Err(error) => return tracing::debug!(%error, "no handshake"),
    };
    stage.requests.answered(seq, 101);
    let mut pushes = stage.pushes.listen();
    let (out, mut outs) = way_back();
    let mut late: Option<Late> = None;
    let mut deaf_until_ms = 0;
    let mut heard_ms = stage.clock.now_ms();
    let mut said_ms = heard_ms;
    if let Some(greeting) = venue.greeting(&session)
        && !say(&mut socket, greeting).await
    {
        return;
    }
    loop {
        let idle_ms = match venue.idle(&session) {
            Silence::Client(ms) => heard_ms.saturating_add(ms),
            Silence::Venue(ms) => said_ms.saturating_add(ms),
        };
        let due_ms = late.as_ref().map_or(u64::MAX, |late| late.due_ms);
        tokio::select! {
            changed = power.changed() => {
                drop(changed);
                return reset(socket.get_ref());
            }
            () = stage.clock.reach(idle_ms) => return close(&mut socket).await,
            () = stage.clock.reach(due_ms), if late.is_some() => {
                if let Some(late) = late.take() && !say(&mut socket, late.text).await {
                    return;
                }
                said_ms = stage.clock.now_ms();
            }
            Some(out) = outs.recv() => match out {
                Out::Text(text) => {
                    if !say(&mut socket, text).await {
                        return;
                    }
                    said_ms = stage.clock.now_ms();
                }
                Out::Reset => return reset(socket.get_ref()),
            },
            pushed = pushes.recv() => {
                let push = match pushed {
                    Ok(push) => push,
                    // It is too slow, and would be lied to by what is left.
                    Err(RecvError::Lagged(_) | RecvError::Closed) => return reset(socket.get_ref()),
                };
                let Some(text) = venue.push(&session, &push) else { continue };
                let now_ms = stage.clock.now_ms();
                if now_ms < deaf_until_ms {
                    continue;
                }
                let shot = stage.faults.take(Op::Stream);
                let went = match shot.map(|shot| (shot.doing, shot.ms)) {
                    Some((Do::StreamDrop, _)) => return reset(socket.get_ref()),
                    Some((Do::StreamMute, _)) => return mute(socket, power).await,
                    Some((Do::StreamGap, ms)) => {
                        deaf_until_ms = now_ms.saturating_add(ms);
                        true
                    }
                    Some((Do::StreamReorder, ms)) if late.is_none() => {
                        let wait = if ms == 0 { REORDER_MS } else { ms };
                        late = Some(Late { text, due_ms: now_ms.saturating_add(wait) });
                        continue;
                    }
                    Some((Do::StreamDuplicate, _)) => {
                        say(&mut socket, text.clone()).await && say(&mut socket, text).await
                    }
                    _ => say(&mut socket, text).await,
                };
                let overtaken = late.take();
                if !went {
                    return;
                }
                if let Some(late) = overtaken && !say(&mut socket, late.text).await {
                    return;
                }
                said_ms = stage.clock.now_ms();
            }
            frame = socket.next() => {
                heard_ms = stage.clock.now_ms();
                let text = match frame {
                    Some(Ok(Message::Text(text))) => text,
                    Some(Ok(Message::Close(_))) | None => return,
                    // Pings of the protocol are answered by the library.
                    Some(Ok(Message::Binary(_) | Message::Ping(_) | Message::Pong(_) | Message::Frame(_))) => continue,
                    Some(Err(error)) => return tracing::debug!(%error, "socket ended"),
                };
                match venue.hear(&mut session, &text) {
                    Heard::Say(text) => leave(&out, Out::Text(text)),
                    Heard::Now(texts) => {
                        for text in texts {
                            if !say(&mut socket, text).await {
                                return;
                            }
                        }
                        said_ms = stage.clock.now_ms();
                    }
                    Heard::Called(called) => call(&venue, *called, out.clone()),
                }
            }
        }
    }
}

/// Leaves the socket open and says nothing any more, whatever is asked, until the client has gone or the venue goes down.
async fn mute(mut socket: Socket, mut power: watch::Receiver<Power>) {
    let mut unheard = [0; 1024];
    loop {
        tokio::select! {
            changed = power.changed() => return drop(changed),
            read = socket.get_mut().read(&mut unheard) => {
                if !matches!(read, Ok(n) if n > 0) {
                    return;
                }
            }
        }
    }
}

/// Sends one text; false when nobody is there any more, or nobody reads.
async fn say(socket: &mut Socket, text: String) -> bool {
    let sending = tokio::time::timeout(MOST_UNREAD, socket.send(Message::text(text)));
    matches!(sending.await, Ok(Ok(())))
}

async fn close(socket: &mut Socket) {
    let frame = CloseFrame {
        code: CloseCode::Away,
        reason: "no traffic".into(),
    };
    drop(socket.close(Some(frame)).await);
    // The client's own close may take its time.
    drop(tokio::time::timeout(Duration::from_secs(1), socket.next()).await);
}

/// What tasks of a socket leave by it, each with its time on the way.
type Leaving = mpsc::UnboundedSender<(Pin<Box<Sleep>>, Out)>;

/// The way back to a socket: what leaves first arrives first.
fn way_back() -> (Leaving, mpsc::UnboundedReceiver<Out>) {
    let (leaving, mut left) = mpsc::unbounded_channel::<(Pin<Box<Sleep>>, Out)>();
    let (arriving, arrived) = mpsc::unbounded_channel();
    let carrying = async move {
        while let Some((way, out)) = left.recv().await {
            way.await;
            if arriving.send(out).is_err() {
                return;
            }
        }
    };
    drop(tokio::spawn(carrying));
    (leaving, arrived)
}

/// Hands an answer to its socket, which may have gone; what was done stays.
fn leave(leaving: &Leaving, out: Out) {
    drop(leaving.send((Box::pin(tokio::time::sleep(WAY_BACK)), out)));
}

/// Acts upon a frame: at once and in the order of the frames, or, under a fault or a drain, beside it.
fn call<V: Venue>(venue: &Arc<V>, called: Called, out: Leaving) {
    let stage = venue.stage();
    let Called { request, tag } = called;
    let op = venue.op(&Method::POST, &request.path, "", &request.body);
    let came = |body: &Bytes| {
        stage
            .requests
            .came(stage.clock.now_ms(), op, "WS", &request.path, Some(body))
    };
    let seq = came(&request.body);
    let shot = stage.faults.take(op);
    if shot.is_none() && at_once(&**venue, &request) {
        let reply = act_now(&**venue, seq, &request);
        stage.requests.answered(seq, reply.status);
        let text = venue.answer(&tag, &reply);
        return leave(&out, Out::Text(text));
    }
    let again = shot
        .filter(|shot| shot.doing == Do::Duplicate)
        .map(|_| came(&request.body));
    let venue = Arc::clone(venue);
    let acting = async move {
        let ms = shot.map_or(0, |shot| shot.ms);
        let reply = match shot.map_or(Do::Hold, |shot| shot.doing) {
            Do::Refuse | Do::ResetBefore => return leave(&out, Out::Reset),
            Do::ResetAfter => {
                act_by(&venue, seq, request, ms).await;
                return leave(&out, Out::Reset);
            }
            Do::DropAnswer => return drop(act(&venue, seq, request, ms).await),
            Do::Status(code) => Reply::page(code),
            Do::ActThenStatus(code) => {
                act_by(&venue, seq, request, ms).await;
                Reply::page(code)
            }
            Do::Code(code) => venue.coded(code),
            Do::ActThenCode(code) => {
                act_by(&venue, seq, request, ms).await;
                venue.coded(code)
            }
            Do::Throttle => venue.throttled(&request),
            Do::Duplicate => {
                let reply = act(&venue, seq, request.clone(), 0).await;
                if let Some(again) = again {
                    drop(spawn_act(&venue, again, request, ms));
                }
                reply
            }
            Do::Hold
            | Do::Truncate
            | Do::Garbage
            | Do::StreamDrop
            | Do::StreamDuplicate
            | Do::StreamReorder
            | Do::StreamGap
            | Do::StreamMute => act(&venue, seq, request, ms).await,
        };
        venue.stage().requests.answered(seq, reply.status);
        let mut text = venue.answer(&tag, &reply);
        match shot.map(|shot| shot.doing) {
            Some(Do::Truncate) => text = text.chars().take(text.len() / 2).collect(),
            Some(Do::Garbage) => "\u{1}{\"retCode\":0,,\u{fffd}garbage".clone_into(&mut text),
            Some(_) | None => {}
        }
        leave(&out, Out::Text(text));
    };
    drop(tokio::spawn(acting));
}
