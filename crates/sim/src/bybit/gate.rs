//! The gate: who asks, when, how often, and whether the request makes sense. Nothing here touches an order.

use super::{
    batch,
    config::Login,
    create,
    orders::{self, Amend, Scope, Target},
    params::Params,
    rate::Rate,
    reply::{Code, failed},
    route::Endpoint,
    sign::{fits, signed_text},
    venue::Bybit,
};
use crate::{
    core::{Core, NewOrder},
    edge::{Reply, Request, Venue},
};

/// The clock rule: `server - window <= timestamp < server + 1000`.
#[must_use]
pub const fn in_window(server_ms: u64, timestamp_ms: u64, recv_window_ms: u64) -> bool {
    server_ms.saturating_sub(recv_window_ms) <= timestamp_ms
        && timestamp_ms < server_ms.saturating_add(1_000)
}

/// What a request that passed asks for.
#[derive(Debug)]
pub(super) enum Job {
    Create(Box<NewOrder>),
    Amend(Amend),
    Cancel(Target),
    CancelAll(Scope),
    Batch(Vec<batch::Item>),
    /// Reads check their parameters when they read.
    Read,
}

/// A request that may go on.
#[derive(Debug)]
pub(super) struct Passed {
    pub(super) job: Job,
    pub(super) endpoint: Endpoint,
    /// None on public endpoints.
    pub(super) login: Option<Login>,
    pub(super) rate: Option<Rate>,
    pub(super) request: Request,
}

/// Checks a request in the order of the notes: HTTP, key, signature, clock, rate, parameters.
pub(super) fn check(venue: &Bybit, request: &Request) -> Result<Passed, Reply> {
    let now_ms = venue.stage().clock.now_ms();
    let refuse = |status, code, text: &str| Err(failed(status, now_ms, &Code::new(code, text)));
    if request.method != hyper::Method::GET && request.method != hyper::Method::POST {
        return Err(Reply::page(400));
    }
    let Some(endpoint) = Endpoint::find(&request.method, &request.path) else {
        return Err(Reply::page(404));
    };
    if request.method == hyper::Method::GET && !request.body.is_empty() {
        return Err(Reply::page(403));
    }
    if endpoint.is_public() {
        return Ok(Passed {
            job: Job::Read,
            endpoint,
            login: None,
            rate: None,
            request: request.clone(),
        });
    }
    let header = |name| request.header(name).unwrap_or_default();
    let (api_key, timestamp) = (header("x-bapi-api-key"), header("x-bapi-timestamp"));
    let (recv_window, sign) = (header("x-bapi-recv-window"), header("x-bapi-sign"));
    let login = if let Some(api_key) = &request.known {
        // Its socket has shown who it is.
        venue.login(api_key)
    } else {
        if api_key.is_empty() || timestamp.is_empty() || sign.is_empty() {
            return refuse(401, 10_003, "API key is invalid.");
        }
        venue.login(api_key)
    };
    let Some(login) = login else {
        return refuse(200, 10_003, "API key is invalid.");
    };
    let payload = if request.method == hyper::Method::GET {
        request.query.as_bytes()
    } else {
        &request.body
    };
    if request.known.is_none()
        && !fits(
            login,
            &signed_text(timestamp, api_key, recv_window, payload),
            sign,
        )
    {
        return refuse(
            200,
            10_004,
            "Error sign, please check your signature generation algorithm.",
        );
    }
    let window = if recv_window.is_empty() {
        Some(5_000)
    } else {
        recv_window.parse::<u64>().ok()
    };
    match (timestamp.parse::<u64>(), window) {
        (Ok(timestamp_ms), Some(window_ms)) if in_window(now_ms, timestamp_ms, window_ms) => {}
        (_, window) => {
            let window = window.unwrap_or_default();
            let text = format!(
                "invalid request, please check your server timestamp or recv_window param. \
                 req_timestamp[{timestamp}],server_timestamp[{now_ms}],recv_window[{window}]"
            );
            return refuse(200, 10_002, &text);
        }
    }
    let params = if endpoint.is_order() {
        Params::read(&request.body)
    } else {
        Ok(Params::default())
    };
    let spot = params
        .as_ref()
        .is_ok_and(|params| params.is("category", "spot"));
    // Each order of a batch counts.
    let items = match &params {
        Ok(params) if endpoint.is_batch() => params.items(batch::most(spot)),
        Ok(_) | Err(_) => Ok(Vec::new()),
    };
    let asked = items.as_ref().map_or(1, |items| items.len().max(1));
    let (granted, rate) = venue.count(login, (endpoint, spot), asked, now_ms);
    if !rate.allowed {
        let mut reply = failed(200, now_ms, &Code::rate());
        reply.headers = rate.headers();
        return Err(reply);
    }
    let job = params.and_then(|params| {
        let world = venue.stage().world();
        if endpoint.is_batch() {
            let items = batch::read(&items?, endpoint, &login.uid, world.core(), granted);
            return Ok(Job::Batch(items));
        }
        job(endpoint, login, &params, world.core())
    });
    match job {
        Ok(job) => Ok(Passed {
            job,
            endpoint,
            login: Some(login.clone()),
            rate: Some(rate),
            request: request.clone(),
        }),
        Err(code) => {
            let mut reply = failed(200, now_ms, &code);
            reply.headers = rate.headers();
            Err(reply)
        }
    }
}

fn job(endpoint: Endpoint, login: &Login, params: &Params, core: &Core) -> Result<Job, Code> {
    match endpoint {
        Endpoint::Create => {
            create::read(params, &login.uid, core).map(|new| Job::Create(Box::new(new)))
        }
        Endpoint::Amend => orders::read_amend(params, core).map(Job::Amend),
        Endpoint::Cancel => orders::read_target(params, core).map(Job::Cancel),
        Endpoint::CancelAll => orders::read_scope(params).map(Job::CancelAll),
        Endpoint::CreateBatch | Endpoint::AmendBatch | Endpoint::CancelBatch => {
            Ok(Job::Batch(Vec::new()))
        }
        Endpoint::Realtime
        | Endpoint::History
        | Endpoint::Executions
        | Endpoint::Positions
        | Endpoint::Wallet
        | Endpoint::AccountInfo
        | Endpoint::QueryApi
        | Endpoint::Instruments
        | Endpoint::Time => Ok(Job::Read),
    }
}
