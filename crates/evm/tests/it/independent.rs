//! Random inputs, hashed and signed by `alloy-sol-types` and by another release of the curve.

use alloy_primitives::{Address as AlloyAddress, B256, Bytes, FixedBytes, I256, U256};
use alloy_sol_types::{Eip712Domain, SolStruct, sol};
use k256::ecdsa::SigningKey;
use proptest::prelude::*;
use surefill_evm::{Address, Digest, Domain, SecretKey, StructType, Value, digest, keccak256};

sol! {
    #[allow(missing_docs, reason = "test code")]
    struct Agent {
        string source;
        bytes32 connectionId;
    }

    #[allow(missing_docs, reason = "test code")]
    struct Everything {
        string text;
        bytes raw;
        bytes4 four;
        bytes32 word;
        bool yes;
        address who;
        uint8 small;
        uint64 time;
        uint256 big;
        int16 signed;
        int256 wide;
    }
}

fn everything() -> StructType {
    StructType::new(
        "Everything",
        &[
            ("string", "text"),
            ("bytes", "raw"),
            ("bytes4", "four"),
            ("bytes32", "word"),
            ("bool", "yes"),
            ("address", "who"),
            ("uint8", "small"),
            ("uint64", "time"),
            ("uint256", "big"),
            ("int16", "signed"),
            ("int256", "wide"),
        ],
    )
    .expect("a flat type")
}

prop_compose! {
    fn domains()(
        name in ".{0,24}",
        version in "[0-9.]{0,5}",
        chain_id in any::<u64>(),
        contract in any::<Option<[u8; 20]>>(),
    ) -> Domain {
        Domain { name, version, chain_id, verifying_contract: contract.map(Address::from_bytes) }
    }
}

fn alloys(domain: &Domain) -> Eip712Domain {
    Eip712Domain::new(
        Some(domain.name.clone().into()),
        Some(domain.version.clone().into()),
        Some(U256::from(domain.chain_id)),
        domain
            .verifying_contract
            .map(|address| AlloyAddress::from(*address.as_bytes())),
        None,
    )
}

/// Signs with another release of the curve: `r`, `s`, `v`.
fn signs(key: &[u8; 32], digest: &Digest) -> [u8; 65] {
    let key = SigningKey::from_slice(key).expect("a key");
    let (signature, recovery) = key.sign_prehash_recoverable(digest.as_bytes());
    let mut all = [0; 65];
    all[..64].copy_from_slice(&signature.to_bytes());
    all[64] = 27 + recovery.to_byte();
    all
}

proptest! {
    #[test]
    fn domains_hash_alike(domain in domains()) {
        prop_assert_eq!(B256::from(domain.separator()), alloys(&domain).separator());
    }

    #[test]
    fn an_agent_is_hashed_and_signed_alike(
        domain in domains(),
        source in ".{0,40}",
        connection in any::<[u8; 32]>(),
        key in any::<[u8; 32]>(),
    ) {
        let ours = StructType::new("Agent", &[("string", "source"), ("bytes32", "connectionId")]).expect("a type");
        let hash = ours.hash(&[Value::Text(&source), Value::Word(connection)]).expect("hashed");
        let theirs = Agent { source, connectionId: FixedBytes(connection) };
        prop_assert_eq!(ours.encoded(), Agent::eip712_root_type());
        prop_assert_eq!(B256::from(hash), theirs.eip712_hash_struct());
        let digest = digest(&domain.separator(), &hash);
        prop_assert_eq!(B256::from(*digest.as_bytes()), theirs.eip712_signing_hash(&alloys(&domain)));
        let Ok(secret) = SecretKey::from_bytes(&key) else {
            // Zero, or beyond the order of the curve: the other release refuses it, too.
            prop_assert!(SigningKey::from_slice(&key).is_err());
            return Ok(());
        };
        let signature = secret.sign(&digest).expect("signed");
        prop_assert_eq!(signature.to_bytes(), signs(&key, &digest));
        prop_assert_eq!(signature.recover(&digest), Ok(secret.address()));
        let point = SigningKey::from_slice(&key).expect("a key").verifying_key().to_sec1_point(false);
        let address = &keccak256(&point.as_bytes()[1..])[12..];
        let ours = secret.address();
        prop_assert_eq!(address, &ours.as_bytes()[..]);
    }

    #[test]
    fn every_type_of_field_is_hashed_alike(
        text in ".{0,80}",
        raw in proptest::collection::vec(any::<u8>(), 0..100),
        four in any::<[u8; 4]>(),
        word in any::<[u8; 32]>(),
        yes in any::<bool>(),
        who in any::<[u8; 20]>(),
        small in any::<u8>(),
        time in any::<u64>(),
        big in any::<[u8; 32]>(),
        signed in any::<i16>(),
        wide in any::<i128>(),
    ) {
        let hash = everything()
            .hash(&[
                Value::Text(&text),
                Value::Bytes(&raw),
                Value::Bytes(&four),
                Value::Bytes(&word),
                Value::Bool(yes),
                Value::Address(Address::from_bytes(who)),
                Value::Uint(small.into()),
                Value::Uint(time.into()),
                Value::Word(big),
                Value::Int(signed.into()),
                Value::Int(wide),
            ])
            .expect("hashed");
        let theirs = Everything {
            text,
            raw: Bytes::from(raw),
            four: FixedBytes(four),
            word: FixedBytes(word),
            yes,
            who: AlloyAddress::from(who),
            small,
            time,
            big: U256::from_be_bytes(big),
            signed,
            wide: I256::try_from(wide).expect("fits"),
        };
        let ours = everything();
        prop_assert_eq!(ours.encoded(), Everything::eip712_root_type());
        prop_assert_eq!(B256::from(hash), theirs.eip712_hash_struct());
    }
}
