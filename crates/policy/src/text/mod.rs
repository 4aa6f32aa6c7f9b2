//! Text to tokens and back, and chats to text.

mod byte_bpe;
mod chat;
mod continued;

use std::path::Path;

pub use byte_bpe::{ByteBpe, TokenKind};
pub use chat::{ChatTemplate, TemplateError, Turn};
use serde_json::Value;
use tokenizers::Tokenizer;

use crate::load_error::{LoadError, Problem};

/// A model's tokenizer and chat template.
pub struct Text {
    tokenizer: Tokenizer,
    /// The tokenizer for continued texts, if it differs.
    continued: Option<Tokenizer>,
    template: Option<ChatTemplate>,
    /// `tokenizer.json`, kept for saving with the model.
    json: String,
    bos: Option<String>,
    eos: Option<String>,
}

impl Text {
    /// From `tokenizer.json`, `tokenizer_config.json` and `chat_template.jinja` of a directory.
    pub fn from_directory(directory: &Path) -> Result<Self, LoadError> {
        let path = directory.join("tokenizer.json");
        if !path.exists() {
            let why = "there is none: copy it from the model's page, or give a GGUF file, which \
                holds its tokenizer";
            return Err(Problem::Tokenizer(why.into()).at(&path));
        }
        let json = fs_err::read_to_string(&path).map_err(|error| Problem::from(error).at(&path))?;
        let settings = read_settings(&directory.join("tokenizer_config.json"))?;
        let separate = directory.join("chat_template.jinja");
        let mut template = template_of(&settings);
        if separate.exists() {
            template = Some(
                fs_err::read_to_string(&separate)
                    .map_err(|error| Problem::from(error).at(&separate))?,
            );
        }
        let (bos, eos) = (
            token_of(&settings["bos_token"]),
            token_of(&settings["eos_token"]),
        );
        Self::build(json, template, bos, eos).map_err(|why| Problem::Tokenizer(why).at(&path))
    }

    /// From the tables of a GGUF file.
    pub fn from_byte_bpe(bpe: &ByteBpe, template: Option<String>) -> Result<Self, String> {
        let token = |id: Option<u32>| id.and_then(|id| bpe.tokens.get(id as usize)).cloned();
        Self::build(bpe.to_json()?, template, token(bpe.bos), token(bpe.eos))
    }

    /// From the text of a `tokenizer.json`, a chat template and the token that ends an answer.
    pub fn new(json: String, template: String, eos: String) -> Result<Self, String> {
        Self::build(json, Some(template), None, Some(eos))
    }

    fn build(
        json: String,
        template: Option<String>,
        bos: Option<String>,
        eos: Option<String>,
    ) -> Result<Self, String> {
        let mut tokenizer = Tokenizer::from_bytes(json.as_bytes()).map_err(|error| {
            format!(
                "no tokenizer as Hugging Face's library writes it: {error}. Copy it from the \
                model's page"
            )
        })?;
        // Trainers leave their own truncation and padding settings here. They would silently cut or
        // pad prompts and answers.
        tokenizer
            .with_truncation(None)
            .map_err(|error| error.to_string())?;
        tokenizer.with_padding(None);
        let continued = continued::tokenizer(&tokenizer).map_err(|error| error.to_string())?;
        let template = template
            .map(ChatTemplate::new)
            .transpose()
            .map_err(|error| error.to_string())?;
        Ok(Self {
            tokenizer,
            continued,
            template,
            json,
            bos,
            eos,
        })
    }

    /// Tokens of a text. Special tokens in it are recognised, and none is added.
    pub fn encode(&self, text: &str) -> Vec<u32> {
        // Encoding fails only if the tokenizer's unknown token is missing from its vocabulary.
        // Byte-level tokenizers have no unknown token.
        self.tokenizer
            .encode_fast(text, false)
            .map(|encoding| encoding.get_ids().to_vec())
            .unwrap_or_default()
    }

    /// Tokens of a continued text, without the space that some tokenizers put before a text.
    fn encode_on(&self, text: &str) -> Vec<u32> {
        let Some(continued) = &self.continued else {
            return self.encode(text);
        };
        let Ok(whole) = self.tokenizer.encode(text, false) else {
            return Vec::new();
        };
        // After a special token the text is encoded as in a whole text.
        let added = self
            .tokenizer
            .get_added_vocabulary()
            .get_added_tokens_decoder();
        let first = whole
            .get_ids()
            .iter()
            .position(|token| added.contains_key(token));
        let head = first.map_or(text, |first| &text[..whole.get_offsets()[first].0]);
        let mut tokens = continued
            .encode_fast(head, false)
            .map_or(Vec::new(), |head| head.get_ids().to_vec());
        tokens.extend(first.map_or(&[][..], |first| &whole.get_ids()[first..]));
        tokens
    }

    /// The text of continued tokens, such as those of an answer, without special tokens.
    pub fn decode(&self, tokens: &[u32]) -> String {
        self.decoded(tokens, true)
    }

    /// The text of all tokens, as a model sees them: special tokens by their names.
    pub fn spell(&self, tokens: &[u32]) -> String {
        self.decoded(tokens, false)
    }

    fn decoded(&self, tokens: &[u32], skip_special: bool) -> String {
        self.continued
            .as_ref()
            .unwrap_or(&self.tokenizer)
            .decode(tokens, skip_special)
            .unwrap_or_default()
    }

    /// An answer that the prompt did not begin, without the leading space that its tokenizer adds
    /// to every text.
    pub fn opening<'a>(&self, answer: &'a str) -> &'a str {
        let puts = self.continued.is_some();
        answer.strip_prefix(' ').filter(|_| puts).unwrap_or(answer)
    }

    /// The token with this name.
    #[cfg(test)]
    fn token(&self, name: &str) -> u32 {
        self.tokenizer
            .token_to_id(name)
            .unwrap_or_else(|| panic!("there is no token {name}"))
    }

    /// The special token with this text, if there is one.
    pub fn special(&self, text: &str) -> Option<u32> {
        let is_special = self.tokenizer.get_added_vocabulary().is_special_token(text);
        is_special
            .then(|| self.tokenizer.token_to_id(text))
            .flatten()
    }

    /// A chat in the model's format, up to the beginning of its answer, followed by `begun`.
    pub fn prompt(&self, turns: &[Turn], begun: &str) -> Result<Vec<u32>, TemplateError> {
        let template = self.template.as_ref().ok_or(TemplateError::None)?;
        let text = template.render(turns, true, self.bos.as_deref(), self.eos.as_deref())?;
        let mut tokens = self.encode(&text);
        // Appended as separate tokens, so that the template's last token is the one from training.
        tokens.extend(self.encode_on(begun));
        Ok(tokens)
    }

    /// A chat with its answers, and which tokens are the assistant's. Supervised training scores
    /// those.
    pub fn example(&self, turns: &[Turn]) -> Result<(Vec<u32>, Vec<bool>), TemplateError> {
        let template = self.template.as_ref().ok_or(TemplateError::None)?;
        let render = |turns: &[Turn], ask| {
            template.render(turns, ask, self.bos.as_deref(), self.eos.as_deref())
        };
        let (mut tokens, mut scored) = (Vec::new(), Vec::new());
        let mut add = |text: &str, is_answer: bool| {
            let more = if tokens.is_empty() {
                self.encode(text)
            } else {
                self.encode_on(text)
            };
            tokens.extend(more);
            scored.resize(tokens.len(), is_answer);
        };
        let mut written = String::new();
        for nth in (0..turns.len()).filter(|nth| turns[*nth].role == "assistant") {
            let before = render(&turns[..nth], true)?;
            let whole = render(&turns[..=nth], false)?;
            let asked = before
                .strip_prefix(&written)
                .ok_or(TemplateError::Unstable(nth))?;
            let answer = whole
                .strip_prefix(&before)
                .ok_or(TemplateError::Unstable(nth))?;
            add(asked, false);
            add(answer, true);
            written = whole;
        }
        Ok((tokens, scored))
    }

    /// Whether the model has a chat template.
    pub fn has_template(&self) -> bool {
        self.template.is_some()
    }

    /// `tokenizer.json`.
    pub fn json(&self) -> &str {
        &self.json
    }

    /// `tokenizer_config.json`.
    pub fn settings_json(&self) -> Value {
        serde_json::json!({
            "tokenizer_class": "PreTrainedTokenizerFast",
            "bos_token": self.bos,
            "eos_token": self.eos,
            "chat_template": self.template.as_ref().map(ChatTemplate::source),
            "clean_up_tokenization_spaces": false,
        })
    }
}

fn read_settings(path: &Path) -> Result<Value, LoadError> {
    if !path.exists() {
        return Ok(Value::Null);
    }
    let read =
        || -> Result<Value, Problem> { Ok(serde_json::from_str(&fs_err::read_to_string(path)?)?) };
    read().map_err(|problem| problem.at(path))
}

/// A template is a string, or a list of named templates, from which `default` is used.
fn template_of(settings: &Value) -> Option<String> {
    match &settings["chat_template"] {
        Value::String(template) => Some(template.clone()),
        Value::Array(named) => {
            let default = named.iter().find(|entry| entry["name"] == "default");
            default
                .and_then(|entry| entry["template"].as_str())
                .map(str::to_owned)
        }
        _ => None,
    }
}

/// A token is a string, or a record with its `content`.
fn token_of(value: &Value) -> Option<String> {
    value
        .as_str()
        .or_else(|| value["content"].as_str())
        .map(str::to_owned)
}
