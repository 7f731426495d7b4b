//! An action as somebody else wrote it down: JSON with the order of its keys, which its hash rests on.

use std::fmt;

use serde::de::{self, Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde::ser::{Serialize, SerializeMap, Serializer};

/// JSON with the order of its keys. No floats and no nulls: neither is ever hashed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ordered {
    /// A text.
    Text(String),
    /// True or false.
    Bool(bool),
    /// A number that is not negative.
    Uint(u64),
    /// A negative number.
    Int(i64),
    /// A list.
    List(Vec<Self>),
    /// Keys and values, in order; no key twice.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_order_of_keys_is_kept_and_what_is_never_hashed_is_refused() {
        let text = r#"{"z":1,"a":[true,-2,"x"]}"#;
        let read: Ordered = serde_json::from_str(text).expect("read");
        assert_eq!(serde_json::to_string(&read).expect("written"), text);
        for no in ["1.5", "null", r#"{"a":null}"#, r#"{"a":1,"a":1}"#, "[1e3]"] {
            serde_json::from_str::<Ordered>(no).expect_err(no);
        }
    }
}
