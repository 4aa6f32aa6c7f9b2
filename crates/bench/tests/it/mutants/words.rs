//! Which words of a program are worth hiding.

use std::collections::BTreeMap;

use super::program::{Edit, Kind, Place, Program, Token};

/// Words that open constructs which the bench examines.
const OPENERS: [&str; 6] = [
    "_Pragma",
    "__attribute__",
    "__attribute",
    "asm",
    "__asm",
    "__asm__",
];

/// Words of the language that stand before a parenthesis and call nothing.
const KEYWORDS: [&str; 14] = [
    "if", "for", "while", "switch", "return", "sizeof", "do", "else", "case", "typeof", "alignas",
    "int", "double", "void",
];

/// Words to hide if a program has nothing better.
const PLAIN: [&str; 12] = [
    "for", "return", "double", "float", "while", "if", "int", "sizeof", "static", "goto", "long",
    "const",
];

/// A word to hide.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Word {
    pub(super) text: String,
    /// Whether it is also hidden outside functions and in macros. Plain words and parameters are
    /// not, because the entry point's signature is read before preprocessing.
    everywhere: bool,
}

impl Word {
    /// Writes `instead` wherever this word may be hidden.
    pub(super) fn replaced(&self, program: &Program<'_>, instead: &str) -> Vec<Edit> {
        let functions = program.functions();
        let in_signature = |token: &Token| {
            functions.iter().any(|(name, body)| {
                let parameters = &program.tokens[*name..*body];
                parameters.iter().any(|other| other.range == token.range)
            })
        };
        let hides = |token: &&Token| {
            token.kind == Kind::Word
                && program.text(token) == self.text
                && match token.place {
                    Place::Program if token.depth == 0 => self.everywhere && !in_signature(token),
                    Place::Program => true,
                    Place::Definition => self.everywhere,
                    Place::Directive => false,
                }
        };
        let tokens = program.tokens.iter().filter(hides);
        tokens
            .map(|token| Edit {
                range: token.range.clone(),
                text: instead.to_owned(),
            })
            .collect()
    }

    /// The word in two, unless it is too short.
    pub(super) fn halves(&self) -> Option<(&str, &str)> {
        let half = self.text.len() / 2;
        (half > 0 && self.text.is_ascii()).then(|| self.text.split_at(half))
    }
}

pub(super) fn is_opener(word: &str) -> bool {
    OPENERS.contains(&word)
}

/// Whether the word at `index` is called, or might be, inside of a function.
pub(super) fn is_called(program: &Program<'_>, index: usize) -> bool {
    let token = &program.tokens[index];
    token.kind == Kind::Word
        && token.place == Place::Program
        && token.depth > 0
        && program.is(index + 1, "(")
        && !KEYWORDS.contains(&program.text(token))
}

/// Whether a word in a macro's body may be its parameter: another word there would be no argument's
/// place any more, and the program would not do what it did.
pub(super) fn is_parameter(program: &Program<'_>, word: &str) -> bool {
    let mut heads = program.tokens.iter();
    heads.any(|token| token.place == Place::Directive && program.text(token) == word)
}

/// The words that reveal a program, the most telling first: words that open attributes, assembly
/// and pragmas, names of attributes and of the implementation, and external functions. If there are
/// none, plain words.
pub(super) fn telling(program: &Program<'_>) -> Vec<Word> {
    let functions = program.functions();
    let own: Vec<&str> = functions
        .iter()
        .map(|(name, _)| program.text(&program.tokens[*name]))
        .collect();
    let mut ranks: BTreeMap<&str, (u32, usize)> = BTreeMap::new();
    let mut attribute_end = 0;
    for (index, token) in program.tokens.iter().enumerate() {
        let text = program.text(token);
        if text.contains("attribute") {
            attribute_end = program.closing(index + 1).unwrap_or(0);
        }
        if program.is(index, "[") && program.is(index + 1, "[") {
            attribute_end = program.closing(index).unwrap_or(0);
        }
        let is_parameter = token.place == Place::Definition && is_parameter(program, text);
        let is_word = token.kind == Kind::Word && token.place != Place::Directive;
        if !is_word || is_parameter || own.contains(&text) {
            continue;
        }
        let rank = if is_opener(text) {
            0
        } else if index < attribute_end || text.starts_with('_') {
            1
        } else if is_called(program, index) {
            2
        } else {
            continue;
        };
        let known = ranks.entry(text).or_insert((rank, index));
        known.0 = known.0.min(rank);
    }
    let mut telling: Vec<_> = ranks.into_iter().collect();
    telling.sort_by_key(|(_, order)| *order);
    let word = |text: &str, everywhere| Word {
        text: text.to_owned(),
        everywhere,
    };
    let plain = PLAIN.iter().map(|text| word(text, false));
    let plain = plain.filter(|word| !word.replaced(program, "").is_empty());
    let telling = telling.into_iter().map(|(text, _)| word(text, true));
    telling.chain(plain).collect()
}
