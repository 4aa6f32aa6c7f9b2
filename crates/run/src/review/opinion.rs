//! An opinion, and how it is read from an answer.

use hotloop_flow::language::reasoning;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The most of a reviewer's reasons that is kept.
const REASONS_BYTES: usize = 2000;

/// What a reviewer expects of a candidate. The three numbers are from 0 to 1.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Opinion {
    /// Whether it computes what the task asks for.
    pub correctness: f64,
    /// Whether it compiles.
    pub compilability: f64,
    /// Whether it is fast.
    pub speed: f64,
    /// Why.
    #[serde(default)]
    pub reasoning: String,
}

impl Opinion {
    /// The mean of the three numbers: J of Garg, Heo and Mou.
    pub fn mean(&self) -> f64 {
        (self.correctness + self.compilability + self.speed) / 3.0
    }

    /// Reads an answer. It must hold exactly one object with the three numbers, wherever it stands,
    /// or equal ones: code under review may hold one of its own, which a reviewer could quote.
    pub fn read(answer: &str) -> Result<Self, String> {
        let Some(answer) = reasoning::parts(answer).answer else {
            return Err("its reasoning never ends".to_owned());
        };
        let mut found: Vec<Self> = Vec::new();
        let mut why = "it holds no JSON object".to_owned();
        for object in objects(answer) {
            match Self::of(&object) {
                Ok(opinion) if found.iter().any(|other| other.says_the_same(&opinion)) => {}
                Ok(opinion) => found.push(opinion),
                Err(wrong) => why = wrong,
            }
        }
        match found.len() {
            0 => Err(why),
            1 => Ok(found.remove(0)),
            several => Err(format!("it holds {several} different opinions")),
        }
    }

    /// Whether another opinion has the same three numbers, to the last bit.
    fn says_the_same(&self, other: &Self) -> bool {
        let numbers = |opinion: &Self| {
            [opinion.correctness, opinion.compilability, opinion.speed].map(f64::to_bits)
        };
        numbers(self) == numbers(other)
    }

    fn of(object: &Value) -> Result<Self, String> {
        let number = |key: &str| {
            let number = object.get(key).and_then(Value::as_f64);
            let number = number.ok_or_else(|| format!("it has no number `{key}`"))?;
            if (0.0..=1.0).contains(&number) {
                Ok(number)
            } else {
                Err(format!("`{key}` is {number}, which is not from 0 to 1"))
            }
        };
        let mut reasoning = object["reasoning"].as_str().unwrap_or("").to_owned();
        if reasoning.len() > REASONS_BYTES {
            let end = (0..=REASONS_BYTES)
                .rev()
                .find(|at| reasoning.is_char_boundary(*at));
            reasoning.truncate(end.unwrap_or(0));
        }
        Ok(Self {
            correctness: number("correctness")?,
            compilability: number("compilability")?,
            speed: number("speed")?,
            reasoning,
        })
    }
}

/// The JSON objects in a text, those inside others left out.
fn objects(text: &str) -> Vec<Value> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(begin) = text[at..].find('{') {
        at += begin;
        let mut stream = serde_json::Deserializer::from_str(&text[at..]).into_iter::<Value>();
        match stream.next() {
            Some(Ok(value)) => {
                found.push(value);
                at += stream.byte_offset();
            }
            _ => at += 1,
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str =
        r#"{"correctness": 0.5, "compilability": 1, "speed": 0.0, "reasoning": "ok"}"#;

    #[test]
    fn an_opinion_is_found_in_prose_fences_and_after_reasoning() {
        for answer in [
            GOOD.to_owned(),
            format!("I think:\n```json\n{GOOD}\n```\nDone {{}}."),
            format!("<think>{{\"correctness\": 1}} {{</think>{GOOD}"),
            format!("{GOOD}\n{GOOD}"),
        ] {
            let opinion = Opinion::read(&answer).expect("it holds one");
            assert!((opinion.mean() - 0.5).abs() < 1e-12, "{answer}");
            assert_eq!(opinion.reasoning, "ok");
        }
    }

    #[test]
    fn prose_and_numbers_out_of_range_are_no_opinion() {
        let other = GOOD.replace("0.5", "0.75");
        for (answer, why) in [
            ("It is great, 10/10!".to_owned(), "no JSON"),
            (
                "{\"correctness\": 1, \"speed\": 1}".to_owned(),
                "no number `compilability`",
            ),
            (GOOD.replace("0.5", "1.5"), "not from 0 to 1"),
            (GOOD.replace("0.5", "-1"), "not from 0 to 1"),
            (GOOD.replace("0.5", "\"0.5\""), "no number `correctness`"),
            (GOOD.replace("0.5", "NaN"), "no JSON"),
            (format!("{GOOD}\n{other}"), "2 different opinions"),
            (GOOD[..20].to_owned(), "no JSON"),
            ("<think> never".to_owned(), "never ends"),
            ("{".repeat(300), "no JSON"),
        ] {
            let error = Opinion::read(&answer).expect_err(&answer);
            assert!(error.contains(why), "{answer}: {error}");
        }
    }

    #[test]
    fn long_reasons_are_cut() {
        let long = GOOD.replace("ok", &"é".repeat(3000));
        let opinion = Opinion::read(&long).expect("it is sound");
        assert!(opinion.reasoning.len() <= REASONS_BYTES && opinion.reasoning.ends_with('é'));
    }
}
