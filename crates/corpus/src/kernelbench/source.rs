//! What a problem's file must define, found by its outline: nothing is executed.

use std::fmt;

/// A part that every problem has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// `class Model`: what is to be made fast.
    Model,
    /// `def get_inputs`: the arguments of a call.
    Inputs,
    /// `def get_init_inputs`: the arguments of the constructor.
    InitInputs,
}

impl Part {
    const ALL: [Self; 3] = [Self::Model, Self::Inputs, Self::InitInputs];

    fn words(self) -> (&'static str, &'static str) {
        match self {
            Self::Model => ("class", "Model"),
            Self::Inputs => ("def", "get_inputs"),
            Self::InitInputs => ("def", "get_init_inputs"),
        }
    }

    /// The parts that a source does not define at its top level.
    pub(super) fn missing(source: &str) -> Vec<Self> {
        let outline = outline(source);
        let defines = |part: &Self| {
            let (keyword, name) = part.words();
            outline.iter().any(|line| {
                line.strip_prefix(keyword)
                    .and_then(|rest| rest.trim_start().strip_prefix(name))
                    .is_some_and(|rest| rest.trim_start().starts_with(['(', ':']))
            })
        };
        let mut missing = Self::ALL.to_vec();
        missing.retain(|part| !defines(part));
        missing
    }
}

impl fmt::Display for Part {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (keyword, name) = self.words();
        write!(formatter, "{keyword} {name}")
    }
}

/// The lines that begin at the margin, outside of strings over several lines.
fn outline(source: &str) -> Vec<&str> {
    let mut within: Option<&str> = None;
    let mut lines = Vec::new();
    for line in source.lines() {
        if within.is_none() && !line.starts_with([' ', '\t', '#']) {
            lines.push(line);
        }
        let mut rest = line;
        loop {
            let found = match within {
                Some(quotes) => rest.find(quotes).map(|at| (at, quotes)),
                None => ["\"\"\"", "'''"]
                    .into_iter()
                    .filter_map(|quotes| Some((rest.find(quotes)?, quotes)))
                    .min(),
            };
            let Some((at, quotes)) = found else { break };
            within = within.is_none().then_some(quotes);
            rest = &rest[at + quotes.len()..];
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    const WHOLE: &str = "import torch\nclass Model(torch.nn.Module):\n    pass\n\
        def get_inputs():\n    return []\ndef get_init_inputs ():\n    return []\n";

    #[test]
    fn a_problem_defines_three_parts() {
        assert_eq!(Part::missing(WHOLE), []);
        assert_eq!(Part::missing(""), Part::ALL);
        let renamed = WHOLE.replace("class Model(", "class ModelNew(");
        assert_eq!(Part::missing(&renamed), [Part::Model]);
        assert_eq!(Part::Model.to_string(), "class Model");
    }

    #[test]
    fn what_stands_in_a_string_or_a_comment_defines_nothing() {
        let quoted = format!("\"\"\"\n{WHOLE}\"\"\"\n");
        assert_eq!(Part::missing(&quoted), Part::ALL);
        let commented = WHOLE.replace("def get_inputs", "# def get_inputs");
        assert_eq!(Part::missing(&commented), [Part::Inputs]);
        let behind = format!("'''one''' + \"\"\"two\n\"\"\"\n{WHOLE}");
        assert_eq!(Part::missing(&behind), []);
    }
}
