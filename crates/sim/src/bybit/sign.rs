//! The venue's own computation of a request's signature.

use base64::{Engine, prelude::BASE64_STANDARD};
use hmac::{Hmac, KeyInit, Mac};
use ring::signature::{RSA_PKCS1_2048_8192_SHA256, UnparsedPublicKey};
use sha2::Sha256;
use subtle::ConstantTimeEq;

use super::config::Login;

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

/// Whether a key of either kind signed these bytes.
pub(super) fn fits(login: &Login, signed: &[u8], sent: &str) -> bool {
    let Some(pem) = &login.public_key_pem else {
        let expected = signature(&login.api_secret, signed);
        return bool::from(expected.as_bytes().ct_eq(sent.as_bytes()));
    };
    let (Some(key), Ok(sent)) = (rsa_key(pem), BASE64_STANDARD.decode(sent)) else {
        return false;
    };
    UnparsedPublicKey::new(&RSA_PKCS1_2048_8192_SHA256, key)
        .verify(signed, &sent)
        .is_ok()
}

/// The `RSAPublicKey` within a PEM file, which holds it by itself or wrapped as a `SubjectPublicKeyInfo`.
pub(super) fn rsa_key(pem: &str) -> Option<Vec<u8>> {
    let (_, text) = pem.split_once("PUBLIC KEY-----")?;
    let (text, _) = text.split_once("-----END")?;
    let text: String = text.split_whitespace().collect();
    let der = BASE64_STANDARD.decode(text).ok()?;
    if pem.contains("BEGIN RSA PUBLIC KEY") {
        return Some(der);
    }
    let (_, info, _) = element(&der)?;
    let (_, _, rest) = element(info)?;
    let (tag, bits, _) = element(rest)?;
    // A bit string begins with the count of bits that its last byte lacks.
    let (unused, key) = bits.split_first()?;
    (tag == 3 && *unused == 0).then(|| key.to_owned())
}

/// Tag, content, and what follows, of the first DER element.
fn element(der: &[u8]) -> Option<(u8, &[u8], &[u8])> {
    let (tag, rest) = der.split_first()?;
    let (first, rest) = rest.split_first()?;
    let (length, rest) = if *first < 0x80 {
        (usize::from(*first), rest)
    } else {
        let (bytes, rest) = rest.split_at_checked(usize::from(*first & 0x7F))?;
        let length = bytes.iter().try_fold(0_usize, |sum, byte| {
            sum.checked_mul(256)?.checked_add(usize::from(*byte))
        })?;
        (length, rest)
    };
    let (content, rest) = rest.split_at_checked(length)?;
    Some((*tag, content, rest))
}
