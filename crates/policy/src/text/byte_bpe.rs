//! Builds a `tokenizer.json` of a byte-level BPE tokenizer from its tables.
//!
//! GGUF files contain tokens and merges, but only the name of the rule that splits text before
//! merging.

use serde_json::{Value, json};

/// What a token is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TokenKind {
    /// Made by merges.
    Plain,
    /// Matched whole in a text.
    Whole,
    /// Matched whole, and left out of decoded text.
    Control,
}

/// The tables of a byte-level BPE tokenizer.
pub struct ByteBpe {
    /// Tokens by id.
    pub tokens: Vec<String>,
    /// Merges in order, each two tokens with a space between.
    pub merges: Vec<String>,
    /// The kind of each token. It may be shorter than `tokens`; the rest are plain.
    pub kinds: Vec<TokenKind>,
    /// llama.cpp's name of the splitting rule.
    pub split: String,
    /// The token that begins a text.
    pub bos: Option<u32>,
    /// The token that ends one.
    pub eos: Option<u32>,
}

/// Contractions, words, numbers of `{digits}` digits, punctuation, line ends, spaces.
fn words(digits: &str) -> String {
    format!(
        r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{{L}}\p{{N}}]?\p{{L}}+|\p{{N}}{digits}| ?[^\s\p{{L}}\p{{N}}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
    )
}

impl ByteBpe {
    /// As `tokenizer.json`.
    pub fn to_json(&self) -> Result<String, String> {
        let bytes = |regex: bool| json!({"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": false, "use_regex": regex});
        let by_regex = |regex: String| {
            let split = json!({"type": "Split", "pattern": {"Regex": regex}, "behavior": "Isolated", "invert": false});
            json!({"type": "Sequence", "pretokenizers": [split, bytes(false)]})
        };
        let (normalizer, splitter, ignore_merges) = match self.split.as_str() {
            "qwen2" => (json!({"type": "NFC"}), by_regex(words("")), false),
            "llama-bpe" | "llama3" | "llama-v3" => (Value::Null, by_regex(words("{1,3}")), true),
            "smollm" => {
                let digits = json!({"type": "Digits", "individual_digits": true});
                (
                    Value::Null,
                    json!({"type": "Sequence", "pretokenizers": [digits, bytes(true)]}),
                    false,
                )
            }
            "gpt-2" => (Value::Null, bytes(true), false),
            other => {
                return Err(format!(
                    "the splitting rule `{other}` is unknown (known: qwen2, llama-bpe, smollm, \
                     gpt-2): use the Hugging Face directory of this model"
                ));
            }
        };
        let kind = |id: usize| self.kinds.get(id).copied().unwrap_or(TokenKind::Plain);
        let vocab: serde_json::Map<String, Value> = self
            .tokens
            .iter()
            .enumerate()
            .map(|(id, token)| (token.clone(), json!(id)))
            .collect();
        let tokens = self
            .tokens
            .iter()
            .enumerate()
            .map(|(id, token)| (id, token, kind(id)));
        let added: Vec<Value> = tokens
            .filter(|(.., kind)| *kind != TokenKind::Plain)
            .map(|(id, token, kind)| added_token(id, token, kind))
            .collect();
        let out = json!({
            "version": "1.0",
            "truncation": null,
            "padding": null,
            "added_tokens": added,
            "normalizer": normalizer,
            "pre_tokenizer": splitter,
            "post_processor": null,
            "decoder": bytes(true),
            "model": {
                "type": "BPE",
                "dropout": null,
                "unk_token": null,
                "continuing_subword_prefix": null,
                "end_of_word_suffix": null,
                "fuse_unk": false,
                "byte_fallback": false,
                "ignore_merges": ignore_merges,
                "vocab": vocab,
                "merges": self.merges,
            },
        });
        Ok(out.to_string())
    }
}

fn added_token(id: usize, token: &str, kind: TokenKind) -> Value {
    json!({
        "id": id,
        "content": token,
        "single_word": false,
        "lstrip": false,
        "rstrip": false,
        "normalized": false,
        "special": kind == TokenKind::Control,
    })
}
