//! What this crate computes for each kind of case in the shared file: the leaves under `got`, from the input alone.

use std::fmt;

use rust_decimal::Decimal;
use serde::de::{self, Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::{Value, json};
use surefill_evm::{Address, Hash, SecretKey, Value as Field, digest};
use surefill_hyperliquid::number::{self, Market};
use surefill_hyperliquid::sign::{self, Source, Terms};

/// The leaves of one case; an error is a case that contradicts itself, or a kind that is not known.
pub(crate) fn got(kind: &str, input: &Value) -> Result<Value, String> {
    match kind {
        "l1_action" => l1_action(input),
        "user_signed" => user_signed(input),
        "number_to_wire" => number_to_wire(input),
        "number_to_int" => number_to_int(input),
        "price_rule" => price_rule(input),
        "size_rule" => size_rule(input),
        kind => Err(format!("kind {kind:?} is not known")),
    }
}

fn l1_action(input: &Value) -> Result<Value, String> {
    let source = match flag(input, "is_mainnet")? {
        true => Source::Mainnet,
        false => Source::Testnet,
    };
    if let Some(said) = input.get("phantom_agent_source") {
        same("phantom_agent_source", said, &json!(source.as_str()))?;
    }
    let terms = Terms {
        nonce: number_of(input, "nonce")?,
        vault: match &input["vault_address"] {
            Value::Null => None,
            vault => Some(address(vault)?),
        },
        expires_after: match &input["expires_after"] {
            Value::Null => None,
            _ => Some(number_of(input, "expires_after")?),
        },
    };
    let action: Ordered = from_json(text(input, "action_json")?)?;
    let packed = sign::msgpack(&action).map_err(error)?;
    let preimage = sign::preimage(&packed, &terms);
    let connection_id = sign::connection_id(&preimage);
    let hash = sign::agent_hash(source, &connection_id).map_err(error)?;
    let mut got = signed(input, &sign::domain().separator(), &hash)?;
    got["action_msgpack_hex"] = json!(hex::encode(packed));
    got["hash_preimage_hex"] = json!(hex::encode(preimage));
    got["connection_id"] = json!(hex0x(&connection_id));
    Ok(got)
}

fn user_signed(input: &Value) -> Result<Value, String> {
    for unset in ["vault_address", "expires_after"] {
        same(unset, &input[unset], &Value::Null)?;
    }
    let message = input["message"].as_object().ok_or("message is no object")?;
    let action: Value = from_json(text(input, "action_json")?)?;
    let primary = sign::user_primary_type(text(&action, "type")?);
    same("primary_type", &input["primary_type"], &json!(primary))?;
    let chain = match flag(input, "is_mainnet")? {
        true => "Mainnet",
        false => "Testnet",
    };
    same(
        "hyperliquidChain",
        message.get("hyperliquidChain").unwrap_or(&Value::Null),
        &json!(chain),
    )?;
    let stamp = message.get("nonce").or_else(|| message.get("time"));
    same("nonce", stamp.unwrap_or(&Value::Null), &input["nonce"])?;
    for (name, value) in message {
        match action.get(name) {
            // Signed as an empty name, and left out of what is posted.
            None if name == "agentName" => same(name, value, &json!(""))?,
            posted => same(name, posted.unwrap_or(&Value::Null), value)?,
        }
    }
    let posted = action["signatureChainId"]
        .as_str()
        .and_then(|id| id.strip_prefix("0x"));
    let posted = posted.and_then(|id| u64::from_str_radix(id, 16).ok());
    let posted = posted.ok_or("signatureChainId is no hex number")?;
    let domain = sign::user_domain(posted);
    let said = &input["eip712_domain"];
    same("chainId", &said["chainId"], &json!(posted))?;
    same("name", &said["name"], &json!(domain.name))?;
    same("version", &said["version"], &json!(domain.version))?;
    let contract = domain
        .verifying_contract
        .map(|contract| contract.to_string());
    same(
        "verifyingContract",
        &said["verifyingContract"],
        &json!(contract),
    )?;
    let types = input["eip712_types"]
        .as_array()
        .ok_or("eip712_types is no list")?;
    let mut fields = Vec::new();
    let mut values = Vec::new();
    for field in types {
        let (kind, name) = (text(field, "type")?, text(field, "name")?);
        fields.push((kind, name));
        values.push(field_value(kind, &input["message"][name])?);
    }
    let hash = sign::user_hash(text(input, "primary_type")?, &fields, &values).map_err(error)?;
    signed(input, &domain.separator(), &hash)
}

fn field_value<'a>(kind: &str, value: &'a Value) -> Result<Field<'a>, String> {
    let wrong = || format!("{value} is no {kind}");
    if kind == "address" {
        return Ok(Field::Address(address(value)?));
    }
    if kind.starts_with("uint") {
        let read = value.as_u64().map(u128::from);
        let read = read.or_else(|| value.as_str().and_then(|text| text.parse().ok()));
        return read.map(Field::Uint).ok_or_else(wrong);
    }
    match value {
        Value::String(text) => Ok(Field::Text(text)),
        Value::Bool(yes) => Ok(Field::Bool(*yes)),
        _ => Err(wrong()),
    }
}

/// What both kinds of signatures have in common.
fn signed(input: &Value, separator: &Hash, hash: &Hash) -> Result<Value, String> {
    let key = SecretKey::from_hex(text(input, "private_key")?).map_err(error)?;
    let digest = digest(separator, hash);
    let signature = key.sign(&digest).map_err(error)?;
    let signer = signature.recover(&digest).map_err(error)?;
    Ok(json!({
        "signer_address": signer.to_string(),
        "eip712_domain_separator": hex0x(separator),
        "eip712_struct_hash": hex0x(hash),
        "eip712_digest": hex0x(digest.as_bytes()),
        "r_padded": hex0x(&signature.r),
        "s_padded": hex0x(&signature.s),
        "v": signature.v,
        "signature_65": hex0x(&signature.to_bytes()),
    }))
}

fn number_to_wire(input: &Value) -> Result<Value, String> {
    let wire = number::read(text(input, "text")?).and_then(number::to_wire);
    Ok(refuse_or("wire", wire.ok()))
}

fn number_to_int(input: &Value) -> Result<Value, String> {
    let decimals = u32::try_from(number_of(input, "decimals")?).map_err(error)?;
    let value = number::read(text(input, "text")?);
    let int = value.and_then(|value| number::to_int(value, decimals));
    Ok(refuse_or("value", int.ok().map(|int| int.to_string())))
}

fn price_rule(input: &Value) -> Result<Value, String> {
    let market = match text(input, "market")? {
        "perp" => Market::Perp,
        "spot" => Market::Spot,
        other => return Err(format!("market {other:?}")),
    };
    let (price, decimals) = value_and_decimals(input, "price")?;
    let valid = price.is_some_and(|price| number::price_is_valid(price, decimals, market));
    Ok(json!({ "valid": valid }))
}

fn size_rule(input: &Value) -> Result<Value, String> {
    let (size, decimals) = value_and_decimals(input, "size")?;
    let valid = size.is_some_and(|size| number::size_is_valid(size, decimals));
    Ok(json!({ "valid": valid }))
}

fn value_and_decimals(input: &Value, name: &str) -> Result<(Option<Decimal>, u32), String> {
    let decimals = u32::try_from(number_of(input, "sz_decimals")?).map_err(error)?;
    Ok((number::read(text(input, name)?).ok(), decimals))
}

fn refuse_or(name: &str, value: Option<String>) -> Value {
    value.map_or_else(|| json!({ "refuse": true }), |value| json!({ name: value }))
}

fn text<'a>(of: &'a Value, name: &str) -> Result<&'a str, String> {
    of[name]
        .as_str()
        .ok_or_else(|| format!("{name} is no text"))
}

fn flag(of: &Value, name: &str) -> Result<bool, String> {
    of[name]
        .as_bool()
        .ok_or_else(|| format!("{name} is neither true nor false"))
}

fn number_of(of: &Value, name: &str) -> Result<u64, String> {
    of[name]
        .as_u64()
        .ok_or_else(|| format!("{name} is no integer"))
}

fn address(value: &Value) -> Result<Address, String> {
    let text = value
        .as_str()
        .ok_or_else(|| format!("{value} is no address"))?;
    text.parse().map_err(error)
}

fn same(name: &str, one: &Value, other: &Value) -> Result<(), String> {
    if one == other {
        return Ok(());
    }
    Err(format!(
        "the case contradicts itself: {name} is {one} and {other}"
    ))
}

fn hex0x(bytes: &[u8]) -> String {
    format!("0x{}", hex::encode(bytes))
}

fn error(error: impl fmt::Display) -> String {
    error.to_string()
}

fn from_json<'a, T: Deserialize<'a>>(text: &'a str) -> Result<T, String> {
    serde_json::from_str(text).map_err(error)
}

/// JSON with the order of its keys, which the hash of an action rests on. No floats and no nulls: neither is ever hashed.
pub(crate) enum Ordered {
    Text(String),
    Bool(bool),
    Uint(u64),
    Int(i64),
    List(Vec<Self>),
    Map(Vec<(String, Self)>),
}

impl Serialize for Ordered {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Text(text) => to.serialize_str(text),
            Self::Bool(yes) => to.serialize_bool(*yes),
            Self::Uint(number) => to.serialize_u64(*number),
            Self::Int(number) => to.serialize_i64(*number),
            Self::List(list) => list.serialize(to),
            Self::Map(pairs) => {
                let mut map = to.serialize_map(Some(pairs.len()))?;
                for (key, value) in pairs {
                    map.serialize_entry(key, value)?;
                }
                map.end()
            }
        }
    }
}

impl<'de> Deserialize<'de> for Ordered {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(OrderedVisitor)
    }
}

struct OrderedVisitor;

impl<'de> Visitor<'de> for OrderedVisitor {
    type Value = Ordered;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON without floats and nulls")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Ordered, E> {
        Ok(Ordered::Text(text.to_owned()))
    }

    fn visit_bool<E: de::Error>(self, yes: bool) -> Result<Ordered, E> {
        Ok(Ordered::Bool(yes))
    }

    fn visit_u64<E: de::Error>(self, number: u64) -> Result<Ordered, E> {
        Ok(Ordered::Uint(number))
    }

    fn visit_i64<E: de::Error>(self, number: i64) -> Result<Ordered, E> {
        Ok(Ordered::Int(number))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut from: A) -> Result<Ordered, A::Error> {
        let mut list = Vec::new();
        while let Some(value) = from.next_element()? {
            list.push(value);
        }
        Ok(Ordered::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut from: A) -> Result<Ordered, A::Error> {
        let mut pairs: Vec<(String, Ordered)> = Vec::new();
        while let Some((key, value)) = from.next_entry::<String, Ordered>()? {
            if pairs.iter().any(|(have, _)| *have == key) {
                return Err(de::Error::custom(format!("key {key:?} comes twice")));
            }
            pairs.push((key, value));
        }
        Ok(Ordered::Map(pairs))
    }
}
