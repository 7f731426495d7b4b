//! Keccak, EIP-712, and the address that a signature recovers.

use k256::ecdsa::{RecoveryId, Signature, VerifyingKey};
use sha3::{Digest, Keccak256};

use super::address::Address;

/// Keccak-256 of the parts, one after the other.
pub(super) fn keccak(parts: &[&[u8]]) -> [u8; 32] {
    let mut hasher = Keccak256::new();
    for part in parts {
        hasher.update(part);
    }
    hasher.finalize().into()
}

/// One encoded member of a struct.
pub(super) type Word = [u8; 32];

/// A string member.
pub(super) fn text_word(text: &str) -> Word {
    keccak(&[text.as_bytes()])
}

/// An unsigned member.
pub(super) fn whole_word(number: u64) -> Word {
    padded(&number.to_be_bytes())
}

/// A Boolean member.
pub(super) fn flag_word(flag: bool) -> Word {
    whole_word(u64::from(flag))
}

/// An address member.
pub(super) fn address_word(address: Address) -> Word {
    padded(&address.0)
}

fn padded(bytes: &[u8]) -> Word {
    let mut word = [0_u8; 32];
    let places = word.iter_mut().rev();
    for (place, byte) in places.zip(bytes.iter().rev()) {
        *place = *byte;
    }
    word
}

/// Hash of a struct: its type, then its members.
pub(super) fn struct_hash(signature: &str, members: &[Word]) -> Word {
    let mut bytes = text_word(signature).to_vec();
    for member in members {
        bytes.extend_from_slice(member);
    }
    keccak(&[&bytes])
}

/// Hash of a domain without a contract.
pub(super) fn domain_separator(name: &str, chain_id: u64) -> Word {
    let signature =
        "EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)";
    struct_hash(
        signature,
        &[
            text_word(name),
            text_word("1"),
            whole_word(chain_id),
            [0; 32],
        ],
    )
}

/// What is signed.
pub(super) fn digest(domain: &Word, message: &Word) -> Word {
    keccak(&[&[0x19, 0x01], domain, message])
}

/// The address whose key made this signature; none if it is no signature. Leading zeros may be left out.
pub(super) fn recover(digest: &Word, r: &str, s: &str, v: u64) -> Option<Address> {
    let signature = Signature::from_scalars(scalar(r)?, scalar(s)?).ok()?;
    let id = u8::try_from(v.checked_sub(27)?).ok().filter(|id| *id < 2)?;
    let id = RecoveryId::from_byte(id)?;
    let key = VerifyingKey::recover_from_prehash(digest, &signature, id).ok()?;
    let point = key.to_sec1_point(false);
    let hash = keccak(&[point.as_bytes().get(1..)?]);
    let address = hash.get(12..)?.try_into().ok()?;
    Some(Address(address))
}

fn scalar(text: &str) -> Option<Word> {
    let digits = text.strip_prefix("0x")?;
    if digits.is_empty() || digits.len() > 64 {
        return None;
    }
    let mut word = [0_u8; 32];
    hex::decode_to_slice(format!("{digits:0>64}"), &mut word).ok()?;
    Some(word)
}
