//! Models from files, good and bad.

use std::path::Path;

use hotloop_policy::load::Checkpoint;
use hotloop_policy::model::{Family, Weights};
use hotloop_policy::text::{Text, Turn};

use crate::fixture::{folder, relative};

#[test]
fn a_gguf_file_holds_the_same_model_as_its_directory() {
    let gguf = Checkpoint::open(&folder().join("tiny.gguf")).unwrap();
    let directory = Checkpoint::open(&folder().join("llama")).unwrap();
    assert_eq!(gguf.config.family, Family::Llama);
    assert!((gguf.config.norm_eps - directory.config.norm_eps).abs() < 1e-10);
    let (found, wanted) = (gguf.weights().unwrap(), directory.weights().unwrap());
    for (found, wanted) in found.tensors().iter().zip(wanted.tensors()) {
        // The embedding is stored in eight bits.
        let bound = if found.name.contains("embed") {
            1e-2
        } else {
            1e-7
        };
        assert!(
            relative(&found.data, &wanted.data) < bound,
            "{}",
            found.name
        );
    }
    let kinds = gguf.kinds();
    assert!(
        kinds.contains_key("Q8_0") && kinds.contains_key("F32"),
        "{kinds:?}"
    );
}

#[test]
fn parameters_are_counted_without_reading_them() {
    for family in ["llama", "llama3", "qwen2", "qwen3"] {
        let checkpoint = Checkpoint::open(&folder().join(family)).unwrap();
        let weights = checkpoint.weights().unwrap();
        let found: usize = weights
            .tensors()
            .iter()
            .map(|tensor| tensor.data.len())
            .sum();
        assert_eq!(Weights::count(&checkpoint.config), found as u64, "{family}");
        assert_eq!(
            checkpoint.kinds().values().sum::<u64>(),
            found as u64,
            "{family}"
        );
    }
}

#[test]
fn a_gguf_file_brings_tokenizer_and_template() {
    let text = Checkpoint::open(&folder().join("tiny.gguf"))
        .unwrap()
        .text()
        .unwrap();
    // ids: specials 0..3, then the table of make_gguf_fixtures.py.
    let tokens = text.encode("hello world42<|im_end|>");
    assert_eq!(text.decode(&tokens[..tokens.len() - 1]), "hello world42");
    assert_eq!(
        tokens.len(),
        5,
        "hello, ' world', two single digits, one special token: {tokens:?}"
    );
    assert_eq!(tokens[4], 2);
    let turns = [Turn {
        role: "user",
        content: "hello".into(),
    }];
    let prompt = text.prompt(&turns, "he").unwrap();
    assert_eq!(prompt[0], 1);
    assert!(text.decode(&prompt).ends_with("assistant\nhe"));
}

#[test]
fn every_answer_of_a_chat_is_scored_and_nothing_else() {
    let text = Checkpoint::open(&folder().join("tiny.gguf"))
        .unwrap()
        .text()
        .unwrap();
    let turn = |role, content: &str| Turn {
        role,
        content: content.into(),
    };
    let turns = [
        turn("user", "hello"),
        turn("assistant", "world"),
        turn("user", "abc"),
        turn("assistant", "he"),
    ];
    let (tokens, scored) = text.example(&turns).unwrap();
    let of = |wanted: bool| -> Vec<u32> {
        tokens
            .iter()
            .zip(&scored)
            .filter(|(_, scored)| **scored == wanted)
            .map(|(token, _)| *token)
            .collect()
    };
    assert_eq!(text.decode(&of(true)), "world\nhe\n");
    assert_eq!(
        of(true).iter().filter(|token| **token == 2).count(),
        2,
        "the end of each answer is learnt too"
    );
    assert_eq!(
        text.decode(&of(false)),
        "user\nhello\nassistant\nuser\nabc\nassistant\n"
    );
    assert!(
        text.example(&turns[..1]).unwrap().0.is_empty(),
        "a chat without an answer teaches nothing"
    );
}

#[test]
fn truncation_and_padding_settings_of_a_trainer_are_ignored() {
    let text = Checkpoint::open(&folder().join("tiny.gguf"))
        .unwrap()
        .text()
        .unwrap();
    let mut json: serde_json::Value = serde_json::from_str(text.json()).unwrap();
    json["truncation"] = serde_json::json!({"direction": "Right", "max_length": 3, "strategy": "LongestFirst", "stride": 0});
    json["padding"] = serde_json::json!({
        "strategy": {"Fixed": 9}, "direction": "Right", "pad_to_multiple_of": null,
        "pad_id": 0, "pad_type_id": 0, "pad_token": "<unk>",
    });
    let left = Text::new(json.to_string(), String::new(), "<|im_end|>".into()).unwrap();
    for words in ["hello world42<|im_end|>", "he"] {
        assert_eq!(left.encode(words), text.encode(words));
    }
}

/// A copy of the llama fixture with one file changed.
fn changed(file: &str, change: impl Fn(Vec<u8>) -> Vec<u8>) -> tempfile::TempDir {
    let directory = tempfile::tempdir().unwrap();
    for name in ["config.json", "model.safetensors"] {
        fs_err::copy(
            folder().join("llama").join(name),
            directory.path().join(name),
        )
        .unwrap();
    }
    let path = directory.path().join(file);
    let bytes = change(fs_err::read(&path).unwrap());
    fs_err::write(path, bytes).unwrap();
    directory
}

fn replace(from: &'static str, to: &'static str) -> impl Fn(Vec<u8>) -> Vec<u8> {
    move |bytes| {
        let text = String::from_utf8(bytes).unwrap();
        assert!(text.contains(from));
        text.replace(from, to).into_bytes()
    }
}

fn refusal(path: &Path) -> String {
    match Checkpoint::open(path).and_then(|checkpoint| checkpoint.weights().map(|_| ())) {
        Ok(()) => panic!("it loaded"),
        Err(error) => error.to_string(),
    }
}

#[test]
fn bad_files_are_refused_by_name() {
    type Change = Box<dyn Fn(Vec<u8>) -> Vec<u8>>;
    let cases: [(&str, Change, &str); 11] = [
        (
            "model.safetensors",
            Box::new(|bytes| bytes[..bytes.len() - 5].to_vec()),
            "truncated or damaged",
        ),
        (
            "model.safetensors",
            Box::new(|bytes| bytes[..100].to_vec()),
            "truncated or damaged",
        ),
        (
            "model.safetensors",
            Box::new(|_| Vec::new()),
            "truncated or damaged",
        ),
        (
            "config.json",
            Box::new(replace("\"hidden_size\": 32", "\"hidden_size\": 48")),
            "has shape [64, 32], the configuration wants [64, 48]",
        ),
        (
            "config.json",
            Box::new(replace("\"llama\"", "\"mamba\"")),
            "architecture `mamba` is unknown",
        ),
        (
            "config.json",
            Box::new(replace("\"silu\"", "\"gelu\"")),
            "`hidden_act` is gelu",
        ),
        (
            "config.json",
            Box::new(replace(
                "\"num_hidden_layers\": 2",
                "\"num_hidden_layers\": 3",
            )),
            "no tensor `model.layers.2.",
        ),
        (
            "config.json",
            Box::new(replace(
                "\"num_hidden_layers\": 2",
                "\"num_hidden_layers\": 1",
            )),
            "`num_hidden_layers` is 1, but there is a tensor `model.layers.1.",
        ),
        (
            "model.safetensors",
            Box::new(|_| {
                b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 9\n".to_vec()
            }),
            "model.safetensors: a pointer of Git LFS, not the file itself: `git lfs pull`",
        ),
        (
            "config.json",
            Box::new(replace(
                "\"num_hidden_layers\": 2",
                "\"num_hidden_layers\": 4611686018427387904",
            )),
            "num_hidden_layers is 4611686018427387904, which no model has",
        ),
        (
            "config.json",
            Box::new(replace("\"rms_norm_eps\": 1e-0", "\"rms_norm_eps\": -1e-0")),
            "rms_norm_eps is -0.0000",
        ),
    ];
    for (file, change, wanted) in cases {
        let directory = changed(file, change);
        let refusal = refusal(directory.path());
        assert!(refusal.contains(wanted), "{file}: {refusal}");
        assert!(
            refusal.contains(&directory.path().display().to_string()),
            "no path in {refusal}"
        );
    }
}

/// The llama fixture in two shards.
fn sharded() -> tempfile::TempDir {
    let directory = changed("config.json", |bytes| bytes);
    let whole = directory.path().join("model.safetensors");
    let bytes = fs_err::read(&whole).unwrap();
    let tensors = safetensors::SafeTensors::deserialize(&bytes).unwrap();
    let mut map = serde_json::Map::new();
    for nth in 0..2 {
        let shard = format!("model-0000{}-of-00002.safetensors", nth + 1);
        let part: Vec<_> = tensors
            .iter()
            .enumerate()
            .filter(|(at, _)| at % 2 == nth)
            .map(|(_, named)| named)
            .collect();
        map.extend(
            part.iter()
                .map(|(name, _)| ((*name).to_owned(), shard.clone().into())),
        );
        let part = safetensors::serialize(part, None).unwrap();
        fs_err::write(directory.path().join(shard), part).unwrap();
    }
    fs_err::remove_file(whole).unwrap();
    let index = serde_json::json!({"metadata": {"total_size": bytes.len()}, "weight_map": map});
    fs_err::write(
        directory.path().join("model.safetensors.index.json"),
        index.to_string(),
    )
    .unwrap();
    directory
}

#[test]
fn shards_are_one_model_and_all_of_them_are_needed() {
    let directory = sharded();
    let whole = Checkpoint::open(&folder().join("llama")).unwrap();
    let parts = Checkpoint::open(directory.path()).unwrap();
    assert_eq!(parts.weights().unwrap(), whole.weights().unwrap());
    assert_eq!(parts.kinds(), whole.kinds());
    let second = directory.path().join("model-00002-of-00002.safetensors");
    let bytes = fs_err::read(&second).unwrap();
    fs_err::write(&second, &bytes[..bytes.len() - 5]).unwrap();
    let told = refusal(directory.path());
    assert!(
        told.contains("00002-of-00002") && told.contains("truncated or damaged"),
        "{told}"
    );
    fs_err::remove_file(&second).unwrap();
    assert!(refusal(directory.path()).contains("00002-of-00002.safetensors"));
    fs_err::copy(
        directory.path().join("model-00001-of-00002.safetensors"),
        &second,
    )
    .unwrap();
    assert!(refusal(directory.path()).contains("is every shard there?"));
}

#[test]
fn a_truncated_gguf_is_refused() {
    let bytes = fs_err::read(folder().join("tiny.gguf")).unwrap();
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("cut.gguf");
    for length in [3, 20, 500, bytes.len() - 1000] {
        fs_err::write(&path, &bytes[..length]).unwrap();
        let refusal = refusal(&path);
        assert!(
            refusal.contains("truncated or damaged"),
            "{length}: {refusal}"
        );
    }
}

#[test]
fn a_file_of_a_model_is_not_the_model() {
    for file in ["config.json", "model.safetensors"] {
        let told = refusal(&folder().join("llama").join(file));
        assert!(
            told.contains(&format!("{file}: a file of a model: name its folder")),
            "{told}"
        );
    }
}

#[test]
fn missing_weights_are_reported_once_with_other_formats_that_exist() {
    let directory = changed("config.json", |bytes| bytes);
    let path = directory.path().join("model.safetensors");
    fs_err::remove_file(&path).unwrap();
    assert_eq!(
        refusal(directory.path()),
        format!("{}: No such file or directory (os error 2)", path.display())
    );
    fs_err::write(directory.path().join("pytorch_model.bin"), "").unwrap();
    let told = refusal(directory.path());
    assert!(
        told.contains("model.safetensors: there is none, and pytorch_model.bin cannot be read: "),
        "{told}"
    );
}

#[test]
fn a_tokenizer_of_another_kind_is_refused_with_the_expected_kind() {
    let directory = changed("config.json", |bytes| bytes);
    for text in ["{}", "x", "version https://git-lfs.github.com/spec/v1\n"] {
        fs_err::write(directory.path().join("tokenizer.json"), text).unwrap();
        let Err(refusal) = Checkpoint::open(directory.path()).unwrap().text() else {
            panic!("{text} is none")
        };
        let wanted = if text.len() > 2 {
            "a pointer of Git LFS"
        } else {
            "as Hugging Face's library writes it: "
        };
        assert!(refusal.to_string().contains(wanted), "{refusal}");
    }
}

#[test]
fn a_missing_tokenizer_is_named_with_a_remedy() {
    let checkpoint = Checkpoint::open(&folder().join("llama")).unwrap();
    let Err(refusal) = checkpoint.text() else {
        panic!("there is no tokenizer to load")
    };
    assert!(
        refusal
            .to_string()
            .contains("tokenizer.json: there is none: copy it"),
        "{refusal}"
    );
}
