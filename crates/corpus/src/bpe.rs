//! Byte-pair encoding for the nano policy, with the crate `tokenizers`.
//!
//! Text is first split into pieces that merges never cross: a line end with the following
//! indentation, a number outside a name, and the text between them. So the size of a tile is the
//! same token everywhere.

use serde_json::Value;
use tokenizers::models::bpe::{BPE, BpeTrainer};
use tokenizers::pre_tokenizers::byte_level::ByteLevel;
use tokenizers::pre_tokenizers::sequence::Sequence;
use tokenizers::pre_tokenizers::split::{Split, SplitPattern};
use tokenizers::{AddedToken, NormalizerWrapper, SplitDelimiterBehavior, Tokenizer, TokenizerImpl};

/// Where text is split. Each match is a separate piece.
const CUT: &str = r"\n *|(?<![A-Za-z0-9_])[1-9][0-9]*";

/// The longest token in bytes: longer ones would swallow whole statements.
const TOKEN_BYTES: usize = 24;

/// A trained vocabulary: control tokens, then the 256 bytes, then merges.
#[derive(Debug, Clone)]
pub struct Bpe(Tokenizer);

impl Bpe {
    /// Learns from `texts` until there are `size` tokens, or no pair is left that occurs twice.
    pub fn train<'a>(
        texts: impl IntoIterator<Item = &'a str>,
        special: &[String],
        size: usize,
    ) -> Self {
        let special: Vec<AddedToken> = special
            .iter()
            .map(|content| AddedToken::from(content.as_str(), true))
            .collect();
        let mut trainer = BpeTrainer::builder()
            .vocab_size(size)
            .special_tokens(special)
            .initial_alphabet(ByteLevel::alphabet().into_iter().collect())
            .max_token_length(Some(TOKEN_BYTES))
            .min_frequency(2)
            .show_progress(false)
            .build();
        let bytes = ByteLevel::new(false, false, false);
        let split = Split::new(
            SplitPattern::Regex(CUT.to_owned()),
            SplitDelimiterBehavior::Isolated,
            false,
        )
        .expect("the rule is a regular expression");
        let mut tokenizer: TokenizerImpl<BPE, NormalizerWrapper, Sequence, ByteLevel, ByteLevel> =
            TokenizerImpl::new(BPE::default());
        tokenizer
            .with_pre_tokenizer(Some(Sequence::new(vec![split.into(), bytes.into()])))
            .with_decoder(Some(bytes));
        let texts: Vec<&str> = texts.into_iter().collect();
        tokenizer
            .train(&mut trainer, texts.into_iter())
            .expect("every text has an encoding in bytes");
        Self(tokenizer.into())
    }

    /// How many tokens there are.
    pub fn len(&self) -> usize {
        self.0.get_vocab_size(true)
    }

    /// Always false, because the vocabulary contains all bytes.
    pub fn is_empty(&self) -> bool {
        false
    }

    /// The tokens of `text`; control tokens are recognised.
    pub fn encode(&self, text: &str) -> Vec<u32> {
        let encoding = self.0.encode(text, false);
        encoding
            .expect("every text has an encoding in bytes")
            .get_ids()
            .to_vec()
    }

    /// The text of `tokens`. Invalid UTF-8 is replaced.
    pub fn decode(&self, tokens: &[u32]) -> String {
        self.0.decode(tokens, false).expect("bytes are decoded")
    }

    /// The vocabulary as a Hugging Face `tokenizer.json`.
    pub fn tokenizer_json(&self) -> Value {
        let text = self
            .0
            .to_string(false)
            .expect("tokenizers have a JSON form");
        serde_json::from_str(&text).expect("it is JSON")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_and_numbers_are_separate_tokens() {
        let text = "for(i=0;i<256;i+=16)\n  s10=_mm512_x(4*v);";
        let bpe = Bpe::train([text, text], &[], 400);
        let tokens = bpe.encode(text);
        let pieces: Vec<String> = tokens.iter().map(|token| bpe.decode(&[*token])).collect();
        assert_eq!(
            pieces,
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
        assert_eq!(bpe.encode(""), Vec::<u32>::new());
    }

    #[test]
    fn merges_are_learned_by_frequency_and_undone_by_decoding() {
        let text = "ababab abab ab\u{e4}";
        let bpe = Bpe::train([text], &["<end>".to_owned()], 259);
        assert_eq!(bpe.len(), 259);
        assert_eq!(bpe.decode(&[257]), "ab");
        let tokens = bpe.encode("abab<end>x<");
        assert_eq!((tokens.len(), &tokens[..2]), (4, &[258, 0][..]));
        assert_eq!(bpe.decode(&tokens), "abab<end>x<");
        assert_eq!(bpe.decode(&bpe.encode(text)), text);
    }

    /// The same corpus gives the same merges on every machine, although it has many ties.
    #[test]
    fn training_is_deterministic() {
        let texts: Vec<String> = (0..200)
            .map(|number| format!("for(int i{number}=0;i<M;i++)\n  x y z {}", number % 7))
            .collect();
        let train = || Bpe::train(texts.iter().map(String::as_str), &[], 320).tokenizer_json();
        let first = train();
        for _ in 0..5 {
            assert_eq!(first, train());
        }
        let merges = first["model"]["merges"].to_string();
        assert_eq!(
            blake3::hash(merges.as_bytes()).to_hex().as_str(),
            "3281e4f48b9577807ab6de83698d07762ae6af66d6329d59154e8be1f8b4fdf5"
        );
    }
}
