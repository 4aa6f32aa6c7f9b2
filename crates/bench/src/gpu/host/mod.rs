//! Records host halves: compiled and run without a GPU, they leave plans.
//!
//! ```text
//! host half -> g++ (confined) -> object, checked -> program -> for each call: jail -> events -> plan
//! ```
//!
//! A kernel is named after the symbol of the stub that ran, and so are variables: the names in
//! plans are expressions such as `detail::scale<4, float>` that the device compiler can look up.
//! Template arguments that a call deduces are known after recording, so a device half is compiled
//! for the names that its plans use.

mod assemble;
mod builtins;
pub(crate) mod entry;
mod events;
pub(crate) mod extension;
mod header;
mod linking;
mod object;
mod record;
pub(crate) mod returned;
mod symbols;
#[cfg(test)]
mod tests;
mod toolchain;
mod traits;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ::object::read::elf::ElfFile64;
use ::object::{Endianness, Object, ObjectSymbol};
use hotloop_flow::language::cuda::Halves;
use hotloop_flow::{BenchError, Remedy, Verdict};

use crate::cache::Cache;
use crate::compiling::confined::{Allowance, ConfinedCompiler, OUTPUT_BYTES, Run};
use crate::gpu::call::Call;
use crate::gpu::plan::Plan;
use crate::scratch::{Folder, Scratch, no_space};
use assemble::{Assembled, Assembler, WEIGHT, too_heavy};
pub(crate) use entry::Entry;
use header::{FLAGS, Runtime};
use linking::Linking;
use record::{Jail, Recorded};
use symbols::Symbols;
use toolchain::HostToolchain;
pub(crate) use traits::DeviceTraits;

/// The names of a host half, its object and its program in its folder. Messages show the first one.
const SOURCE: &str = "candidate.cu";
const OBJECT: &str = "candidate.o";
const PROGRAM: &str = "record";

/// Where a recorder works.
pub(crate) struct Opening<'a> {
    /// The executable that plays the hidden roles.
    pub(crate) roles: &'a Path,
    pub(crate) cache: Cache,
    pub(crate) scratch: Arc<Scratch>,
    pub(crate) landlock: bool,
    /// What host code is told of the GPU.
    pub(crate) traits: DeviceTraits,
}

/// Records host halves, of candidates and of references.
pub(crate) struct Recorder {
    compiler: ConfinedCompiler,
    linking: Linking,
    cache: Cache,
    runtime: Runtime,
    jail: Jail,
    traits: DeviceTraits,
}

/// A compiled host half.
pub(crate) struct Program {
    folder: Folder,
    symbols: Symbols,
}

impl Recorder {
    /// A recorder; makes the recording runtime if this machine has none yet, and proves that it
    /// works.
    pub(crate) fn open(opening: Opening<'_>) -> Result<Self, BenchError> {
        let Opening {
            roles,
            cache,
            scratch,
            landlock,
            traits,
        } = opening;
        let toolchain = HostToolchain::known(&cache)?;
        let runtime = Runtime::prepare(&toolchain, &cache)?;
        let mut files = toolchain.files;
        files.read.push(runtime.folder.clone());
        let recorder = Self {
            compiler: ConfinedCompiler {
                program: toolchain.path,
                files,
                scratch: Arc::clone(&scratch),
                roles: roles.to_owned(),
                landlock,
                allowance: Allowance::HOST,
            },
            linking: toolchain.linking,
            cache,
            runtime,
            jail: Jail {
                roles: roles.to_owned(),
                landlock,
            },
            traits,
        };
        recorder.prove()?;
        Ok(recorder)
    }

    /// Records a host half that is right. If that fails, every verdict on a real one would be a
    /// lie.
    fn prove(&self) -> Result<(), BenchError> {
        let source = "__global__ void proof(int n) { }\n\
                      extern \"C\" void prove() { proof<<<1, 32>>>(7); }\n";
        let halves = hotloop_flow::language::cuda::split(source)
            .map_err(|refusal| BenchError::machine(format!("the proof: {refusal}")))?;
        let entry = Entry {
            name: "prove".into(),
            parameters: Vec::new(),
        };
        let call = Call {
            sizes: std::collections::BTreeMap::new(),
            arguments: Vec::new(),
        };
        let user = crate::sys::is_root().then(|| crate::sandbox::user::unprivileged_user(0));
        match self.record(&halves, &entry, &[call], user)? {
            Ok(plans) if plans.iter().all(|plan| plan.steps.len() == 1) => Ok(()),
            Ok(_) => Err(BenchError::machine("the recorder records nothing")),
            Err(verdict) => Err(BenchError::machine(format!(
                "the recorder fails on a program that is right: {}",
                verdict.detail()
            ))
            .hint("see whether judging without Landlock works; if so, the compiler's files lie in an unexpected place")
            .remedies(&[Remedy::Landlock])),
        }
    }

    /// What host code is told of the GPU.
    pub(crate) fn traits(&self) -> &DeviceTraits {
        &self.traits
    }

    /// What each call of an entry point does on the GPU, in the order of `calls`; as `user` when
    /// hotloop is root.
    pub(crate) fn record(
        &self,
        halves: &Halves,
        entry: &Entry,
        calls: &[Call],
        user: Option<u32>,
    ) -> Result<Result<Vec<Plan>, Verdict>, BenchError> {
        match self.build(halves, entry, user)? {
            Ok(program) => self.run(&program, halves, entry, calls, user),
            Err(verdict) => Ok(Err(verdict)),
        }
    }

    /// What each call of a built host half does on the GPU.
    pub(crate) fn run(
        &self,
        program: &Program,
        halves: &Halves,
        entry: &Entry,
        calls: &[Call],
        user: Option<u32>,
    ) -> Result<Result<Vec<Plan>, Verdict>, BenchError> {
        let assembler = Assembler {
            halves,
            symbols: &program.symbols,
            traits: &self.traits,
        };
        let path = program.folder.path().join(PROGRAM);
        let mut plans: Vec<Plan> = Vec::new();
        let mut weight = 0;
        for (index, call) in calls.iter().enumerate() {
            let same = calls[..index].iter().position(|earlier| earlier == call);
            let plan = match same {
                Some(same) => Ok(plans[same].clone()),
                // A process for each: what one call leaves behind, no other one finds.
                None => match self.jail.record(&path, &self.traits, call, user)? {
                    Recorded::Events(events) => match assembler.assemble(call, &events) {
                        Assembled::Plan(plan) => Ok(plan),
                        Assembled::Refused(why) => Err(Verdict::Refused { why }),
                        Assembled::Unfinished => Err(Verdict::Crashed {
                            how: format!("host code ended the program inside `{}`", entry.name),
                        }),
                    },
                    Recorded::Verdict(verdict) => Err(verdict),
                },
            };
            let plan = match plan {
                Ok(plan) => plan,
                Err(verdict) => return Ok(Err(verdict)),
            };
            weight += plan.weight();
            if weight > WEIGHT {
                return Ok(Err(Verdict::Refused { why: too_heavy() }));
            }
            plans.push(plan);
        }
        Ok(Ok(plans))
    }

    /// Compiles, checks and links a host half.
    pub(crate) fn build(
        &self,
        halves: &Halves,
        entry: &Entry,
        user: Option<u32>,
    ) -> Result<Result<Program, Verdict>, BenchError> {
        let shim = self.shim(entry)?;
        let folder = self.compiler.scratch.folder(user)?;
        let written = fs_err::write(folder.path().join(SOURCE), &halves.host);
        written.map_err(|error| no_space(&error))?;
        let arguments = self.arguments(&shim);
        if let Err(verdict) = self.compiler.run(Run {
            folder: &folder,
            arguments: &arguments,
            user,
            extra: &shim,
            file_bytes: OUTPUT_BYTES,
        })? {
            return Ok(Err(verdict));
        }
        let read = |name: &str| {
            fs_err::read(folder.path().join(name))
                .map_err(|error| BenchError::machine(error.to_string()))
        };
        let (object, program) = (read(OBJECT)?, read(PROGRAM)?);
        let linked = defined(&program);
        let refusal = object::refusal(&object, |name| linked.contains(name))
            .or_else(|| object::refusal_of_program(&program));
        if let Some(why) = refusal {
            return Ok(Err(Verdict::Refused { why }));
        }
        let Some(symbols) = Symbols::read(&program) else {
            let why = "the linked host code cannot be read".to_owned();
            return Ok(Err(Verdict::Refused { why }));
        };
        Ok(Ok(Program { folder, symbols }))
    }

    /// Two commands: one compiles, the other links.
    fn arguments(&self, shim: &Path) -> Vec<String> {
        let text = |path: PathBuf| path.display().to_string();
        let mut arguments: Vec<String> = FLAGS.map(String::from).to_vec();
        arguments.extend(["-I".to_owned(), text(self.runtime.headers())]);
        arguments.extend(["-include".to_owned(), text(self.runtime.first_header())]);
        arguments.extend(["-pipe", "-x", "c++", "-c", SOURCE, "-o", OBJECT].map(String::from));
        arguments.push(crate::confine::THEN.to_owned());
        let objects = [
            OBJECT.to_owned(),
            text(shim.to_owned()),
            text(self.runtime.program()),
        ];
        let libraries = self.runtime.libraries();
        arguments.extend(self.linking.command(&objects, &libraries, PROGRAM));
        arguments
    }

    /// The compiled code that calls an entry point, once per signature.
    fn shim(&self, entry: &Entry) -> Result<PathBuf, BenchError> {
        let source = entry.shim();
        let mut hasher = blake3::Hasher::new();
        hasher.update(self.runtime.key.as_bytes());
        hasher.update(source.as_bytes());
        let name = format!("cuda-shim-{}.o", &hasher.finalize().to_hex()[..32]);
        if let Some(known) = self.cache.get(&name) {
            return Ok(known);
        }
        let folder = self.compiler.scratch.folder(None)?;
        let (from, to) = (folder.path().join("shim.cpp"), folder.path().join("shim.o"));
        fs_err::write(&from, source).map_err(|error| no_space(&error))?;
        let failed = |said: &str| BenchError::machine(format!("the generated shim: {said}"));
        let output = std::process::Command::new(&self.compiler.program)
            .args(FLAGS)
            .arg("-c")
            .arg(&from)
            .arg("-o")
            .arg(&to)
            .env("LC_ALL", "C")
            .output()
            .map_err(|error| failed(&error.to_string()))?;
        if !output.status.success() {
            return Err(failed(&String::from_utf8_lossy(&output.stderr)));
        }
        self.cache.put(&name, &to)
    }
}

/// The names that a linked program defines.
fn defined(program: &[u8]) -> BTreeSet<String> {
    let Ok(file) = ElfFile64::<Endianness>::parse(program) else {
        return BTreeSet::new();
    };
    let symbols = file.symbols().filter(|symbol| !symbol.is_undefined());
    symbols
        .filter_map(|symbol| symbol.name().ok().map(str::to_owned))
        .collect()
}
