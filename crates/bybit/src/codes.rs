//! What a `retCode` means. Bybit documents texts, not guarantees: the classes are our reading of them.
//!
//! Source: <https://bybit-exchange.github.io/docs/v5/error>, <https://bybit-exchange.github.io/docs/v5/websocket/trade/guideline>.

use std::time::Duration;

/// What a code says about the request that it answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Class {
    /// Taken.
    Ok,
    /// Not placed, and final.
    Reject {
        /// Keys, account or configuration: nothing else will be taken either.
        halts: bool,
    },
    /// The client order id is taken.
    Duplicate,
    /// Refused before trading: the same id may be sent again.
    NotTaken {
        /// How long to wait, where that does not come in a header.
        wait: Option<Duration>,
    },
    /// A cancel or an amend met nothing open. Says nothing about a create.
    NotOpen,
    /// The order is still being processed: a cancel or an amend may be tried again.
    Processing,
    /// Everything else: no information.
    Unknown,
}

/// Too many requests of this account; the header says until when.
pub(crate) const RATE_LIMIT: i64 = 10_006;

/// The trade socket restarts: not taken, and requests in process go on.
pub(crate) const RESTARTING: i64 = 10_019;

/// A socket that is authenticated already.
pub(crate) const REPEATED_AUTH: i64 = 20_001;

/// A parameter is wrong, or the instrument's filters have changed.
pub(crate) const PARAMETER: i64 = 10_001;

/// The class of a code. Not on a list is unknown.
pub(crate) const fn class(code: i64) -> Class {
    match code {
        0 => Class::Ok,

        110_072 | 170_141 | 12_141 | 30_001 | 110_030 => Class::Duplicate,

        10_002 | RATE_LIMIT | 20_003 | RESTARTING | 170_005 | 170_222 => {
            Class::NotTaken { wait: None }
        }
        10_018 => Class::NotTaken {
            wait: Some(Duration::from_secs(600)),
        },
        10_403 => Class::NotTaken {
            wait: Some(Duration::from_secs(1)),
        },

        110_079 | 30_035 => Class::Processing,

        110_001 | 110_008 | 110_010 | 110_064 | 170_139 | 170_142 | 170_143 | 170_144 | 170_190
        | 170_213 | 170_313 => Class::NotOpen,

        // Keys, permission, account, region, route.
        10_003
        | 10_004
        | 10_005
        | 10_007
        | 10_008
        | 10_009
        | 10_010
        | 10_017
        | 10_024
        | 10_027
        | 10_028
        | 10_029
        | 100_028
        | 33_004
        | -2_015
        | 10_404
        | 110_066..=110_069
        | 110_088
        | 110_123..=110_125
        | 110_132
        | 3_100_197
        | 170_241 => Class::Reject { halts: true },

        // Parameters, price and quantity.
        PARAMETER
        | 110_003
        | 110_120
        | 110_121
        | 170_132..=170_134
        | 170_192..=170_194
        | 170_371
        | 170_372
        | 30_208
        | 30_209 => Class::Reject { halts: false },
        // Funds and margin.
        110_004
        | 110_006
        | 110_007
        | 110_012
        | 110_014
        | 110_044
        | 110_045
        | 110_051..=110_053
        | 170_033
        | 170_131 => Class::Reject { halts: false },
        // Position, number of orders, liquidation, reduce-only, the symbol's state, ids.
        110_005
        | 110_009
        | 110_020
        | 170_810
        | 110_011
        | 110_040
        | 110_046
        | 110_017
        | 110_021..=110_023
        | 110_042
        | 110_063
        | 110_074
        | 30_228
        | 110_032
        | 110_018
        | 110_019 => Class::Reject { halts: false },
        // TP/SL, risk limit, leverage, triggers, floors, auctions, thin book, RPI.
        110_057..=110_061
        | 110_085
        | 110_086
        | 110_089
        | 110_090
        | 110_013
        | 3_400_139
        | 110_092..=110_095
        | 110_098
        | 110_099
        | 110_103
        | 170_140
        | 170_136
        | 110_118
        | 110_119
        | 170_355 => Class::Reject { halts: false },
        // Spot: fields, symbol, features.
        170_115..=170_117
        | 170_121
        | 170_124
        | 170_130
        | 170_137
        | 170_148
        | 170_381
        | 170_382
        | 170_201
        | 170_151
        | 170_157
        | 170_159
        | 170_206
        | 170_209
        | 170_210
        | 170_217
        | 170_218
        | 170_224
        | 170_227..=170_229
        | 170_344 => Class::Reject { halts: false },

        // Among them 10000, 10014, 10016, 429, 170007, 170146: documented, and proving nothing.
        _ => Class::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_documented_as_doubt_is_doubt() {
        for code in [
            10_000, 10_016, 429, 10_429, 10_014, -1, 5_004, 3_400_214, 40_004, 170_001, 170_007,
            170_032, 170_035, 170_146, 170_149, 170_234, 170_147, 170_150, 170_191, 170_212,
            170_310, 170_311, 20_006, 1, 200, 403, 987_654,
        ] {
            assert_eq!(class(code), Class::Unknown, "{code}");
        }
    }
}
