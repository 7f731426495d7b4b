//! Bybit V5, through the functions that the adapter uses.

mod answer;
mod gate;
mod http;
mod lists;
mod order;
mod push;
mod sequence;
mod shown;
mod sign;
mod socket;
mod words;

use crate::input::Recompute;

pub(crate) fn recompute(kind: &str) -> Option<Recompute> {
    Some(match kind {
        "rest_sign" => sign::rest,
        "ws_auth" => sign::socket,
        "ws_request" => socket::request,
        "ws" => socket::said,
        "clock" => gate::clock,
        "id_rule" => gate::id_rule,
        "http" => http::answered,
        "sequence" => sequence::run,
        _ => return None,
    })
}
