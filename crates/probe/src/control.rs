//! The control port of a simulated venue.

use std::fmt::Debug;

use async_trait::async_trait;
use serde_json::Value;
use surefill_transport::{HttpClient, HttpConfig, Method, Request};

use crate::ProbeError;

/// The control port of a simulated venue.
#[async_trait]
pub trait SimControl: Debug + Send + Sync {
    /// Asks it. `target` is what follows `/_sim`; a null body is none.
    ///
    /// # Errors
    /// What it refused, or why it did not answer.
    async fn call(&self, method: &str, target: &str, body: &Value) -> Result<Value, String>;
}

/// The control port over HTTP.
#[derive(Clone, Debug)]
pub struct HttpControl {
    http: HttpClient,
    base: String,
}

impl HttpControl {
    /// The control port at `base`, such as `http://127.0.0.1:7001/_sim`.
    ///
    /// # Errors
    /// [`ProbeError::Control`] when the HTTP client cannot be built.
    pub fn new(base: &str) -> Result<Self, ProbeError> {
        let http = HttpClient::new(HttpConfig::default());
        let http = http.map_err(|error| ProbeError::Control(error.to_string()))?;
        let base = base.trim_end_matches('/').to_owned();
        Ok(Self { http, base })
    }
}

#[async_trait]
impl SimControl for HttpControl {
    async fn call(&self, method: &str, target: &str, body: &Value) -> Result<Value, String> {
        let method = match method {
            "GET" => Method::Get,
            "POST" => Method::Post,
            "DELETE" => Method::Delete,
            other => return Err(format!("no {other} here")),
        };
        let mut request = Request::new(method, format!("{}{target}", self.base));
        if !body.is_null() {
            request = request
                .header("Content-Type", "application/json")
                .body(body.to_string());
        }
        let answer = self.http.send(request, None).await;
        let answer = answer.map_err(|error| error.to_string())?;
        let text = String::from_utf8_lossy(answer.body());
        if answer.status() != 200 {
            return Err(format!("{target}: {} {text}", answer.status()));
        }
        serde_json::from_str(&text).map_err(|error| format!("{target}: {error}"))
    }
}
