//! The nano policy: a small sampler over a grammar of C candidates, embedded in this program.
//!
//! It demonstrates the loop on any machine and is not a code model. `hotloop corpus nano` recreates
//! its weights.

use std::io;
use std::path::Path;

use hotloop_corpus::nano_prompt::{NanoPrompt, Parent, Why};
use hotloop_flow::language::c::stages;
use hotloop_flow::policy::{Chat, Message, Speaker};
use hotloop_flow::prompt::Ask;
use hotloop_flow::{Label, Render, Role, Task};
use hotloop_policy::model::{Config, Family};

use crate::failure::Failure;

/// The name that users write.
pub(crate) const NAME: &str = "nano";
/// Maximum number of tokens of a prompt and its answer. A parent of full length and the control
/// tokens fit.
const CONTEXT: usize = 704;

/// Its files, as in a model's folder.
const FILES: [(&str, &[u8]); 4] = [
    (
        "config.json",
        include_bytes!("../../../models/nano/config.json"),
    ),
    (
        "model.safetensors",
        include_bytes!("../../../models/nano/model.safetensors"),
    ),
    (
        "tokenizer.json",
        include_bytes!("../../../models/nano/tokenizer.json"),
    ),
    (
        "tokenizer_config.json",
        include_bytes!("../../../models/nano/tokenizer_config.json"),
    ),
];

/// A chat is one prompt of control tokens, and its answer ends with the end token.
pub(crate) const TEMPLATE: &str = "{% for message in messages %}{{ message.content }}\
    {% if message.role == 'assistant' %}{{ eos_token }}{% endif %}{% endfor %}";

/// Writes its files to a folder.
pub(crate) fn unpack(folder: &Path) -> io::Result<()> {
    fs_err::create_dir_all(folder)?;
    FILES
        .iter()
        .try_for_each(|(name, bytes)| fs_err::write(folder.join(name), bytes))
}

/// Its shape: about 3 million numbers.
pub(crate) fn shape(vocab: usize, end: u32) -> Config {
    Config {
        family: Family::Llama,
        hidden: 192,
        layers: 6,
        heads: 3,
        kv_heads: 3,
        head_dim: 64,
        ffn: 512,
        vocab,
        norm_eps: 1e-5,
        rope_theta: 10_000.0,
        rope_scaling: None,
        tied: true,
        context: CONTEXT,
        bos: None,
        eos: vec![end],
    }
}

/// Whether a model reads control tokens: the embedded one, or a folder that was made or tuned from
/// it.
pub(crate) fn speaks(model: &str) -> bool {
    let path = Path::new(model);
    if !path.exists() {
        return model == NAME;
    }
    let settings = fs_err::read(path.join("tokenizer_config.json")).unwrap_or_default();
    serde_json::from_slice(&settings)
        .is_ok_and(|settings: serde_json::Value| settings["chat_template"] == TEMPLATE)
}

/// Checks that the nano policy knows a task and its stages.
pub(crate) fn check(task: &Task) -> Result<(), Failure> {
    check_name(&task.spec.name)?;
    if task.spec.stages == stages::default() {
        return Ok(());
    }
    Err(untaught(&format!(
        "the stages of this `{}`",
        task.spec.name
    )))
}

/// Checks that the nano policy knows a task of this name.
pub(crate) fn check_name(task: &str) -> Result<(), Failure> {
    if hotloop_corpus::TASKS
        .iter()
        .any(|(known, _)| *known == task)
    {
        return Ok(());
    }
    Err(untaught(&format!("`{task}`")))
}

fn untaught(what: &str) -> Failure {
    let known = hotloop_corpus::TASKS.map(|(known, _)| known);
    Failure::user(format!("the nano policy was not trained on {what}")).hint(format!(
        "it knows {}; other tasks need a language model",
        known.join(", ")
    ))
}

/// Prompts in control tokens.
pub(crate) struct NanoRender;

impl Render for NanoRender {
    fn chat(&self, ask: &Ask<'_>) -> Chat {
        // It explores without a parent, because its training data shows none there.
        let shown = ask.parent.filter(|_| ask.role != Role::Explore);
        let parent = shown.map(|shown| Parent {
            source: shown.source,
            label: shown
                .verdict
                .map_or(Label::Correct, hotloop_flow::Verdict::label),
            why: shown.verdict.and_then(Why::of),
        });
        // A fixed prompt names no stage: all techniques are allowed.
        let stage = ask.stage.unwrap_or(stages::ALL);
        let prompt = NanoPrompt {
            task: &ask.task.spec.name,
            stage,
            role: ask.role,
            parent,
        };
        Chat {
            messages: vec![Message {
                role: Speaker::User,
                content: prompt.render(),
            }],
            begun: String::new(),
        }
    }
}
