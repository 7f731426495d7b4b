//! The venue's own computation of a request's signature.

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

/// The bytes that a request signs: timestamp, key, window, and the query or the body as they are on the wire.
#[must_use]
pub fn signed_text(timestamp: &str, api_key: &str, recv_window: &str, payload: &[u8]) -> Vec<u8> {
    [
        timestamp.as_bytes(),
        api_key.as_bytes(),
        recv_window.as_bytes(),
        payload,
    ]
    .concat()
}

/// HMAC-SHA256 in lower case hex.
#[must_use]
pub fn signature(api_secret: &str, signed: &[u8]) -> String {
    // HMAC takes a key of any length; an error cannot come, and an empty signature fits nothing.
    let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(api_secret.as_bytes()) else {
        return String::new();
    };
    mac.update(signed);
    hex::encode(mac.finalize().into_bytes())
}
