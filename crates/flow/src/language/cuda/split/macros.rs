//! What the macros of a source stand for, as far as splitting needs it.

use std::collections::{BTreeMap, BTreeSet};

use super::code::Code;
use super::holds::Holds;
use super::refusal::Refusal;
use super::spaces::Spaces;
use crate::language::c::lex::{Directive, TokenKind};

/// The macros of a source. One that is defined twice stands for both.
#[derive(Default)]
pub(super) struct Macros {
    macros: BTreeMap<String, Macro>,
}

#[derive(Default)]
struct Macro {
    words: BTreeSet<String>,
    spaces: Spaces,
    holds: Holds,
    /// Whether it has a body of code.
    has_braces: bool,
    is_attribute: bool,
}

/// How deep macros may stand for macros.
const DEEP: usize = 16;

/// Words that a source must not redefine.
const RESERVED: [&str; 15] = [
    "const",
    "constexpr",
    "static",
    "__global__",
    "__device__",
    "__host__",
    "__constant__",
    "__shared__",
    "__managed__",
    "__launch_bounds__",
    "__CUDACC__",
    "__CUDA_ARCH__",
    "__CUDACC_RTC__",
    "__NVCC__",
    "__grid_constant__",
];

impl Macros {
    pub(super) fn read(code: &Code<'_>) -> Result<Self, Refusal> {
        let mut found = Self::default();
        for directive in &code.directives {
            if !matches!(directive.name.as_ref(), "define" | "undef") {
                continue;
            }
            let Some(name) = directive.body.first() else {
                continue;
            };
            if RESERVED.contains(&name.text.as_ref()) {
                return Err(Refusal {
                    line: directive.line,
                    why: format!(
                        "`{}` is a word of CUDA or C++ and cannot be defined anew",
                        name.text
                    ),
                });
            }
            found.meet(directive);
        }
        if !found.spread() {
            return Err(Refusal {
                line: 1,
                why: format!("macros stand for macros, more than {DEEP} deep"),
            });
        }
        Ok(found)
    }

    fn meet(&mut self, directive: &Directive<'_>) {
        let Some((name, body)) = directive.body.split_first() else {
            return;
        };
        let entry = self.macros.entry(name.text.to_string()).or_default();
        for token in body {
            if token.kind == TokenKind::Ident {
                entry.words.insert(token.text.to_string());
                entry.spaces |= Spaces::of(&token.text);
            }
            entry.holds |= Holds::of(token);
            entry.has_braces |= token.is_punct("{");
        }
        entry.is_attribute |= entry.words.iter().any(|word| {
            matches!(
                word.as_str(),
                "__launch_bounds__" | "__attribute__" | "alignas" | "__align__"
            )
        }) && !entry.has_braces;
    }

    /// A macro stands for what the macros in it stand for. False if they stand too deep in each
    /// other.
    fn spread(&mut self) -> bool {
        for _ in 0..DEEP {
            let mut changed = false;
            let names: Vec<String> = self.macros.keys().cloned().collect();
            for name in names {
                let of = &self.macros[&name];
                let mut both = (of.spaces, of.holds);
                for inner in of.words.iter().filter_map(|word| self.macros.get(word)) {
                    both.0 |= inner.spaces;
                    both.1 |= inner.holds;
                }
                let entry = self.macros.entry(name).or_default();
                changed |= (entry.spaces, entry.holds) != both;
                (entry.spaces, entry.holds) = both;
            }
            if !changed {
                return true;
            }
        }
        false
    }

    /// What a word holds, as far as it is a macro.
    pub(super) fn holds(&self, word: &str) -> Holds {
        self.macros
            .get(word)
            .map_or_else(Holds::default, |found| found.holds)
    }

    /// What a word says of where a declaration belongs.
    pub(super) fn spaces(&self, word: &str) -> Spaces {
        let mut spaces = Spaces::of(word);
        if let Some(found) = self.macros.get(word) {
            spaces |= found.spaces;
        }
        spaces
    }

    /// Whether a macro stands for an attribute with arguments.
    pub(super) fn is_attribute(&self, word: &str) -> bool {
        self.macros
            .get(word)
            .is_some_and(|found| found.is_attribute)
    }

    /// Whether a macro stands for code in braces.
    pub(super) fn defines_code(&self, word: &str) -> bool {
        self.macros.get(word).is_some_and(|found| found.has_braces)
    }

    /// Whether a word is a macro.
    pub(super) fn is_macro(&self, word: &str) -> bool {
        self.macros.contains_key(word)
    }

    /// The words of a macro's body.
    pub(super) fn words(&self, word: &str) -> impl Iterator<Item = &str> {
        let found = self.macros.get(word);
        found
            .into_iter()
            .flat_map(|found| found.words.iter().map(String::as_str))
    }
}
