//! Saved models and adapters can be loaded, and a learner continues as if nothing had happened.

use hotloop_policy::cpu::Network;
use hotloop_policy::load::Checkpoint;
use hotloop_policy::memory::Recompute;
use hotloop_policy::model::{Adapter, LoraConfig, Module};
use hotloop_policy::pack::Sequence;
use hotloop_policy::save::{self, Base, Storage};
use hotloop_policy::train::{Learner, Trained};
use serde_json::{Value, json};

use crate::fixture::{FAMILIES, Fixture, folder, training};

fn base(network: &Network) -> Base {
    Base {
        name: "tiny".into(),
        hash: network.weights.fingerprint(),
    }
}

#[test]
fn a_saved_model_is_loaded_bit_for_bit() {
    for name in FAMILIES {
        let network = Fixture::load(name).network();
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("model");
        save::model(&path, &network.config, &network.weights, None, Storage::F32).unwrap();
        let again = Checkpoint::open(&path).unwrap();
        assert_eq!(again.config, network.config, "{name}");
        assert_eq!(again.weights().unwrap(), network.weights, "{name}");
    }
}

#[test]
fn tensor_files_have_the_permissions_of_other_files() {
    use std::os::unix::fs::PermissionsExt;
    let network = Fixture::load("llama").network();
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("model");
    save::model(&path, &network.config, &network.weights, None, Storage::F32).unwrap();
    let mode = |name: &str| {
        fs_err::metadata(path.join(name))
            .unwrap()
            .permissions()
            .mode()
            & 0o777
    };
    assert_eq!(mode("model.safetensors"), mode("config.json"));
}

#[test]
fn a_model_from_gguf_saves_its_tokenizer_too() {
    let checkpoint = Checkpoint::open(&folder().join("tiny.gguf")).unwrap();
    let text = checkpoint.text().unwrap();
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("model");
    save::model(
        &path,
        &checkpoint.config,
        &checkpoint.weights().unwrap(),
        Some(&text),
        Storage::F32,
    )
    .unwrap();
    let again = Checkpoint::open(&path).unwrap().text().unwrap();
    assert_eq!(
        again.encode("hello world<|im_end|>"),
        text.encode("hello world<|im_end|>")
    );
    let turns = [hotloop_policy::text::Turn {
        role: "user",
        content: "hello".into(),
    }];
    assert_eq!(
        again.prompt(&turns, "").unwrap(),
        text.prompt(&turns, "").unwrap()
    );
}

#[test]
fn an_adapter_is_loaded_and_fits_only_its_own_base() {
    let fixture = Fixture::load("qwen2");
    let network = fixture.network();
    let adapter = fixture.adapter(&network);
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("adapter");
    save::adapter(&path, &adapter, &base(&network)).unwrap();
    let again = save::load_adapter(&path, &network.config, &network.weights.fingerprint()).unwrap();
    assert_eq!(again, adapter);
    let mut other = network.weights.clone();
    other.norm.data[0] += 1.0;
    let refusal = save::load_adapter(&path, &network.config, &other.fingerprint())
        .unwrap_err()
        .to_string();
    assert!(
        refusal.contains("was trained on `tiny` and fits no other"),
        "{refusal}"
    );
}

#[test]
fn an_adapter_with_parts_that_the_engine_does_not_compute_is_refused() {
    let fixture = Fixture::load("qwen2");
    let network = fixture.network();
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("adapter");
    save::adapter(&path, &fixture.adapter(&network), &base(&network)).unwrap();
    let load = || save::load_adapter(&path, &network.config, &network.weights.fingerprint());
    let settings = path.join("adapter_config.json");
    let plain = fs_err::read_to_string(&settings).unwrap();
    let with = |key: &str, value: Value| {
        let mut json: Value = serde_json::from_str(&plain).unwrap();
        json[key] = value;
        fs_err::write(&settings, json.to_string()).unwrap();
    };
    for (key, value) in [
        ("lora_bias", json!(true)),
        ("trainable_token_indices", json!([3, 4])),
        ("trainable_token_indices", json!({"embed_tokens": [3]})),
        ("alora_invocation_tokens", json!([1, 2])),
        ("modules_to_save", json!(["lm_head"])),
        ("rank_pattern", json!({"q_proj": 2})),
        ("use_dora", json!(true)),
    ] {
        with(key, value);
        let refusal = load().unwrap_err().to_string();
        assert!(
            refusal.contains(&format!(
                "`{key}` is set, but the engine knows plain LoRA only"
            )),
            "{refusal}"
        );
    }
    // PEFT writes some of these empty, and ignores the last for linear layers.
    for (key, value) in [
        ("lora_bias", json!(false)),
        ("trainable_token_indices", json!(null)),
        ("modules_to_save", json!(null)),
        ("fan_in_fan_out", json!(true)),
    ] {
        with(key, value);
        assert!(load().is_ok(), "{key}");
    }
}

#[test]
fn a_tensor_that_no_adapter_has_is_refused_by_name() {
    let fixture = Fixture::load("qwen2");
    let network = fixture.network();
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("adapter");
    save::adapter(&path, &fixture.adapter(&network), &base(&network)).unwrap();
    // There are fewer targets than the file has tensors for. Those of v_proj are left over.
    let settings = path.join("adapter_config.json");
    let text = fs_err::read_to_string(&settings).unwrap();
    let mut json: Value = serde_json::from_str(&text).unwrap();
    json["target_modules"]
        .as_array_mut()
        .unwrap()
        .retain(|module| module != "v_proj");
    fs_err::write(&settings, json.to_string()).unwrap();
    let refusal = save::load_adapter(&path, &network.config, &network.weights.fingerprint())
        .unwrap_err()
        .to_string();
    let wanted = "`base_model.model.model.layers.0.self_attn.v_proj.lora_A.weight` is among the \
        tensors, but";
    assert!(refusal.contains(wanted), "{refusal}");
}

/// A learner with dropout, so that its randomness must resume, too.
fn learner(lora: bool) -> (Learner, Vec<Sequence>) {
    let fixture = Fixture::load("qwen3");
    let network = fixture.network();
    let config = LoraConfig {
        rank: 3,
        alpha: 6.0,
        dropout: 0.1,
        targets: vec![Module::Q, Module::V, Module::Down],
    };
    let trained = if lora {
        Trained::Lora(Adapter::fresh(&network.config, &config, 5))
    } else {
        Trained::Full
    };
    let batch = fixture
        .pairs()
        .iter()
        .map(|(prompt, answer)| Sequence::answer(prompt, answer))
        .collect();
    (
        Learner::new(network, trained, training(1e-2, Recompute::On)),
        batch,
    )
}

#[test]
fn a_resumed_learner_continues_bit_for_bit() {
    for lora in [true, false] {
        let (mut straight, batch) = learner(lora);
        let hash = straight.model.network.weights.fingerprint();
        for _ in 0..3 {
            straight.supervise(&batch).unwrap();
        }
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("checkpoint");
        save::learner(
            &path,
            &straight,
            &Base {
                name: "tiny".into(),
                hash: hash.clone(),
            },
            None,
        )
        .unwrap();
        let (mut resumed, _) = learner(lora);
        save::resume(&path, &mut resumed, &hash).unwrap();
        for _ in 0..2 {
            let (wanted, found) = (
                straight.supervise(&batch).unwrap(),
                resumed.supervise(&batch).unwrap(),
            );
            assert_eq!(wanted, found, "lora {lora}");
        }
        assert_eq!(straight.model.parameters(), resumed.model.parameters());
        assert_eq!(straight.optimiser, resumed.optimiser);
    }
}

#[test]
fn a_damaged_checkpoint_leaves_the_learner_unchanged() {
    let (mut learner_, batch) = learner(true);
    learner_.supervise(&batch).unwrap();
    let hash = learner_.model.network.weights.fingerprint();
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("checkpoint");
    save::learner(
        &path,
        &learner_,
        &Base {
            name: "tiny".into(),
            hash: hash.clone(),
        },
        None,
    )
    .unwrap();
    let state = path.join("optimiser.safetensors");
    let bytes = fs_err::read(&state).unwrap();
    fs_err::write(&state, &bytes[..bytes.len() / 2]).unwrap();
    let (mut fresh, _) = learner(true);
    let before = fresh.optimiser.clone();
    let refusal = save::resume(&path, &mut fresh, &hash)
        .unwrap_err()
        .to_string();
    assert!(
        refusal.contains("optimiser.safetensors") && refusal.contains("truncated"),
        "{refusal}"
    );
    assert_eq!(fresh.optimiser, before);
}
