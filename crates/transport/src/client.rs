//! The client itself: what reqwest would do by its own will is switched off here, once.

use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use reqwest::header::{HeaderName, HeaderValue};
use rustls::{ClientConfig, RootCertStore};
use surefill_core::{Go, NotSent, UnknownCause};

use crate::gate::{Gate, OnceBody, ShutOnDrop};
use crate::{Answer, Method, Request};

/// How the client behaves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HttpConfig {
    /// The longest time for name lookup, connect and TLS together.
    pub connect_timeout: Duration,
    /// The longest time from the call to the last byte of the answer.
    pub timeout: Duration,
    /// How long an idle connection is kept. Short: a server that closes it first leaves a send in doubt.
    pub idle_timeout: Duration,
    /// The longest body that is read.
    pub max_body_bytes: usize,
    /// The user agent.
    pub user_agent: String,
}

impl Default for HttpConfig {
    fn default() -> Self {
        Self {
            connect_timeout: Duration::from_secs(3),
            timeout: Duration::from_secs(5),
            idle_timeout: Duration::from_secs(5),
            max_body_bytes: 8 << 20,
            user_agent: concat!("surefill/", env!("CARGO_PKG_VERSION")).to_owned(),
        }
    }
}

/// The client could not be built.
#[derive(Debug, thiserror::Error)]
#[error("the HTTP client cannot be built")]
pub struct BuildError(#[source] Box<dyn Error + Send + Sync>);

/// What is known about a send without an answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SendFailure {
    /// No byte of the request left: there was no connection, or the last check held it back.
    #[error("{0}")]
    NotSent(NotSent),
    /// It may have been received and acted upon.
    #[error("no answer: {0}")]
    Unknown(UnknownCause),
}

/// An HTTP/1.1 client with one pool of connections. Clones share the pool.
#[derive(Clone, Debug)]
pub struct HttpClient {
    inner: reqwest::Client,
    max_body_bytes: usize,
}

impl HttpClient {
    /// Builds a client.
    ///
    /// # Errors
    /// [`BuildError`] when TLS or the client cannot be set up.
    pub fn new(config: HttpConfig) -> Result<Self, BuildError> {
        let inner = reqwest::Client::builder()
            .tls_backend_preconfigured(tls()?)
            .http1_only()
            .retry(reqwest::retry::never())
            .redirect(reqwest::redirect::Policy::none())
            .no_proxy()
            .referer(false)
            .connect_timeout(config.connect_timeout)
            .timeout(config.timeout)
            .pool_idle_timeout(config.idle_timeout)
            .tcp_nodelay(true)
            .user_agent(config.user_agent)
            .build()
            .map_err(|error| BuildError(error.into()))?;
        Ok(Self {
            inner,
            max_body_bytes: config.max_body_bytes,
        })
    }

    /// Sends a request once and reads the answer to its end.
    ///
    /// `go` is asked before a connection is made, and again when the connection stands, right before the first byte (a request
    /// without a body: only before).
    ///
    /// # Errors
    /// [`SendFailure::NotSent`] only when no byte left and none will; everything else is [`SendFailure::Unknown`].
    ///
    /// # Cancel safety
    /// Dropping the future after its first poll leaves the same doubt as [`SendFailure::Unknown`].
    pub async fn send(&self, request: Request, go: Option<&Go>) -> Result<Answer, SendFailure> {
        if let Some(Err(held)) = go.map(Go::check) {
            return Err(SendFailure::NotSent(NotSent::HeldBack(held)));
        }
        // A body of no bytes is never asked for, so its gate would say nothing.
        let gate = (!request.body.is_empty()).then(|| Gate::new(go.cloned()));
        let _shut = gate.as_ref().map(|gate| ShutOnDrop(Arc::clone(gate)));
        let request = self.request(request, gate.as_ref())?;
        let response = match self.inner.execute(request).await {
            Ok(response) => response,
            Err(error) => return Err(failure(error, gate.as_deref())),
        };
        self.read(response).await
    }

    fn request(
        &self,
        request: Request,
        gate: Option<&Arc<Gate>>,
    ) -> Result<reqwest::Request, SendFailure> {
        let method = match request.method {
            Method::Get => reqwest::Method::GET,
            Method::Post => reqwest::Method::POST,
            Method::Delete => reqwest::Method::DELETE,
            Method::Put => reqwest::Method::PUT,
        };
        let mut builder = self.inner.request(method, &request.url);
        for (name, value) in request.headers {
            // The value may be a secret: an error names the header only.
            let bad = || not_sent(format!("header {name} cannot be sent"));
            let name = HeaderName::from_bytes(name.as_bytes()).map_err(|_| bad())?;
            let mut value = HeaderValue::try_from(value).map_err(|_| bad())?;
            value.set_sensitive(true);
            builder = builder.header(name, value);
        }
        if let Some(gate) = gate {
            let body = OnceBody::new(Arc::clone(gate), request.body);
            builder = builder.body(reqwest::Body::wrap(body));
        }
        builder
            .build()
            .map_err(|error| not_sent(causes(&error.without_url())))
    }

    async fn read(&self, mut response: reqwest::Response) -> Result<Answer, SendFailure> {
        let unknown = |text: String| SendFailure::Unknown(UnknownCause::new(text));
        let status = response.status().as_u16();
        let headers: Vec<(String, String)> = response
            .headers()
            .iter()
            .filter_map(|(name, value)| {
                Some((name.as_str().to_owned(), value.to_str().ok()?.to_owned()))
            })
            .collect();
        let mut body = Vec::new();
        loop {
            match response.chunk().await {
                Ok(Some(chunk)) => {
                    if body.len().saturating_add(chunk.len()) > self.max_body_bytes {
                        let bound = self.max_body_bytes;
                        return Err(unknown(format!("the answer is longer than {bound} bytes")));
                    }
                    body.extend_from_slice(&chunk);
                }
                Ok(None) => return Ok(Answer::new(status, headers, body)),
                Err(error) => {
                    let why = causes(&error.without_url());
                    return Err(unknown(format!(
                        "status {status}, then the answer broke off: {why}"
                    )));
                }
            }
        }
    }
}

/// TLS with the ring provider and the bundled roots of the web: nothing is read from the machine, and no early data is sent.
pub(crate) fn tls() -> Result<ClientConfig, BuildError> {
    let roots = RootCertStore {
        roots: webpki_roots::TLS_SERVER_ROOTS.to_vec(),
    };
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| BuildError(error.into()))?
        .with_root_certificates(roots)
        .with_no_client_auth();
    Ok(config)
}

/// Only a failed connect whose request cannot leave any more is "not sent".
///
/// `is_request()` and `is_timeout()` say nothing about what was written. A connection that was reset before the body was asked for
/// sent nothing either, but whether it was met before or after the write is a race: in doubt, too.
fn failure(error: reqwest::Error, gate: Option<&Gate>) -> SendFailure {
    let nothing_leaves = gate.is_none_or(Gate::shut);
    let connect = error.is_connect();
    let why = causes(&error.without_url());
    match (nothing_leaves, gate.and_then(Gate::held)) {
        (true, Some(held)) => SendFailure::NotSent(NotSent::HeldBack(held)),
        (true, None) if connect => not_sent(why),
        (true, None) | (false, _) => SendFailure::Unknown(UnknownCause::new(why)),
    }
}

fn not_sent(why: impl Into<Box<str>>) -> SendFailure {
    SendFailure::NotSent(NotSent::Connect(why.into()))
}

/// An error with its causes, each once.
pub(crate) fn causes(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut next = error.source();
    while let Some(cause) = next {
        let said = cause.to_string();
        if !text.contains(&said) {
            text.push_str(": ");
            text.push_str(&said);
        }
        next = cause.source();
    }
    text
}
