//! From source to a shared object: confined, limited, and only once per content.

mod confined;
mod diagnostics;
mod headers;
mod patience;
mod prelude;
mod preprocess;
mod trusted;

use std::hash::{BuildHasher, Hasher, RandomState};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use hotloop_flow::how::OptLevel;
use hotloop_flow::verdict::Phase;
use hotloop_flow::{BenchError, Remedy, Verdict};

use crate::cache::{CANDIDATE, Cache};
use crate::confine::THEN;
use crate::cpu::symbols::{self, Finding};
use crate::cpu::toolchain::{LINKING, Toolchain};
use crate::kept::{self, Learned};
use crate::sandbox::user::unprivileged_user;
use crate::scratch::{Folder, Scratch, no_space};
use crate::settings::Settings;
use crate::sys;
use confined::{ConfinedCompiler, Ended, OUTPUT_BYTES, Run, WALL_S};
use diagnostics::NO_PROCESS;
use headers::KnownHeaders;
use prelude::{PRELUDE, Prelude, VERSION};

/// Bytes of the largest object that is kept.
const KEPT_BYTES: u64 = 1 << 20;

/// Compiles candidates and trusted code for one level.
pub(crate) struct Builder {
    compiler: ConfinedCompiler,
    level: OptLevel,
    cache: Cache,
    reuse: bool,
    prelude: Prelude,
    headers: KnownHeaders,
}

/// What became of a source.
pub(crate) enum Built {
    /// A shared object; the folder, if any, keeps it alive.
    Object(PathBuf, Option<Folder>),
    /// The candidate's fault.
    Rejected(Verdict),
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
        let compiler = ConfinedCompiler {
            toolchain,
            scratch,
            roles: settings.roles.clone(),
            landlock,
            headers: prelude.folder.clone(),
        };
        let builder = Self {
            compiler,
            level,
            cache,
            reuse: settings.reuse,
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
        &self.compiler.toolchain
    }

    /// Whether [`Builder::prove`] succeeded before, with this program, compiler and kernel.
    fn proved(&self) -> Result<(), BenchError> {
        let kernel = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
        let confined = format!("{kernel} {} {}", self.compiler.landlock, sys::is_root());
        let name = format!("proof-{}", self.key(&[&confined]));
        kept::fact(&self.cache, &name, || {
            self.prove()?;
            let from = [&self.compiler.roles, &self.compiler.toolchain.path];
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
        let source = "#include <math.h>\n#include <omp.h>\nstatic double x;\nvoid proof(void) {\n#pragma omp parallel\n    { x = sin(x); }\n}\n";
        let user = sys::is_root().then(|| unprivileged_user(0));
        match self.compile(source, &shim, user)? {
            Built::Object(..) => Ok(()),
            Built::Rejected(verdict) => Err(BenchError::machine(format!(
                "the confined compiler fails on a program that is right: {}",
                verdict.detail()
            ))
            .hint("see whether judging without Landlock works; if so, the compiler's files lie in an unexpected place")
            .remedies(&[Remedy::Landlock])),
        }
    }

    fn key(&self, parts: &[&str]) -> String {
        let mut hasher = blake3::Hasher::new();
        let flags = self.compiler.toolchain.flags().join(" ");
        for part in [
            VERSION,
            PRELUDE,
            &self.compiler.toolchain.identity,
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

    /// Compiles a candidate with its shim, as `user` when hotloop is root; once per content.
    pub(crate) fn candidate(
        &self,
        source: &str,
        shim: &Path,
        user: Option<u32>,
    ) -> Result<Built, BenchError> {
        if !self.reuse {
            return self.compile(source, shim, user);
        }
        let key = self.key(&["candidate", source, &shim.display().to_string()]);
        let (object_name, rejection_name) = (
            format!("{CANDIDATE}{key}.so"),
            format!("{CANDIDATE}{key}.json"),
        );
        if let Some(object) = self.cache.get(&object_name) {
            return Ok(Built::Object(object, None));
        }
        let rejection = self
            .cache
            .get(&rejection_name)
            .and_then(|path| std::fs::read(path).ok());
        if let Some(verdict) = rejection.and_then(|text| serde_json::from_slice(&text).ok()) {
            return Ok(Built::Rejected(verdict));
        }
        match self.compile(source, shim, user)? {
            // A table of many megabytes is compiled again rather than kept.
            Built::Object(object, folder)
                if object.metadata().is_ok_and(|data| data.len() > KEPT_BYTES) =>
            {
                Ok(Built::Object(object, folder))
            }
            Built::Object(object, _folder) => {
                Ok(Built::Object(self.cache.put(&object_name, &object)?, None))
            }
            // Not kept: a busy machine may be to blame.
            Built::Rejected(verdict @ Verdict::TimedOut { .. }) => Ok(Built::Rejected(verdict)),
            Built::Rejected(Verdict::NotCompiled { diagnostics })
                if diagnostics.contains(NO_PROCESS) =>
            {
                Ok(Built::Rejected(Verdict::NotCompiled { diagnostics }))
            }
            Built::Rejected(verdict) => {
                let folder = self.compiler.scratch.folder(None)?;
                let file = folder.path().join("verdict.json");
                let text = serde_json::to_vec(&verdict)
                    .map_err(|error| BenchError::machine(error.to_string()))?;
                fs_err::write(&file, text).map_err(|error| no_space(&error))?;
                self.cache.put(&rejection_name, &file)?;
                Ok(Built::Rejected(verdict))
            }
        }
    }

    fn compile(&self, source: &str, shim: &Path, user: Option<u32>) -> Result<Built, BenchError> {
        let folder = self.compiler.scratch.folder(user)?;
        fs_err::write(folder.path().join("candidate.c"), source)
            .map_err(|error| no_space(&error))?;
        let arguments = self.building_arguments(shim);
        let run = Run {
            folder: &folder,
            arguments: &arguments,
            user,
            extra: shim,
            file_bytes: OUTPUT_BYTES,
        };
        match self.compiler.run(run)? {
            Ended::Fine(_) => {}
            Ended::TimedOut => {
                return Ok(Built::Rejected(Verdict::TimedOut {
                    limit_s: WALL_S,
                    during: Phase::Compile,
                }));
            }
            Ended::Failed(diagnostics) => {
                return Ok(Built::Rejected(match prelude::guarded(&diagnostics) {
                    Some(why) => Verdict::Refused { why },
                    None => Verdict::NotCompiled { diagnostics },
                }));
            }
        }
        let object = folder.path().join("candidate.so");
        let bytes =
            fs_err::read(&object).map_err(|error| BenchError::machine(error.to_string()))?;
        Ok(match symbols::inspect(&bytes) {
            Finding::Refused(why) => Built::Rejected(Verdict::Refused { why }),
            Finding::Undefined(diagnostics) => {
                Built::Rejected(Verdict::NotCompiled { diagnostics })
            }
            Finding::Clean => Built::Object(object, Some(folder)),
        })
    }

    /// The arguments that make a candidate's object. Where it is known how, a second command links
    /// it without the driver.
    fn building_arguments(&self, shim: &Path) -> Vec<String> {
        let mut arguments = self.compiler_arguments();
        let shim = shim.display().to_string();
        if let Some(linker) = &self.compiler.toolchain.linker {
            // The assembler makes its file while the compiler still reads: a source that knew the name could tell
            // compiling from preprocessing.
            let object = format!("{:016x}.o", RandomState::new().build_hasher().finish());
            arguments.extend(["-pipe", "-c", "candidate.c", "-o", &object, THEN].map(String::from));
            arguments.push(linker.path.display().to_string());
            arguments.extend(linker.before.iter().cloned());
            arguments.extend(["-o", "candidate.so", &object, &shim].map(String::from));
            arguments.extend(linker.behind.iter().cloned());
        } else {
            arguments.extend(["-pipe", "-shared", "-nostartfiles", LINKING].map(String::from));
            arguments.extend(["candidate.c", &shim, "-lm", "-o", "candidate.so"].map(String::from));
        }
        arguments
    }

    fn compiler_arguments(&self) -> Vec<String> {
        let mut arguments = self.flags();
        match &self.prelude.precompiled {
            Some(file) => arguments.extend(["-include-pch".to_owned(), file.display().to_string()]),
            None => {
                arguments.extend([
                    "-include".to_owned(),
                    self.prelude.folder.join("prelude.h").display().to_string(),
                ]);
            }
        }
        arguments
    }

    fn flags(&self) -> Vec<String> {
        let flags = self.compiler.toolchain.flags();
        std::iter::once(self.level.flag())
            .chain(flags.iter().copied())
            .map(str::to_owned)
            .collect()
    }
}
