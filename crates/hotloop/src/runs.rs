//! From a run's configuration to the policy and the bench that it names.

use std::path::Path;

use hotloop_bench::{LocalBench, Settings};
use hotloop_flow::prompt::Wording;
use hotloop_flow::{Bench, Language, MachineFacts, Policy, Prose, Render, count};
use hotloop_policy::engine::{self, Learning};
use hotloop_policy::model::{LoraConfig, Module};
use hotloop_policy::train::loss::{Clip, Normalisation};
use hotloop_policy::train::{Decay, Schedule};
use hotloop_run::config::{Config, Device, Normalise};
use hotloop_run::{Layered, Plan};

use crate::failure::Failure;
use crate::models::Asking;
use crate::stop::Stop;
use crate::{fleets, models, nano};

/// The environment variable with an endpoint's key, if it needs one.
const KEY: &str = "HOTLOOP_API_KEY";

/// The endpoint and the model's name there, if `model` is written `URL#NAME`.
fn endpoint(model: &str) -> Option<(&str, &str)> {
    let is_url = model.starts_with("http://") || model.starts_with("https://");
    is_url.then(|| model.split_once('#').unwrap_or((model, "")))
}

/// Overrides for the nano policy. On the CPU it is faster than a call to a GPU.
const NANO: [(&str, &str); 6] = [
    ("device", "cpu"),
    ("prompts.begin", "false"),
    ("sampling.max-tokens", "320"),
    ("learning.rate", "3e-4"),
    ("learning.lora-rank", "0"),
    ("loop.overlap", "false"),
];

/// Overrides for defaults that do not fit the model. Keys that the user set stay unchanged.
pub(crate) fn fitted(layered: &Layered) -> Vec<String> {
    let fitting: &[(&str, &str)] = match endpoint(&layered.config.model) {
        Some((address, _)) if models::completes(address) => &[("learning.rate", "0")],
        // An API model cannot learn, and few servers can continue an answer that the chat began.
        Some(_) => &[("learning.rate", "0"), ("prompts.begin", "false")],
        None if nano::speaks(&layered.config.model) => &NANO,
        // Candidates and the engine would disturb each other on the GPU, so they take turns.
        None if layered.config.fleet.is_empty() && runs_on_gpu(&layered.config) => {
            &[("loop.overlap", "false")]
        }
        None if device(&layered.config).is_cuda() || !layered.config.fleet.is_empty() => &[],
        // On the CPU the engine uses every core, so nothing can be timed at the same time.
        None => &[("loop.overlap", "false")],
    };
    fitting
        .iter()
        .filter(|(key, _)| layered.is_default(key))
        .map(|(key, value)| format!("{key}={value}"))
        .collect()
}

/// Whether candidates of some task of a run need a GPU. Tasks that cannot be loaded are reported
/// elsewhere.
fn runs_on_gpu(config: &Config) -> bool {
    let mut tasks = config
        .tasks()
        .filter_map(|name| hotloop_bench::tasks::load(name).ok());
    tasks.any(|task| task.spec.language == Language::Cuda)
}

/// Why a local model cannot be found, if it is missing.
pub(crate) fn missing_model(config: &Config) -> Option<Failure> {
    let is_local = endpoint(&config.model).is_none() && !config.model.is_empty();
    is_local
        .then(|| models::find(&config.model).err())
        .flatten()
}

/// The policy, before any learning.
pub(crate) fn policy(config: &Config, stop: &Stop) -> Result<Box<dyn Policy>, Failure> {
    if let Some((url, name)) = endpoint(&config.model) {
        return over_api(url, name, stop);
    }
    let place = models::find(&config.model)?;
    let mut settings = engine::Settings::answering(0, device(config));
    let learning = &config.learning;
    settings.learning = match (learning.rate > 0.0, learning.lora_rank) {
        (false, _) => Learning::None,
        (true, 0) => Learning::Full,
        (true, rank) => {
            let targets = Module::ALL.to_vec();
            let lora = LoraConfig {
                rank: rank as usize,
                alpha: 2.0 * rank as f32,
                dropout: 0.0,
                targets,
            };
            Learning::Lora(lora, config.seed)
        }
    };
    // Overlap was chosen for a GPU. Nothing can be timed while an engine uses the CPU.
    if config.stepping.overlap && config.fleet.is_empty() && settings.device.is_cuda() {
        settings.device = hotloop_policy::Device::Cuda;
    }
    settings.training.seed = config.seed;
    settings.training.schedule = Schedule {
        peak: learning.rate,
        warmup: u64::from(learning.warm_up),
        decay: Decay::Constant,
    };
    settings.grpo.clip = Clip {
        low: learning.clip_low as f32,
        high: learning.clip_high as f32,
        kl: learning.beta as f32,
    };
    settings.grpo.normalisation = match learning.normalise {
        Normalise::Token => Normalisation::Token,
        Normalise::Sequence => Normalisation::Sequence,
    };
    let adapter = Some(Path::new(&config.adapter)).filter(|path| !path.as_os_str().is_empty());
    Ok(Box::new(models::engine(
        &place.path(),
        adapter,
        settings,
        stop,
    )?))
}

/// The policy that reviews answers, if the run has one. It never learns.
pub(crate) fn reviewer(config: &Config, stop: &Stop) -> Result<Option<Box<dyn Policy>>, Failure> {
    let Some(reviewer) = &config.reward.reviewer else {
        return Ok(None);
    };
    let alone = |failure: Failure| {
        let what = format!("reward.reviewer.model: {}", failure.what());
        failure.about(what)
    };
    let adapter = Some(reviewer.adapter.as_str()).filter(|adapter| !adapter.is_empty());
    answering(&reviewer.model, adapter, device(config), stop)
        .map(Some)
        .map_err(alone)
}

/// A policy that answers and never learns: a local model, or `URL#NAME`.
pub(crate) fn answering(
    model: &str,
    adapter: Option<&str>,
    device: hotloop_policy::Device,
    stop: &Stop,
) -> Result<Box<dyn Policy>, Failure> {
    if let Some((url, name)) = endpoint(model) {
        return over_api(url, name, stop);
    }
    let place = models::find(model)?;
    let settings = engine::Settings::answering(0, device);
    let adapter = adapter.map(Path::new);
    Ok(Box::new(models::engine(
        &place.path(),
        adapter,
        settings,
        stop,
    )?))
}

fn over_api(url: &str, name: &str, stop: &Stop) -> Result<Box<dyn Policy>, Failure> {
    if name.is_empty() {
        return Err(Failure::user(format!("model: `{url}` names no model"))
            .hint(format!("write it after a `#`: \"{url}#NAME\"")));
    }
    let asking = Asking {
        key_variable: std::env::var_os(KEY).map(|_| KEY.to_owned()),
        per_minute: None,
    };
    Ok(Box::new(models::api(url, name, asking, stop)?))
}

/// The rank of the trained adapter; 0 if all parameters are trained. A run that starts with an
/// adapter trains that adapter.
pub(crate) fn rank(config: &Config) -> u64 {
    let begun = (!config.adapter.is_empty())
        .then(|| hotloop_policy::save::adapter_config(Path::new(&config.adapter)).ok());
    begun
        .flatten()
        .map_or(config.learning.lora_rank.into(), |adapter| {
            adapter.rank as u64
        })
}

/// The renderer of prompts for the policy.
pub(crate) fn render(config: &Config, wording: Wording, machine: &MachineFacts) -> Box<dyn Render> {
    if nano::speaks(&config.model) {
        return Box::new(nano::NanoRender);
    }
    Box::new(Prose {
        wording,
        begin: config.prompts.begin,
        device: machine.device.clone(),
    })
}

/// Where the model computes.
fn device(config: &Config) -> hotloop_policy::Device {
    match config.device {
        Device::Auto => hotloop_policy::Device::Auto,
        Device::Cpu => hotloop_policy::Device::Cpu,
        Device::Cuda => hotloop_policy::Device::Cuda,
    }
}

/// The bench: this machine's, or a fleet's. A resumed run finds its earlier jobs in the fleet.
pub(crate) fn bench(plan: &Plan) -> Result<Box<dyn Bench>, Failure> {
    let directory = std::path::absolute(&plan.directory).unwrap_or_else(|_| plan.directory.clone());
    let languages = crate::settings::languages(plan.tasks().map(|(_, task)| task.as_ref()));
    let scope = format!("run {}", directory.display());
    bench_for(&plan.config, languages, &scope)
}

/// The bench for commands other than runs. `scope` identifies the caller to a fleet.
pub(crate) fn bench_for(
    config: &Config,
    languages: Vec<Language>,
    scope: &str,
) -> Result<Box<dyn Bench>, Failure> {
    let settings = Settings {
        languages,
        ..settings(config)?
    };
    if config.fleet.is_empty() {
        return Ok(Box::new(LocalBench::start(settings)?));
    }
    fleets::open(&config.fleet, settings, scope, false)
}

/// Rounds of timing in a run, as `bench.timing` in the defaults says. One round is enough:
/// advantages account for noise, and a run times its fastest code again at the end. Waiting for a
/// quiet machine would cost updates.
const ROUNDS: u32 = 1;

/// The bench's settings.
fn settings(config: &Config) -> Result<Settings, Failure> {
    let bench = &config.bench;
    let threads = bench.how.threads;
    let cores = hotloop_bench::survey::physical_cores() as u32;
    if config.fleet.is_empty() && bench.slots.saturating_mul(threads) > cores {
        return Err(Failure::user(format!(
            "bench.threads: {} with {} need more than the {} that this process may use",
            count(bench.slots as usize, "slot"),
            count(threads as usize, "thread"),
            count(cores as usize, "physical core")
        ))
        .hint(format!(
            "set bench.threads to at most {cores}, and bench.slots to 1"
        )));
    }
    let mut settings = crate::settings::own()?.with(bench.how);
    settings.rounds = ROUNDS;
    settings.slots = bench.slots;
    Ok(settings)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str, sets: &[&str]) -> Layered {
        let sets: Vec<String> = sets.iter().map(|set| (*set).to_owned()).collect();
        Layered::read(Some(("x.toml", text)), &sets).expect("it is sound")
    }

    #[test]
    fn defaults_fit_the_model_and_user_settings_stay() {
        assert_eq!(
            fitted(&read("model = \"./m\"", &[])),
            ["loop.overlap=false"]
        );
        assert!(fitted(&read("model = \"./m\"\n[loop]\noverlap = true", &[])).is_empty());
        let cuda = "model = \"./m\"\ndevice = \"cuda\"\ntask = \"cuda/relu\"";
        assert_eq!(
            fitted(&read(cuda, &[])),
            ["loop.overlap=false"],
            "engine and candidates take turns on a GPU"
        );
        assert!(fitted(&read(&cuda.replace("cuda/relu", "matmul"), &[])).is_empty());
        assert!(
            fitted(&read("model = \"./m\"\nfleet = \"f.toml\"", &[])).is_empty(),
            "others judge"
        );
        assert_eq!(
            fitted(&read("model = \"http://h/v1#m\"", &["learning.rate=1e-5"])),
            ["prompts.begin=false"]
        );
        assert_eq!(
            fitted(&read("model = \"http://h/v1/completions#m\"", &[])),
            ["learning.rate=0"]
        );
    }

    #[test]
    fn an_endpoint_names_its_model_after_a_hash() {
        assert_eq!(
            endpoint("http://localhost:8000/v1#qwen"),
            Some(("http://localhost:8000/v1", "qwen"))
        );
        assert_eq!(endpoint("./model#1"), None);
    }
}
