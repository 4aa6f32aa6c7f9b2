//! GGUF files that the engine cannot fully support: `tiny.gguf` with a patched header.

use std::path::Path;

use hotloop_policy::load::Checkpoint;

use crate::fixture::folder;

/// `tiny.gguf` with keys and tensors added to its header, and names of the same length replaced.
#[derive(Default)]
struct Patch {
    keys: Vec<Vec<u8>>,
    tensors: Vec<Vec<u8>>,
    renamed: Vec<(&'static str, &'static str)>,
}

fn text(words: &str) -> Vec<u8> {
    [&(words.len() as u64).to_le_bytes()[..], words.as_bytes()].concat()
}

impl Patch {
    fn key(mut self, name: &str, kind: u32, value: &[u8]) -> Self {
        self.keys
            .push([&text(name)[..], &kind.to_le_bytes(), value].concat());
        self
    }

    fn word(self, name: &str, value: &str) -> Self {
        self.key(name, 8, &text(value))
    }

    fn count(self, name: &str, value: u32) -> Self {
        self.key(name, 4, &value.to_le_bytes())
    }

    fn float(self, name: &str, value: f32) -> Self {
        self.key(name, 6, &value.to_le_bytes())
    }

    /// A vector in f32 that begins where the file's first tensor does.
    fn tensor(self, name: &str, length: u64) -> Self {
        self.tensor_at(name, &[length], 0)
    }

    fn tensor_at(mut self, name: &str, shape: &[u64], offset: u64) -> Self {
        let mut entry = [&text(name)[..], &(shape.len() as u32).to_le_bytes()].concat();
        entry.extend(shape.iter().flat_map(|length| length.to_le_bytes()));
        entry.extend(0u32.to_le_bytes());
        entry.extend(offset.to_le_bytes());
        self.tensors.push(entry);
        self
    }

    fn renamed(mut self, from: &'static str, to: &'static str) -> Self {
        assert_eq!(from.len(), to.len());
        self.renamed.push((from, to));
        self
    }

    fn bytes(self) -> Vec<u8> {
        let mut bytes = fs_err::read(folder().join("tiny.gguf")).unwrap();
        for (from, to) in self.renamed {
            let at = find(&bytes, &text(from)) + 8;
            bytes[at..at + to.len()].copy_from_slice(to.as_bytes());
        }
        let count = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap());
        let (tensor_count, key_count) = (
            count(8) + self.tensors.len() as u64,
            count(16) + self.keys.len() as u64 + 1,
        );
        let first_tensor = find(&bytes, &text("token_embd.weight"));
        let (keys, tensors) = (self.keys.concat(), self.tensors.concat());
        // The additions are a multiple of the alignment, so that the data keeps its place after the
        // header.
        let without = keys.len() + tensors.len() + text("filler").len() + 4 + 8;
        let filler = "-".repeat(without.next_multiple_of(32) - without);
        let filler = [&text("filler")[..], &8u32.to_le_bytes(), &text(&filler)].concat();
        let head = [
            &bytes[..8],
            &tensor_count.to_le_bytes(),
            &key_count.to_le_bytes(),
        ]
        .concat();
        let (old_keys, rest) = bytes[24..].split_at(first_tensor - 24);
        [&head, &keys, &filler, old_keys, &tensors, rest].concat()
    }

    /// Opens the file and reads all of it.
    fn load(self) -> Result<Checkpoint, String> {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("patched.gguf");
        fs_err::write(&path, self.bytes()).unwrap();
        read(&path)
    }
}

fn read(path: &Path) -> Result<Checkpoint, String> {
    let checkpoint = Checkpoint::open(path).map_err(|error| error.to_string())?;
    checkpoint.weights().map_err(|error| error.to_string())?;
    checkpoint.text().map_err(|error| error.to_string())?;
    Ok(checkpoint)
}

fn find(bytes: &[u8], part: &[u8]) -> usize {
    bytes
        .windows(part.len())
        .position(|window| window == part)
        .unwrap()
}

fn refusal(patch: Patch) -> String {
    match patch.load() {
        Ok(_) => panic!("it loaded"),
        Err(refusal) => refusal,
    }
}

fn new() -> Patch {
    Patch::default()
}

#[test]
fn variants_that_the_engine_does_not_compute_are_refused() {
    let cases = [
        (
            new()
                .word("llama.rope.scaling.type", "yarn")
                .float("llama.rope.scaling.factor", 4.0),
            "scaling.type` is yarn",
        ),
        (
            new()
                .word("llama.rope.scaling.type", "linear")
                .float("llama.rope.scaling.factor", 2.0),
            "factor` is 2",
        ),
        // Without a type llama.cpp assumes linear. Older files have the last of these keys.
        (
            new().float("llama.rope.scaling.factor", 2.0),
            "`llama.rope.scaling.factor` is 2",
        ),
        (
            new().float("llama.rope.scale_linear", 2.0),
            "`llama.rope.scale_linear` is 2",
        ),
        (
            new().count("llama.rope.dimension_count", 4),
            "`llama.rope.dimension_count` is 4, but heads of 8",
        ),
        (new().tensor("blk.0.attn_q.bias", 32), "`blk.0.attn_q.bias`"),
        (
            new().tensor("blk.1.ffn_down.bias", 32),
            "`blk.1.ffn_down.bias`",
        ),
        (
            new().tensor("blk.1.attn_k_norm.weight", 8),
            "`blk.1.attn_k_norm.weight`",
        ),
    ];
    for (patch, wanted) in cases {
        let refusal = refusal(patch);
        assert!(refusal.contains(wanted), "{wanted}: {refusal}");
    }
}

#[test]
fn keys_that_say_what_the_engine_computes_load() {
    let plain = read(&folder().join("tiny.gguf")).unwrap();
    let cases = [
        new(),
        new()
            .word("llama.rope.scaling.type", "none")
            .float("llama.rope.scaling.factor", 4.0),
        new()
            .word("llama.rope.scaling.type", "linear")
            .float("llama.rope.scaling.factor", 1.0),
        new()
            .count("llama.rope.dimension_count", 8)
            .count("llama.attention.key_length", 8),
    ];
    for patch in cases {
        assert_eq!(patch.load().unwrap().config, plain.config);
    }
}

#[test]
fn a_file_that_does_not_name_how_text_is_split_is_refused() {
    let unnamed = || new().renamed("tokenizer.ggml.pre", "tokenizer.ggml.prx");
    for patch in [unnamed(), unnamed().word("tokenizer.ggml.pre", "default")] {
        let refusal = refusal(patch);
        assert!(
            refusal.contains("does not name the rule")
                && refusal.contains("Hugging Face directory"),
            "{refusal}"
        );
    }
    assert!(unnamed().word("tokenizer.ggml.pre", "gpt-2").load().is_ok());
}

#[test]
fn answers_end_by_every_token_that_ends_one() {
    let ends = |patch: Patch| patch.load().unwrap().config.eos;
    assert_eq!(ends(new()), [2]);
    assert_eq!(
        ends(
            new()
                .count("tokenizer.ggml.eot_token_id", 5)
                .count("tokenizer.ggml.eom_token_id", 6)
        ),
        [2, 5, 6]
    );
    assert_eq!(ends(new().count("tokenizer.ggml.eom_token_id", 2)), [2]);
    // `<|im_end|>` is a control token, whatever end token the file names.
    let other = || new().renamed("tokenizer.ggml.eos_token_id", "tokenizer.ggml.xxx_token_id");
    assert_eq!(ends(other()), [2]);
    assert_eq!(
        ends(other().count("tokenizer.ggml.eos_token_id", 7)),
        [7, 2]
    );
}

#[test]
fn damage_is_refused_with_a_message() {
    let wide = |name: &'static str| {
        new()
            .renamed("output_norm.weight", "output_norx.weight")
            .tensor_at(name, &[1 << 32, 1 << 32, 32], 0)
    };
    let norm = || new().renamed("output_norm.weight", "output_norx.weight");
    // With one of the two prefixes a two-byte character spans the eightieth byte.
    let long = |lead: usize| format!("{}{}", "a".repeat(lead), "é".repeat(60));
    let context = || new().renamed("llama.context_length", "llama.contexx_length");
    let mut nested = [9u32.to_le_bytes().as_slice(), &1u64.to_le_bytes()]
        .concat()
        .repeat(1 << 16);
    nested.extend([&0u32.to_le_bytes()[..], &0u64.to_le_bytes()].concat());
    let cases = [
        (wide("blk.0.extra.weight"), "no tensor `output_norm.weight`"),
        (
            wide("output_norm.weight"),
            "has shape [32, 4294967296, 4294967296]",
        ),
        (
            norm().tensor_at("output_norm.weight", &[32], u64::MAX - 8),
            "reaches past the end",
        ),
        (
            norm().tensor_at("rope_freqs.weight", &[1 << 32, 1 << 32, 8], 0),
            "reaches past the end",
        ),
        (
            norm().tensor_at("rope_freqs.weight", &[1 << 32, 1 << 20], 0),
            "reaches past the end",
        ),
        (
            new().key("general.alignment", 10, &(i64::MAX as u64).to_le_bytes()),
            "truncated or damaged",
        ),
        (
            context().word("llama.context_length", &long(1)),
            "a count was expected",
        ),
        (
            context().word("llama.context_length", &long(2)),
            "a count was expected",
        ),
        (new().key("nested", 9, &nested), "a list of lists"),
    ];
    for (patch, wanted) in cases {
        let refusal = refusal(patch);
        assert!(refusal.contains(wanted), "{wanted}: {refusal}");
    }
}
