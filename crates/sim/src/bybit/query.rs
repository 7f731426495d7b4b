//! The query of a read: filters, windows and cursors.

use super::reply::Code;
use crate::core::Instrument;

const WEEK_MS: u64 = 7 * 24 * 3_600_000;
const CATEGORIES: [&str; 4] = ["linear", "inverse", "spot", "option"];

/// Names and values of a query.
pub(super) struct Query(pub(super) Vec<(String, String)>);

impl Query {
    /// A parameter that is not empty.
    pub(super) fn get(&self, name: &str) -> Option<&str> {
        let found = self.0.iter().find(|(other, _)| other == name);
        found
            .map(|(_, value)| value.as_str())
            .filter(|value| !value.is_empty())
    }

    pub(super) fn whole(&self, name: &str) -> Result<Option<u64>, Code> {
        let read = |text: &str| {
            text.parse()
                .map_err(|_| Code::param(&format!("{name} invalid")))
        };
        self.get(name).map(read).transpose()
    }

    pub(super) fn category(&self) -> Result<&str, Code> {
        let category = self
            .get("category")
            .ok_or_else(|| Code::param("category is required"))?;
        if CATEGORIES.contains(&category) {
            Ok(category)
        } else {
            Err(Code::param("category invalid"))
        }
    }

    pub(super) fn limit(&self, default: u64, most: u64) -> Result<usize, Code> {
        let limit = self.whole("limit")?.unwrap_or(default);
        let fits = (1..=most).contains(&limit);
        fits.then(|| usize::try_from(limit).ok())
            .flatten()
            .ok_or_else(|| Code::param("limit invalid"))
    }

    /// Whether the symbol, or else the base, or else the settle coin, fits; all of them if none is given.
    pub(super) fn fits(&self, instrument: &Instrument) -> bool {
        match (
            self.get("symbol"),
            self.get("baseCoin"),
            self.get("settleCoin"),
        ) {
            (Some(symbol), _, _) => instrument.symbol == symbol,
            (None, Some(base), _) => instrument.base == base,
            (None, None, Some(settle)) => instrument.money() == settle,
            (None, None, None) => true,
        }
    }

    pub(super) fn has_scope(&self) -> bool {
        ["symbol", "baseCoin", "settleCoin"]
            .into_iter()
            .any(|name| self.get(name).is_some())
    }

    pub(super) fn by_id(&self) -> bool {
        self.get("orderId").is_some() || self.get("orderLinkId").is_some()
    }

    /// The number in a cursor of ours. Clients send it as it came or encoded once more: both are in use.
    pub(super) fn cursor(&self) -> Result<Option<u64>, Code> {
        let Some(sent) = self.get("cursor") else {
            return Ok(None);
        };
        let text = sent
            .replace("%3A", ":")
            .replace("%2C", ",")
            .replace("%3D", "=")
            .replace("%26", "&");
        let last = text.rsplit([',', '=']).next().unwrap_or_default();
        let digits = last.split([':', '&']).next().unwrap_or_default();
        let number = digits.rsplit('-').next().unwrap_or_default();
        // An order of spot has 19 digits, of which the last twelve count.
        let number = match number.len() {
            19 => number.get(7..).unwrap_or_default(),
            _ => number,
        };
        let radix = if digits.contains('-') { 16 } else { 10 };
        u64::from_str_radix(number, radix)
            .map(Some)
            .map_err(|_| Code::param("cursor invalid"))
    }

    /// From and to: the last seven days, or seven days from the one that is given.
    pub(super) fn window(&self, now_ms: u64) -> Result<(u64, u64), Code> {
        match (self.whole("startTime")?, self.whole("endTime")?) {
            (None, None) => Ok((now_ms.saturating_sub(WEEK_MS), u64::MAX)),
            (Some(start), None) => Ok((start, start.saturating_add(WEEK_MS))),
            (None, Some(end)) => Ok((end.saturating_sub(WEEK_MS), end)),
            (Some(start), Some(end)) if start <= end && end.saturating_sub(start) <= WEEK_MS => {
                Ok((start, end))
            }
            (Some(_), Some(_)) => Err(Code::param(
                "startTime and endTime are at most 7 days apart",
            )),
        }
    }
}
