//! Layers of a configuration: `default.toml` < run file < overrides (`key=value`).
//!
//! Defaults live nowhere else. A key that is missing from `default.toml` is a mistake.

use std::collections::BTreeMap;

use toml::{Table, Value};

use super::schema::Config;

/// The embedded defaults, with a comment for every key.
pub const DEFAULT: &str = include_str!("../default.toml");
/// What a mistake in an override names instead of a file. A program may print its own flag.
pub const OVERRIDE: &str = "override";
/// Keys whose value is a table that is replaced as a whole, not a section with keys.
const WHOLE: [&str; 1] = ["reward"];
/// A key whose value is a string, or a list of strings.
const LISTED: &str = "task";
/// Keys that earlier versions called differently. Old run directories still contain the old names.
const RENAMED: [(&str, &str); 1] = [("bench.verify", "check")];

/// A mistake in a run's configuration: one line that names the file and the key.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{file}: {}{what}", if key.is_empty() { String::new() } else { format!("{key}: ") })]
pub struct Mistake {
    /// The file, or [`OVERRIDE`].
    pub file: String,
    /// The key, as a path.
    pub key: String,
    /// What is wrong with it.
    pub what: String,
}

impl Mistake {
    fn new(file: &str, key: &str, what: impl Into<String>) -> Self {
        Self {
            file: file.to_owned(),
            key: key.to_owned(),
            what: what.into(),
        }
    }
}

/// A configuration, and the layer that set each key.
#[derive(Debug, Clone)]
pub struct Layered {
    /// The configuration.
    pub config: Config,
    origins: BTreeMap<String, String>,
    /// Where the user should set a key that no layer has set: the run file, or an override without
    /// one.
    place: String,
}

impl Layered {
    /// Lays a run file (its name and content) and overrides (`key=value`) over the defaults.
    pub fn read(file: Option<(&str, &str)>, overrides: &[String]) -> Result<Self, Vec<Mistake>> {
        let defaults: Table = DEFAULT.parse().expect("a test reads the embedded defaults");
        let mut table = defaults.clone();
        let mut laid = Laid::default();
        let place = file.map_or(OVERRIDE, |(name, _)| name).to_owned();
        if let Some((name, text)) = file {
            let layer: Table = text
                .parse()
                .map_err(|error: toml::de::Error| vec![unreadable(name, text, &error)])?;
            laid.lay(&mut table, &layer, &defaults, (name, ""));
        }
        for set in overrides {
            match parse_override(set, &defaults) {
                Ok(layer) => laid.lay(&mut table, &layer, &defaults, (OVERRIDE, "")),
                Err(mistake) => laid.mistakes.push(mistake),
            }
        }
        if !laid.mistakes.is_empty() {
            return Err(laid.mistakes);
        }
        match Value::Table(table.clone()).try_into::<Config>() {
            Ok(config) => Ok(Self {
                config,
                origins: laid.origins,
                place,
            }),
            Err(error) => {
                let key = laid.wrong_key(&table, &defaults).unwrap_or_default();
                let file = origin(&key, &laid.origins).unwrap_or(&place);
                let what = error.message().replace('\n', "; ");
                Err(vec![Mistake::new(file, &key, what)])
            }
        }
    }

    /// A mistake in a key. It names the layer that set the key, or the one where the user can set
    /// it, because nobody edits the embedded defaults.
    pub fn mistake(&self, key: &str, what: impl Into<String>) -> Mistake {
        Mistake::new(origin(key, &self.origins).unwrap_or(&self.place), key, what)
    }

    /// Whether no layer set the key.
    pub fn is_default(&self, key: &str) -> bool {
        origin(key, &self.origins).is_none()
    }

    /// Whether the key's value differs from its default.
    pub(crate) fn changes(&self, key: &str) -> bool {
        let defaults = Self::read(None, &[]).expect("a test reads the embedded defaults");
        differences(&defaults.config, &self.config)
            .iter()
            .any(|other| other == key)
    }
}

/// The keys in which two configurations of one run differ. Keys that only say where the run is
/// stored or computed do not count.
pub(crate) fn differences(was: &Config, is: &Config) -> Vec<String> {
    const PLACE: [&str; 3] = ["directory", "device", "fleet"];
    let flat = |config: &Config| {
        let table: Table = config
            .to_toml()
            .parse()
            .expect("what was written can be read");
        let mut keys = BTreeMap::new();
        flatten("", &table, &mut keys);
        keys
    };
    let (was, is) = (flat(was), flat(is));
    let keys: std::collections::BTreeSet<&String> = was.keys().chain(is.keys()).collect();
    keys.into_iter()
        .filter(|key| was.get(*key) != is.get(*key) && !PLACE.contains(&key.as_str()))
        .cloned()
        .collect()
}

fn flatten(above: &str, table: &Table, keys: &mut BTreeMap<String, Value>) {
    for (name, value) in table {
        let key = join(above, name);
        match value {
            Value::Table(inner) => flatten(&key, inner, keys),
            _ => drop(keys.insert(key, value.clone())),
        }
    }
}

fn join(above: &str, name: &str) -> String {
    if above.is_empty() {
        name.to_owned()
    } else {
        format!("{above}.{name}")
    }
}

fn origin<'a>(key: &str, origins: &'a BTreeMap<String, String>) -> Option<&'a str> {
    // A table that was set as a whole set all of its keys.
    let mut above = std::iter::successors(Some(key), |key| Some(key.rsplit_once('.')?.0));
    above.find_map(|key| origins.get(key)).map(String::as_str)
}

fn unreadable(name: &str, text: &str, error: &toml::de::Error) -> Mistake {
    let line = error
        .span()
        .map(|span| text[..span.start.min(text.len())].matches('\n').count() + 1);
    let what = error.message().replace('\n', "; ");
    Mistake::new(
        name,
        "",
        line.map_or(what.clone(), |line| format!("line {line}: {what}")),
    )
}

/// The result of laying layers over the defaults.
#[derive(Default)]
struct Laid {
    /// Which layer set a key.
    origins: BTreeMap<String, String>,
    mistakes: Vec<Mistake>,
}

impl Laid {
    /// The first key whose value makes the default configuration unreadable.
    fn wrong_key(&self, table: &Table, defaults: &Table) -> Option<String> {
        let fails = |key: &&String| {
            let mut alone = Value::Table(defaults.clone());
            let (mut place, mut value) = (Some(&mut alone), None);
            for part in key.split('.') {
                place = place.and_then(|place| place.get_mut(part));
                value = value.map_or(table.get(part), |value: &Value| value.get(part));
            }
            if let (Some(place), Some(value)) = (place, value) {
                *place = value.clone();
            }
            alone.try_into::<Config>().is_err()
        };
        self.origins.keys().find(fails).cloned()
    }

    /// `at` names the layer and the section.
    fn lay(&mut self, table: &mut Table, layer: &Table, defaults: &Table, at: (&str, &str)) {
        let (file, above) = at;
        for (name, value) in layer {
            let key = join(above, name);
            let name = RENAMED
                .iter()
                .find_map(|(was, name)| (*was == key).then_some(*name))
                .unwrap_or(name);
            let key = join(above, name);
            let Some(default) = defaults.get(name) else {
                self.mistakes
                    .push(Mistake::new(file, &key, no_such(name, defaults)));
                continue;
            };
            match (table.get_mut(name), value, default) {
                (Some(Value::Table(inner)), Value::Table(value), Value::Table(default))
                    if !WHOLE.contains(&&*key) =>
                {
                    self.lay(inner, value, default, (file, &key));
                }
                (Some(_), value, default) if !is_finite(value) => {
                    let what = format!("must be a finite number, such as {default}");
                    self.mistakes.push(Mistake::new(file, &key, what));
                }
                (Some(place), value, default) => {
                    let listed = key == LISTED && is_list_of_strings(value);
                    if let Some(value) = if listed {
                        Some(value.clone())
                    } else {
                        fitted(value, default)
                    } {
                        *place = value;
                        self.origins.insert(key, file.to_owned());
                    } else {
                        let or_list = if key == LISTED {
                            " or a list of strings"
                        } else {
                            ""
                        };
                        let what = format!(
                            "expected {}{or_list}, not {}",
                            kind(default),
                            value.type_str()
                        );
                        self.mistakes.push(Mistake::new(file, &key, what));
                    }
                }
                (None, ..) => {}
            }
        }
    }
}

fn no_such(name: &str, known: &Table) -> String {
    let near = known.keys().find(|key| {
        key.replace('-', "") == name.replace(['-', '_'], "") || distance(key, name) <= 2
    });
    near.map_or("no such key".to_owned(), |near| {
        format!("no such key; did you mean `{near}`?")
    })
}

/// Levenshtein's distance, for names of a few letters.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, from) in a.chars().enumerate() {
        let mut corner = row[0];
        row[0] = i + 1;
        for (j, to) in b.iter().enumerate() {
            let cost = corner + usize::from(from != *to);
            corner = row[j + 1];
            row[j + 1] = cost.min(row[j] + 1).min(corner + 1);
        }
    }
    row[b.len()]
}

/// The value, if its type matches the default's. An integer is accepted where a float is expected.
fn fitted(value: &Value, default: &Value) -> Option<Value> {
    match (value, default) {
        (Value::Integer(whole), Value::Float(_)) => Some(Value::Float(*whole as f64)),
        _ if value.same_type(default) => Some(value.clone()),
        _ => None,
    }
}

/// Whether no number in it is infinite or NaN, which TOML can write and nothing can compute with.
fn is_finite(value: &Value) -> bool {
    match value {
        Value::Float(number) => number.is_finite(),
        Value::Array(values) => values.iter().all(is_finite),
        Value::Table(table) => table.values().all(is_finite),
        _ => true,
    }
}

fn is_list_of_strings(value: &Value) -> bool {
    value
        .as_array()
        .is_some_and(|values| values.iter().all(Value::is_str))
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::String(_) => "a string",
        Value::Integer(_) => "a whole number",
        Value::Float(_) => "a number",
        Value::Boolean(_) => "true or false",
        Value::Datetime(_) => "a date",
        Value::Array(_) => "a list",
        Value::Table(_) => "a table",
    }
}

/// `a.b=c` as a table. A bare word is a string if the key holds strings.
fn parse_override(set: &str, defaults: &Table) -> Result<Table, Mistake> {
    let wrong = |what: &str| Mistake::new(OVERRIDE, set, what);
    let (key, value) = set
        .split_once('=')
        .ok_or_else(|| wrong("expected key=value"))?;
    let (key, value) = (key.trim(), value.trim());
    let parts: Vec<&str> = key.split('.').collect();
    let default = parts.iter().try_fold(None, |table: Option<&Value>, part| {
        Some(Some(
            table.map_or(defaults.get(*part), |table| table.get(*part))?,
        ))
    });
    let quoted = format!("x = {}", Value::String(value.to_owned()));
    let plain = format!("x = {value}");
    let is_list = key == LISTED && value.starts_with('[') && plain.parse::<Table>().is_ok();
    let text = match default.flatten() {
        Some(_) if is_list => plain,
        Some(Value::String(_)) if !value.starts_with('"') => quoted,
        // The key does not exist. The error should say so, whatever the value is.
        None if plain.parse::<Table>().is_err() => quoted,
        _ => plain,
    };
    let parsed: Table = text
        .parse()
        .map_err(|_| wrong("the value cannot be read"))?;
    let value = parsed
        .get("x")
        .cloned()
        .ok_or_else(|| wrong("the value cannot be read"))?;
    let nested = parts.iter().rev().fold(value, |value, part| {
        Value::Table(Table::from_iter([((*part).to_owned(), value)]))
    });
    nested
        .as_table()
        .cloned()
        .ok_or_else(|| wrong("expected key=value"))
}

#[cfg(test)]
mod tests;
