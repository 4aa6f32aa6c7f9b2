//! A task: what to make fast, and what correct means. It is data.
//!
//! A task folder contains `task.toml`, `prompt.md`, and in the task's language the files
//! `reference` and `seed`. If OpenBLAS offers the same operation, it also contains
//! `baseline`. For C these are `reference.c` and so on.

use serde::{Deserialize, Serialize};

use crate::formula::{self, Sizes};
use crate::interface::{Arg, Function, Interface, Role, SizeSets};
use crate::language::{self, Language};
use crate::measured::Work;
use crate::stage::Stages;

pub use crate::library::Library;
pub use crate::task_error::TaskError;

/// The files of a task folder, unread.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TaskFiles {
    /// `task.toml`
    pub toml: String,
    /// `reference`: the trusted, slow version that defines what is correct.
    pub reference: String,
    /// `prompt.md`: the statement shown to a model.
    pub prompt: String,
    /// `seed`: the naive candidate that a search starts from.
    pub seed: String,
    /// `baseline`: the same operation by a library, if there is one.
    pub baseline: Option<String>,
}

impl TaskFiles {
    /// The language in a `task.toml`, which decides the names of the other files.
    pub fn language(toml: &str) -> Result<Language, TaskError> {
        #[derive(Deserialize)]
        struct Named {
            language: Language,
        }
        let named: Named = read(toml)?;
        Ok(named.language)
    }
}

/// A kernel task: interface, cost, tolerance, stages, and its sources.
///
/// It is sent as its files. A received task is parsed and checked like one from a folder, and has
/// the same hash.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "TaskFiles", into = "TaskFiles")]
pub struct Task {
    /// The content of `task.toml`. A change here is not sent and does not change the hash.
    pub spec: TaskSpec,
    toml: String,
    /// The trusted source of `reference` (and `check`, `point`).
    pub reference: String,
    /// The statement shown to a model.
    pub prompt: String,
    /// The naive candidate.
    pub seed: String,
    /// The same operation by a library.
    pub baseline: Option<String>,
    /// Identifies the task's whole content.
    pub hash: String,
}

impl TryFrom<TaskFiles> for Task {
    type Error = TaskError;

    fn try_from(files: TaskFiles) -> Result<Self, TaskError> {
        Self::parse(files)
    }
}

impl From<Task> for TaskFiles {
    fn from(task: Task) -> Self {
        Self {
            toml: task.toml,
            reference: task.reference,
            prompt: task.prompt,
            seed: task.seed,
            baseline: task.baseline,
        }
    }
}

/// The content of `task.toml`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Written", into = "Written")]
pub struct TaskSpec {
    /// The task's name: lower-case letters, digits and dashes, and one slash at most.
    pub name: String,
    /// One line for people.
    pub summary: String,
    /// The language of candidates.
    pub language: Language,
    /// How a candidate is called.
    pub interface: Interface,
    /// The state of the caches when a timed run begins; always cold for CUDA.
    pub cache: CacheState,
    /// Work and traffic, for GFLOPS and the roof.
    pub cost: Cost,
    /// How outputs are checked.
    pub verify: Verify,
    /// Which library the baseline needs.
    pub baseline: Option<Library>,
    /// The task's own stages, or those of its language.
    pub stages: Stages,
}

/// `task.toml` as people write it, with the keys of the interface among the others.
#[derive(Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Written {
    name: String,
    summary: String,
    language: Language,
    /// Of a function.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    entry: Option<String>,
    /// Of a module.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    class: Option<String>,
    /// Not of CUDA tasks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    cache: Option<CacheState>,
    /// Of a function.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    args: Option<Vec<Arg>>,
    /// Of a function.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    sizes: Option<SizeSets>,
    cost: Cost,
    verify: Verify,
    #[serde(default)]
    baseline: Option<Library>,
    #[serde(default)]
    stages: Option<Stages>,
}

impl TryFrom<Written> for TaskSpec {
    type Error = &'static str;

    fn try_from(written: Written) -> Result<Self, &'static str> {
        let interface = match (written.class, written.entry, written.args, written.sizes) {
            (Some(class), None, None, None) => Interface::Module { class },
            (Some(_), ..) => return Err("a module has `class`, and no `entry`, `args` or `sizes`"),
            (None, Some(entry), Some(args), Some(sizes)) => {
                Interface::Function(Function { entry, args, sizes })
            }
            (None, None, ..) => return Err("missing field `entry` (or `class` for a module)"),
            (None, _, None, _) => return Err("missing field `args`"),
            (None, _, _, None) => return Err("missing field `sizes`"),
        };
        let cache = match (written.language, written.cache) {
            (Language::Cuda, Some(_)) => {
                return Err("a task in cuda has no `cache`: the GPU's L2 is swept before each run");
            }
            (Language::Cuda, None) => CacheState::Cold,
            (Language::C | Language::Torch, cache) => cache.unwrap_or_default(),
        };
        let default = || written.language.default_stages();
        Ok(Self {
            name: written.name,
            summary: written.summary,
            language: written.language,
            interface,
            cache,
            cost: written.cost,
            verify: written.verify,
            baseline: written.baseline,
            stages: written.stages.unwrap_or_else(default),
        })
    }
}

impl From<TaskSpec> for Written {
    fn from(spec: TaskSpec) -> Self {
        let (class, function) = match spec.interface {
            Interface::Function(function) => (None, Some(function)),
            Interface::Module { class } => (Some(class), None),
        };
        let (entry, args, sizes) = match function {
            Some(function) => (
                Some(function.entry),
                Some(function.args),
                Some(function.sizes),
            ),
            None => (None, None, None),
        };
        Self {
            name: spec.name,
            summary: spec.summary,
            language: spec.language,
            entry,
            class,
            cache: (spec.language != Language::Cuda).then_some(spec.cache),
            args,
            sizes,
            cost: spec.cost,
            verify: spec.verify,
            baseline: spec.baseline,
            stages: Some(spec.stages),
        }
    }
}

/// The state of the caches when a timed run begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CacheState {
    /// As an earlier run on the same cores leaves them.
    #[default]
    Warm,
    /// Inputs are flushed from the caches first.
    Cold,
}

/// Work and traffic of one call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Cost {
    /// Floating-point operations, by the field's convention. Absent or 0 if the task counts none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flops: Option<String>,
    /// Bytes that must move: each input read once, each output written once.
    pub bytes: String,
}

/// How outputs of this task are checked.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Verify {
    /// How every run is checked.
    pub method: Method,
    /// The bound, a formula, in multiples of the unit `u` times the reference's scale. An element
    /// is correct if `|got - want| <= bound * u * scale`. With 0 it must be equal. `u` is `2^-53`
    /// for C. For CUDA it is the rounding error of the first output's type.
    pub bound: String,
    /// The reason for the bound, in one line.
    pub why: String,
}

/// How every run is checked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub enum Method {
    /// Every element against `reference`.
    Full,
    /// `check` of `reference`: a random projection that sees every element,
    /// with a random vector of the given length (a formula).
    Projection(String),
}

impl Task {
    /// Reads and checks a task from its files.
    pub fn parse(files: TaskFiles) -> Result<Self, TaskError> {
        let spec: TaskSpec = read(&files.toml)?;
        spec.check(files.baseline.is_some())?;
        let mut hasher = blake3::Hasher::new();
        for part in [
            &files.toml,
            &files.reference,
            &files.prompt,
            &files.seed,
            files.baseline.as_ref().unwrap_or(&String::new()),
        ] {
            hasher.update(&(part.len() as u64).to_le_bytes());
            hasher.update(part.as_bytes());
        }
        Ok(Self {
            spec,
            toml: files.toml,
            reference: files.reference,
            prompt: files.prompt,
            seed: files.seed,
            baseline: files.baseline,
            hash: hasher.finalize().to_hex()[..16].to_owned(),
        })
    }

    /// How the function of this task is called.
    ///
    /// # Panics
    /// For a module. C tasks are never modules, and a bench of functions refuses modules before it
    /// calls this.
    pub fn function(&self) -> &Function {
        self.spec.function()
    }

    /// The name as one part of a path: `cuda/relu` becomes `cuda-relu`.
    pub fn file_name(&self) -> String {
        self.spec.name.replace('/', "-")
    }

    /// What a candidate must define, e.g. `void f(double *A, int N)`.
    ///
    /// # Panics
    /// If the language is not [supported](Language::supported).
    pub fn signature(&self) -> String {
        language::signature(self.spec.language, &self.spec.interface)
    }

    /// The work of one call, as far as the task counts it. A formula of 0 counts nothing.
    pub fn work(&self, sizes: &Sizes) -> Work {
        let counted = |formula: &String| {
            let count = formula::evaluate(formula, sizes).expect("checked by Task::parse");
            (count > 0.0).then_some(count)
        };
        Work {
            flops: self.spec.cost.flops.as_ref().and_then(counted),
            bytes: counted(&self.spec.cost.bytes),
        }
    }

    /// Whether it counts the operations of a timed call.
    pub fn counts_operations(&self) -> bool {
        match &self.spec.interface {
            Interface::Function(function) => self.work(&function.sizes.timed).flops.is_some(),
            Interface::Module { .. } => self.work(&Sizes::new()).flops.is_some(),
        }
    }

    /// The relative bound on `|got - want| / scale`.
    pub fn bound(&self, sizes: &Sizes) -> f64 {
        self.spec.bound(sizes)
    }
}

impl TaskSpec {
    /// How the function of this task is called.
    ///
    /// # Panics
    /// For a module. C tasks are never modules, and a bench of functions refuses modules before it
    /// calls this.
    pub fn function(&self) -> &Function {
        match &self.interface {
            Interface::Function(function) => function,
            Interface::Module { .. } => panic!("task {} asks for a module", self.name),
        }
    }

    /// [`Self::function`], to change it.
    ///
    /// # Panics
    /// For a module.
    pub fn function_mut(&mut self) -> &mut Function {
        match &mut self.interface {
            Interface::Function(function) => function,
            Interface::Module { .. } => panic!("task {} asks for a module", self.name),
        }
    }

    /// The relative bound on `|got - want| / scale`.
    pub fn bound(&self, sizes: &Sizes) -> f64 {
        let count = formula::evaluate(&self.verify.bound, sizes).expect("checked by Task::parse");
        count * self.unit()
    }

    /// The unit of the bound.
    fn unit(&self) -> f64 {
        let double = f64::EPSILON / 2.0;
        match (self.language, &self.interface) {
            (Language::Cuda, Interface::Function(function)) => {
                let output = function.args.iter().find(|arg| arg.is_output());
                output
                    .and_then(|arg| arg.kind.unit_roundoff())
                    .unwrap_or(double)
            }
            (Language::C | Language::Cuda | Language::Torch, _) => double,
        }
    }

    /// Checks every rule for a `task.toml`. `baseline` says whether there is a baseline file.
    pub fn check(&self, baseline: bool) -> Result<(), TaskError> {
        if !is_name(&self.name) {
            return Err(TaskError::Rule(format!(
                "name `{}` must be 1 to 40 lower-case letters, digits and dashes, with at most one \
                 slash between them",
                self.name
            )));
        }
        self.interface.check()?;
        let broken = TaskError::Rule;
        self.language.check(&self.interface).map_err(broken)?;
        self.stages.check().map_err(broken)?;
        self.language.check_stages(&self.stages).map_err(broken)?;
        match &self.interface {
            Interface::Function(function) => self.check_function(function)?,
            Interface::Module { .. } => self.check_formulas(&Sizes::new())?,
        }
        self.check_baseline(baseline).map_err(broken)
    }

    fn check_baseline(&self, has_file: bool) -> Result<(), String> {
        let (language, file) = (self.language, self.language.file("baseline"));
        match self.baseline {
            Some(library) if library.language() != language => {
                let (key, other) = (library.key(), library.language());
                Err(format!(
                    "baseline: `{key}` is for tasks in {other}, and this one is in {language}"
                ))
            }
            Some(library) if !library.needs_file() && has_file => {
                let key = library.key();
                Err(format!(
                    "baseline: the bench calls `{key}` itself, so remove the file {file}"
                ))
            }
            Some(library) if library.needs_file() != has_file => Err(format!(
                "`baseline` in task.toml and the file {file} need each other"
            )),
            None if has_file => Err(format!(
                "`baseline` in task.toml and the file {file} need each other"
            )),
            Some(_) | None => Ok(()),
        }
    }

    fn check_function(&self, function: &Function) -> Result<(), TaskError> {
        // The bounds of drawn sizes, and an odd size near an even bound.
        let ends: [fn(i64, i64) -> i64; 3] = [
            |least, _| least,
            |least, most| most.min(least.saturating_add(1)),
            |_, most| most,
        ];
        let sizes = &function.sizes;
        let drawn: Vec<Sizes> = ends.into_iter().filter_map(|end| sizes.draw(end)).collect();
        for sizes in std::iter::once(&sizes.timed)
            .chain(&sizes.hidden)
            .chain(&drawn)
        {
            function.check_formulas(sizes)?;
            self.check_formulas(sizes)?;
        }
        if matches!(self.verify.method, Method::Projection(_))
            && function.args.iter().any(|arg| arg.role == Role::Inout)
        {
            return Err(TaskError::Rule(
                "verify: a projection cannot see what an inout argument held before".into(),
            ));
        }
        Ok(())
    }

    fn check_formulas(&self, sizes: &Sizes) -> Result<(), TaskError> {
        let at = |key: &str| {
            let key = key.to_owned();
            move |source| TaskError::Formula { key, source }
        };
        let costs = [
            ("cost.flops", self.cost.flops.as_ref()),
            ("cost.bytes", Some(&self.cost.bytes)),
        ];
        for (key, formula) in costs {
            let Some(formula) = formula else { continue };
            let count = formula::evaluate(formula, sizes).map_err(at(key))?;
            if count < 0.0 {
                return Err(TaskError::Rule(format!("{key}: {count} is below 0")));
            }
        }
        let bound = formula::evaluate(&self.verify.bound, sizes).map_err(at("verify.bound"))?;
        self.language
            .check_bound(&self.interface, bound)
            .map_err(TaskError::Rule)?;
        if let Method::Projection(length) = &self.verify.method {
            formula::count(length, sizes).map_err(at("verify.method.projection"))?;
        }
        Ok(())
    }
}

/// Whether a task may have this name.
pub fn is_name(name: &str) -> bool {
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    let is_part = |part: &str| !part.is_empty() && part.chars().all(plain);
    name.len() <= 40 && name.split('/').count() <= 2 && name.split('/').all(is_part)
}

fn read<T: serde::de::DeserializeOwned>(toml: &str) -> Result<T, TaskError> {
    toml::from_str(toml).map_err(|error| TaskError::Toml(error.to_string().trim().to_owned()))
}

#[cfg(test)]
mod tests;
