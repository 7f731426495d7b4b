#![doc = include_str!("../README.md")]

mod address;
mod key;
mod typed;

pub use address::{Address, AddressError};
pub use key::{KeyError, SecretKey, Signature, SignatureError};
pub use typed::{Digest, Domain, StructType, TypeError, Value, digest};

/// A hash of 32 bytes.
pub type Hash = [u8; 32];

/// Keccak-256, the hash of Ethereum (not SHA-3).
pub fn keccak256(bytes: impl AsRef<[u8]>) -> Hash {
    ethers_core::utils::keccak256(bytes)
}
