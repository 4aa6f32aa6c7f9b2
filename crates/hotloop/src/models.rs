//! From the user's name for a model to a policy.

use std::num::NonZeroU32;
use std::path::{Path, PathBuf};
use std::time::Duration;

use hotloop_flow::policy::PolicyError;
use hotloop_policy::api::{ApiConfig, ApiPolicy, Protocol};
use hotloop_policy::engine::{Engine, EngineError, Settings};
use hotloop_policy::load::{Checkpoint, LoadError, Problem};
use hotloop_policy::train::TrainError;
use hotloop_policy::{Device, EnginePolicy, cuda};

use tempfile::TempDir;

use crate::failure::{Failure, policy_hint};
use crate::nano;
use crate::output::complain;
use crate::stop::Stop;

/// Where a model's files are.
pub(crate) enum Place {
    /// In the user's folder or file.
    Path(PathBuf),
    /// The built-in nano policy, unpacked to a folder that is removed when this is dropped.
    Unpacked(TempDir),
}

impl Place {
    /// The folder or file.
    pub(crate) fn path(&self) -> PathBuf {
        match self {
            Self::Path(path) => path.clone(),
            // The folder's name is the model's.
            Self::Unpacked(folder) => folder.path().join(nano::NAME),
        }
    }
}

/// Finds a model by its path, as `nano`, or by the hub name of an earlier download.
pub(crate) fn find(name: &str) -> Result<Place, Failure> {
    let path = PathBuf::from(name);
    if path.exists() {
        return Ok(Place::Path(path));
    }
    if name == nano::NAME {
        let unpacked = tempfile::tempdir().and_then(|folder| {
            nano::unpack(&folder.path().join(nano::NAME))?;
            Ok(folder)
        });
        let full = |error: std::io::Error| {
            Failure::machine(format!("the nano policy cannot be unpacked: {error}"))
                .of_file(error.kind())
        };
        return unpacked.map(Place::Unpacked).map_err(full);
    }
    downloaded(name)
        .map(Place::Path)
        .ok_or_else(|| missing(name))
}

/// A name of the Hugging Face hub is `owner/model`.
pub(crate) fn is_hub_name(name: &str) -> bool {
    let is_gguf = Path::new(name)
        .extension()
        .is_some_and(|extension| extension == "gguf");
    let is_plain = |part: &str| {
        part.bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"-._".contains(&byte))
    };
    let parts: Vec<&str> = name.split('/').collect();
    parts.len() == 2
        && parts
            .iter()
            .all(|part| !part.is_empty() && !part.starts_with('.') && is_plain(part))
        && !is_gguf
}

fn missing(name: &str) -> Failure {
    if is_hub_name(name) {
        return Failure::user(format!("{name} is not on this machine")).hint(format!(
            "`hotloop model pull {name}` downloads it; without network, do that elsewhere with \
             `--to DIR`, copy DIR here and name it"
        ));
    }
    if name.contains("://") {
        return Failure::user(format!("{name} is an endpoint, not a model"))
            .hint("`--api URL --model NAME` asks one; in a run file it is model = \"URL#NAME\"");
    }
    Failure::user(format!("{name}: there is no such file or folder"))
        .hint("name a folder with config.json and safetensors, a GGUF file, `nano`, or a hub name")
}

/// The newest copy of a hub model in the cache that Hugging Face's tools share.
pub(crate) fn downloaded(name: &str) -> Option<PathBuf> {
    if !is_hub_name(name) {
        return None;
    }
    let entries = std::fs::read_dir(hotloop_policy::hub::snapshots(name)?)
        .ok()?
        .filter_map(Result::ok);
    let whole = entries.filter(|entry| entry.path().join("config.json").exists());
    whole
        .max_by_key(|entry| entry.metadata().and_then(|facts| facts.modified()).ok())
        .map(|entry| entry.path())
}

/// Opens a model's files without reading its weights.
pub(crate) fn open(path: &Path) -> Result<Checkpoint, Failure> {
    Checkpoint::open(path).map_err(|error| unreadable(&error))
}

/// Why a model could not be loaded, and how to fix it.
pub(crate) fn unreadable(error: &LoadError) -> Failure {
    let failure = Failure::user(error.to_string());
    match &error.problem {
        Problem::Io(io) if io.kind() == std::io::ErrorKind::NotFound => {
            let name = error.path.file_name().unwrap_or_default().to_string_lossy();
            failure.hint(if name.starts_with("adapter_") {
                "an adapter is a folder with adapter_config.json and adapter_model.safetensors"
            } else {
                "a model is a folder with config.json and safetensors, or a GGUF file"
            })
        }
        _ => failure,
    }
}

/// A failure while the engine is set up.
pub(crate) fn engine_failure(error: &EngineError) -> Failure {
    match error {
        EngineError::Load(load) => unreadable(load),
        EngineError::Threads(_) => Failure::machine(error.to_string()),
        EngineError::Save(save) => Failure::user(error.to_string()).of_file(save.source.kind()),
        EngineError::Device(_) | EngineError::Train(TrainError::Device(_)) => {
            Failure::machine(error.to_string()).hint("choose the device cpu")
        }
        _ => Failure::user(error.to_string()),
    }
}

/// A failure while a policy answers.
pub(crate) fn policy_failure(error: &PolicyError) -> Failure {
    let failure = Failure::of(error.kind(), error.to_string());
    match error {
        PolicyError::ContextExceeded { .. } => {
            failure.hint("ask for fewer tokens (--max-tokens), or shorten the question")
        }
        PolicyError::Unsupported("a begun answer") => {
            failure.hint("leave the beginning out with --begin ''")
        }
        PolicyError::Unsupported(_) | PolicyError::Unanswerable(_) => failure,
        PolicyError::Stopped => Failure::interrupted(),
        PolicyError::Diverged(_) => {
            failure.hint("download the model again, or use an earlier adapter or checkpoint")
        }
        PolicyError::Endpoint { .. } | PolicyError::File { .. } | PolicyError::Failed(_) => {
            match policy_hint(error) {
                Some(hint) => failure.hint(hint),
                None => failure,
            }
        }
    }
}

/// Opens an engine. If the device is `auto` and the GPU cannot run this model, it falls back to the
/// CPU.
pub(crate) fn where_it_can<T>(
    settings: Settings,
    open: impl Fn(Settings) -> Result<T, EngineError>,
) -> Result<T, Failure> {
    let on_cpu = settings.clone().on(Device::Cpu);
    let device = settings.device;
    if device == Device::Auto
        && let Some(missing) = cuda::hindrance()
    {
        complain(&format!("there is a GPU, but the CPU is used: {missing}"));
    }
    let opened = open(settings).or_else(|error| {
        if !error.falls_back(device) {
            return Err(error);
        }
        complain(&format!(
            "the GPU cannot be used here, so the CPU is used: {error}"
        ));
        open(on_cpu)
    });
    opened.map_err(|error| engine_failure(&error))
}

/// The engine for a model on this machine. A signal interrupts it.
pub(crate) fn engine(
    path: &Path,
    adapter: Option<&Path>,
    settings: Settings,
    stop: &Stop,
) -> Result<EnginePolicy, Failure> {
    let mut engine = where_it_can(settings, |settings| match adapter {
        Some(adapter) => Engine::open_with_adapter(path, adapter, settings),
        None => Engine::open(path, settings),
    })?;
    engine.stop_on(stop.shared());
    Ok(EnginePolicy::new(engine))
}

/// The environment variable with the maximum number of requests per minute to an endpoint. The
/// quota belongs to the user's key. So it is set next to the key and not in a run file, and a run
/// can continue under another key.
const PER_MINUTE: &str = "HOTLOOP_API_PER_MINUTE";

/// Settings for requests to an endpoint.
pub(crate) struct Asking {
    /// The environment variable with the key; `None` sends no key.
    pub(crate) key_variable: Option<String>,
    /// Maximum number of requests per minute; `None` leaves it to the environment.
    pub(crate) per_minute: Option<NonZeroU32>,
}

/// A model behind an endpoint. After a signal it gets no more requests.
pub(crate) fn api(
    address: &str,
    model: &str,
    asking: Asking,
    stop: &Stop,
) -> Result<ApiPolicy, Failure> {
    let (url, protocol) = Protocol::of(address);
    let config = ApiConfig {
        url: url.to_owned(),
        model: model.to_owned(),
        protocol,
        key_variable: asking.key_variable,
        continues: true,
        timeout: Duration::from_mins(10),
        tries: 5,
        pause: Duration::from_secs(1),
        parallel: 8,
        per_minute: asking
            .per_minute
            .map_or_else(per_minute, |limit| Ok(Some(limit)))?,
        context: 0,
    };
    let mut policy = ApiPolicy::new(config).map_err(|error| policy_failure(&error))?;
    policy.stop_on(stop.shared());
    Ok(policy)
}

/// The limit of the environment, if it sets one.
fn per_minute() -> Result<Option<NonZeroU32>, Failure> {
    let Some(text) = std::env::var_os(PER_MINUTE).filter(|text| !text.is_empty()) else {
        return Ok(None);
    };
    let text = text.to_string_lossy();
    let wrong = || {
        Failure::user(format!(
            "{PER_MINUTE} is `{text}`, which is not a number of requests above 0"
        ))
        .hint(format!(
            "set it to a number such as {PER_MINUTE}=60, or unset it for no limit"
        ))
    };
    text.trim().parse().map(Some).map_err(|_| wrong())
}

/// Whether an endpoint continues texts instead of answering chats.
pub(crate) fn completes(address: &str) -> bool {
    Protocol::of(address).1 == Protocol::Completions
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unusable_gpu_falls_back_to_the_cpu_unless_it_was_requested() {
        let open = |settings: Settings| match settings.device {
            Device::Cpu => Ok((settings.slots, settings.training.pack_tokens)),
            _ => Err(EngineError::Device(hotloop_policy::cuda::Error::Shape(
                "hidden_size is 7".into(),
            ))),
        };
        let usual = Settings::answering(1, Device::Cpu);
        let asked = |device| Settings {
            device,
            slots: 256,
            ..usual.clone()
        };
        assert_eq!(
            where_it_can(asked(Device::Auto), open).ok(),
            Some((usual.slots, usual.training.pack_tokens))
        );
        assert!(where_it_can(asked(Device::Cuda), open).is_err());
        let fails = |_| -> Result<(), EngineError> { Err(EngineError::NotFinite) };
        assert!(where_it_can(asked(Device::Auto), fails).is_err());
    }

    #[test]
    fn hub_names_are_distinguished_from_paths() {
        assert!(is_hub_name("Qwen/Qwen2.5-Coder-0.5B-Instruct"));
        for path in [
            "./model",
            "../model",
            "/a/model",
            "a/b/c",
            "models/x.gguf",
            "model",
            "a/b?c",
            "a/b#c",
        ] {
            assert!(!is_hub_name(path), "{path}");
        }
    }
}
