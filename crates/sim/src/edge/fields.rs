//! Fields of a control request: each is taken by name, and what is left is named and refused.

use rust_decimal::Decimal;
use serde_json::{Map, Value};

/// A refused control request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Wrong {
    pub(crate) status: u16,
    pub(crate) text: String,
}

impl Wrong {
    /// 400, with what is wrong.
    pub(crate) fn new(text: impl Into<String>) -> Self {
        Self {
            status: 400,
            text: text.into(),
        }
    }

    /// An unknown or unfit value of a field.
    pub(crate) fn value(name: &str, value: &Value) -> Self {
        Self::new(format!("field `{name}`: unknown value {value}"))
    }

    /// A field that must be there.
    pub(crate) fn missing(name: &str) -> Self {
        Self::new(format!("field `{name}` is missing"))
    }
}

/// The object that a control request carries.
#[derive(Debug)]
pub(crate) struct Fields(Map<String, Value>);

impl Fields {
    /// Reads a body; an empty one is an empty object.
    pub(crate) fn read(body: &[u8]) -> Result<Self, Wrong> {
        if body.iter().all(u8::is_ascii_whitespace) {
            return Ok(Self(Map::new()));
        }
        match serde_json::from_slice(body) {
            Ok(Value::Object(map)) => Ok(Self(map)),
            Ok(other) => Err(Wrong::new(format!(
                "the body must be an object, not {other}"
            ))),
            Err(error) => Err(Wrong::new(format!("the body is no JSON: {error}"))),
        }
    }

    /// Takes whatever the field holds; null is as good as absent.
    pub(crate) fn value(&mut self, name: &str) -> Option<Value> {
        self.0.remove(name).filter(|value| !value.is_null())
    }

    /// Takes a text.
    pub(crate) fn text(&mut self, name: &str) -> Result<Option<String>, Wrong> {
        self.value(name).map_or(Ok(None), |value| match value {
            Value::String(text) => Ok(Some(text)),
            other @ (Value::Null
            | Value::Bool(_)
            | Value::Number(_)
            | Value::Array(_)
            | Value::Object(_)) => Err(Wrong::value(name, &other)),
        })
    }

    /// Takes a whole number that is not negative.
    pub(crate) fn whole(&mut self, name: &str) -> Result<Option<u64>, Wrong> {
        self.value(name).map_or(Ok(None), |value| {
            value
                .as_u64()
                .map(Some)
                .ok_or_else(|| Wrong::value(name, &value))
        })
    }

    /// Takes a whole number.
    pub(crate) fn signed(&mut self, name: &str) -> Result<Option<i64>, Wrong> {
        self.value(name).map_or(Ok(None), |value| {
            value
                .as_i64()
                .map(Some)
                .ok_or_else(|| Wrong::value(name, &value))
        })
    }

    /// Takes a decimal, as a string or as a number.
    pub(crate) fn decimal(&mut self, name: &str) -> Result<Option<Decimal>, Wrong> {
        let Some(value) = self.value(name) else {
            return Ok(None);
        };
        let text = match &value {
            Value::String(text) => text.clone(),
            other @ (Value::Null
            | Value::Bool(_)
            | Value::Number(_)
            | Value::Array(_)
            | Value::Object(_)) => other.to_string(),
        };
        text.parse()
            .map(Some)
            .map_err(|_| Wrong::value(name, &value))
    }

    /// Nothing may be left.
    pub(crate) fn done(self) -> Result<(), Wrong> {
        match self.0.keys().next() {
            Some(name) => Err(Wrong::new(format!("unknown field `{name}`"))),
            None => Ok(()),
        }
    }
}
