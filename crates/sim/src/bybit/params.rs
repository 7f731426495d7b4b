//! Parameters of an order request, read as strictly as the notes say.

use rust_decimal::Decimal;
use serde_json::{Map, Value};

use super::reply::Code;
use crate::core::{Core, Instrument, Refusal};

/// The object in the body of a POST.
#[derive(Debug, Default)]
pub(super) struct Params(Map<String, Value>);

impl Params {
    pub(super) fn read(body: &[u8]) -> Result<Self, Code> {
        match serde_json::from_slice(body) {
            Ok(Value::Object(map)) => Ok(Self(map)),
            Ok(_) | Err(_) => Err(Code::param("the body is no JSON object")),
        }
    }

    /// The objects of a batch, each with the category that stands outside of them.
    pub(super) fn items(&self, most: usize) -> Result<Vec<Self>, Code> {
        let category = self.needed("category")?;
        let Some(Value::Array(items)) = self.0.get("request") else {
            return Err(Code::param("request is required"));
        };
        if items.is_empty() || items.len() > most {
            return Err(Code::param("request has too few or too many orders"));
        }
        let item = |item: &Value| match item {
            Value::Object(item) => {
                let mut item = item.clone();
                item.insert("category".to_owned(), Value::from(category));
                Ok(Self(item))
            }
            Value::Null
            | Value::Bool(_)
            | Value::Number(_)
            | Value::String(_)
            | Value::Array(_) => Err(Code::param("request holds what is no order")),
        };
        items.iter().map(item).collect()
    }

    /// A text as it was sent, whatever it is worth.
    pub(super) fn echo(&self, name: &str) -> String {
        self.text(name)
            .ok()
            .flatten()
            .unwrap_or_default()
            .to_owned()
    }

    /// A text that is not empty. Numbers of money and size are texts too.
    pub(super) fn text(&self, name: &str) -> Result<Option<&str>, Code> {
        match self.0.get(name) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) => Ok(Some(text.as_str()).filter(|text| !text.is_empty())),
            Some(Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_)) => {
                Err(Code::param(&format!("{name} must be a string")))
            }
        }
    }

    /// A text that must be there.
    pub(super) fn needed(&self, name: &str) -> Result<&str, Code> {
        self.text(name)?
            .ok_or_else(|| Code::param(&format!("{name} is required")))
    }

    /// A JSON boolean; false if absent.
    pub(super) fn flag(&self, name: &str) -> Result<bool, Code> {
        match self.0.get(name) {
            None | Some(Value::Null) => Ok(false),
            Some(Value::Bool(flag)) => Ok(*flag),
            Some(Value::String(_) | Value::Number(_) | Value::Array(_) | Value::Object(_)) => {
                Err(Code::param(&format!("{name} must be a boolean")))
            }
        }
    }

    /// A JSON integer.
    pub(super) fn integer(&self, name: &str) -> Result<Option<i64>, Code> {
        match self.0.get(name) {
            None | Some(Value::Null) => Ok(None),
            Some(value) => value
                .as_i64()
                .map(Some)
                .ok_or_else(|| Code::param(&format!("{name} must be an integer"))),
        }
    }

    /// A plain decimal: digits, at most one point, no sign, no exponent.
    pub(super) fn decimal(&self, name: &str) -> Result<Option<Decimal>, Code> {
        let Some(text) = self.text(name)? else {
            return Ok(None);
        };
        let plain = text
            .bytes()
            .all(|byte| byte.is_ascii_digit() || byte == b'.')
            && text.starts_with(|first: char| first.is_ascii_digit())
            && text.ends_with(|last: char| last.is_ascii_digit());
        let number = plain.then(|| text.parse::<Decimal>().ok()).flatten();
        number
            .map(Some)
            .ok_or_else(|| Code::param(&format!("{name} is no plain decimal")))
    }

    /// Whether a field holds this text.
    pub(super) fn is(&self, name: &str, text: &str) -> bool {
        self.text(name) == Ok(Some(text))
    }

    /// Names of fields that hold something.
    pub(super) fn holds(&self, name: &str) -> bool {
        !matches!(self.0.get(name), None | Some(Value::Null)) && self.text(name) != Ok(None)
    }

    /// The category, which must be one that is simulated.
    pub(super) fn category(&self) -> Result<&str, Code> {
        match self.needed("category")? {
            category @ ("linear" | "inverse" | "spot") => Ok(category),
            "option" => Err(Code::new(10_001, "Not supported symbols")),
            _ => Err(Code::param("category invalid")),
        }
    }

    /// The instrument that category and symbol name.
    pub(super) fn instrument<'a>(&self, core: &'a Core) -> Result<&'a Instrument, Code> {
        let category = self.category()?;
        let symbol = self.needed("symbol")?;
        let found = core.instruments().get(&format!("{category}/{symbol}"));
        found.ok_or_else(|| match category {
            "spot" => Code::spot(Refusal::UnknownInstrument),
            _ => Code::param(&format!("symbol invalid {symbol}")),
        })
    }
}
