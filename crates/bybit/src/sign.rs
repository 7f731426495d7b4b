//! Signatures and the gateway's window. Pure: time comes as an argument.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, KeyInit, Mac};
use ring::rand::SystemRandom;
use ring::signature::{RSA_PKCS1_SHA256, RsaKeyPair};
use rustls_pki_types::PrivateKeyDer;
use rustls_pki_types::pem::PemObject;
use sha2::Sha256;
use surefill_core::VenueTime;
use zeroize::Zeroizing;

use crate::KeyError;

/// An API key and what signs for it. Never shown; the texts are wiped from memory when dropped.
#[derive(Clone)]
pub struct Keys {
    api_key: Zeroizing<String>,
    secret: Secret,
}

#[derive(Clone)]
enum Secret {
    Hmac(Zeroizing<String>),
    Rsa(Arc<RsaKeyPair>),
}

/// A signature could not be made: the RSA key was refused at the time of use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the request could not be signed")]
pub struct SignError;

impl Keys {
    /// Keys that Bybit made: an API key and its secret.
    ///
    /// # Errors
    /// [`KeyError::Empty`], [`KeyError::ApiKey`].
    pub fn hmac(
        api_key: impl Into<String>,
        api_secret: impl Into<String>,
    ) -> Result<Self, KeyError> {
        let secret = Zeroizing::new(api_secret.into());
        if secret.is_empty() {
            return Err(KeyError::Empty("API secret"));
        }
        Ok(Self {
            api_key: checked(api_key.into())?,
            secret: Secret::Hmac(secret),
        })
    }

    /// Keys that we made: the API key that Bybit gave for our public key, and the private key in PEM, PKCS#1 or PKCS#8.
    ///
    /// # Errors
    /// [`KeyError`].
    pub fn rsa(api_key: impl Into<String>, private_key_pem: &str) -> Result<Self, KeyError> {
        let der =
            PrivateKeyDer::from_pem_slice(private_key_pem.as_bytes()).map_err(|_| KeyError::Pem)?;
        let pair = match &der {
            PrivateKeyDer::Pkcs8(der) => RsaKeyPair::from_pkcs8(der.secret_pkcs8_der()),
            PrivateKeyDer::Pkcs1(der) => RsaKeyPair::from_der(der.secret_pkcs1_der()),
            PrivateKeyDer::Sec1(_) | _ => return Err(KeyError::Pem),
        };
        Ok(Self {
            api_key: checked(api_key.into())?,
            secret: Secret::Rsa(Arc::new(
                pair.map_err(|why| KeyError::Rsa(why.to_string().into()))?,
            )),
        })
    }

    /// The text that is signed: `payload` is the query of a GET or the body of a POST, in the very bytes that are sent.
    ///
    /// # Source
    /// <https://bybit-exchange.github.io/docs/v5/guide>; vectors `sign-01` to `sign-22`.
    pub fn prehash(
        &self,
        timestamp: VenueTime,
        receive_window: Duration,
        payload: &str,
    ) -> Zeroizing<String> {
        let (key, window) = (&*self.api_key, receive_window.as_millis());
        Zeroizing::new(format!("{timestamp}{key}{window}{payload}"))
    }

    /// The signature: HMAC-SHA256 in lower-case hex, or RSASSA-PKCS1-v1_5 with SHA-256 in base64.
    ///
    /// # Errors
    /// [`SignError`].
    pub fn sign(
        &self,
        timestamp: VenueTime,
        receive_window: Duration,
        payload: &str,
    ) -> Result<String, SignError> {
        self.seal(&self.prehash(timestamp, receive_window, payload))
    }

    /// The text that is signed to authenticate a socket, private or trade.
    ///
    /// # Source
    /// <https://bybit-exchange.github.io/docs/v5/ws/connect>; vectors `wsauth-01` to `wsauth-03`.
    pub fn socket_prehash(expires: VenueTime) -> String {
        format!("GET/realtime{expires}")
    }

    /// The signature that authenticates a socket until `expires`, which must lie ahead on the venue's clock.
    ///
    /// # Errors
    /// [`SignError`].
    pub fn sign_socket(&self, expires: VenueTime) -> Result<String, SignError> {
        self.seal(&Self::socket_prehash(expires))
    }

    pub(crate) fn api_key(&self) -> &str {
        &self.api_key
    }

    fn seal(&self, prehash: &str) -> Result<String, SignError> {
        match &self.secret {
            Secret::Hmac(secret) => {
                let mut mac =
                    Hmac::<Sha256>::new_from_slice(secret.as_bytes()).map_err(|_| SignError)?;
                mac.update(prehash.as_bytes());
                Ok(hex::encode(mac.finalize().into_bytes()))
            }
            Secret::Rsa(pair) => {
                let mut signature = vec![0; pair.public().modulus_len()];
                pair.sign(
                    &RSA_PKCS1_SHA256,
                    &SystemRandom::new(),
                    prehash.as_bytes(),
                    &mut signature,
                )
                .map_err(|_| SignError)?;
                Ok(STANDARD.encode(signature))
            }
        }
    }

    /// The headers that authenticate a request. `posts` adds the content type.
    ///
    /// # Errors
    /// [`SignError`].
    pub fn headers(
        &self,
        timestamp: VenueTime,
        receive_window: Duration,
        payload: &str,
        posts: bool,
    ) -> Result<Vec<(&'static str, String)>, SignError> {
        let mut headers = vec![
            ("X-BAPI-API-KEY", self.api_key.to_string()),
            ("X-BAPI-TIMESTAMP", timestamp.to_string()),
            ("X-BAPI-RECV-WINDOW", receive_window.as_millis().to_string()),
            ("X-BAPI-SIGN-TYPE", "2".to_owned()),
            (
                "X-BAPI-SIGN",
                self.sign(timestamp, receive_window, payload)?,
            ),
        ];
        if posts {
            headers.push(("Content-Type", "application/json".to_owned()));
        }
        Ok(headers)
    }
}

impl fmt::Debug for Keys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match self.secret {
            Secret::Hmac(_) => "hmac",
            Secret::Rsa(_) => "rsa",
        };
        f.debug_struct("Keys")
            .field("api_key", &"[redacted]")
            .field(kind, &"[redacted]")
            .finish()
    }
}

fn checked(api_key: String) -> Result<Zeroizing<String>, KeyError> {
    let api_key = Zeroizing::new(api_key);
    if api_key.is_empty() {
        return Err(KeyError::Empty("API key"));
    }
    if !api_key.bytes().all(|b| b.is_ascii_graphic()) {
        return Err(KeyError::ApiKey);
    }
    Ok(api_key)
}

/// How far ahead of the venue's clock a timestamp may be, exclusive.
const AHEAD: Duration = Duration::from_secs(1);

/// Whether the gateway takes a request at `server` time: `server - window <= timestamp < server + 1 s`.
///
/// # Source
/// <https://bybit-exchange.github.io/docs/v5/guide>; vectors `clock-01` to `clock-06`.
pub fn gateway_accepts(server: VenueTime, timestamp: VenueTime, receive_window: Duration) -> bool {
    server <= fence(timestamp, receive_window) && timestamp < server.after(AHEAD)
}

/// The last instant at which the gateway takes a request.
pub fn fence(timestamp: VenueTime, receive_window: Duration) -> VenueTime {
    timestamp.after(receive_window)
}
