//! Names in braces, such as `{seconds}` or `{job:warm}`, and the text that replaces them.

use std::collections::BTreeMap;
use std::path::PathBuf;

/// Maximum number of replacements. Values may name other values, but must not form a loop.
const STEPS: usize = 100;
/// Placeholders for braces that stay.
const LATER: (&str, &str) = ("\u{1}", "\u{2}");

/// Everything that the texts of a plan may name.
#[derive(Debug, Clone, Default)]
pub(super) struct Variables {
    /// Plain values.
    pub(super) values: BTreeMap<String, String>,
    /// The folder of every job before this one, for `{job:NAME}`.
    pub(super) folders: BTreeMap<String, PathBuf>,
}

impl Variables {
    /// A copy with more values, which replace earlier values of the same name.
    pub(super) fn with(&self, more: impl IntoIterator<Item = (String, String)>) -> Self {
        let mut with = self.clone();
        with.values.extend(more);
        with
    }

    /// Replaces everything in braces, from the inside out, and adds the jobs it names to
    /// `needs`. `{best:NAME}` stays, because it is known only after that run is over.
    pub(super) fn fill(&self, text: &str, needs: &mut Vec<String>) -> Result<String, String> {
        let mut filled = text.to_owned();
        for _ in 0..STEPS {
            let Some(end) = filled.find('}') else {
                return if filled.contains('{') {
                    Err(format!("`{text}` has a `{{` without its `}}`"))
                } else {
                    Ok(filled.replace(LATER.0, "{").replace(LATER.1, "}"))
                };
            };
            let Some(begin) = filled[..end].rfind('{') else {
                return Err(format!("`{text}` has a `}}` without its `{{`"));
            };
            let value = self.value(&filled[begin + 1..end], needs)?;
            filled.replace_range(begin..=end, &value);
        }
        Err(format!("`{text}` leads back to itself"))
    }

    fn value(&self, name: &str, needs: &mut Vec<String>) -> Result<String, String> {
        if let Some((kind @ ("job" | "best"), job)) = name.split_once(':') {
            let Some(folder) = self.folders.get(job) else {
                return Err(format!("there is no job `{job}` before this one"));
            };
            needs.push(job.to_owned());
            return Ok(match kind {
                "job" => folder.display().to_string(),
                _ => format!("{}{name}{}", LATER.0, LATER.1),
            });
        }
        match self.values.get(name).map(String::as_str) {
            None => Err(format!(
                "`{{{name}}}` is unknown; there are {}",
                self.names().join(", ")
            )),
            Some("") => Err(format!(
                "`{name}` has no value: give it one, since the plan's [let] leaves it empty"
            )),
            Some(value) => Ok(value.to_owned()),
        }
    }

    fn names(&self) -> Vec<&str> {
        self.values.keys().map(String::as_str).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn variables() -> Variables {
        let text = |pair: (&str, &str)| (pair.0.to_owned(), pair.1.to_owned());
        let values = [
            ("kind", "warm"),
            ("seconds", "150"),
            ("limit", "{seconds}+70"),
            ("model", ""),
            ("round", "{round}"),
        ];
        Variables {
            values: values.map(text).into(),
            folders: BTreeMap::from([("warm".to_owned(), PathBuf::from("out/warm"))]),
        }
    }

    #[test]
    fn names_are_replaced_within_values_and_names_too() {
        let mut needs = Vec::new();
        let mut fill = |text: &str| variables().fill(text, &mut needs).unwrap();
        assert_eq!(fill("at most {limit} s"), "at most 150+70 s");
        assert_eq!(fill("{job:warm}/adapter"), "out/warm/adapter");
        assert_eq!(fill("{job:{kind}}"), "out/warm");
        assert_eq!(fill("{best:warm} {seconds}"), "{best:warm} 150");
        assert_eq!(fill("nothing"), "nothing");
        assert_eq!(needs, ["warm", "warm", "warm"]);
    }

    #[test]
    fn mistakes_say_what_to_do() {
        for (text, words) in [
            ("{model}", "`model` has no value"),
            ("{secs}", "there are kind, limit, model, round, seconds"),
            ("{job:cold}", "there is no job `cold`"),
            ("{best:cold}", "there is no job `cold`"),
            ("{round}", "leads back to itself"),
            ("{seconds", "without its `}`"),
            ("seconds}", "without its `{`"),
        ] {
            let mistake = variables().fill(text, &mut Vec::new()).unwrap_err();
            assert!(mistake.contains(words), "{mistake}");
        }
    }
}
