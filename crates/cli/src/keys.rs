//! Keys: from the environment or from files that only their owner may read, never from the configuration, never shown.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use surefill_bybit::Keys;
use surefill_hyperliquid::Keys as Signer;
use zeroize::Zeroizing;

use crate::config::{VenueConfig, Where};
use crate::failure::{Exit, Failure};
use crate::venue::Settings;

/// The longest key file that is read, bytes.
const LONGEST: u64 = 64 * 1024;

/// Bybit's keys: an HMAC secret, or an RSA key in PEM.
pub(crate) fn bybit(venue: &VenueConfig) -> Result<Keys, Failure> {
    let key = read(venue, venue.key.as_ref(), "key")?;
    let secret = read(venue, venue.secret.as_ref(), "secret")?;
    let made = if secret.contains("-----BEGIN") {
        Keys::rsa(key.as_str(), &secret)
    } else {
        Keys::hmac(key.as_str(), secret.as_str())
    };
    made.map_err(|error| usage(format!("{}: {error}", venue.place)))
}

/// Hyperliquid's: a private key, the account's own or that of an agent, and for whom it signs.
pub(crate) fn hyperliquid(
    venue: &VenueConfig,
    account: Option<&str>,
    vault: Option<&str>,
) -> Result<Signer, Failure> {
    let wrong = |error: &dyn std::error::Error| usage(format!("{}: {error}", venue.place));
    let key = read(venue, venue.key.as_ref(), "key")?;
    let mut keys = Signer::new(&key).map_err(|error| wrong(&error))?;
    if let Some(account) = account {
        keys = keys.for_account(account).map_err(|error| wrong(&error))?;
    }
    if let Some(vault) = vault {
        keys = keys.for_vault(vault).map_err(|error| wrong(&error))?;
    }
    Ok(keys)
}

/// Reads a secret, without what surrounds it.
pub(crate) fn read(
    venue: &VenueConfig,
    place: Option<&Where>,
    what: &str,
) -> Result<Zeroizing<String>, Failure> {
    let Some(place) = place else {
        let text = format!(
            "{}: neither {what}_env nor {what}_file is given",
            venue.place
        );
        return Err(usage(text));
    };
    let found = match place {
        Where::Env(at) => std::env::var(&at.value)
            .map(Zeroizing::new)
            .map_err(|error| {
                let why = match error {
                    std::env::VarError::NotPresent => "is not set",
                    std::env::VarError::NotUnicode(_) => "is not a text",
                };
                (at.line, &at.key, format!("the variable {} {why}", at.value))
            }),
        Where::File(at) => private(&at.value).map_err(|text| (at.line, &at.key, text)),
    };
    let found = found.map_err(|(line, key, text)| {
        usage(format!("{}, line {line}: {key}: {text}", venue.file))
    })?;
    let trimmed = found.trim();
    if trimmed.is_empty() {
        return Err(usage(format!("{}: the {what} is empty", venue.place)));
    }
    Ok(Zeroizing::new(trimmed.to_owned()))
}

/// Reads a file that only its owner may read.
fn private(path: &Path) -> Result<Zeroizing<String>, String> {
    let shown = path.display();
    let cannot = |error: std::io::Error| format!("the file {shown} cannot be read: {error}");
    let file = File::open(path).map_err(cannot)?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        let mode = file.metadata().map_err(cannot)?.mode() & 0o777;
        if mode & 0o077 != 0 {
            return Err(format!(
                "the file {shown} can be read by others (mode {mode:04o}): chmod 600 {shown}"
            ));
        }
    }
    let mut text = Zeroizing::new(String::new());
    match file.take(LONGEST).read_to_string(&mut text) {
        Ok(_) => Ok(text),
        Err(error) => Err(cannot(error)),
    }
}

fn usage(text: String) -> Failure {
    Failure::new(Exit::Usage, text)
}

/// What the keys look like, without showing them.
pub(crate) fn shape(venue: &VenueConfig) -> Result<String, Failure> {
    match &venue.settings {
        Settings::Bybit { .. } => bybit_shape(venue),
        Settings::Hyperliquid { account, vault, .. } => {
            let keys = hyperliquid(venue, account.as_deref(), vault.as_deref())?;
            let at = place(venue.key.as_ref());
            Ok(format!("{at}: a private key, of {}", keys.signer()))
        }
    }
}

fn bybit_shape(venue: &VenueConfig) -> Result<String, Failure> {
    let key = read(venue, venue.key.as_ref(), "key")?;
    let secret = read(venue, venue.secret.as_ref(), "secret")?;
    // Refuses what cannot be a key at all.
    bybit(venue)?;
    let kind = if secret.contains("-----BEGIN") {
        "an RSA key in PEM".to_owned()
    } else {
        format!("a secret of {} characters", secret.chars().count())
    };
    let (key_at, secret_at) = (place(venue.key.as_ref()), place(venue.secret.as_ref()));
    Ok(format!(
        "{key_at}: a key of {} characters; {secret_at}: {kind}",
        key.chars().count()
    ))
}

fn place(at: Option<&Where>) -> String {
    match at {
        Some(Where::Env(at)) => at.value.clone(),
        Some(Where::File(at)) => at.value.display().to_string(),
        None => "-".to_owned(),
    }
}
