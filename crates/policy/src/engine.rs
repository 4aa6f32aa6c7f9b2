//! The engine: a model that answers chats and learns, on its own threads.

use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, OnceLock};

use hotloop_flow::policy::{Completion, Sampling, WeightedTokens};
use rayon::prelude::*;

use crate::cpu::Network;
pub use crate::engine_error::EngineError;
use crate::load::Checkpoint;
use crate::model::{Adapter, Config, LoraConfig, Weights};
use crate::pack::Sequence;
use crate::placed::Trained;
use crate::precision::Precision;
use crate::sample::{Draw, Generation, Stop};
use crate::save::{self, Base, Storage};
pub use crate::settings::{Learning, Settings};
use crate::text::{Text, Turn};
use crate::train::{Learner, Reference, Schedule, Update};

/// A snapshot of an adapter with the optimiser's state.
pub struct Kept(Box<Learner>);

impl std::fmt::Debug for Kept {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Kept")
    }
}

/// A model that answers and learns.
pub struct Engine {
    learner: Learner,
    reference: Reference,
    text: Text,
    name: String,
    settings: Settings,
    pool: rayon::ThreadPool,
    base_hash: OnceLock<String>,
}

impl Engine {
    /// Loads a Hugging Face directory or a GGUF file.
    pub fn open(path: &Path, settings: Settings) -> Result<Self, EngineError> {
        let checkpoint = Checkpoint::open(path)?;
        let text = checkpoint.text()?;
        // Trained weights, and weights that are copied to a GPU, are f32.
        let whole = settings.learning == Learning::Full || settings.device.is_cuda();
        let (weights, hash) = match settings.precision {
            Some(Precision::F32) => (checkpoint.weights()?, None),
            _ if whole => (checkpoint.weights()?, None),
            precision => checkpoint
                .frozen(precision)
                .map(|(weights, hash)| (weights, Some(hash)))?,
        };
        let name = path
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        let engine = Self::new(checkpoint.config, weights, text, name, settings)?;
        Ok(Self {
            base_hash: hash.map(OnceLock::from).unwrap_or_default(),
            ..engine
        })
    }

    /// Loads a model and starts from a trained adapter. Only that adapter learns, whatever
    /// `settings` say. Training all weights under an adapter would make no sense.
    pub fn open_with_adapter(
        path: &Path,
        adapter: &Path,
        settings: Settings,
    ) -> Result<Self, EngineError> {
        let learning = match settings.learning {
            Learning::None => Learning::None,
            Learning::Lora(_, seed) => Learning::Lora(save::adapter_config(adapter)?, seed),
            Learning::Full => Learning::Lora(save::adapter_config(adapter)?, 0),
        };
        let mut engine = Self::open(
            path,
            Settings {
                learning,
                ..settings
            },
        )?;
        engine.start_from_adapter(adapter)?;
        Ok(engine)
    }

    /// An engine from loaded parts.
    pub fn new(
        config: Config,
        weights: Weights,
        text: Text,
        name: String,
        settings: Settings,
    ) -> Result<Self, EngineError> {
        let network = Network::new(config, weights);
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(settings.threads)
            .build()?;
        let nothing = LoraConfig {
            rank: 1,
            alpha: 1.0,
            dropout: 0.0,
            targets: Vec::new(),
        };
        let trained = match &settings.learning {
            Learning::None => Trained::Lora(Adapter::fresh(&network.config, &nothing, 0)),
            Learning::Lora(config, seed) => {
                Trained::Lora(Adapter::fresh(&network.config, config, *seed))
            }
            Learning::Full => Trained::Full,
        };
        // If the KL divergence has no weight, no reference is needed, and a full copy would double
        // the memory.
        let reference = match settings.learning {
            _ if settings.grpo.clip.kl <= 0.0 => Reference::None,
            Learning::Full => Reference::Copy(Box::new(Network::new(
                network.config.clone(),
                network.weights.clone(),
            ))),
            Learning::Lora(..) | Learning::None => Reference::Base,
        };
        let training = settings.training.clone();
        let learner = if settings.device.is_cuda() {
            Learner::on_cuda(
                network,
                trained,
                training,
                settings.precision.unwrap_or(Precision::Bf16),
            )?
        } else {
            Learner::new(network, trained, training)
        };
        Ok(Self {
            learner,
            reference,
            text,
            name,
            settings,
            pool,
            base_hash: OnceLock::new(),
        })
    }

    /// The model's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Tokens of prompt and answer together.
    pub fn context(&self) -> usize {
        self.learner.model.network.config.context
    }

    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Whether updates measure a KL divergence, which needs a reference.
    pub fn has_reference(&self) -> bool {
        !matches!(self.reference, Reference::None)
    }

    /// The learner inside.
    #[doc(hidden)]
    pub fn learner(&self) -> &Learner {
        &self.learner
    }

    /// The tokenizer and template.
    pub fn text(&self) -> &Text {
        &self.text
    }

    /// Starts from a trained adapter. It also becomes the frozen reference, because this training
    /// starts from it and not from a fresh adapter.
    pub fn start_from_adapter(&mut self, directory: &Path) -> Result<(), EngineError> {
        if self.settings.learning == Learning::Full {
            return Err(EngineError::TrainsAll);
        }
        let adapter = save::load_adapter(
            directory,
            &self.learner.model.network.config,
            self.base_hash(),
        )?;
        if !matches!(self.reference, Reference::None) {
            self.reference = Reference::Adapter(adapter.clone());
        }
        self.settings.learning = Learning::Lora(adapter.config.clone(), 0);
        self.learner.adopt(adapter)?;
        Ok(())
    }

    /// Once this flag is set, answers and updates soon end with an error.
    pub fn stop_on(&mut self, halt: Arc<AtomicBool>) {
        self.learner.stop_on(halt);
    }

    /// The tokens of a chat up to where the answer begins.
    pub fn prompt(&self, turns: &[Turn], begun: &str) -> Result<Vec<u32>, EngineError> {
        Ok(self.text.prompt(turns, begun)?)
    }

    /// `count` completions of each prompt, prompt by prompt. Completion number n uses the seed plus
    /// n.
    pub fn complete(
        &self,
        prompts: &[Vec<u32>],
        count: usize,
        sampling: &Sampling,
    ) -> Result<Vec<Completion>, EngineError> {
        let max_tokens = sampling.max_tokens as usize;
        self.check_prompts(prompts, max_tokens)?;
        let mut tokens = self.learner.model.network.config.eos.clone();
        // Texts contain no special tokens, so no stop text can match one.
        tokens.extend(
            sampling
                .stop
                .iter()
                .filter_map(|text| self.text.special(text)),
        );
        // Every text contains the empty one.
        let texts = sampling.stop.iter().filter(|text| !text.is_empty());
        let stop = Stop {
            tokens,
            texts: texts.cloned().collect(),
            max_tokens,
        };
        let decode = |tokens: &[u32]| self.text.decode(tokens);
        let how = Generation {
            draw: Draw::from(sampling),
            stop,
            seed: sampling.seed,
            slots: self.settings.slots,
            decode: &decode,
            halt: self.learner.halt(),
        };
        let model = &self.learner.model;
        let completions = self.pool.install(|| model.generate(prompts, count, &how))?;
        if how.halted() {
            return Err(EngineError::Stopped);
        }
        let is_nan = |completion: &Completion| completion.logprobs.iter().any(|it| it.is_nan());
        if completions.iter().any(is_nan) {
            return Err(EngineError::NotFinite);
        }
        Ok(completions)
    }

    fn check_prompts(&self, prompts: &[Vec<u32>], max_tokens: usize) -> Result<(), EngineError> {
        if let Some(empty) = prompts.iter().position(Vec::is_empty) {
            return Err(EngineError::EmptyPrompt(empty));
        }
        let vocab = self.learner.model.network.config.vocab;
        if let Some(&token) = prompts
            .iter()
            .flatten()
            .find(|token| **token as usize >= vocab)
        {
            return Err(EngineError::UnknownToken { token, vocab });
        }
        let context = self.context();
        match prompts
            .iter()
            .find(|prompt| prompt.len() + max_tokens > context)
        {
            Some(long) => Err(EngineError::ContextExceeded {
                prompt: long.len(),
                answer: max_tokens,
                context,
            }),
            None => Ok(()),
        }
    }

    /// A GRPO update on answers that were all drawn at one temperature.
    pub fn reinforce(&mut self, batch: &[WeightedTokens]) -> Result<Update, EngineError> {
        if self.settings.learning == Learning::None {
            return Err(EngineError::LearnsNothing);
        }
        let Self {
            learner,
            reference,
            settings,
            pool,
            ..
        } = self;
        Ok(pool.install(|| learner.reinforce(batch, settings.grpo, reference))?)
    }

    /// A chat for supervised learning. The tokens of its answers are scored.
    pub fn example(&self, chat: &[Turn]) -> Result<Sequence, EngineError> {
        let (tokens, scored) = self.text.example(chat)?;
        let context = self.context();
        if tokens.len() > context {
            return Err(EngineError::ContextExceeded {
                prompt: tokens.len(),
                answer: 0,
                context,
            });
        }
        Ok(Sequence { tokens, scored })
    }

    /// Many examples at once, on all of the engine's threads.
    pub fn examples(&self, chats: &[Vec<Turn>]) -> Result<Vec<Sequence>, EngineError> {
        self.pool
            .install(|| chats.par_iter().map(|chat| self.example(chat)).collect())
    }

    /// Changes the learning rate schedule from the next step on.
    pub fn set_schedule(&mut self, schedule: Schedule) {
        self.settings.training.schedule = schedule;
        self.learner.set_schedule(schedule);
    }

    /// A step of supervised learning.
    pub fn supervise(&mut self, batch: &[Sequence]) -> Result<Update, EngineError> {
        if self.settings.learning == Learning::None {
            return Err(EngineError::LearnsNothing);
        }
        let Self { learner, pool, .. } = self;
        Ok(pool.install(|| learner.supervise(batch))?)
    }

    /// The mean cross-entropy of the scored tokens, without learning.
    pub fn loss(&self, batch: &[Sequence]) -> Result<f64, EngineError> {
        Ok(self.pool.install(|| self.learner.loss(batch))?)
    }

    /// Writes what is trained and the optimiser's state.
    pub fn save(&self, directory: &Path) -> Result<(), EngineError> {
        let mirror = self.learner.mirror()?;
        self.write(directory, mirror.as_ref().unwrap_or(&self.learner))
    }

    /// A snapshot of the adapter, to save if later steps spoil it; `None` if all weights are
    /// trained.
    pub fn keep(&self) -> Result<Option<Kept>, EngineError> {
        Ok(self.learner.copy()?.map(|copy| Kept(Box::new(copy))))
    }

    /// Writes a snapshot, as `save` would have at that time.
    pub fn save_kept(&self, kept: &Kept, directory: &Path) -> Result<(), EngineError> {
        self.write(directory, &kept.0)
    }

    fn write(&self, directory: &Path, learner: &Learner) -> Result<(), EngineError> {
        let hash = match self.settings.learning {
            Learning::Full => String::new(),
            Learning::Lora(..) | Learning::None => self.base_hash().to_owned(),
        };
        let base = Base {
            name: self.name.clone(),
            hash,
        };
        Ok(save::learner(directory, learner, &base, Some(&self.text))?)
    }

    /// Writes the fully trained model, without the optimiser's state.
    pub fn save_model(&self, directory: &Path, storage: Storage) -> Result<(), EngineError> {
        if self.settings.learning != Learning::Full {
            return Err(EngineError::NothingFull);
        }
        let mirror = self.learner.mirror()?;
        let network = &mirror.as_ref().unwrap_or(&self.learner).model.network;
        Ok(save::model(
            directory,
            &network.config,
            &network.weights,
            Some(&self.text),
            storage,
        )?)
    }

    /// Reads what `save` wrote.
    pub fn resume(&mut self, directory: &Path) -> Result<(), EngineError> {
        let hash = match self.settings.learning {
            Learning::Full => String::new(),
            Learning::Lora(..) | Learning::None => self.base_hash().to_owned(),
        };
        let Some(mut mirror) = self.learner.mirror()? else {
            return Ok(save::resume(directory, &mut self.learner, &hash)?);
        };
        save::resume(directory, &mut mirror, &hash)?;
        Ok(self.learner.restore(mirror)?)
    }

    /// The base's fingerprint. Adapters do not change the base, so it is computed once.
    fn base_hash(&self) -> &str {
        self.base_hash
            .get_or_init(|| self.learner.model.network.weights.fingerprint())
    }
}
