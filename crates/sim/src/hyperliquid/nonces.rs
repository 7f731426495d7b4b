//! The nonces of one signer.

use std::collections::BTreeSet;

const DAY_MS: u64 = 86_400_000;

/// The rule, as it stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct NonceRule {
    /// How many of the highest bound a new one from below.
    pub(super) keep: usize,
    /// How far inside the documented window the bounds lie.
    pub(super) margin_ms: u64,
    /// Whether one that fell below the highest is forgotten, and then is too low instead of a duplicate.
    pub(super) forgets: bool,
}

/// Those that were admitted and still lie within the time window.
#[derive(Debug, Default)]
pub(super) struct Nonces(BTreeSet<u64>);

impl Nonces {
    /// Why a nonce is not admitted, in the venue's words.
    pub(super) fn refusal(&self, nonce: u64, now_ms: u64, rule: NonceRule) -> Option<String> {
        let oldest = now_ms
            .saturating_sub(2 * DAY_MS)
            .saturating_add(rule.margin_ms);
        let newest = now_ms.saturating_add(DAY_MS).saturating_sub(rule.margin_ms);
        if nonce <= oldest {
            return Some(format!("Invalid nonce: nonce too low {nonce} < {oldest}"));
        }
        if nonce >= newest {
            return Some(format!("Invalid nonce: nonce too high {nonce} > {newest}"));
        }
        let floor = rule
            .keep
            .checked_sub(1)
            .and_then(|last| self.0.iter().nth_back(last));
        let below = floor.filter(|floor| nonce < **floor);
        if self.0.contains(&nonce) && !(rule.forgets && below.is_some()) {
            return Some(format!("Invalid nonce: duplicate nonce {nonce}"));
        }
        below.map(|floor| format!("Invalid nonce: nonce too low {nonce} < {floor}"))
    }

    /// Admits one. Those that time has refused need no memory.
    pub(super) fn admit(&mut self, nonce: u64, now_ms: u64) {
        let oldest = now_ms.saturating_sub(2 * DAY_MS);
        self.0 = self.0.split_off(&oldest);
        self.0.insert(nonce);
    }
}
