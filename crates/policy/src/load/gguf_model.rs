//! A language model in a GGUF file: its shape, its tensors under Hugging Face names, its tokenizer.

use std::collections::HashSet;
use std::path::Path;

use super::gguf::{Entry, GgufFile, Value};
use crate::load_error::{LoadError, Problem};
use crate::model::{Config, Family, RopeScaling};
use crate::text::{ByteBpe, Text, TokenKind};

/// Control tokens that end an answer if the vocabulary contains them.
const ENDS: [&str; 4] = ["<|endoftext|>", "<|im_end|>", "<|eot_id|>", "<|eom_id|>"];

pub(super) struct GgufModel {
    file: GgufFile,
    family: Family,
    heads: usize,
    kv_heads: usize,
}

impl GgufModel {
    pub(super) fn open(path: &Path) -> Result<(Config, Self), LoadError> {
        let open = || {
            let file = GgufFile::open(path)?;
            let config = config(&file)?;
            let Config {
                family,
                heads,
                kv_heads,
                ..
            } = config;
            Ok((
                config,
                Self {
                    file,
                    family,
                    heads,
                    kv_heads,
                },
            ))
        };
        open().map_err(|problem: Problem| problem.at(path))
    }

    pub(super) fn tensor(&self, name: &str, shape: &[usize]) -> Result<Vec<f32>, LoadError> {
        self.read(name, shape)
            .map_err(|problem| problem.at(&self.file.path))
    }

    fn read(&self, name: &str, shape: &[usize]) -> Result<Vec<f32>, Problem> {
        let stored = stored_name(name).ok_or_else(|| Problem::MissingTensor(name.to_owned()))?;
        let entry = self
            .file
            .tensors
            .get(&stored)
            .ok_or_else(|| Problem::MissingTensor(stored.clone()))?;
        if entry.shape != shape {
            return Err(Problem::WrongShape {
                name: stored,
                found: entry.shape.clone(),
                wanted: shape.to_vec(),
            });
        }
        let data = self.file.tensor(&stored)?;
        // llama.cpp stores Llama's q and k for a rotation of neighbours. Qwen's are stored
        // unchanged.
        match (self.family, name.rsplit_once(".self_attn.")) {
            (Family::Llama, Some((_, "q_proj.weight"))) => Ok(unpermute(&data, self.heads, shape)),
            (Family::Llama, Some((_, "k_proj.weight"))) => {
                Ok(unpermute(&data, self.kv_heads, shape))
            }
            _ => Ok(data),
        }
    }

    /// Whether a tensor's values have 16 bits or fewer.
    pub(super) fn is_narrow(&self, name: &str) -> bool {
        stored_name(name)
            .and_then(|stored| self.file.tensors.get(&stored))
            .is_some_and(Entry::is_narrow)
    }

    /// How each tensor is stored.
    pub(super) fn stored(&self) -> impl Iterator<Item = (String, u64)> {
        self.file.tensors.values().map(Entry::stored)
    }

    pub(super) fn text(&self) -> Result<Text, LoadError> {
        let read = || {
            let bpe = byte_bpe(&self.file)?;
            let template = self
                .file
                .text("tokenizer.chat_template")
                .ok()
                .map(str::to_owned);
            Text::from_byte_bpe(&bpe, template).map_err(Problem::Tokenizer)
        };
        read().map_err(|problem| problem.at(&self.file.path))
    }
}

fn config(file: &GgufFile) -> Result<Config, Problem> {
    let name = file.text("general.architecture")?;
    let family =
        Family::named(name).ok_or_else(|| Problem::UnknownArchitecture(name.to_owned()))?;
    let key = |suffix: &str| format!("{name}.{suffix}");
    let heads = file.integer(&key("attention.head_count"))?;
    let hidden = file.integer(&key("embedding_length"))?;
    let embed = file
        .tensors
        .get("token_embd.weight")
        .ok_or_else(|| Problem::MissingTensor("token_embd.weight".into()))?;
    let head_dim = file
        .integer(&key("attention.key_length"))
        .unwrap_or(hidden / heads.max(1));
    let rope_theta = file.float(&key("rope.freq_base")).unwrap_or(10000.0);
    let stretched = file.tensors.contains_key("rope_freqs.weight");
    let table = stretched
        .then(|| file.tensor("rope_freqs.weight"))
        .transpose()?;
    let rope_scaling = table
        .map(|table| stretching(&table, rope_theta))
        .transpose()?;
    let config = Config {
        family,
        hidden,
        layers: file.integer(&key("block_count"))?,
        heads,
        kv_heads: file
            .integer(&key("attention.head_count_kv"))
            .unwrap_or(heads),
        head_dim,
        ffn: file.integer(&key("feed_forward_length"))?,
        vocab: embed.shape.first().copied().unwrap_or(0),
        norm_eps: file.float(&key("attention.layer_norm_rms_epsilon"))?,
        rope_theta,
        rope_scaling,
        tied: !file.tensors.contains_key("output.weight"),
        context: file.integer(&key("context_length"))?,
        bos: token(file, "tokenizer.ggml.bos_token_id"),
        eos: ends(file),
    };
    if let Some(fault) = config.fault() {
        return Err(Problem::BadShape(fault));
    }
    refuse_variants(file, &config)?;
    Ok(config)
}

/// A token that the header names by its number.
fn token(file: &GgufFile, key: &str) -> Option<u32> {
    file.integer(key).ok().and_then(|id| u32::try_from(id).ok())
}

/// The tokens that end an answer. A folder lists all of them. A GGUF file names a few, and the rest
/// are known by name. An instruction-tuned Qwen ends with `<|im_end|>`, and sometimes with the end
/// token of its pre-training.
fn ends(file: &GgufFile) -> Vec<u32> {
    let keys = ["eos", "eot", "eom"].map(|end| format!("tokenizer.ggml.{end}_token_id"));
    let mut ends: Vec<u32> = keys.iter().filter_map(|key| token(file, key)).collect();
    let list = |key: &str| match file.keys.get(key) {
        Some(Value::Array(values)) => values.as_slice(),
        _ => &[],
    };
    let tokens = list("tokenizer.ggml.tokens")
        .iter()
        .zip(list("tokenizer.ggml.token_type"))
        .zip(0..);
    let is_end = |text: &Value, kind: &Value| {
        let known = |text: &String| ENDS.contains(&text.as_str());
        token_kind(kind) == TokenKind::Control && matches!(text, Value::Text(text) if known(text))
    };
    ends.extend(
        tokens
            .filter(|((text, kind), _)| is_end(text, kind))
            .map(|(_, id)| id),
    );
    let mut seen = HashSet::new();
    ends.retain(|token| seen.insert(*token));
    ends
}

/// Refuses variants of the families that the engine does not compute.
fn refuse_variants(file: &GgufFile, config: &Config) -> Result<(), Problem> {
    let refuse = |key: &str, found: String, wanted: &str| {
        Err(Problem::BadKey {
            key: key.into(),
            found,
            wanted: wanted.into(),
        })
    };
    let key = |suffix: &str| format!("{}.{suffix}", config.family.model_type());
    // As in llama.cpp, a factor without a type is linear, and a type without a factor has no
    // effect.
    let kind = if file.keys.contains_key(&key("rope.scaling.type")) {
        file.text(&key("rope.scaling.type"))?
    } else {
        "linear"
    };
    if !["none", "linear"].contains(&kind) {
        return refuse(
            &key("rope.scaling.type"),
            kind.into(),
            "the engine does not stretch the rotation so",
        );
    }
    for factor in ["rope.scaling.factor", "rope.scale_linear"].map(key) {
        if kind == "linear"
            && file.keys.contains_key(&factor)
            && ![0.0, 1.0].contains(&file.float(&factor)?)
        {
            return refuse(
                &factor,
                file.float(&factor)?.to_string(),
                "the engine does not stretch the rotation evenly",
            );
        }
    }
    let turned = key("rope.dimension_count");
    if file.keys.contains_key(&turned) && file.integer(&turned)? != config.head_dim {
        let wanted = format!("heads of {} are turned whole", config.head_dim);
        return refuse(&turned, file.integer(&turned)?.to_string(), &wanted);
    }
    let foreign = |name: &&String| {
        let part = name
            .strip_prefix("blk.")
            .and_then(|rest| rest.split_once('.'))
            .map_or(name.as_str(), |(_, part)| part);
        match part {
            "attn_q.bias" | "attn_k.bias" | "attn_v.bias" => !config.qkv_bias(),
            "attn_q_norm.weight" | "attn_k_norm.weight" => !config.qk_norm(),
            _ => part
                .rsplit_once('.')
                .is_some_and(|(_, suffix)| suffix == "bias"),
        }
    };
    if let Some(name) = file.tensors.keys().filter(foreign).min() {
        let wanted = format!("the engine's {} has none", config.family.model_type());
        return refuse(name, "among the tensors".into(), &wanted);
    }
    Ok(())
}

/// The scaling rule behind a table of divisors, one per frequency. GGUF keeps only the table. All
/// Llama 3 models use the same bounds with different factors. Any other table is refused.
fn stretching(divisors: &[f32], theta: f64) -> Result<RopeScaling, Problem> {
    let factor = divisors.iter().copied().fold(1.0, f32::max);
    let rule = RopeScaling {
        factor: f64::from(factor),
        low_freq_factor: 1.0,
        high_freq_factor: 4.0,
        original_max_position_embeddings: 8192.0,
    };
    let agrees = |(i, divisor): (usize, &f32)| {
        let frequency = theta.powf(-(i as f64) / divisors.len() as f64);
        (frequency / rule.stretch(frequency) - f64::from(*divisor)).abs()
            < 1e-3 * f64::from(*divisor)
    };
    if divisors.iter().enumerate().all(agrees) {
        return Ok(rule);
    }
    Err(Problem::BadKey {
        key: "rope_freqs.weight".into(),
        found: "a table of its own".into(),
        wanted: "only Llama 3's rule is known: use the Hugging Face directory of this model".into(),
    })
}

/// llama.cpp's name of a tensor.
fn stored_name(name: &str) -> Option<String> {
    let whole = match name {
        "model.embed_tokens.weight" => Some("token_embd.weight"),
        "model.norm.weight" => Some("output_norm.weight"),
        "lm_head.weight" => Some("output.weight"),
        _ => None,
    };
    if let Some(whole) = whole {
        return Some(whole.into());
    }
    let (layer, rest) = name.strip_prefix("model.layers.")?.split_once('.')?;
    let (part, suffix) = rest.rsplit_once('.')?;
    let stored = match part {
        "input_layernorm" => "attn_norm",
        "post_attention_layernorm" => "ffn_norm",
        "self_attn.q_proj" => "attn_q",
        "self_attn.k_proj" => "attn_k",
        "self_attn.v_proj" => "attn_v",
        "self_attn.o_proj" => "attn_output",
        "self_attn.q_norm" => "attn_q_norm",
        "self_attn.k_norm" => "attn_k_norm",
        "mlp.gate_proj" => "ffn_gate",
        "mlp.up_proj" => "ffn_up",
        "mlp.down_proj" => "ffn_down",
        _ => return None,
    };
    Some(format!("blk.{layer}.{stored}.{suffix}"))
}

/// Rows (head, pair, half) back to (head, half, pair).
fn unpermute(data: &[f32], heads: usize, shape: &[usize]) -> Vec<f32> {
    let (rows, cols) = (shape[0], shape[1]);
    let dim = rows / heads;
    let mut out = Vec::with_capacity(data.len());
    for head in 0..heads {
        for row in 0..dim {
            let (side, pair) = (row / (dim / 2), row % (dim / 2));
            out.extend_from_slice(&data[(head * dim + 2 * pair + side) * cols..][..cols]);
        }
    }
    out
}

/// llama.cpp's numbers: 3 is a control token, 4 a user-defined one.
fn token_kind(kind: &Value) -> TokenKind {
    match kind {
        Value::Integer(3) => TokenKind::Control,
        Value::Integer(4) => TokenKind::Whole,
        _ => TokenKind::Plain,
    }
}

fn byte_bpe(file: &GgufFile) -> Result<ByteBpe, Problem> {
    let model = file.text("tokenizer.ggml.model")?;
    if model != "gpt2" {
        return Err(Problem::Tokenizer(format!(
            "its tokenizer is of kind `{model}`, and only byte-level BPE (`gpt2`) is read from \
             GGUF: use the Hugging Face directory of this model"
        )));
    }
    // Old converters did not name a rule, and llama.cpp used GPT-2's for all models.
    let split = file
        .keys
        .get("tokenizer.ggml.pre")
        .map_or(Ok("default"), |_| file.text("tokenizer.ggml.pre"))?;
    if split == "default" {
        return Err(Problem::Tokenizer(
            "it does not name the rule that splits text (`tokenizer.ggml.pre`): \
             use a newer GGUF file of this model, or its Hugging Face directory"
                .into(),
        ));
    }
    let strings = |name| -> Result<Vec<String>, Problem> {
        Ok(file.texts(name)?.into_iter().map(str::to_owned).collect())
    };
    let kinds = match file.keys.get("tokenizer.ggml.token_type") {
        Some(Value::Array(kinds)) => kinds.as_slice(),
        _ => &[],
    };
    Ok(ByteBpe {
        tokens: strings("tokenizer.ggml.tokens")?,
        merges: strings("tokenizer.ggml.merges")?,
        kinds: kinds.iter().map(token_kind).collect(),
        split: split.to_owned(),
        bos: token(file, "tokenizer.ggml.bos_token_id"),
        eos: token(file, "tokenizer.ggml.eos_token_id"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rule_behind_a_table_is_found_or_the_table_refused() {
        let rule = RopeScaling {
            factor: 32.0,
            low_freq_factor: 1.0,
            high_freq_factor: 4.0,
            original_max_position_embeddings: 8192.0,
        };
        let theta = 500_000.0f64;
        let frequency = |i: i32| theta.powf(-f64::from(i) / 32.0);
        let mut table: Vec<f32> = (0..32)
            .map(|i| (frequency(i) / rule.stretch(frequency(i))) as f32)
            .collect();
        assert!(table[0] < 1.001 && table[31] > 31.9, "{table:?}");
        assert_eq!(stretching(&table, theta).unwrap(), rule);
        table[20] *= 1.1;
        assert!(
            stretching(&table, theta)
                .unwrap_err()
                .to_string()
                .contains("only Llama 3's rule is known")
        );
    }
}
