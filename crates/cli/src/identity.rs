//! From what people write to what the journal knows: ids and scopes.

use surefill_core::{AccountId, Alias, ClOrdId, Key, OrderRecord, Scope};
use surefill_store_sqlite::SqliteReader;

use crate::config::Config;
use crate::failure::Failure;

/// Finds an order by its client order id or the venue's spelling of it.
pub(crate) fn order(reader: &SqliteReader, text: &str) -> Result<OrderRecord, Failure> {
    let unknown = || Failure::usage(format!("the journal holds no order {text:?}"));
    let id = match text.parse::<ClOrdId>() {
        Ok(id) => Some(id),
        Err(_) => spelled(reader, text)?,
    };
    reader.order(id.ok_or_else(unknown)?)?.ok_or_else(unknown)
}

/// Every venue's spelling is kept with the attempts, so nothing needs to be read back.
fn spelled(reader: &SqliteReader, text: &str) -> Result<Option<ClOrdId>, Failure> {
    let key = Key::from(text);
    for (alias, _) in reader.bindings()? {
        if let Some(id) = reader.by_key(&alias, &key)? {
            return Ok(Some(id));
        }
    }
    Ok(None)
}

/// Reads a scope. Its account is the venue's name of it, in full or its last part, or what the configuration calls it.
pub(crate) fn scope(
    config: &Config,
    bindings: &[(Alias, AccountId)],
    text: &str,
) -> Result<Scope, Failure> {
    let mut scope: Scope = text
        .parse()
        .map_err(|error: surefill_core::ScopeError| Failure::usage(error.to_string()))?;
    let venue = config
        .venue(&scope.venue)
        .map_err(|failure| Failure::usage(format!("scope {text:?}: {}", failure.text)))?;
    let Some(named) = &scope.account else {
        return Ok(scope);
    };
    let bound = bindings.iter().find(|(alias, _)| *alias == scope.venue);
    let Some((_, bound)) = bound else {
        let text = format!(
            "scope {text:?}: the journal does not know the account of {} yet; recover first, or name the venue alone",
            scope.venue
        );
        return Err(Failure::usage(text));
    };
    let last = bound.as_str().rsplit(':').next();
    let known = named == bound
        || last == Some(named.as_str())
        || venue.account.as_deref() == Some(named.as_str());
    if !known {
        let text = format!(
            "scope {text:?}: {} has no account {named}; it has {bound}",
            scope.venue
        );
        return Err(Failure::usage(text));
    }
    scope.account = Some(bound.clone());
    Ok(scope)
}
