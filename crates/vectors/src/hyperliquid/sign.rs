//! Signatures of actions, from their text to 65 bytes.

use serde_json::{Value, json};
use surefill_evm::{Address, Hash, SecretKey, Value as Field, digest};
use surefill_hyperliquid::ordered::Ordered;
use surefill_hyperliquid::sign::{self, Source, Terms};

use crate::file::Case;
use crate::input::{Got, Unfit, list, member, number, text};

pub(super) fn l1_action(case: &Case<'_>) -> Result<Got, Unfit> {
    let input = case.input;
    let source = match flag(input, "is_mainnet")? {
        true => Source::Mainnet,
        false => Source::Testnet,
    };
    if let Some(said) = input.get("phantom_agent_source") {
        same("phantom_agent_source", said, &json!(source.as_str()))?;
    }
    let terms = Terms {
        nonce: number(input, "nonce")?,
        vault: set(input, "vault_address")?.map(address).transpose()?,
        expires_after: set(input, "expires_after")?
            .map(|_| number(input, "expires_after"))
            .transpose()?,
    };
    let action: Ordered = serde_json::from_str(text(input, "action_json")?).map_err(Unfit::new)?;
    let packed = sign::msgpack(&action).map_err(Unfit::new)?;
    let preimage = sign::preimage(&packed, &terms);
    let connection_id = sign::connection_id(&preimage);
    let hash = sign::agent_hash(source, &connection_id).map_err(Unfit::new)?;
    let mut got = signed(input, &sign::domain().separator(), &hash)?;
    got.insert("action_msgpack_hex".to_owned(), json!(hex::encode(packed)));
    got.insert("hash_preimage_hex".to_owned(), json!(hex::encode(preimage)));
    got.insert("connection_id".to_owned(), json!(hex0x(&connection_id)));
    Ok(Value::Object(got).into())
}

pub(super) fn user_signed(case: &Case<'_>) -> Result<Got, Unfit> {
    let input = case.input;
    for unset in ["vault_address", "expires_after"] {
        same(unset, member(input, unset)?, &Value::Null)?;
    }
    agrees_with_action(input)?;
    let domain = domain(input)?;
    let (mut fields, mut values) = (Vec::new(), Vec::new());
    for field in list(input, "eip712_types")? {
        let (kind, name) = (text(field, "type")?, text(field, "name")?);
        fields.push((kind, name));
        values.push(value(kind, member(member(input, "message")?, name)?)?);
    }
    let hash = sign::user_hash(text(input, "primary_type")?, &fields, &values);
    let got = signed(input, &domain, &hash.map_err(Unfit::new)?)?;
    Ok(Value::Object(got).into())
}

/// What is signed says the same as what is posted.
fn agrees_with_action(input: &Value) -> Result<(), Unfit> {
    let action: Value = serde_json::from_str(text(input, "action_json")?).map_err(Unfit::new)?;
    let primary = sign::user_primary_type(text(&action, "type")?);
    same(
        "primary_type",
        member(input, "primary_type")?,
        &json!(primary),
    )?;
    let message = member(input, "message")?;
    let chain = match flag(input, "is_mainnet")? {
        true => "Mainnet",
        false => "Testnet",
    };
    same(
        "hyperliquidChain",
        member(message, "hyperliquidChain")?,
        &json!(chain),
    )?;
    let stamp = message.get("nonce").or_else(|| message.get("time"));
    same(
        "nonce",
        member(input, "nonce")?,
        stamp.unwrap_or(&Value::Null),
    )?;
    let signed = message.as_object();
    for (name, value) in signed.ok_or_else(|| Unfit::new("`message` is no object"))? {
        match action.get(name) {
            // Signed as an empty name, and left out of what is posted.
            None if name == "agentName" => same(name, value, &json!(""))?,
            posted => same(name, value, posted.unwrap_or(&Value::Null))?,
        }
    }
    Ok(())
}

/// The separator of the domain: of the chain that the action names.
fn domain(input: &Value) -> Result<Hash, Unfit> {
    let action: Value = serde_json::from_str(text(input, "action_json")?).map_err(Unfit::new)?;
    let id = text(&action, "signatureChainId")?.strip_prefix("0x");
    let id = id.and_then(|digits| u64::from_str_radix(digits, 16).ok());
    let id = id.ok_or_else(|| Unfit::new("`signatureChainId` is no hex number"))?;
    let (domain, said) = (sign::user_domain(id), member(input, "eip712_domain")?);
    same("chainId", member(said, "chainId")?, &json!(id))?;
    same("name", member(said, "name")?, &json!(domain.name))?;
    same("version", member(said, "version")?, &json!(domain.version))?;
    let contract = domain.verifying_contract.map(|address| address.to_string());
    same(
        "verifyingContract",
        member(said, "verifyingContract")?,
        &json!(contract),
    )?;
    Ok(domain.separator())
}

fn value<'a>(kind: &str, value: &'a Value) -> Result<Field<'a>, Unfit> {
    let wrong = || Unfit(format!("{value} is no {kind}"));
    if kind == "address" {
        return Ok(Field::Address(address(value)?));
    }
    if kind.starts_with("uint") {
        let number = value.as_u64().map(u128::from);
        let number = number.or_else(|| value.as_str().and_then(|text| text.parse().ok()));
        return number.map(Field::Uint).ok_or_else(wrong);
    }
    match value {
        Value::String(text) => Ok(Field::Text(text)),
        Value::Bool(yes) => Ok(Field::Bool(*yes)),
        Value::Null | Value::Number(_) | Value::Array(_) | Value::Object(_) => Err(wrong()),
    }
}

/// What both kinds of signatures have in common.
fn signed(
    input: &Value,
    separator: &Hash,
    hash: &Hash,
) -> Result<serde_json::Map<String, Value>, Unfit> {
    let key = SecretKey::from_hex(text(input, "private_key")?).map_err(Unfit::new)?;
    let digest = digest(separator, hash);
    let signature = key.sign(&digest).map_err(Unfit::new)?;
    let signer = signature.recover(&digest).map_err(Unfit::new)?;
    let leaves = [
        ("signer_address", json!(signer.to_string())),
        ("eip712_domain_separator", json!(hex0x(separator))),
        ("eip712_struct_hash", json!(hex0x(hash))),
        ("eip712_digest", json!(hex0x(digest.as_bytes()))),
        ("r_padded", json!(hex0x(&signature.r))),
        ("s_padded", json!(hex0x(&signature.s))),
        ("v", json!(signature.v)),
        ("signature_65", json!(hex0x(&signature.to_bytes()))),
    ];
    let named = leaves
        .into_iter()
        .map(|(name, leaf)| (name.to_owned(), leaf));
    Ok(named.collect())
}

/// The member of that name, unless it is null.
fn set<'v>(of: &'v Value, name: &str) -> Result<Option<&'v Value>, Unfit> {
    let value = member(of, name)?;
    Ok((!value.is_null()).then_some(value))
}

fn flag(of: &Value, name: &str) -> Result<bool, Unfit> {
    let flag = member(of, name)?.as_bool();
    flag.ok_or_else(|| Unfit(format!("`{name}` is neither true nor false")))
}

fn address(value: &Value) -> Result<Address, Unfit> {
    let text = value.as_str();
    let text = text.ok_or_else(|| Unfit(format!("{value} is no address")))?;
    text.parse().map_err(Unfit::new)
}

/// A case that contradicts itself has no answer.
fn same(name: &str, one: &Value, other: &Value) -> Result<(), Unfit> {
    if one == other {
        return Ok(());
    }
    Err(Unfit(format!("`{name}` is {one} here and {other} there")))
}

fn hex0x(bytes: &[u8]) -> String {
    format!("0x{}", hex::encode(bytes))
}
