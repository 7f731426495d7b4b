//! Signatures: of requests over REST, and of the frames that authenticate a socket.

use std::time::Duration;

use serde_json::{Map, Value, json};
use surefill_bybit::{Keys, stream, trade};
use surefill_core::VenueTime;

use crate::file::Case;
use crate::input::{Got, Unfit, member, number, text};

pub(super) fn rest(case: &Case<'_>) -> Result<Got, Unfit> {
    let input = case.input;
    let keys = keys(case)?;
    let at = VenueTime::from_ms(number(input, "timestamp_ms")?);
    let window = Duration::from_millis(number(input, "recv_window_ms")?);
    let payload = text(input, "payload")?;
    let posts = match text(input, "method")? {
        "POST" => true,
        "GET" => false,
        other => return Err(Unfit(format!("method {other:?}"))),
    };
    let headers = keys.headers(at, window, payload, posts);
    let headers: Map<String, Value> = headers
        .map_err(Unfit::new)?
        .into_iter()
        .map(|(name, value)| (name.to_owned(), Value::from(value)))
        .collect();
    let got = json!({
        "prehash": keys.prehash(at, window, payload).as_str(),
        "signature": keys.sign(at, window, payload).map_err(Unfit::new)?,
        "headers": headers,
    });
    Ok(Got::from(got).exact(&["headers"]))
}

/// A frame carries an id of the caller's choice, or none on the private socket. These are the file's.
const IDS: (&str, &str) = ("auth-1", "auth-2");

pub(super) fn socket(case: &Case<'_>) -> Result<Got, Unfit> {
    let keys = keys(case)?;
    let expires = VenueTime::from_ms(number(case.input, "expires_ms")?);
    let frames = match text(case.input, "socket")? {
        "private" => vec![
            stream::auth(&keys, expires, Some(IDS.0)),
            stream::auth(&keys, expires, None),
        ],
        "trade" => vec![trade::auth(&keys, expires, IDS.1)],
        other => return Err(Unfit(format!("socket {other:?}"))),
    };
    let signature = keys.sign_socket(expires).map_err(Unfit::new)?;
    let one_of = frames.into_iter().map(|frame| {
        let frame: Value = serde_json::from_str(&frame.map_err(Unfit::new)?).map_err(Unfit::new)?;
        Ok(json!({
            "prehash": Keys::socket_prehash(expires),
            "signature": signature,
            "frame": frame,
        }))
    });
    Ok(Got {
        one_of: one_of.collect::<Result<_, Unfit>>()?,
        exact: &["frame"],
    })
}

/// The keys in the file's head that the case names.
fn keys(case: &Case<'_>) -> Result<Keys, Unfit> {
    let named = member(case.file.head(), "keys")?;
    let named = member(named, text(case.input, "key_ref")?)?;
    let api_key = text(named, "api_key")?;
    let keys = match text(case.input, "scheme")? {
        "hmac-sha256-hex" => Keys::hmac(api_key, text(named, "api_secret")?),
        "rsa-pkcs1v15-sha256-base64" => {
            let body = text(named, "private_key_pkcs8_der_base64")?;
            let pem = format!("-----BEGIN PRIVATE KEY-----\n{body}\n-----END PRIVATE KEY-----\n");
            Keys::rsa(api_key, &pem)
        }
        other => return Err(Unfit(format!("scheme {other:?}"))),
    };
    keys.map_err(Unfit::new)
}
