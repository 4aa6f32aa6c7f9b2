//! Byte-pair encoding: a small trainer and encoder, the same on every machine.
//!
//! Text is first cut into pieces that merges never cross: a line end with the indentation
//! behind it, a number that is no part of a name, and what lies between. A tile's size is
//! thus the same token wherever it stands.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};

use serde_json::{Value, json};

/// The cutting rule as the tokenizer file states it. [`pieces`] does the same.
const CUT: &str = r"\n *|(?<![A-Za-z0-9_])[1-9][0-9]*";

/// The longest token in bytes: longer ones would swallow whole statements.
const TOKEN_BYTES: usize = 24;

/// A trained vocabulary: control tokens, then the 256 bytes, then merges.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bpe {
    special: Vec<String>,
    /// The bytes of every token behind the control tokens.
    tokens: Vec<Vec<u8>>,
    /// What is joined, in order of rank, and the token it makes.
    merges: Vec<([u32; 2], u32)>,
}

impl Bpe {
    /// Learns from `texts` until there are `size` tokens, or nothing is left to join.
    pub fn train<'a>(
        texts: impl IntoIterator<Item = &'a str>,
        special: Vec<String>,
        size: usize,
    ) -> Self {
        let first = special.len() as u32;
        let mut counts: BTreeMap<&[u8], u64> = BTreeMap::new();
        for text in texts {
            for piece in pieces(text.as_bytes()) {
                *counts.entry(piece).or_default() += 1;
            }
        }
        let mut words: Vec<(Vec<u32>, u64)> = counts
            .into_iter()
            .map(|(piece, count)| {
                (
                    piece.iter().map(|byte| first + u32::from(*byte)).collect(),
                    count,
                )
            })
            .collect();
        let mut bpe = Self {
            special,
            tokens: (0..=255).map(|byte| vec![byte]).collect(),
            merges: Vec::new(),
        };
        let mut known: HashMap<Vec<u8>, u32> = bpe
            .tokens
            .iter()
            .enumerate()
            .map(|(at, bytes)| (bytes.clone(), first + at as u32))
            .collect();
        while bpe.len() < size {
            let Some(pair) = bpe.best_pair(&words) else {
                break;
            };
            let bytes = bpe.joined(pair);
            let next = bpe.len() as u32;
            // Two pairs may make the same bytes: they are one token.
            let token = *known.entry(bytes.clone()).or_insert(next);
            if token == next {
                bpe.tokens.push(bytes);
            }
            bpe.merges.push((pair, token));
            for (word, _) in &mut words {
                join(word, pair, token);
            }
        }
        bpe
    }

    /// The most frequent pair; of equals the one with the smallest ids.
    fn best_pair(&self, words: &[(Vec<u32>, u64)]) -> Option<[u32; 2]> {
        let mut counts: HashMap<[u32; 2], u64> = HashMap::new();
        for (word, count) in words {
            for pair in word.windows(2) {
                *counts.entry([pair[0], pair[1]]).or_default() += count;
            }
        }
        let fits = |pair: &[u32; 2]| self.joined(*pair).len() <= TOKEN_BYTES;
        let best = counts
            .into_iter()
            .filter(|(pair, _)| fits(pair))
            .max_by_key(|(pair, count)| (*count, std::cmp::Reverse(*pair)));
        best.filter(|(_, count)| *count > 1).map(|(pair, _)| pair)
    }

    fn joined(&self, pair: [u32; 2]) -> Vec<u8> {
        pair.iter()
            .flat_map(|token| self.bytes(*token))
            .copied()
            .collect()
    }

    fn bytes(&self, token: u32) -> &[u8] {
        self.tokens
            .get((token as usize).wrapping_sub(self.special.len()))
            .map_or(&[], Vec::as_slice)
    }

    /// How many tokens there are.
    pub fn len(&self) -> usize {
        self.special.len() + self.tokens.len()
    }

    /// Never: bytes are always there.
    pub fn is_empty(&self) -> bool {
        false
    }

    /// Prepares for encoding.
    pub fn encoder(&self) -> Encoder<'_> {
        let merges = self.merges.iter().enumerate();
        let ranks = merges
            .map(|(rank, (pair, token))| (*pair, (rank, *token)))
            .collect();
        Encoder {
            bpe: self,
            ranks,
            known: RefCell::default(),
        }
    }

    /// The text of `tokens`; bytes that are no UTF-8 are replaced.
    pub fn decode(&self, tokens: &[u32]) -> String {
        let mut bytes = Vec::new();
        for token in tokens {
            match self.special.get(*token as usize) {
                Some(control) => bytes.extend_from_slice(control.as_bytes()),
                None => bytes.extend_from_slice(self.bytes(*token)),
            }
        }
        String::from_utf8_lossy(&bytes).into_owned()
    }

    /// The vocabulary as a Hugging Face `tokenizer.json`.
    pub fn tokenizer_json(&self) -> Value {
        let alphabet = byte_letters();
        let word = |token: u32| -> String {
            self.bytes(token)
                .iter()
                .map(|byte| alphabet[usize::from(*byte)])
                .collect()
        };
        let first = self.special.len() as u32;
        let control = self
            .special
            .iter()
            .enumerate()
            .map(|(id, content)| (content.clone(), id as u32));
        let plain = (first..self.len() as u32).map(|id| (word(id), id));
        let vocabulary: BTreeMap<String, u32> = control.chain(plain).collect();
        let merges: Vec<[String; 2]> = self.merges.iter().map(|(pair, _)| pair.map(word)).collect();
        let added: Vec<Value> = self
            .special
            .iter()
            .enumerate()
            .map(|(id, content)| {
                json!({
                    "id": id, "content": content, "single_word": false, "lstrip": false, "rstrip": false,
                    "normalized": false, "special": true,
                })
            })
            .collect();
        json!({
            "version": "1.0", "truncation": null, "padding": null, "added_tokens": added, "normalizer": null,
            "pre_tokenizer": { "type": "Sequence", "pretokenizers": [
                { "type": "Split", "pattern": { "Regex": CUT }, "behavior": "Isolated", "invert": false },
                { "type": "ByteLevel", "add_prefix_space": false, "trim_offsets": false, "use_regex": false },
            ] },
            "post_processor": null,
            "decoder": { "type": "ByteLevel", "add_prefix_space": false, "trim_offsets": false, "use_regex": false },
            "model": { "type": "BPE", "dropout": null, "unk_token": null, "continuing_subword_prefix": null,
                "end_of_word_suffix": null, "fuse_unk": false, "byte_fallback": false, "ignore_merges": false,
                "vocab": vocabulary, "merges": merges },
        })
    }
}

/// Turns text into tokens.
#[derive(Debug)]
pub struct Encoder<'a> {
    bpe: &'a Bpe,
    /// The rank of every pair, and what it makes.
    ranks: HashMap<[u32; 2], (usize, u32)>,
    /// Pieces that were met before, of which programs are made over and over.
    known: RefCell<HashMap<Vec<u8>, Vec<u32>>>,
}

impl Encoder<'_> {
    /// The tokens of `text`; control tokens are recognised.
    pub fn encode(&self, text: &str) -> Vec<u32> {
        let special = &self.bpe.special;
        let mut tokens = Vec::new();
        let mut rest = text;
        while !rest.is_empty() {
            let control = |at: usize| {
                special
                    .iter()
                    .position(|token| rest[at..].starts_with(token.as_str()))
            };
            let next = rest
                .match_indices('<')
                .find_map(|(at, _)| Some((at, control(at)?)));
            let (plain, behind) = next.map_or((rest.len(), rest.len()), |(at, id)| {
                (at, at + special[id].len())
            });
            for piece in pieces(&rest.as_bytes()[..plain]) {
                let mut known = self.known.borrow_mut();
                if let Some(met) = known.get(piece) {
                    tokens.extend(met);
                } else {
                    let new = self.encode_piece(piece);
                    tokens.extend(&new);
                    known.insert(piece.to_vec(), new);
                }
            }
            tokens.extend(next.map(|(_, id)| id as u32));
            rest = &rest[behind..];
        }
        tokens
    }

    fn encode_piece(&self, piece: &[u8]) -> Vec<u32> {
        let first = self.bpe.special.len() as u32;
        let mut word: Vec<u32> = piece.iter().map(|byte| first + u32::from(*byte)).collect();
        let best = |word: &[u32]| {
            word.windows(2)
                .filter_map(|pair| Some((*self.ranks.get(pair)?, [pair[0], pair[1]])))
                .min()
        };
        while let Some(((_, token), pair)) = best(&word) {
            join(&mut word, pair, token);
        }
        word
    }
}

/// Puts `token` wherever `pair` stands in `word`, from the left.
fn join(word: &mut Vec<u32>, pair: [u32; 2], token: u32) {
    let mut at = 0;
    while at + 1 < word.len() {
        if word[at] == pair[0] && word[at + 1] == pair[1] {
            word[at] = token;
            word.remove(at + 1);
        }
        at += 1;
    }
}

/// Cuts a text where [`CUT`] matches, matches being pieces of their own.
fn pieces(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let from = at;
        let matched = match_length(text, at);
        at += matched;
        while matched == 0 && at < text.len() && match_length(text, at) == 0 {
            at += 1;
        }
        (from < at).then(|| &text[from..at])
    })
}

/// The length of a match of [`CUT`] that starts at `at`; 0 for none.
fn match_length(text: &[u8], at: usize) -> usize {
    let run =
        |from: usize, is: fn(&u8) -> bool| text[from..].iter().take_while(|byte| is(byte)).count();
    let in_name = at > 0 && (text[at - 1].is_ascii_alphanumeric() || text[at - 1] == b'_');
    match text.get(at) {
        Some(b'\n') => 1 + run(at + 1, |byte| *byte == b' '),
        Some(b'1'..=b'9') if !in_name => run(at, u8::is_ascii_digit),
        _ => 0,
    }
}

/// The letters that stand for bytes in Hugging Face's byte-level vocabularies: printable
/// bytes are themselves, the others come from 256 on.
fn byte_letters() -> Vec<char> {
    let mut others = 256..;
    let printable = |byte: u32| matches!(byte, 33..=126 | 161..=172 | 174..=255);
    let letter = |byte: u32| {
        if printable(byte) {
            Some(byte)
        } else {
            others.next()
        }
    };
    (0..256)
        .map(letter)
        .map(|code| code.and_then(char::from_u32).unwrap_or('?'))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(text: &str) -> Vec<String> {
        pieces(text.as_bytes())
            .map(|piece| String::from_utf8_lossy(piece).into_owned())
            .collect()
    }

    #[test]
    fn lines_and_numbers_are_pieces_of_their_own() {
        assert_eq!(
            cut("for(i=0;i<256;i+=16)\n  s10=_mm512_x(4*v);"),
            [
                "for(i=0;i<",
                "256",
                ";i+=",
                "16",
                ")",
                "\n  ",
                "s10=_mm512_x(",
                "4",
                "*v);"
            ]
        );
        assert_eq!(cut(""), Vec::<String>::new());
        assert_eq!(cut("\n\n 7"), ["\n", "\n ", "7"]);
    }

    #[test]
    fn merges_are_learned_by_frequency_and_undone_by_decoding() {
        let text = "ababab abab ab\u{e4}";
        let bpe = Bpe::train([text], vec!["<end>".to_owned()], 259);
        assert_eq!(bpe.len(), 259);
        assert_eq!(bpe.decode(&[257]), "ab");
        assert_eq!(
            bpe.encoder().encode("abab<end>x<"),
            [258, 0, 1 + u32::from(b'x'), 1 + u32::from(b'<')]
        );
        assert_eq!(bpe.decode(&bpe.encoder().encode(text)), text);
    }

    #[test]
    fn bytes_have_their_known_letters() {
        let letters = byte_letters();
        assert_eq!(
            (
                letters[usize::from(b'\n')],
                letters[usize::from(b' ')],
                letters[usize::from(b'A')]
            ),
            ('Ċ', 'Ġ', 'A')
        );
        assert_eq!(letters[0xad], 'Ń');
    }

    #[test]
    fn training_is_deterministic() {
        let texts = [
            "for(int i=0;i<M;i++)",
            "for(int j=0;j<N;j++)",
            "x y z x y z",
        ];
        let train = || Bpe::train(texts, vec![], 290);
        assert_eq!(train(), train());
        assert_eq!(train().tokenizer_json(), train().tokenizer_json());
    }
}
