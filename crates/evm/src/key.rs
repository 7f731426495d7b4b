//! A secp256k1 key and its signatures.

use std::fmt;

use ethers_core::k256::ecdsa::{RecoveryId, Signature as EcdsaSignature, SigningKey, VerifyingKey};
use zeroize::Zeroizing;

use crate::{Address, Digest, keccak256};

/// A private key. It is wiped from memory when dropped, and no `Debug` shows it.
#[derive(Clone)]
pub struct SecretKey {
    inner: SigningKey,
    address: Address,
}

/// A key that cannot be used. It never shows the key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum KeyError {
    /// Not hex digits.
    #[error("the private key is not hex")]
    NotHex,
    /// Not 32 bytes.
    #[error("the private key has {0} bytes, and a key has 32")]
    Length(usize),
    /// Zero, or not below the order of the curve.
    #[error("the private key is zero, or not below the order of secp256k1")]
    OutOfRange,
    /// The key has no signature for what was to be signed. It has not been seen to happen.
    #[error("the digest could not be signed")]
    Signing,
}

impl SecretKey {
    /// The key of these 32 bytes.
    ///
    /// # Errors
    /// [`KeyError`].
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, KeyError> {
        if bytes.len() != 32 {
            return Err(KeyError::Length(bytes.len()));
        }
        let inner = SigningKey::from_slice(bytes).map_err(|_| KeyError::OutOfRange)?;
        let address = address_of(inner.verifying_key());
        Ok(Self { inner, address })
    }

    /// The key of 64 hex digits, with or without `0x`.
    ///
    /// # Errors
    /// [`KeyError`].
    pub fn from_hex(text: &str) -> Result<Self, KeyError> {
        let text = text.trim();
        let digits = text.strip_prefix("0x").unwrap_or(text);
        let bytes = Zeroizing::new(hex::decode(digits).map_err(|_| KeyError::NotHex)?);
        Self::from_bytes(&bytes)
    }

    /// The address of the key.
    pub const fn address(&self) -> Address {
        self.address
    }

    /// Signs a digest: the nonce by RFC 6979, so equal digests have equal signatures, and `s` in the lower half.
    ///
    /// # Errors
    /// [`KeyError::Signing`].
    pub fn sign(&self, digest: &Digest) -> Result<Signature, KeyError> {
        let signed = self.inner.sign_prehash_recoverable(digest.as_bytes());
        let (signature, recovery) = signed.map_err(|_| KeyError::Signing)?;
        // A recovery id of 2 or 3 has no `v`; it takes an `r` beyond the order of the curve, which nobody has seen.
        if recovery.is_x_reduced() {
            return Err(KeyError::Signing);
        }
        let (r, s) = signature.split_bytes();
        Ok(Signature {
            r: r.into(),
            s: s.into(),
            v: if recovery.is_y_odd() { 28 } else { 27 },
        })
    }
}

impl fmt::Debug for SecretKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SecretKey")
            .field("address", &self.address)
            .field("secret", &"[redacted]")
            .finish()
    }
}

/// A signature over a digest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Signature {
    /// The first half, big endian.
    pub r: [u8; 32],
    /// The second half, big endian.
    pub s: [u8; 32],
    /// 27 or 28.
    pub v: u8,
}

/// A signature from which nothing can be recovered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no signer can be recovered from the signature")]
pub struct SignatureError;

impl Signature {
    /// `r`, `s`, `v`: 65 bytes.
    pub fn to_bytes(self) -> [u8; 65] {
        let mut all = [0; 65];
        let parts = self.r.iter().chain(&self.s).chain([&self.v]);
        for (to, from) in all.iter_mut().zip(parts) {
            *to = *from;
        }
        all
    }

    /// Who signed the digest.
    ///
    /// # Errors
    /// [`SignatureError`].
    pub fn recover(&self, digest: &Digest) -> Result<Address, SignatureError> {
        let odd = match self.v {
            27 => false,
            28 => true,
            _ => return Err(SignatureError),
        };
        let signature = EcdsaSignature::from_scalars(self.r, self.s).map_err(|_| SignatureError)?;
        let recovery = RecoveryId::new(odd, false);
        let key = VerifyingKey::recover_from_prehash(digest.as_bytes(), &signature, recovery)
            .map_err(|_| SignatureError)?;
        Ok(address_of(&key))
    }
}

/// The last 20 bytes of the hash of the public point.
fn address_of(key: &VerifyingKey) -> Address {
    let point = key.to_encoded_point(false);
    // The first byte says that the point is not compressed.
    let hash = keccak256(point.as_bytes().get(1..).unwrap_or_default());
    let mut bytes = [0; 20];
    for (to, from) in bytes.iter_mut().zip(hash.iter().skip(12)) {
        *to = *from;
    }
    Address::from_bytes(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: &str = "0x0123456789012345678901234567890123456789012345678901234567890123";

    #[test]
    fn what_is_no_key_is_refused_and_never_shown() {
        let long = format!("{KEY}ab");
        for (text, error) in [
            ("", KeyError::Length(0)),
            ("0x0123", KeyError::Length(2)),
            (long.as_str(), KeyError::Length(33)),
            ("not hex", KeyError::NotHex),
            (&"00".repeat(32), KeyError::OutOfRange),
            (&"ff".repeat(32), KeyError::OutOfRange),
        ] {
            assert_eq!(SecretKey::from_hex(text).expect_err("no key"), error);
        }
    }

    #[test]
    fn debug_shows_the_address_only() {
        let key = SecretKey::from_hex(KEY).expect("a key");
        let shown = format!("{key:?}");
        assert!(shown.contains("0x14791697260e4c9a71f18484c9f997b308e59325"));
        assert!(!shown.contains("0123456789012345678901"), "{shown}");
    }

    #[test]
    fn a_signature_with_another_v_recovers_nothing() {
        let key = SecretKey::from_hex(KEY).expect("a key");
        let digest = Digest::from_bytes(keccak256("x"));
        let signature = key.sign(&digest).expect("signed");
        assert_eq!(signature.recover(&digest), Ok(key.address()));
        for v in [0, 1, 26, 29] {
            assert_eq!(
                Signature { v, ..signature }.recover(&digest),
                Err(SignatureError)
            );
        }
    }
}
