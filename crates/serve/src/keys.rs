//! Keys that nobody knows. A typo must not become another task or another reward.

use serde::de::{DeserializeOwned, Deserializer, Error as _, Visitor, value::Error};
use serde::forward_to_deserialize_any;
use serde_json::Value;

use crate::fault::Fault;

/// The keys of a struct with derived names, as serde knows them.
pub(crate) fn of<T: DeserializeOwned>() -> &'static [&'static str] {
    let mut keys: &'static [&'static str] = &[];
    // The probe gives no value, so this always fails; what is wanted is what was asked of it.
    drop(T::deserialize(Probe(&mut keys)));
    keys
}

struct Probe<'a>(&'a mut &'static [&'static str]);

impl<'de> Deserializer<'de> for Probe<'_> {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Error> {
        Err(Error::custom("a probe holds nothing"))
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        *self.0 = fields;
        self.deserialize_any(visitor)
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit
        unit_struct newtype_struct seq tuple tuple_struct map enum identifier ignored_any
    }
}

/// The first key of an object that is not among the known ones, with the one that was probably
/// meant.
pub(crate) fn unknown(object: &Value, known: &[&str]) -> Option<Fault> {
    let key = object
        .as_object()?
        .keys()
        .find(|key| !known.contains(&key.as_str()))?;
    let meant = known
        .iter()
        .map(|known| (distance(key, known), known))
        .min()
        .filter(|(distance, known)| *distance <= 2 && *distance < known.len());
    let meant = meant.map_or(String::new(), |(_, known)| {
        format!("; did you mean `{known}`?")
    });
    let list: Vec<String> = known.iter().map(|known| format!("`{known}`")).collect();
    let what = format!("unknown key `{}`{meant}", crate::notice::tame(key));
    Some(Fault::bad(what).hint(format!("the known keys are {}", list.join(", "))))
}

/// Letters to change, insert or leave out to make one word of the other; two that changed places
/// count as one.
fn distance(one: &str, other: &str) -> usize {
    let (one, other): (Vec<char>, Vec<char>) = (one.chars().collect(), other.chars().collect());
    if one.len().abs_diff(other.len()) > 2 {
        return usize::MAX;
    }
    let mut rows = vec![vec![0; other.len() + 1]; one.len() + 1];
    for i in 0..=one.len() {
        for j in 0..=other.len() {
            if i == 0 || j == 0 {
                rows[i][j] = i + j;
                continue;
            }
            let changed = rows[i - 1][j - 1] + usize::from(one[i - 1] != other[j - 1]);
            rows[i][j] = changed.min(rows[i - 1][j] + 1).min(rows[i][j - 1] + 1);
            if i > 1 && j > 1 && one[i - 1] == other[j - 2] && one[i - 2] == other[j - 1] {
                rows[i][j] = rows[i][j].min(rows[i - 2][j - 2] + 1);
            }
        }
    }
    rows[one.len()][other.len()]
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_known_keys_are_those_of_the_struct() {
        #[derive(serde::Deserialize)]
        struct Pair {
            #[serde(rename = "one")]
            _one: u8,
            #[serde(rename = "other")]
            _other: u8,
        }
        assert_eq!(of::<Pair>(), ["one", "other"]);
        assert!(of::<f64>().is_empty());
    }

    #[test]
    fn a_key_that_is_nearly_right_is_named_with_the_right_one() {
        let said = |key: &str| {
            unknown(&json!({"stage": 1, key: 2}), &["task", "stage", "group"])
                .map(|fault| fault.what)
        };
        assert_eq!(said("task"), None);
        for (wrong, right) in [("tsk", "task"), ("stagee", "stage"), ("gruop", "group")] {
            let want = format!("unknown key `{wrong}`; did you mean `{right}`?");
            assert_eq!(said(wrong), Some(want));
        }
        assert_eq!(said("x"), Some("unknown key `x`".to_owned()));
        assert_eq!(
            said("temperature"),
            Some("unknown key `temperature`".to_owned())
        );
    }
}
