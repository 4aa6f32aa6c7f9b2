//! From source to a shared object: confined, limited, and only once per content.

mod assembly;
mod headers;
mod prelude;
mod preprocess;
mod trusted;
mod unchanged;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use hotloop_flow::how::OptLevel;
use hotloop_flow::{BenchError, Remedy, Verdict};

use crate::cache::{CANDIDATE, Cache};
use crate::compiling::confined::{Allowance, ConfinedCompiler, OUTPUT_BYTES, Run};
use crate::compiling::diagnostics::NO_PROCESS;
use crate::confine::THEN;
use crate::cpu::object_file::{self, Finding};
use crate::cpu::toolchain::{LINKING, Toolchain};
use crate::kept::{self, Learned};
use crate::sandbox::user::unprivileged_user;
use crate::scratch::{Folder, Scratch, no_space};
use crate::settings::Settings;
use crate::sys;
use headers::KnownHeaders;
use prelude::{PRELUDE, Prelude, VERSION};
use unchanged::Macros;

/// The file with what is compiled; its name says that it is preprocessed.
const PREPROCESSED: &str = "candidate.i";
/// What the compiler makes of it, before it is linked with anything.
const UNLINKED: &str = "candidate.o";
/// Bytes of the largest object that is kept.
const KEPT_BYTES: u64 = 1 << 20;

/// Compiles candidates and trusted code for one level.
pub(crate) struct Builder {
    toolchain: Toolchain,
    compiler: ConfinedCompiler,
    level: OptLevel,
    cache: Cache,
    reuse: bool,
    prelude: Prelude,
    macros: Option<Macros>,
    headers: KnownHeaders,
}

/// A candidate that compiled; the folder, if any, keeps its shared object alive.
pub(crate) struct Built {
    pub(crate) object: PathBuf,
    pub(crate) folder: Option<Folder>,
}

impl Builder {
    /// A builder; makes the precompiled prelude if this machine has none yet.
    pub(crate) fn new(
        toolchain: Toolchain,
        settings: &Settings,
        cache: Cache,
        scratch: Arc<Scratch>,
        landlock: bool,
    ) -> Result<Self, BenchError> {
        let level = settings.how.opt;
        let prelude = Prelude::prepare(&toolchain, level, &cache)?;
        let mut files = toolchain.files.clone();
        files.read.push(prelude.folder.clone());
        let compiler = ConfinedCompiler {
            program: toolchain.path.clone(),
            files,
            scratch,
            roles: settings.roles.clone(),
            landlock,
            allowance: Allowance::HOST,
        };
        let builder = Self {
            toolchain,
            compiler,
            level,
            cache,
            reuse: settings.reuse,
            macros: Macros::read(&prelude.macros()),
            prelude,
            headers: KnownHeaders::default(),
        };
        if builder.reuse {
            builder.proved()?;
        } else {
            builder.prove()?;
        }
        Ok(builder)
    }

    pub(crate) fn toolchain(&self) -> &Toolchain {
        &self.toolchain
    }

    /// Whether [`Builder::prove`] succeeded before, with this program, compiler and kernel.
    fn proved(&self) -> Result<(), BenchError> {
        let kernel = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
        let confined = format!("{kernel} {} {}", self.compiler.landlock, sys::is_root());
        let name = format!("proof-{}", self.key(&[&confined]));
        kept::fact(&self.cache, &name, || {
            self.prove()?;
            let from = [&self.compiler.roles, &self.toolchain.path];
            Ok(Learned {
                fact: (),
                from: from.map(PathBuf::clone).to_vec(),
            })
        })
    }

    /// Compiles a candidate that is right. If that fails, the sandbox or the compiler is at fault,
    /// and every verdict on a real candidate would be a lie.
    fn prove(&self) -> Result<(), BenchError> {
        let shim = self
            .shim("void proof(void); void hotloop_call(void *const *a) { (void)a; proof(); }\n")?;
        let source = "#include <math.h>\n#include <omp.h>\n#define STEP 1\nstatic double x;\nvoid proof(void) {\n#pragma omp parallel\n    { x = sin(x + STEP); }\n}\n";
        let user = sys::is_root().then(|| unprivileged_user(0));
        let made = match self.preprocess(source, user)? {
            Ok(preprocessed) => self.compile(&preprocessed.text, &shim, user)?,
            Err(verdict) => Err(verdict),
        };
        match made {
            Ok(_) => Ok(()),
            Err(verdict) => Err(BenchError::machine(format!(
                "the confined compiler fails on a program that is right: {}",
                verdict.detail()
            ))
            .hint("see whether judging without Landlock works; if so, the compiler's files lie in an unexpected place")
            .remedies(&[Remedy::Landlock])),
        }
    }

    fn key(&self, parts: &[&str]) -> String {
        let mut hasher = blake3::Hasher::new();
        let flags = self.toolchain.flags().join(" ");
        for part in [
            VERSION,
            PRELUDE,
            &self.toolchain.identity,
            self.level.flag(),
            &flags,
        ]
        .iter()
        .chain(parts)
        {
            hasher.update(&(part.len() as u64).to_le_bytes());
            hasher.update(part.as_bytes());
        }
        hasher.finalize().to_hex()[..32].to_owned()
    }

    /// Preprocesses a candidate, has `screen` read what is its own of the result, and compiles that
    /// same text with its shim; as `user` when hotloop is root. Each but the screen once per
    /// content.
    pub(crate) fn candidate<S>(
        &self,
        source: &str,
        shim: &Path,
        user: Option<u32>,
        screen: impl Fn(&str) -> Result<S, String>,
    ) -> Result<Result<(S, Built), Verdict>, BenchError> {
        let own_name = format!("{CANDIDATE}{}.i", self.key(&["own", source]));
        let key = self.key(&["candidate", source, &shim.display().to_string()]);
        let object_name = format!("{CANDIDATE}{key}.so");
        let rejection_name = format!("{CANDIDATE}{key}.json");
        let kept = |name: &str| self.reuse.then(|| self.cache.get(name)).flatten();
        let read = |name: &str| kept(name).and_then(|path| std::fs::read(path).ok());
        // What is kept as the candidate's own was made together with its object.
        if let Some(own) = read(&own_name).and_then(|own| String::from_utf8(own).ok()) {
            let screened = match screen(&own) {
                Ok(screened) => screened,
                Err(why) => return Ok(Err(Verdict::Refused { why })),
            };
            if let Some(object) = kept(&object_name) {
                let folder = None;
                return Ok(Ok((screened, Built { object, folder })));
            }
        }
        if let Some(rejection) = read(&rejection_name)
            && let Ok(verdict) = serde_json::from_slice(&rejection)
        {
            return Ok(Err(verdict));
        }
        let rejected = |verdict| self.keep_rejection(&rejection_name, verdict).map(Err);
        let preprocessed = match self.preprocess(source, user)? {
            Ok(preprocessed) => preprocessed,
            Err(verdict) => return rejected(verdict),
        };
        self.keep(&own_name, preprocessed.own.as_bytes())?;
        let screened = match screen(&preprocessed.own) {
            Ok(screened) => screened,
            Err(why) => return Ok(Err(Verdict::Refused { why })),
        };
        match self.compile(&preprocessed.text, shim, user)? {
            Ok(built) => Ok(Ok((screened, self.keep_object(&object_name, built)?))),
            Err(verdict) => rejected(verdict),
        }
    }

    /// Keeps a file in the cache, where candidates are kept at all.
    fn keep(&self, name: &str, content: &[u8]) -> Result<(), BenchError> {
        if !self.reuse {
            return Ok(());
        }
        let folder = self.compiler.scratch.folder(None)?;
        let file = folder.path().join("kept");
        fs_err::write(&file, content).map_err(|error| no_space(&error))?;
        self.cache.put(name, &file).map(drop)
    }

    /// A table of many megabytes is compiled again rather than kept.
    fn keep_object(&self, name: &str, built: Built) -> Result<Built, BenchError> {
        let is_large = |data: std::fs::Metadata| data.len() > KEPT_BYTES;
        if !self.reuse || built.object.metadata().is_ok_and(is_large) {
            return Ok(built);
        }
        let object = self.cache.put(name, &built.object)?;
        let folder = None;
        Ok(Built { object, folder })
    }

    fn keep_rejection(&self, name: &str, verdict: Verdict) -> Result<Verdict, BenchError> {
        // A busy machine may be to blame.
        let is_doubtful = match &verdict {
            Verdict::TimedOut { .. } => true,
            Verdict::NotCompiled { diagnostics } => diagnostics.contains(NO_PROCESS),
            _ => false,
        };
        if !is_doubtful {
            let text = serde_json::to_vec(&verdict)
                .map_err(|error| BenchError::machine(error.to_string()))?;
            self.keep(name, &text)?;
        }
        Ok(verdict)
    }

    /// Compiles a preprocessed text, in which nothing is expanded again.
    fn compile(
        &self,
        text: &str,
        shim: &Path,
        user: Option<u32>,
    ) -> Result<Result<Built, Verdict>, BenchError> {
        let folder = self.compiler.scratch.folder(user)?;
        fs_err::write(folder.path().join(PREPROCESSED), text).map_err(|error| no_space(&error))?;
        let arguments = self.building_arguments(shim);
        let run = Run {
            folder: &folder,
            arguments: &arguments,
            user,
            extra: shim,
            file_bytes: OUTPUT_BYTES,
        };
        if let Err(verdict) = self.compiler.run(run)? {
            return Ok(Err(verdict));
        }
        let object = folder.path().join("candidate.so");
        let bytes =
            fs_err::read(&object).map_err(|error| BenchError::machine(error.to_string()))?;
        // Where the driver links, nothing of what it linked is left.
        let unlinked = std::fs::read(folder.path().join(UNLINKED)).ok();
        Ok(match object_file::inspect(&bytes, unlinked.as_deref()) {
            Finding::Refused(why) => Err(Verdict::Refused { why }),
            Finding::Undefined(diagnostics) => Err(Verdict::NotCompiled { diagnostics }),
            Finding::Clean => Ok(Built {
                object,
                folder: Some(folder),
            }),
        })
    }

    /// The arguments that make a candidate's object. Where it is known how, a second command links
    /// it without the driver.
    fn building_arguments(&self, shim: &Path) -> Vec<String> {
        let mut arguments = self.flags();
        arguments.extend(self.prelude.compiling());
        let shim = shim.display().to_string();
        if let Some(linker) = &self.toolchain.linker {
            let object = UNLINKED;
            arguments.extend(["-pipe", "-c", PREPROCESSED, "-o", object, THEN].map(String::from));
            arguments.push(linker.path.display().to_string());
            arguments.extend(linker.before.iter().cloned());
            arguments.extend(["-o", "candidate.so", object, &shim].map(String::from));
            arguments.extend(linker.behind.iter().cloned());
        } else {
            arguments.extend(["-pipe", "-shared", "-nostartfiles", LINKING].map(String::from));
            arguments.extend([PREPROCESSED, &shim, "-lm", "-o", "candidate.so"].map(String::from));
        }
        arguments
    }

    fn flags(&self) -> Vec<String> {
        let flags = self.toolchain.flags();
        std::iter::once(self.level.flag())
            .chain(flags.iter().copied())
            .map(str::to_owned)
            .collect()
    }
}
