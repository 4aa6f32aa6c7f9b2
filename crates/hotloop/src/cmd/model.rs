//! `hotloop model`: describes and converts models.

use std::collections::BTreeMap;
use std::path::Path;

use hotloop_policy::load::Checkpoint;
use hotloop_policy::model::Weights;
use serde::Serialize;

use super::pull;
use crate::cli::learn::{ModelArgs, ModelCommand};
use crate::failure::{Failure, Status};
use crate::models::{self, Place};
use crate::output::table::Table;
use crate::output::{bytes, number, say, say_json};
use crate::progress::Progress;

/// The rank for which an adapter's memory is reported: the default of runs.
const RANK: u64 = 16;
/// Bytes of a number that the engine computes, and of a weight that the file stores in 16 bits or
/// fewer.
const F32: u64 = 4;
const BF16: u64 = 2;

pub(crate) fn run(arguments: &ModelArgs) -> Result<Status, Failure> {
    match &arguments.command {
        ModelCommand::Info { model, json } => info(model, *json),
        ModelCommand::Convert { from, to } => convert(from, to),
        ModelCommand::Pull(arguments) => pull::run(arguments),
    }
}

/// Everything known about a model without reading its weights.
#[derive(Debug, Serialize)]
struct Facts {
    path: String,
    family: &'static str,
    parameters: u64,
    layers: usize,
    hidden: usize,
    heads: usize,
    kv_heads: usize,
    head_dim: usize,
    feed_forward: usize,
    vocabulary: usize,
    context: usize,
    tied_head: bool,
    /// Kinds of storage with how many numbers each holds.
    stored: BTreeMap<String, u64>,
    /// `null` if there is no tokenizer. `tokenizer_error` then says why.
    chat_template: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tokenizer_error: Option<String>,
    memory_bytes: Memory,
}

/// Memory of the CPU engine in bytes. Training also needs memory for activations.
#[derive(Debug, Serialize)]
struct Memory {
    /// The weights, in bf16 if the file has 16 bits or fewer.
    sampling: u64,
    /// Bytes per token of each answer in progress.
    sampling_per_token: u64,
    /// The same weights, an adapter of rank 16 on all modules, its gradient and two moments.
    lora: u64,
    /// The weights in f32, their gradient and two moments.
    full: u64,
    /// Free memory of this machine; `null` if unknown.
    free_here: Option<u64>,
}

impl Facts {
    fn of(path: String, checkpoint: &Checkpoint) -> Self {
        let config = &checkpoint.config;
        let text = checkpoint.text();
        Self {
            path,
            family: config.family.model_type(),
            parameters: Weights::count(config),
            layers: config.layers,
            hidden: config.hidden,
            heads: config.heads,
            kv_heads: config.kv_heads,
            head_dim: config.head_dim,
            feed_forward: config.ffn,
            vocabulary: config.vocab,
            context: config.context,
            tied_head: config.tied,
            stored: checkpoint.kinds(),
            chat_template: text
                .as_ref()
                .ok()
                .map(hotloop_policy::text::Text::has_template),
            tokenizer_error: text.err().map(|error| error.to_string()),
            memory_bytes: Memory::of(checkpoint),
        }
    }
}

impl Memory {
    fn of(checkpoint: &Checkpoint) -> Self {
        let config = &checkpoint.config;
        let bytes = |(kind, values): (String, u64)| values * if kind == "F32" { F32 } else { BF16 };
        let frozen: u64 = checkpoint.kinds().into_iter().map(bytes).sum();
        let widths = hotloop_policy::model::Module::ALL.map(|module| {
            let (rows, cols) = module.shape(config);
            (rows + cols) as u64
        });
        let adapter = F32 * RANK * config.layers as u64 * widths.iter().sum::<u64>();
        Self {
            sampling: frozen,
            sampling_per_token: F32 * 2 * (config.layers * config.kv_width()) as u64,
            lora: frozen + 4 * adapter,
            full: 4 * F32 * Weights::count(config),
            free_here: hotloop_policy::memory::available_bytes(),
        }
    }
}

fn count(number_of: u64) -> String {
    match number_of as f64 {
        few if few < 1e6 => number_of.to_string(),
        some if some < 1e9 => format!("{} million", number(some / 1e6)),
        many => format!("{} billion", number(many / 1e9)),
    }
}

fn info(name: &str, json: bool) -> Result<Status, Failure> {
    let place = models::find(name)?;
    let path = place.path();
    // The built-in model is unpacked to a temporary folder, so its path is of no use.
    let told = if matches!(place, Place::Unpacked(_)) {
        name.to_owned()
    } else {
        path.display().to_string()
    };
    let facts = Facts::of(told, &models::open(&path)?);
    if json {
        say_json(&facts);
        return Ok(Status::Fine);
    }
    let total = facts.stored.values().sum::<u64>().max(1) as f64;
    let kinds: Vec<String> = facts
        .stored
        .iter()
        .map(|(kind, values)| format!("{kind} {}", crate::output::percent(*values as f64 / total)))
        .collect();
    let template = match (facts.chat_template, &facts.tokenizer_error) {
        (Some(true), _) => "yes".to_owned(),
        (Some(false), _) => "no: it can be loaded, but not sampled".to_owned(),
        (None, why) => format!("no tokenizer: {}", why.as_deref().unwrap_or_default()),
    };
    let attention = format!(
        "{} of {}, {} for keys and values",
        hotloop_flow::count(facts.heads, "head"),
        facts.head_dim,
        facts.kv_heads
    );
    let memory = &facts.memory_bytes;
    let sampling = format!(
        "{}, and {} a token",
        bytes(memory.sampling),
        bytes(memory.sampling_per_token)
    );
    let mut table = Table::new().left("").left("");
    table.row(["model", &facts.path]);
    table.row(["family", facts.family]);
    table.row(["parameters", &count(facts.parameters)]);
    table.row(["layers", &facts.layers.to_string()]);
    table.row([
        "hidden",
        &format!("{}, feed-forward {}", facts.hidden, facts.feed_forward),
    ]);
    table.row(["attention", &attention]);
    table.row(["vocabulary", &facts.vocabulary.to_string()]);
    table.row(["context", &format!("{} tokens", facts.context)]);
    table.row([
        "head",
        if facts.tied_head {
            "tied to the embedding"
        } else {
            "of its own"
        },
    ]);
    table.row(["stored as", &kinds.join(", ")]);
    table.row(["chat template", &template]);
    table.row(["memory: sampling", &sampling]);
    table.row([
        "memory: LoRA",
        &format!("{} at rank {RANK}, plus activations", bytes(memory.lora)),
    ]);
    table.row([
        "memory: full",
        &format!("{}, plus activations", bytes(memory.full)),
    ]);
    table.row([
        "memory: free here",
        &memory.free_here.map(bytes).unwrap_or_default(),
    ]);
    say(&table.render());
    Ok(Status::Fine)
}

fn convert(from: &str, to: &Path) -> Result<Status, Failure> {
    let place = models::find(from)?;
    let path = place.path();
    if to.exists() {
        return Err(
            Failure::user(format!("{} is there already", to.display())).hint("name a new folder")
        );
    }
    let checkpoint = models::open(&path)?;
    let text = checkpoint
        .text()
        .map_err(|error| models::unreadable(&error))?;
    let progress = Progress::spinner("reading", true);
    let weights = checkpoint
        .weights()
        .map_err(|error| models::unreadable(&error))?;
    progress.message("writing");
    hotloop_policy::save::model(
        to,
        &checkpoint.config,
        &weights,
        Some(&text),
        hotloop_policy::save::Storage::F32,
    )
    .map_err(|error| Failure::machine(error.to_string()).of_file(error.source.kind()))?;
    drop(progress);
    let size = bytes(F32 * Weights::count(&checkpoint.config));
    say(&format!(
        "{}: config.json, model.safetensors ({size}, f32), tokenizer",
        to.display()
    ));
    Ok(Status::Fine)
}
