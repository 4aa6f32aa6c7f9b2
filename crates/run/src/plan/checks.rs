//! The checks of a configuration say what is wrong with each key.

use std::path::Path;
use std::sync::Arc;

use hotloop_flow::Task;
use hotloop_flow::prompt::Wording;

use crate::config::{Config, Reviewer};

pub(super) fn check_numbers(config: &Config, note: &mut impl FnMut(&str, String)) {
    check_sampling(config, note);
    check_learning(config, note);
    check_limits(config, note);
    if let Some(mistake) = config.reward.shape.mistake() {
        note(&format!("reward.{}", mistake.key), mistake.what);
    }
    if let Some(reviewer) = &config.reward.reviewer {
        check_reviewer(reviewer, note);
    }
}

fn check_reviewer(reviewer: &Reviewer, note: &mut impl FnMut(&str, String)) {
    if reviewer.model.is_empty() {
        let what = "no model is named; name a folder, a GGUF file, a hub name or URL#NAME";
        note("reward.reviewer.model", what.to_owned());
    }
    let lambda = reviewer.lambda;
    if !lambda.is_finite() || lambda < 0.0 {
        let what = format!("{lambda} would reward code with a bad opinion; set it to 0 or more");
        note("reward.reviewer.lambda", what);
    }
    if reviewer.max_tokens < 64 {
        let what = "an opinion does not fit; set it to at least 64";
        note("reward.reviewer.max-tokens", what.to_owned());
    }
}

fn check_sampling(config: &Config, note: &mut impl FnMut(&str, String)) {
    let sampling = &config.sampling;
    let mut check = |holds: bool, key: &str, what: &str| {
        if !holds {
            note(key, what.to_owned());
        }
    };
    check(
        sampling.group >= 2,
        "sampling.group",
        "a group needs at least 2 answers to compare",
    );
    check(
        sampling.prompts_per_step >= 1,
        "sampling.prompts-per-step",
        "must be at least 1",
    );
    check(
        sampling.max_tokens >= 1,
        "sampling.max-tokens",
        "must be at least 1",
    );
    check(
        sampling.temperature > 0.0,
        "sampling.temperature",
        "must be above 0: a group of equal answers teaches nothing",
    );
    let (top, least) = (sampling.top_p, sampling.min_p);
    check(
        top > 0.0 && top <= 1.0,
        "sampling.top-p",
        "must be above 0 and at most 1; 1 keeps all tokens",
    );
    check(
        (0.0..=1.0).contains(&least),
        "sampling.min-p",
        "must be from 0 to 1; 0 keeps all tokens",
    );
}

fn check_learning(config: &Config, note: &mut impl FnMut(&str, String)) {
    let sampling = &config.sampling;
    let learning = &config.learning;
    let mut check = |holds: bool, key: &str, what: &str| {
        if !holds {
            note(key, what.to_owned());
        }
    };
    let trains = learning.rate > 0.0;
    let cut = "training needs all tokens: truncated tails bias the gradient";
    check(
        !trains || sampling.top_p >= 1.0,
        "sampling.top-p",
        &format!("{cut}; set it to 1, or learning.rate to 0"),
    );
    check(
        !trains || sampling.top_k == 0,
        "sampling.top-k",
        &format!("{cut}; set it to 0, or learning.rate to 0"),
    );
    check(
        !trains || sampling.min_p <= 0.0,
        "sampling.min-p",
        &format!("{cut}; set it to 0, or learning.rate to 0"),
    );
    check(
        learning.rate >= 0.0 && learning.rate < 1.0,
        "learning.rate",
        "must be at least 0 and below 1",
    );
    check(
        learning.beta >= 0.0,
        "learning.beta",
        "must not be negative",
    );
    check(
        learning.std_floor >= 0.0,
        "learning.std-floor",
        "must not be negative",
    );
    check(learning.k >= 1, "learning.k", "must be at least 1");
    check(
        learning.k_last >= 1,
        "learning.k-last",
        "must be at least 1",
    );
    check(
        learning.kl_budget > 0.0,
        "learning.kl-budget",
        "must be above 0: without a difference from the plain answers there is nothing to learn; ln 2 is 0.69",
    );
    check(
        learning.clip_low > 0.0 && learning.clip_low < 1.0,
        "learning.clip-low",
        "must be between 0 and 1",
    );
    check(
        learning.clip_high > 0.0,
        "learning.clip-high",
        "must be above 0",
    );
}

fn check_limits(config: &Config, note: &mut impl FnMut(&str, String)) {
    let mut check = |holds: bool, key: &str, what: &str| {
        if !holds {
            note(key, what.to_owned());
        }
    };
    check(
        config.copy_penalty >= 0.0 && config.copy_penalty.is_finite(),
        "copy-penalty",
        "must be at least 0; 0 lets copies earn as much as originals",
    );
    check(
        config.prompts.practised >= 1,
        "prompts.practised",
        "must be at least 1; to practise nothing, name one task",
    );
    check(
        matches!(config.prompts.contrast, 0 | 2..=4),
        "prompts.contrast",
        "must be 0, or from 2 to 4: one program shows no difference, and more do not fit into a prompt",
    );
    check(
        config.search.parents >= 1,
        "search.parents",
        "must be at least 1, for the seed",
    );
    check(
        config.bench.how.threads >= 1,
        "bench.threads",
        "must be at least 1",
    );
    check(config.bench.slots >= 1, "bench.slots", "must be at least 1");
    check(
        config.stepping.checkpoint_every >= 1,
        "loop.checkpoint-every",
        "must be at least 1",
    );
    check(
        config.stepping.max_kl >= 0.0,
        "loop.max-kl",
        "must not be negative",
    );
    let budget = &config.budget;
    check(
        budget.seconds >= 0.0,
        "budget.seconds",
        "must not be negative",
    );
    check(
        budget.steps > 0 || budget.seconds > 0.0 || budget.iterations > 0 || budget.answers > 0,
        "budget.steps",
        "no limit is set: the run would not end",
    );
    check(
        budget.iterations == 0 || config.prompts.source.searches(),
        "budget.iterations",
        "only a search has iterations; set prompts.source to \"sqd\", or this to 0",
    );
}

/// A path must exist now. Loading the model checks hub names.
pub(super) fn check_model(config: &Config, note: &mut impl FnMut(&str, String)) {
    let model = config.model.as_str();
    if model.is_empty() {
        let remedy =
            "write `model = \"nano\"`, or a folder, a GGUF file or a hub name instead of nano";
        note("model", format!("no model is named; {remedy}"));
    } else if (model.starts_with(['.', '/'])
        || Path::new(model)
            .extension()
            .is_some_and(|end| end == "gguf"))
        && !Path::new(model).exists()
    {
        note("model", format!("there is no `{model}`"));
    }
}

pub(super) fn check_adapter(config: &Config, note: &mut impl FnMut(&str, String)) {
    let adapter = config.adapter.as_str();
    if !adapter.is_empty() && !Path::new(adapter).join("adapter_config.json").exists() {
        note(
            "adapter",
            format!("there is no adapter_config.json in `{adapter}`"),
        );
    }
}

pub(super) fn check_wording(
    config: &Config,
    tasks: &[Arc<Task>],
    wording: &Wording,
    note: &mut impl FnMut(&str, String),
) {
    let file = if config.prompts.wording.is_empty() {
        "the embedded wording"
    } else {
        &config.prompts.wording
    };
    let silent = |task: &Arc<Task>| wording.fixed_count(task.spec.language) == 0;
    if config.prompts.source.asks_fixed() && tasks.iter().any(silent) {
        note("prompts.wording", format!("{file} has no fixed prompts"));
    }
    let unknown = |key: &&str| {
        let has = |task: &Arc<Task>| task.spec.stages.find(key).is_ok();
        !tasks.is_empty() && !tasks.iter().any(has)
    };
    for key in wording.stages().filter(unknown) {
        note(
            "prompts.wording",
            format!("{file}: stages: no task of this run has a stage `{key}`"),
        );
    }
}

/// Creates the directory and writes to it. Nothing else shows that this works. Leaves nothing
/// behind, since the run file may still be refused.
pub(super) fn check_directory(directory: &Path) -> Result<(), String> {
    let missing: Vec<&Path> = directory
        .ancestors()
        .take_while(|folder| !folder.as_os_str().is_empty() && !folder.exists())
        .collect();
    let probe = directory.join(".writable");
    let written = std::fs::create_dir_all(directory)
        .and_then(|()| std::fs::write(&probe, b""))
        .and_then(|()| std::fs::remove_file(&probe));
    for folder in missing {
        drop(std::fs::remove_dir(folder));
    }
    written.map_err(|error| format!("`{}` cannot be written: {error}", directory.display()))
}
