//! `POST /exchange`: the envelope, and who signed it.

use serde::Deserialize;

use super::{
    action::Action,
    address::Address,
    hash::{self, Word},
    user_signed::UserSigned,
};

/// The domain of the actions that agents may sign.
const L1_DOMAIN: (&str, u64) = ("Exchange", 1_337);
const USER_DOMAIN: &str = "HyperliquidSignTransaction";

/// A body that deserialized.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct Envelope {
    pub(super) action: Action,
    pub(super) nonce: u64,
    signature: Signature,
    pub(super) vault_address: Option<Address>,
    pub(super) expires_after: Option<u64>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Signature {
    r: String,
    s: String,
    v: u64,
}

impl Envelope {
    /// Reads the first JSON value of a body; what follows it is ignored, as the venue does.
    pub(super) fn read(body: &[u8]) -> Result<Self, serde_json::Error> {
        Self::deserialize(&mut serde_json::Deserializer::from_slice(body))
    }

    /// Whose key signed it for this network; none if there is no such key.
    pub(super) fn signer(&self, mainnet: bool) -> Option<Address> {
        let hashed = hashed(
            &self.action,
            self.nonce,
            self.vault_address,
            self.expires_after,
            mainnet,
        )?;
        hash::recover(
            &hashed.digest,
            &self.signature.r,
            &self.signature.s,
            self.signature.v,
        )
    }
}

/// What an action hashes to, step by step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hashed {
    /// MessagePack of the action; empty for an action that users sign by its fields.
    pub packed: Vec<u8>,
    /// What `connection_id` is the hash of; empty likewise.
    pub preimage: Vec<u8>,
    /// The action's hash; zero likewise.
    pub connection_id: [u8; 32],
    /// Hash of the EIP-712 domain.
    pub domain_separator: [u8; 32],
    /// Hash of the EIP-712 message.
    pub struct_hash: [u8; 32],
    /// What is signed.
    pub digest: [u8; 32],
}

fn hashed(
    action: &Action,
    nonce: u64,
    vault: Option<Address>,
    expires_after: Option<u64>,
    mainnet: bool,
) -> Option<Hashed> {
    let Some(pack) = action.pack() else {
        let signed = UserSigned::of(action)?;
        let domain_separator = hash::domain_separator(USER_DOMAIN, signed.chain.id);
        return Some(Hashed {
            packed: Vec::new(),
            preimage: Vec::new(),
            connection_id: [0; 32],
            domain_separator,
            struct_hash: signed.struct_hash,
            digest: hash::digest(&domain_separator, &signed.struct_hash),
        });
    };
    let packed = pack.bytes();
    let mut preimage = packed.clone();
    preimage.extend_from_slice(&nonce.to_be_bytes());
    match vault {
        None => preimage.push(0),
        Some(Address(bytes)) => {
            preimage.push(1);
            preimage.extend_from_slice(&bytes);
        }
    }
    if let Some(expires_after) = expires_after {
        preimage.push(0);
        preimage.extend_from_slice(&expires_after.to_be_bytes());
    }
    let connection_id: Word = hash::keccak(&[&preimage]);
    let source = if mainnet { "a" } else { "b" };
    let struct_hash = hash::struct_hash(
        "Agent(string source,bytes32 connectionId)",
        &[hash::text_word(source), connection_id],
    );
    let domain_separator = hash::domain_separator(L1_DOMAIN.0, L1_DOMAIN.1);
    Some(Hashed {
        packed,
        preimage,
        connection_id,
        domain_separator,
        struct_hash,
        digest: hash::digest(&domain_separator, &struct_hash),
    })
}

/// What the venue hashes for an action given as JSON; none if it does not deserialize. For tests of clients: a
/// simulated venue hashes for the testnet.
#[must_use]
pub fn hash_action(
    action: &str,
    nonce: u64,
    vault: Option<&str>,
    expires_after: Option<u64>,
    mainnet: bool,
) -> Option<Hashed> {
    let vault = match vault {
        None => None,
        Some(text) => Some(Address::read(text)?),
    };
    let action = serde_json::from_str::<Action>(action).ok()?;
    hashed(&action, nonce, vault, expires_after, mainnet)
}

/// The address in lower case whose key made this signature of a digest; none if it is no signature.
#[must_use]
pub fn recover_signer(digest: &[u8; 32], r: &str, s: &str, v: u64) -> Option<String> {
    hash::recover(digest, r, s, v).map(|address| address.to_string())
}
