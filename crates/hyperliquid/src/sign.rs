//! From an action to a signed request. Pure: time and nonce are arguments.
//!
//! Source: `utils/signing.py` of hyperliquid-python-sdk 0.24.0. A wrong hash is not reported as such: the venue recovers some other
//! address and says that it does not exist.

use serde::Serialize;
use surefill_evm::{
    Address, Digest, Domain, Hash, KeyError, SecretKey, Signature, StructType, TypeError, Value,
    digest, keccak256,
};

/// Which network a signature is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// Mainnet.
    Mainnet,
    /// Testnet, and simulated venues.
    Testnet,
}

impl Source {
    /// The word that is signed.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Mainnet => "a",
            Self::Testnet => "b",
        }
    }
}

/// Something that cannot be signed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SignError {
    /// An action that cannot be packed or written.
    #[error("the action cannot be written: {0}")]
    Action(String),
    /// A field of typed data that does not fit.
    #[error(transparent)]
    Type(#[from] TypeError),
    /// The key.
    #[error(transparent)]
    Key(#[from] KeyError),
}

/// What is hashed with an action.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Terms {
    /// The nonce, milliseconds.
    pub nonce: u64,
    /// The vault or sub-account that is traded for.
    pub vault: Option<Address>,
    /// When the venue stops taking it, milliseconds.
    pub expires_after: Option<u64>,
}

/// The action as MessagePack: maps with their keys in order, integers as short as they go, nothing where there is nothing.
///
/// # Errors
/// [`SignError::Action`].
pub fn msgpack(action: &impl Serialize) -> Result<Vec<u8>, SignError> {
    rmp_serde::to_vec_named(action).map_err(|error| SignError::Action(error.to_string()))
}

/// What is hashed: the packed action, the nonce, the vault, the expiry.
pub fn preimage(packed: &[u8], terms: &Terms) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(packed.len() + 40);
    bytes.extend(packed);
    bytes.extend(terms.nonce.to_be_bytes());
    match terms.vault {
        None => bytes.push(0),
        Some(vault) => {
            bytes.push(1);
            bytes.extend(vault.as_bytes());
        }
    }
    if let Some(expires_after) = terms.expires_after {
        bytes.push(0);
        bytes.extend(expires_after.to_be_bytes());
    }
    bytes
}

/// The hash that names the action.
pub fn connection_id(preimage: &[u8]) -> Hash {
    keccak256(preimage)
}

/// The domain of actions: the same chain id on both networks.
pub fn domain() -> Domain {
    Domain {
        name: "Exchange".to_owned(),
        version: "1".to_owned(),
        chain_id: 1337,
        verifying_contract: Some(Address::ZERO),
    }
}

/// The separator of [`domain`].
pub const SEPARATOR: Hash = [
    0xd7, 0x92, 0x97, 0xfc, 0xdf, 0x2f, 0xfc, 0xd4, 0xae, 0x22, 0x3d, 0x01, 0xed, 0xaa, 0x2b, 0xa2,
    0x14, 0xff, 0x8f, 0x40, 0x1d, 0x7c, 0x93, 0x00, 0xd9, 0x95, 0xd1, 0x7c, 0x82, 0xaa, 0x40, 0x40,
];

/// The hash of the struct that is signed for an action.
///
/// # Errors
/// None that has been seen: the type is ours.
pub fn agent_hash(source: Source, connection_id: &Hash) -> Result<Hash, SignError> {
    let fields = [("string", "source"), ("bytes32", "connectionId")];
    let agent = StructType::new("Agent", &fields)?;
    Ok(agent.hash(&[Value::Text(source.as_str()), Value::Word(*connection_id)])?)
}

/// The digest that is signed for an action.
///
/// # Errors
/// [`SignError`].
pub fn l1_digest(
    action: &impl Serialize,
    terms: &Terms,
    source: Source,
) -> Result<Digest, SignError> {
    let connection_id = connection_id(&preimage(&msgpack(action)?, terms));
    Ok(digest(&SEPARATOR, &agent_hash(source, &connection_id)?))
}

/// The body of a signed request, byte for byte as it is posted.
///
/// # Errors
/// [`SignError`].
pub fn signed_body(
    key: &SecretKey,
    source: Source,
    action: &impl Serialize,
    terms: &Terms,
) -> Result<String, SignError> {
    let signature = key.sign(&l1_digest(action, terms, source)?)?;
    let body = Body {
        action,
        nonce: terms.nonce,
        signature: posted(&signature),
        vault_address: terms.vault.map(|vault| vault.to_string()),
        expires_after: terms.expires_after,
    };
    serde_json::to_string(&body).map_err(|error| SignError::Action(error.to_string()))
}

/// The domain of what only the master key signs: transfers, withdrawals, approvals of agents. `chain_id` is any chain; it goes with the
/// action as `signatureChainId`.
pub fn user_domain(chain_id: u64) -> Domain {
    Domain {
        name: "HyperliquidSignTransaction".to_owned(),
        version: "1".to_owned(),
        chain_id,
        verifying_contract: Some(Address::ZERO),
    }
}

/// The name of the struct that is signed for an action of the master key; `None` for an action that is not known.
pub fn user_primary_type(action: &str) -> Option<&'static str> {
    match action {
        "usdSend" => Some("HyperliquidTransaction:UsdSend"),
        "spotSend" => Some("HyperliquidTransaction:SpotSend"),
        "withdraw3" => Some("HyperliquidTransaction:Withdraw"),
        "usdClassTransfer" => Some("HyperliquidTransaction:UsdClassTransfer"),
        "sendAsset" => Some("HyperliquidTransaction:SendAsset"),
        "approveAgent" => Some("HyperliquidTransaction:ApproveAgent"),
        "approveBuilderFee" => Some("HyperliquidTransaction:ApproveBuilderFee"),
        _ => None,
    }
}

/// The hash of the struct that the master key signs; the colon in `primary_type` belongs to its name.
///
/// # Errors
/// [`SignError::Type`].
pub fn user_hash(
    primary_type: &str,
    fields: &[(&str, &str)],
    values: &[Value<'_>],
) -> Result<Hash, SignError> {
    Ok(StructType::new(primary_type, fields)?.hash(values)?)
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Body<'a, A: Serialize> {
    action: &'a A,
    nonce: u64,
    signature: Posted,
    vault_address: Option<String>,
    expires_after: Option<u64>,
}

/// A signature as it is posted, with all digits.
#[derive(Clone, Debug, Serialize)]
struct Posted {
    r: String,
    s: String,
    v: u8,
}

fn posted(signature: &Signature) -> Posted {
    Posted {
        r: format!("0x{}", hex::encode(signature.r)),
        s: format!("0x{}", hex::encode(signature.s)),
        v: signature.v,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_separator_is_that_of_the_domain() {
        assert_eq!(SEPARATOR, domain().separator());
    }
}
