//! One connection: requests in, answers out, and the ways in which it may break.

use std::{future::Future, pin::Pin, sync::Arc, time::Duration};

use bytes::{Bytes, BytesMut};
use hyper::{
    Method, Response,
    body::{Body, Incoming},
    header::{CONNECTION, CONTENT_LENGTH, CONTENT_TYPE, HeaderValue},
    server::conn::http1,
    service::service_fn,
};
use hyper_util::rt::TokioIo;
use tokio::{net::TcpStream, sync::Notify};

use super::{
    acting::{act, act_by, act_now, at_once, spawn_act},
    body::SimBody,
    control::{self, Asked},
    exchange::{Reply, Request},
    fault::{Do, Shot},
    server::{Power, Switch},
    socket,
    stage::Venue,
};

/// Longest request body.
const MOST_BYTES: usize = 1 << 20;
/// How much of a first request is looked at before it is read, and how often, a millisecond apart.
const MOST_PEEKED: usize = 1 << 16;
const PEEKS: u32 = 2_000;
/// How long a connection without an answer stays open, if the client does not give up.
const PATIENCE: Duration = Duration::from_secs(120);

/// Serves one connection until it ends, breaks, or the venue goes down.
pub(super) async fn serve<V: Venue>(venue: Arc<V>, switch: Switch, stream: TcpStream) {
    if stream.set_nodelay(true).is_err() {
        return;
    }
    let mut power = switch.watch();
    if *power.borrow_and_update() != Power::Up {
        return reset(&stream);
    }
    let first = tokio::select! {
        first = first(&stream) => first,
        changed = power.changed() => {
            drop(changed);
            return reset(&stream);
        }
    };
    if let Some(first) = first {
        if venue.stage().faults.refuses() && refused(&*venue, &stream, &first).await {
            return reset(&stream);
        }
        if first.method == Method::GET
            && let Some(session) = venue.open(&first.path, &first.query)
            // A bar is answered over HTTP.
            && venue.barred().is_none()
        {
            return socket::serve(venue, power, stream, &first.path, session).await;
        }
    }
    let fuse = Arc::new(Fuse::default());
    let service = {
        let fuse = Arc::clone(&fuse);
        service_fn(move |request| {
            let handled = handle(
                Arc::clone(&venue),
                switch.clone(),
                Arc::clone(&fuse),
                request,
            );
            let boxed: Pin<
                Box<dyn Future<Output = Result<Response<SimBody>, hyper::Error>> + Send>,
            > = Box::pin(handled);
            boxed
        })
    };
    let mut connection = http1::Builder::new()
        .header_read_timeout(None)
        .title_case_headers(true)
        .serve_connection(TokioIo::new(stream), service);
    loop {
        tokio::select! {
            ended = &mut connection => {
                if let Err(error) = ended {
                    tracing::debug!(%error, "connection ended");
                }
                return;
            }
            () = fuse.blown.notified() => break,
            changed = power.changed() => {
                let down = changed.is_err() || *power.borrow_and_update() != Power::Up;
                // Who asked for the restart still gets its answer.
                if down && !fuse.asked_for_restart() {
                    break;
                }
                if changed.is_err() {
                    break;
                }
            }
        }
    }
    reset(&connection.into_parts().io.into_inner());
}

/// Breaks a connection from within a request.
#[derive(Debug, Default)]
struct Fuse {
    blown: Notify,
    spared: std::sync::atomic::AtomicBool,
}

impl Fuse {
    /// Ends the connection by a reset; never returns.
    async fn blow(&self) -> Response<SimBody> {
        self.blown.notify_one();
        std::future::pending().await
    }

    fn spare(&self) {
        self.spared
            .store(true, std::sync::atomic::Ordering::Relaxed);
    }

    fn asked_for_restart(&self) -> bool {
        self.spared.load(std::sync::atomic::Ordering::Relaxed)
    }
}

/// Makes the close of the socket a reset.
pub(super) fn reset(stream: &TcpStream) {
    if let Err(error) = stream.set_zero_linger() {
        tracing::debug!(%error, "no reset");
    }
}

/// The first request of a connection, not yet read.
#[derive(Debug)]
struct First {
    method: Method,
    path: String,
    query: String,
}

/// Looks at the first request without reading it; none if there is no line to read.
async fn first(stream: &TcpStream) -> Option<First> {
    let mut buffer = [0_u8; 2048];
    let mut before = 0;
    loop {
        let count = stream.peek(&mut buffer).await.ok()?;
        let head = String::from_utf8_lossy(buffer.get(..count).unwrap_or_default()).into_owned();
        let Some((line, _)) = head.split_once("\r\n") else {
            if count == 0 || count == buffer.len() {
                return None;
            }
            if count == before {
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
            before = count;
            continue;
        };
        let mut words = line.split(' ');
        let method = words
            .next()
            .and_then(|word| word.parse::<Method>().ok())
            .unwrap_or(Method::GET);
        let target = words.next().unwrap_or_default();
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        return Some(First {
            method,
            path: path.to_owned(),
            query: query.to_owned(),
        });
    }
}

/// The body of the first request, not yet read: as much of it as was sent with the head or soon after.
async fn first_body(stream: &TcpStream) -> Vec<u8> {
    let mut buffer = vec![0_u8; MOST_PEEKED];
    let mut body = Vec::new();
    for _ in 0..PEEKS {
        let Ok(count) = stream.peek(&mut buffer).await else {
            return body;
        };
        let bytes = buffer.get(..count).unwrap_or_default();
        let split = bytes
            .windows(4)
            .position(|four| four == b"\r\n\r\n")
            .and_then(|at| bytes.split_at_checked(at.saturating_add(4)));
        if let Some((head, sent)) = split {
            sent.clone_into(&mut body);
            let length = String::from_utf8_lossy(head)
                .lines()
                .filter_map(|line| line.split_once(':'))
                .find(|(name, _)| name.eq_ignore_ascii_case("content-length"))
                .and_then(|(_, length)| length.trim().parse::<usize>().ok());
            if body.len() >= length.unwrap_or(0) {
                return body;
            }
        }
        if count == 0 || count == buffer.len() {
            return body;
        }
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    body
}

/// Whether a fault refuses the first request of a connection.
async fn refused<V: Venue>(venue: &V, stream: &TcpStream, first: &First) -> bool {
    let First {
        method,
        path,
        query,
    } = first;
    if control::within(path).is_some() {
        return false;
    }
    let stage = venue.stage();
    let op = venue.op(method, path, query, &first_body(stream).await);
    if !stage.faults.take_refusal(op) {
        return false;
    }
    stage
        .requests
        .came(stage.clock.now_ms(), op, method.as_str(), path, None);
    true
}

async fn handle<V: Venue>(
    venue: Arc<V>,
    switch: Switch,
    fuse: Arc<Fuse>,
    incoming: hyper::Request<Incoming>,
) -> Result<Response<SimBody>, hyper::Error> {
    let (head, body) = incoming.into_parts();
    let path = head.uri.path().to_owned();
    let query = head.uri.query().unwrap_or_default().to_owned();
    if let Some(path) = control::within(&path) {
        let Some(body) = whole(body).await? else {
            return Ok(response(Reply::page(413)));
        };
        let asked = Asked {
            method: &head.method,
            path,
            query: &query,
            body: &body,
        };
        let answer = control::answer(&*venue, &asked);
        let restart_ms = answer.restart_ms;
        let mut answered = response(answer.reply());
        if let Some(down_ms) = restart_ms {
            fuse.spare();
            switch.restart(down_ms).await;
            venue.restarted();
            answered
                .headers_mut()
                .insert(CONNECTION, HeaderValue::from_static("close"));
        }
        return Ok(answered);
    }
    if switch.power() != Power::Up {
        return Ok(fuse.blow().await);
    }
    let Some(body) = whole(body).await? else {
        return Ok(response(Reply::page(413)));
    };
    let stage = venue.stage();
    let op = venue.op(&head.method, &path, &query, &body);
    let barred = venue.barred();
    let shot = if barred.is_some() {
        None
    } else {
        stage.faults.take(op)
    };
    let came = |body: Option<&[u8]>| {
        stage
            .requests
            .came(stage.clock.now_ms(), op, head.method.as_str(), &path, body)
    };
    if matches!(
        shot,
        Some(Shot {
            doing: Do::Refuse,
            ..
        })
    ) {
        came(None);
        return Ok(fuse.blow().await);
    }
    let seq = came(Some(&body));
    let request = Request {
        method: head.method.clone(),
        path: path.clone(),
        query,
        headers: head.headers,
        body,
        known: None,
    };
    let say = |reply: Reply| {
        stage.requests.answered(seq, reply.status);
        Ok(response(reply))
    };
    if let Some(reply) = barred {
        return say(reply);
    }
    let Some(shot) = shot else {
        if at_once(&*venue, &request) {
            return say(act_now(&*venue, seq, &request));
        }
        return say(act(&venue, seq, request, 0).await);
    };
    match shot.doing {
        Do::Refuse | Do::ResetBefore => Ok(fuse.blow().await),
        Do::ResetAfter => {
            act_by(&venue, seq, request, shot.ms).await;
            Ok(fuse.blow().await)
        }
        Do::Hold => say(act(&venue, seq, request, shot.ms).await),
        Do::DropAnswer => {
            act(&venue, seq, request, shot.ms).await;
            tokio::time::sleep(PATIENCE).await;
            Ok(fuse.blow().await)
        }
        Do::Status(code) => say(Reply::page(code)),
        Do::ActThenStatus(code) => {
            act_by(&venue, seq, request, shot.ms).await;
            say(Reply::page(code))
        }
        Do::Code(code) => say(venue.coded(code)),
        Do::ActThenCode(code) => {
            act_by(&venue, seq, request, shot.ms).await;
            say(venue.coded(code))
        }
        Do::Truncate => {
            let whole = act(&venue, seq, request, shot.ms).await;
            stage.requests.answered(seq, whole.status);
            let bytes = Bytes::from(whole.body.clone());
            let mut cut = response(whole);
            cut.headers_mut()
                .insert(CONTENT_LENGTH, HeaderValue::from(bytes.len()));
            *cut.body_mut() = SimBody::cut(bytes);
            Ok(cut)
        }
        Do::Garbage => {
            let mut reply = act(&venue, seq, request, shot.ms).await;
            reply.status = 200;
            reply.body = "\u{1}{\"retCode\":0,,\u{fffd}garbage".to_owned();
            say(reply)
        }
        Do::Throttle => say(venue.throttled(&request)),
        Do::Duplicate => {
            let reply = act(&venue, seq, request.clone(), 0).await;
            let again = came(Some(&request.body));
            drop(spawn_act(&venue, again, request, shot.ms));
            say(reply)
        }
        Do::StreamDrop
        | Do::StreamDuplicate
        | Do::StreamReorder
        | Do::StreamGap
        | Do::StreamMute => say(act(&venue, seq, request, 0).await),
    }
}

fn response(reply: Reply) -> Response<SimBody> {
    let mut response = Response::new(SimBody::Whole(Bytes::from(reply.body)));
    if let Ok(status) = hyper::StatusCode::from_u16(reply.status) {
        *response.status_mut() = status;
    }
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(reply.content_type));
    for (name, value) in reply.headers {
        if let Ok(value) = HeaderValue::try_from(value) {
            headers.insert(name, value);
        }
    }
    response
}

/// Reads a body; none if it is too long.
async fn whole(mut body: Incoming) -> Result<Option<Bytes>, hyper::Error> {
    let mut bytes = BytesMut::new();
    while let Some(frame) = std::future::poll_fn(|cx| Pin::new(&mut body).poll_frame(cx)).await {
        if let Ok(data) = frame?.into_data() {
            if bytes.len().saturating_add(data.len()) > MOST_BYTES {
                return Ok(None);
            }
            bytes.extend_from_slice(&data);
        }
    }
    Ok(Some(bytes.freeze()))
}
