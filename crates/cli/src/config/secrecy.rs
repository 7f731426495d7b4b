//! What looks like a secret where none belongs.

/// The keys that say where a secret is found. Their values are no secrets.
const PLACES: [&str; 4] = ["key_env", "key_file", "secret_env", "secret_file"];

/// Words that only the name of a secret holds.
const WORDS: [&str; 9] = [
    "key",
    "secret",
    "priv",
    "passw",
    "passphrase",
    "mnemonic",
    "seed",
    "token",
    "credential",
];

/// Whether a key of this name holds a secret.
pub(crate) fn name_is_secret(name: &str) -> bool {
    let name = name.to_lowercase();
    !PLACES.contains(&name.as_str()) && WORDS.iter().any(|word| name.contains(word))
}

/// Whether a key's name may be shown: one that is long and not made of words may be a secret in the wrong place.
pub(crate) fn name_is_shown(name: &str) -> bool {
    name.len() < 20 || (name.len() <= 64 && name.contains(['-', '_', '.', ' ']))
}

/// Whether a text is a private key, or an address with a password in it.
pub(crate) fn value_is_secret(text: &str) -> bool {
    let text = text.trim();
    let digits = text.strip_prefix("0x").unwrap_or(text);
    let is_hex = digits.len() == 64 && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_hex || text.contains("-----BEGIN") || has_userinfo(text)
}

/// `scheme://user:password@host`.
fn has_userinfo(text: &str) -> bool {
    let Some((_, rest)) = text.split_once("://") else {
        return false;
    };
    let authority = rest.split(['/', '?', '#']).next().unwrap_or(rest);
    let user = authority.rsplit_once('@').map(|(user, _)| user);
    user.is_some_and(|user| user.contains(':'))
}

/// Whether a text is the name of an environment variable rather than the secret itself: capitals, digits and underscores, or at least
/// one underscore, as a key has none.
pub(crate) fn is_variable(text: &str) -> bool {
    let mut bytes = text.bytes();
    let first = bytes
        .next()
        .is_some_and(|byte| byte.is_ascii_alphabetic() || byte == b'_');
    let rest = bytes.all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    let words = text.contains('_');
    let short = text.len() <= 16 && !text.bytes().any(|byte| byte.is_ascii_digit());
    first && rest && text.len() <= 64 && (words || short)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_values_of_secrets_are_known() {
        for name in [
            "api_key",
            "apiKey",
            "secret",
            "private_key",
            "password",
            "seed_phrase",
            "KEY",
        ] {
            assert!(name_is_secret(name), "{name}");
        }
        for name in ["key_env", "secret_file", "url", "account", "category"] {
            assert!(!name_is_secret(name), "{name}");
        }
        let hex = "ab".repeat(32);
        for value in [
            hex.as_str(),
            &format!("0x{hex}"),
            "-----BEGIN PRIVATE KEY-----",
            "postgres://me:pw@db/x",
        ] {
            assert!(value_is_secret(value), "{value}");
        }
        for value in [
            "http://127.0.0.1:7001",
            "sqlite:orders.db",
            "postgres://me@db/x",
            "0xabc",
        ] {
            assert!(!value_is_secret(value), "{value}");
        }
    }

    #[test]
    fn a_pasted_key_is_no_name() {
        for name in [
            "url",
            "bybit-main",
            "receive_window_ms",
            "a very long name of a venue",
        ] {
            assert!(name_is_shown(name), "{name}");
        }
        assert!(!name_is_shown("XkT7pQ2mLw9ZrB4cVd1234"));
    }

    #[test]
    fn a_pasted_key_is_no_variable() {
        for name in ["BYBIT_API_KEY", "KEY", "my_key", "_X1"] {
            assert!(is_variable(name), "{name}");
        }
        for name in ["", "1A", "a-b", "XkT7pQ2mLw9ZrB4cVd", "0xabc", "two words"] {
            assert!(!is_variable(name), "{name}");
        }
    }
}
