//! Builds the C++ of torch extensions against a torch that records, and records calls of its
//! functions.
//!
//! ```text
//! cpp sources  -> host half + the list of functions ─┐
//! cuda sources -> host half (stubs of the kernels)  ─┴> objects, checked -> program
//! a call: its function, values and buffers -> jail -> events -> a plan, and what it returned
//! ```
//!
//! Every call is a process of its own: what one call leaves behind in host code, no other one
//! finds.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use hotloop_flow::language::cuda::Halves;
use hotloop_flow::{BenchError, Verdict};
use object::read::elf::ElfFile64;
use object::{Endianness, Object, ObjectSymbol};

use super::assemble::{Assembled, Assembler};
use super::header::{FLAGS, Runtime};
use super::record::Recorded;
use super::returned::Said;
use super::symbols::Symbols;
use super::toolchain::HostToolchain;
use super::{PROGRAM, Recorder, defined, object as checked};
use crate::compiling::confined::{OUTPUT_BYTES, Run};
use crate::gpu::call::Call;
use crate::gpu::plan::Plan;
use crate::scratch::{Folder, no_space};

/// The names of the two sources and their objects. Messages of the compiler show the sources.
const CUDA: [&str; 2] = ["cuda.cu", "cuda.o"];
const MAIN: [&str; 2] = ["main.cpp", "main.o"];

/// Built extensions that are kept.
const KEPT: usize = 64;

/// The sources of an extension, split.
pub(crate) struct Sources {
    pub(crate) cpp: Halves,
    pub(crate) cuda: Halves,
    /// The functions that are exported by name; none where the sources export them themselves.
    pub(crate) functions: Option<Vec<String>>,
}

/// A built extension.
pub(crate) struct Extension {
    pub(crate) halves: Halves,
    folder: Folder,
    symbols: Symbols,
}

/// Builds extensions and records their calls.
pub(crate) struct Extensions {
    recorder: Recorder,
    torch: Runtime,
    /// Those that were built, by their sources: answers share them.
    built: Mutex<BTreeMap<[u8; 32], Arc<Extension>>>,
}

impl Extensions {
    /// Prepares the recording torch beside a recorder.
    pub(crate) fn open(recorder: Recorder) -> Result<Self, BenchError> {
        let toolchain = HostToolchain::known(&recorder.cache)?;
        let torch = Runtime::prepare_torch(&toolchain, &recorder.cache)?;
        Ok(Self {
            recorder,
            torch,
            built: Mutex::default(),
        })
    }

    /// What records files without torch.
    pub(crate) fn recorder(&self) -> &Recorder {
        &self.recorder
    }

    /// Compiles, checks and links an extension, unless that was done before.
    pub(crate) fn build(
        &self,
        sources: &Sources,
        user: Option<u32>,
    ) -> Result<Result<Arc<Extension>, Verdict>, BenchError> {
        let mut hasher = blake3::Hasher::new();
        for text in [&sources.cuda.device, &sources.cuda.host, &main_of(sources)] {
            hasher.update(&(text.len() as u64).to_le_bytes());
            hasher.update(text.as_bytes());
        }
        let key = *hasher.finalize().as_bytes();
        let known = || self.built.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(extension) = known().get(&key) {
            return Ok(Ok(Arc::clone(extension)));
        }
        let extension = match self.build_anew(sources, user)? {
            Ok(extension) => Arc::new(extension),
            Err(verdict) => return Ok(Err(verdict)),
        };
        let mut built = known();
        if built.len() == KEPT {
            built.pop_first();
        }
        built.insert(key, Arc::clone(&extension));
        Ok(Ok(extension))
    }

    fn build_anew(
        &self,
        sources: &Sources,
        user: Option<u32>,
    ) -> Result<Result<Extension, Verdict>, BenchError> {
        let compiler = &self.recorder.compiler;
        let folder = compiler.scratch.folder(user)?;
        for (name, text) in [(CUDA[0], &sources.cuda.host), (MAIN[0], &main_of(sources))] {
            fs_err::write(folder.path().join(name), text).map_err(|error| no_space(&error))?;
        }
        if let Err(verdict) = compiler.run(Run {
            folder: &folder,
            arguments: &self.arguments(),
            user,
            extra: &self.torch.folder,
            file_bytes: OUTPUT_BYTES,
        })? {
            return Ok(Err(verdict));
        }
        let read = |name: &str| {
            fs_err::read(folder.path().join(name))
                .map_err(|error| BenchError::machine(error.to_string()))
        };
        let objects = [read(CUDA[1])?, read(MAIN[1])?];
        let program = read(PROGRAM)?;
        // What one of the two objects defines, the other one may use.
        let own: BTreeSet<String> = objects.iter().flat_map(|object| globals(object)).collect();
        let linked = defined(&program);
        for object in &objects {
            let of_library = |name: &str| linked.contains(name) && !own.contains(name);
            if let Some(why) = checked::refusal(object, of_library) {
                return Ok(Err(Verdict::Refused { why }));
            }
        }
        if let Some(why) = checked::refusal_of_program(&program) {
            return Ok(Err(Verdict::Refused { why }));
        }
        let Some(symbols) = Symbols::read(&program) else {
            let why = "the linked host code cannot be read".to_owned();
            return Ok(Err(Verdict::Refused { why }));
        };
        Ok(Ok(Extension {
            halves: sources.cuda.clone(),
            folder,
            symbols,
        }))
    }

    /// What one call does on the GPU, and how it ended.
    pub(crate) fn call(
        &self,
        extension: &Extension,
        call: &Call,
        user: Option<u32>,
    ) -> Result<Result<(Plan, Said), Verdict>, BenchError> {
        let recorder = &self.recorder;
        let program = extension.folder.path().join(PROGRAM);
        let ended = recorder
            .jail
            .record(&program, &recorder.traits, call, user)?;
        let events = match ended {
            Recorded::Events(events) => events,
            Recorded::Verdict(verdict) => return Ok(Err(verdict)),
        };
        let assembler = Assembler {
            halves: &extension.halves,
            symbols: &extension.symbols,
            traits: &recorder.traits,
        };
        Ok(match assembler.assemble_call(call, &events) {
            (Assembled::Plan(plan), said) => Ok((plan, said)),
            (Assembled::Refused(why), _) => Err(Verdict::Refused { why }),
            (Assembled::Unfinished, _) => Err(Verdict::Crashed {
                how: "host code ended the program inside a function of the extension".to_owned(),
            }),
        })
    }

    /// Two commands: one compiles both sources, the other links.
    fn arguments(&self) -> Vec<String> {
        let text = |path: PathBuf| path.display().to_string();
        let mut arguments: Vec<String> = FLAGS.map(String::from).to_vec();
        arguments.extend(["-I".to_owned(), text(self.torch.headers())]);
        arguments.extend(["-include".to_owned(), text(self.torch.first_header())]);
        arguments.extend(["-pipe", "-x", "c++", "-c", CUDA[0], MAIN[0]].map(String::from));
        arguments.push(crate::confine::THEN.to_owned());
        let objects = [
            CUDA[1].to_owned(),
            MAIN[1].to_owned(),
            text(self.torch.program()),
            text(self.recorder.runtime.program()),
        ];
        let libraries = self.torch.libraries();
        let linking = &self.recorder.linking;
        arguments.extend(linking.command(&objects, &libraries, PROGRAM));
        arguments
    }
}

/// The text of the first source: the functions that `load_inline` names are exported as torch does
/// it.
fn main_of(sources: &Sources) -> String {
    let mut text = sources.cpp.host.clone();
    if let Some(functions) = &sources.functions {
        text.push_str("\nextern \"C\" void hotloop_bind(::pybind11::module_ &hotloop_module) {\n");
        for name in functions {
            for part in ["    hotloop_module.def(\"", name, "\", &", name, ");\n"] {
                text.push_str(part);
            }
        }
        text.push_str("}\n");
    }
    text
}

/// The names that an object defines for others.
fn globals(object: &[u8]) -> BTreeSet<String> {
    let Ok(file) = ElfFile64::<Endianness>::parse(object) else {
        return BTreeSet::new();
    };
    let symbols = file
        .symbols()
        .filter(|symbol| symbol.is_global() && !symbol.is_undefined());
    symbols
        .filter_map(|symbol| symbol.name().ok().map(str::to_owned))
        .collect()
}
