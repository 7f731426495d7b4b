//! Typed data (EIP-712): domains, flat structs, and the digest that is signed.
//!
//! Source: <https://eips.ethereum.org/EIPS/eip-712>.

use std::fmt::Write;

use ethers_core::types::U256;
use ethers_core::types::transaction::eip712::EIP712Domain;

use crate::{Address, Hash, keccak256};

/// Where a signature counts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Domain {
    /// The protocol.
    pub name: String,
    /// Its version.
    pub version: String,
    /// The chain.
    pub chain_id: u64,
    /// The contract that checks the signature; `None` where the domain names none.
    pub verifying_contract: Option<Address>,
}

impl Domain {
    /// The hash of the domain.
    pub fn separator(&self) -> Hash {
        let contract = self.verifying_contract;
        EIP712Domain {
            name: Some(self.name.clone()),
            version: Some(self.version.clone()),
            chain_id: Some(U256::from(self.chain_id)),
            verifying_contract: contract.map(|address| (*address.as_bytes()).into()),
            salt: None,
        }
        .separator()
    }
}

/// The 32 bytes that are signed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Digest(Hash);

impl Digest {
    /// A digest that was made elsewhere.
    pub const fn from_bytes(bytes: Hash) -> Self {
        Self(bytes)
    }

    /// Its bytes.
    pub const fn as_bytes(&self) -> &Hash {
        &self.0
    }
}

/// The digest of a struct in a domain, from the hashes of both.
pub fn digest(separator: &Hash, struct_hash: &Hash) -> Digest {
    let mut bytes = [0; 66];
    let parts = [0x19, 0x01];
    let parts = parts.iter().chain(separator).chain(struct_hash);
    for (to, from) in bytes.iter_mut().zip(parts) {
        *to = *from;
    }
    Digest(keccak256(bytes))
}

/// A value of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Value<'a> {
    /// `string`.
    Text(&'a str),
    /// `bytes`, or `bytes1` to `bytes32`.
    Bytes(&'a [u8]),
    /// `bool`.
    Bool(bool),
    /// `address`.
    Address(Address),
    /// `uint8` to `uint256`, or an `int` that is not negative.
    Uint(u128),
    /// `uint256`, big endian.
    Word(Hash),
    /// `int8` to `int256`.
    Int(i128),
}

/// A type or a value that does not fit.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TypeError {
    /// A type that a flat struct cannot have.
    #[error("{0:?} is no type of a flat struct")]
    Type(String),
    /// More or fewer values than fields.
    #[error("{fields} fields and {values} values")]
    Count {
        /// Fields of the type.
        fields: usize,
        /// Values given.
        values: usize,
    },
    /// A value that is not of the field's type, or does not fit in it.
    #[error("the value of {field:?} is no {kind}")]
    Value {
        /// The field.
        field: String,
        /// Its type.
        kind: String,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Text,
    Bytes,
    Fixed(usize),
    Bool,
    Address,
    Uint(u32),
    Int(u32),
}

/// A struct type whose fields are all of basic types.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StructType {
    hash: Hash,
    fields: Vec<(String, Kind)>,
    encoded: String,
}

impl StructType {
    /// The type `name` with fields of (type, name), in order.
    ///
    /// # Errors
    /// [`TypeError::Type`]: arrays and structs inside are not supported.
    pub fn new(name: &str, fields: &[(&str, &str)]) -> Result<Self, TypeError> {
        let mut encoded = format!("{name}(");
        let mut kinds = Vec::with_capacity(fields.len());
        for (at, (kind, field)) in fields.iter().enumerate() {
            let comma = if at == 0 { "" } else { "," };
            // Writing to a String cannot fail.
            write!(encoded, "{comma}{kind} {field}").ok();
            kinds.push(((*field).to_owned(), Kind::read(kind)?));
        }
        encoded.push(')');
        Ok(Self {
            hash: keccak256(&encoded),
            fields: kinds,
            encoded,
        })
    }

    /// The type as it is hashed, such as `Agent(string source,bytes32 connectionId)`.
    pub fn encoded(&self) -> &str {
        &self.encoded
    }

    /// The hash of a struct of this type.
    ///
    /// # Errors
    /// [`TypeError`].
    pub fn hash(&self, values: &[Value<'_>]) -> Result<Hash, TypeError> {
        if values.len() != self.fields.len() {
            return Err(TypeError::Count {
                fields: self.fields.len(),
                values: values.len(),
            });
        }
        let mut data = Vec::with_capacity(32 * (values.len() + 1));
        data.extend(self.hash);
        for ((field, kind), value) in self.fields.iter().zip(values) {
            let word = kind.word(value).ok_or_else(|| TypeError::Value {
                field: field.clone(),
                kind: kind.name(),
            })?;
            data.extend(word);
        }
        Ok(keccak256(data))
    }
}

impl Kind {
    fn read(text: &str) -> Result<Self, TypeError> {
        let unknown = || TypeError::Type(text.to_owned());
        // `uint` alone stands for `uint256` in Solidity, and not in a type that is hashed.
        let number = |digits: &str, most: u32, step: u32| {
            let canonical = !digits.starts_with('0');
            let number = digits.parse::<u32>().ok().filter(|_| canonical);
            let fits = |n: &u32| *n > 0 && *n <= most && n.is_multiple_of(step);
            number.filter(fits).ok_or_else(unknown)
        };
        match text {
            "string" => return Ok(Self::Text),
            "bytes" => return Ok(Self::Bytes),
            "bool" => return Ok(Self::Bool),
            "address" => return Ok(Self::Address),
            _ => {}
        }
        if let Some(digits) = text.strip_prefix("uint") {
            number(digits, 256, 8).map(Self::Uint)
        } else if let Some(digits) = text.strip_prefix("int") {
            number(digits, 256, 8).map(Self::Int)
        } else if let Some(digits) = text.strip_prefix("bytes") {
            let len = number(digits, 32, 1)?;
            Ok(Self::Fixed(usize::try_from(len).unwrap_or(usize::MAX)))
        } else {
            Err(unknown())
        }
    }

    fn name(self) -> String {
        match self {
            Self::Text => "string".to_owned(),
            Self::Bytes => "bytes".to_owned(),
            Self::Fixed(len) => format!("bytes{len}"),
            Self::Bool => "bool".to_owned(),
            Self::Address => "address".to_owned(),
            Self::Uint(bits) => format!("uint{bits}"),
            Self::Int(bits) => format!("int{bits}"),
        }
    }

    /// The word of a value, if it is of this type and fits.
    fn word(self, value: &Value<'_>) -> Option<Hash> {
        match (self, *value) {
            (Self::Text, Value::Text(text)) => Some(keccak256(text)),
            (Self::Bytes, Value::Bytes(bytes)) => Some(keccak256(bytes)),
            (Self::Fixed(len), Value::Bytes(bytes)) if bytes.len() == len => Some(left(bytes)),
            (Self::Fixed(32), Value::Word(word)) => Some(word),
            (Self::Bool, Value::Bool(yes)) => Some(right(&[u8::from(yes)], 0)),
            (Self::Address, Value::Address(address)) => Some(right(address.as_bytes(), 0)),
            (Self::Uint(bits), Value::Uint(number)) => {
                let fits = bits >= 128 || number >> bits == 0;
                fits.then(|| right(&number.to_be_bytes(), 0))
            }
            (Self::Uint(bits), Value::Word(word)) => {
                let free = usize::try_from(256 - bits).unwrap_or(256) / 8;
                let fits = word.iter().take(free).all(|byte| *byte == 0);
                fits.then_some(word)
            }
            (Self::Int(bits), Value::Uint(number)) => {
                let number = i128::try_from(number).ok()?;
                Self::Int(bits).word(&Value::Int(number))
            }
            (Self::Int(bits), Value::Int(number)) => {
                let sign = if number < 0 { 0xff } else { 0 };
                // All bits above the type's are copies of its sign.
                let above = number >> bits.saturating_sub(1).min(127);
                let fits = bits >= 128 || above == 0 || above == -1;
                fits.then(|| right(&number.to_be_bytes(), sign))
            }
            _ => None,
        }
    }
}

/// Bytes at the low end of a word.
fn right(bytes: &[u8], fill: u8) -> Hash {
    let mut word = [fill; 32];
    for (to, from) in word.iter_mut().rev().zip(bytes.iter().rev()) {
        *to = *from;
    }
    word
}

/// Bytes at the high end of a word.
fn left(bytes: &[u8]) -> Hash {
    let mut word = [0; 32];
    for (to, from) in word.iter_mut().zip(bytes) {
        *to = *from;
    }
    word
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_type_that_is_not_flat_is_refused() {
        for kind in [
            "uint", "uint7", "uint264", "uint08", "uint0", "bytes0", "bytes33", "string[]", "Mail",
            "",
        ] {
            StructType::new("T", &[(kind, "x")]).expect_err(kind);
        }
    }

    #[test]
    fn a_value_that_does_not_fit_is_refused() {
        let of = |kind, value: Value<'_>| {
            let kind = StructType::new("T", &[(kind, "x")]).expect("a type");
            kind.hash(&[value])
        };
        of("uint8", Value::Uint(255)).expect("fits");
        of("uint8", Value::Uint(256)).expect_err("too large");
        of("uint8", Value::Word(left(&[1]))).expect_err("too large");
        of("int8", Value::Int(-128)).expect("fits");
        of("int8", Value::Int(-129)).expect_err("too small");
        of("int8", Value::Int(128)).expect_err("too large");
        of("int128", Value::Uint(u128::MAX)).expect_err("too large");
        of("bytes4", Value::Bytes(&[1, 2, 3])).expect_err("too short");
        of("string", Value::Bytes(b"x")).expect_err("no text");
        of("bool", Value::Uint(1)).expect_err("no bool");
        let two = StructType::new("T", &[("bool", "x"), ("bool", "y")]).expect("a type");
        two.hash(&[Value::Bool(true)]).expect_err("too few");
    }
}
