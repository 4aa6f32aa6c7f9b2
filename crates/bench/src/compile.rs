//! From source to a shared object: confined, limited, and only once per content.

use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use flow::bench::OptLevel;
use flow::verdict::Phase;
use flow::{BenchError, Verdict};

use crate::cache::Cache;
use crate::confine::{Confinement, NOT_STARTED};
use crate::sandbox::limits::Limits;
use crate::scratch::{Folder, Scratch, no_space};
use crate::symbols::{self, Finding};
use crate::toolchain::Toolchain;
use crate::{role, sys};

/// Changes whenever what is compiled, or how, changes meaning.
const VERSION: &str = "2";
/// Seconds that compiling may take by the clock, and on a processor.
const WALL_S: f64 = 10.0;
const PROCESSOR_S: u64 = 6;
/// Characters of diagnostics that a verdict keeps.
const DIAGNOSTICS: usize = 2000;

/// The headers that every candidate starts with, so that a forgotten include is no failure.
/// The same with and without a precompiled form: speed must not change what compiles.
const PRELUDE: &str = "\
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <math.h>
#include <stdint.h>
#include <stddef.h>
#include <stdbool.h>
#include <omp.h>
#if defined(__x86_64__)
#include <immintrin.h>
#endif
";

/// Compiles candidates and trusted code for one level.
pub(crate) struct Builder {
    pub(crate) toolchain: Toolchain,
    level: OptLevel,
    cache: Cache,
    reuse: bool,
    scratch: Arc<Scratch>,
    roles: PathBuf,
    landlock: bool,
    prelude: Prelude,
}

/// The prelude's header, and its precompiled form beside it.
struct Prelude {
    folder: PathBuf,
    /// For clang, which wants the precompiled file itself.
    precompiled: Option<PathBuf>,
}

/// What became of a source.
pub(crate) enum Built {
    /// A shared object; the folder, if any, keeps it alive.
    Object(PathBuf, Option<Folder>),
    /// The candidate's fault.
    Rejected(Verdict),
}

/// How a confined command ended.
enum Ended {
    Fine,
    Failed(String),
    TimedOut,
}

impl Builder {
    /// A builder; makes the precompiled prelude if this machine has none yet.
    pub(crate) fn new(
        toolchain: Toolchain,
        level: OptLevel,
        reuse: bool,
        scratch: Arc<Scratch>,
        roles: PathBuf,
        landlock: bool,
    ) -> Result<Self, BenchError> {
        let cache = Cache::open()?;
        let prelude = Prelude::prepare(&toolchain, level, &cache)?;
        let builder = Self { toolchain, level, cache, reuse, scratch, roles, landlock, prelude };
        builder.prove()?;
        Ok(builder)
    }

    /// Compiles a candidate that is right. If that fails, the sandbox or the compiler is at fault,
    /// and every verdict on a real candidate would be a lie.
    fn prove(&self) -> Result<(), BenchError> {
        let shim = self.shim("void proof(void); void hotloop_call(void *const *a) { (void)a; proof(); }\n")?;
        let source = "#include <math.h>\n#include <omp.h>\nstatic double x;\nvoid proof(void) {\n#pragma omp parallel\n    { x = sin(x); }\n}\n";
        let user = sys::is_root().then(|| crate::sandbox::unprivileged_user(0));
        match self.compile(source, &shim, user)? {
            Built::Object(..) => Ok(()),
            Built::Rejected(verdict) => Err(BenchError::new(format!(
                "the confined compiler fails on a program that is right: {}",
                verdict.detail()
            ))
            .hint("see whether `hotloop judge --without landlock` works; if so, the compiler's files lie in an unexpected place")),
        }
    }

    fn key(&self, parts: &[&str]) -> String {
        let mut hasher = blake3::Hasher::new();
        let flags = self.toolchain.flags().join(" ");
        for part in [VERSION, PRELUDE, &self.toolchain.identity, self.level.flag(), &flags].iter().chain(parts) {
            hasher.update(&(part.len() as u64).to_le_bytes());
            hasher.update(part.as_bytes());
        }
        hasher.finalize().to_hex()[..32].to_owned()
    }

    /// Compiles a candidate with its shim, as `user` when hotloop is root; once per content.
    pub(crate) fn candidate(&self, source: &str, shim: &Path, user: Option<u32>) -> Result<Built, BenchError> {
        if !self.reuse {
            return self.compile(source, shim, user);
        }
        let key = self.key(&["candidate", source, &shim.display().to_string()]);
        let (object_name, rejection_name) = (format!("{key}.so"), format!("{key}.json"));
        if let Some(object) = self.cache.get(&object_name) {
            return Ok(Built::Object(object, None));
        }
        let rejection = self.cache.get(&rejection_name).and_then(|path| std::fs::read(path).ok());
        if let Some(verdict) = rejection.and_then(|text| serde_json::from_slice(&text).ok()) {
            return Ok(Built::Rejected(verdict));
        }
        match self.compile(source, shim, user)? {
            Built::Object(object, _folder) => Ok(Built::Object(self.cache.put(&object_name, &object)?, None)),
            // Not kept: a busy machine may be to blame.
            Built::Rejected(verdict @ Verdict::TimedOut { .. }) => Ok(Built::Rejected(verdict)),
            Built::Rejected(verdict) => {
                let folder = self.scratch.folder(None)?;
                let file = folder.path().join("verdict.json");
                let text = serde_json::to_vec(&verdict).map_err(|error| BenchError::new(error.to_string()))?;
                fs_err::write(&file, text).map_err(|error| no_space(&error))?;
                self.cache.put(&rejection_name, &file)?;
                Ok(Built::Rejected(verdict))
            }
        }
    }

    fn compile(&self, source: &str, shim: &Path, user: Option<u32>) -> Result<Built, BenchError> {
        let folder = self.scratch.folder(user)?;
        fs_err::write(folder.path().join("candidate.c"), source).map_err(|error| no_space(&error))?;
        let mut arguments = self.compiler_arguments();
        arguments
            .extend(["-pipe", "-shared", "-nostartfiles", "-Wl,-Bsymbolic,-z,now", "candidate.c"].map(String::from));
        arguments.push(shim.display().to_string());
        arguments.extend(["-lm", "-o", "candidate.so"].map(String::from));
        match self.confined(&folder, &arguments, user, shim)? {
            Ended::Fine => {}
            Ended::TimedOut => {
                return Ok(Built::Rejected(Verdict::TimedOut { limit_s: WALL_S, during: Phase::Compile }));
            }
            Ended::Failed(diagnostics) => return Ok(Built::Rejected(Verdict::NotCompiled { diagnostics })),
        }
        let object = folder.path().join("candidate.so");
        let bytes = fs_err::read(&object).map_err(|error| BenchError::new(error.to_string()))?;
        Ok(match symbols::inspect(&bytes) {
            Finding::Refused(why) => Built::Rejected(Verdict::Refused { why }),
            Finding::Undefined(diagnostics) => Built::Rejected(Verdict::NotCompiled { diagnostics }),
            Finding::Clean => Built::Object(object, Some(folder)),
        })
    }

    /// What the preprocessor makes of a candidate, or its complaint.
    pub(crate) fn preprocess(&self, source: &str, user: Option<u32>) -> Result<Result<String, Verdict>, BenchError> {
        let folder = self.scratch.folder(user)?;
        fs_err::write(folder.path().join("candidate.c"), source).map_err(|error| no_space(&error))?;
        let mut arguments = vec![self.level.flag().to_owned()];
        arguments.extend(self.toolchain.flags().iter().map(|flag| (*flag).to_owned()));
        let prelude = self.prelude.folder.join("prelude.h").display().to_string();
        arguments.extend(["-include".to_owned(), prelude]);
        arguments.extend(["-E", "candidate.c", "-o", "candidate.i"].map(String::from));
        match self.confined(&folder, &arguments, user, Path::new("/dev/null"))? {
            Ended::Fine => {
                let bytes =
                    fs_err::read(folder.path().join("candidate.i")).map_err(|e| BenchError::new(e.to_string()))?;
                Ok(Ok(String::from_utf8_lossy(&bytes).into_owned()))
            }
            Ended::TimedOut => Ok(Err(Verdict::TimedOut { limit_s: WALL_S, during: Phase::Compile })),
            Ended::Failed(diagnostics) => Ok(Err(Verdict::NotCompiled { diagnostics })),
        }
    }

    fn compiler_arguments(&self) -> Vec<String> {
        let mut arguments = vec![self.level.flag().to_owned()];
        arguments.extend(self.toolchain.flags().iter().map(|flag| (*flag).to_owned()));
        match &self.prelude.precompiled {
            Some(file) => arguments.extend(["-include-pch".to_owned(), file.display().to_string()]),
            None => {
                arguments.extend(["-include".to_owned(), self.prelude.folder.join("prelude.h").display().to_string()]);
            }
        }
        arguments
    }

    /// Runs the compiler in `folder` with nothing else to write and little to read.
    fn confined(
        &self,
        folder: &Folder,
        arguments: &[String],
        user: Option<u32>,
        extra: &Path,
    ) -> Result<Ended, BenchError> {
        let mut files = self.toolchain.files.clone();
        files.write.push(folder.path().to_owned());
        files.read.extend([self.prelude.folder.clone(), extra.to_owned()]);
        let confinement = Confinement { user, limits: compiler_limits(user), files: self.landlock.then_some(files) };
        let text = serde_json::to_string(&confinement).map_err(|error| BenchError::new(error.to_string()))?;
        let diagnostics = folder.path().join("diagnostics");
        let stderr = std::fs::File::create(&diagnostics).map_err(|error| no_space(&error))?;
        let mut child = Command::new(&self.roles)
            .arg(role::CONFINE)
            .arg(text)
            .arg(&self.toolchain.path)
            .args(arguments)
            .current_dir(folder.path())
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("TMPDIR", folder.path())
            .env("LC_ALL", "C")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(stderr)
            .process_group(0)
            .spawn()
            .map_err(|error| BenchError::new(format!("the compiler could not be started: {error}")))?;
        let pid = child.id() as sys::Pid;
        let ended = sys::wait_end(pid, Duration::from_secs_f64(WALL_S)).unwrap_or(false);
        // The whole group, whatever the driver left; not reaped yet, so the group is still its own.
        drop(sys::signal(-pid, libc::SIGKILL));
        let status = child.wait().map_err(|error| BenchError::new(format!("the compiler was lost: {error}")))?;
        let said = read_start(&diagnostics);
        if !ended || said.contains("CPU time limit exceeded") || status.signal() == Some(libc::SIGXCPU) {
            return Ok(Ended::TimedOut);
        }
        if status.success() {
            return Ok(Ended::Fine);
        }
        if status.code() == Some(NOT_STARTED) {
            return Err(BenchError::new(format!("the compiler could not be confined: {}", said.trim())));
        }
        if said.contains("No space left on device") {
            return Err(no_space(&std::io::Error::from_raw_os_error(libc::ENOSPC)));
        }
        if said.contains("Killed signal terminated program") || status.signal() == Some(libc::SIGKILL) {
            return Err(BenchError::new("the compiler was killed from outside")
                .hint("the machine may be out of memory; judge fewer candidates at once with --jobs"));
        }
        Ok(Ended::Failed(shorten(&said)))
    }

    /// Compiles trusted sources into one shared object, kept by content.
    pub(crate) fn trusted(&self, what: &str, sources: &[&str]) -> Result<PathBuf, BenchError> {
        self.build_trusted(what, sources, true)
    }

    /// Compiles a shim into an object file for the linker, kept by content.
    pub(crate) fn shim(&self, source: &str) -> Result<PathBuf, BenchError> {
        self.build_trusted("the generated shim", &[source], false)
    }

    fn build_trusted(&self, what: &str, sources: &[&str], linked: bool) -> Result<PathBuf, BenchError> {
        let mut parts = vec![if linked { "linked" } else { "object" }];
        parts.extend(sources);
        let name = format!("{}.{}", self.key(&parts), if linked { "so" } else { "o" });
        if let Some(object) = self.cache.get(&name) {
            return Ok(object);
        }
        let folder = self.scratch.folder(None)?;
        let mut command = Command::new(&self.toolchain.path);
        command.args(["-O2", "-march=native", "-fopenmp", "-fPIC", "-std=gnu17", "-D_GNU_SOURCE"]);
        command.arg(if linked { "-shared" } else { "-c" });
        for (index, source) in sources.iter().enumerate() {
            let file = folder.path().join(format!("source{index}.c"));
            fs_err::write(&file, source).map_err(|error| no_space(&error))?;
            command.arg(file);
        }
        let object = folder.path().join("trusted");
        command.args(["-lm", "-o"]).arg(&object).env("LC_ALL", "C").stdin(Stdio::null());
        let output = command.output().map_err(|error| {
            BenchError::new(format!("{} could not be started: {error}", self.toolchain.path.display()))
        })?;
        if !output.status.success() {
            let said = String::from_utf8_lossy(&output.stderr);
            return Err(BenchError::new(format!("{what} does not compile:\n{}", shorten(&said))));
        }
        self.cache.put(&name, &object)
    }
}

fn compiler_limits(user: Option<u32>) -> Limits {
    let counted_already = if user.is_some() { 0 } else { crate::sandbox::limits::threads_of_user() };
    Limits {
        address_space: 4 << 30,
        file_bytes: 64 << 20,
        open_files: 128,
        threads: 64 + counted_already,
        cpu_s: PROCESSOR_S,
    }
}

fn read_start(path: &Path) -> String {
    use std::io::Read;
    let mut bytes = Vec::new();
    if let Ok(file) = std::fs::File::open(path) {
        // Enough for any message; the rest of a flood is dropped.
        drop(file.take(64 << 10).read_to_end(&mut bytes));
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// The lines that matter, up to a limit: errors before notes, no paths of this machine.
fn shorten(text: &str) -> String {
    let telling_words = ["error", "undefined", "multiple definition", "limit", "cannot"];
    let is_telling = |line: &&str| telling_words.iter().any(|word| line.contains(word));
    let telling: Vec<&str> = text.lines().filter(is_telling).collect();
    let mut short = if telling.is_empty() { text.trim().to_owned() } else { telling.join("\n") };
    if short.len() > DIAGNOSTICS {
        let cut = (0..=DIAGNOSTICS).rev().find(|at| short.is_char_boundary(*at)).unwrap_or(0);
        short.truncate(cut);
        short.push('…');
    }
    short
}

impl Prelude {
    fn prepare(toolchain: &Toolchain, level: OptLevel, cache: &Cache) -> Result<Self, BenchError> {
        let mut flags = vec![level.flag()];
        flags.extend(toolchain.flags());
        let mut hasher = blake3::Hasher::new();
        for part in [VERSION, PRELUDE, &toolchain.identity, &flags.join(" ")] {
            hasher.update(part.as_bytes());
        }
        let key = &hasher.finalize().to_hex()[..16];
        let folder = cache.path(&format!("prelude-{key}"));
        let is_clang = toolchain.compiler == flow::bench::Compiler::Clang;
        let output = folder.join(if is_clang { "prelude.pch" } else { "prelude.h.gch" });
        if !output.exists() {
            build_prelude(toolchain, &flags, &folder, &output)?;
        }
        Ok(Self { folder, precompiled: is_clang.then_some(output) })
    }
}

/// Written beside its final place and moved there, so that two benches can do it at once.
fn build_prelude(toolchain: &Toolchain, flags: &[&str], folder: &Path, output: &Path) -> Result<(), BenchError> {
    let failed =
        |error: std::io::Error| BenchError::new(format!("the precompiled prelude: {error}")).hint("free some space");
    fs_err::create_dir_all(folder).map_err(failed)?;
    let header = folder.join("prelude.h");
    if !header.exists() {
        let partial = folder.join(format!(".prelude.{}", std::process::id()));
        fs_err::write(&partial, PRELUDE).map_err(failed)?;
        fs_err::rename(&partial, &header).map_err(failed)?;
    }
    let partial = folder.join(format!(".precompiled.{}", std::process::id()));
    let made = Command::new(&toolchain.path)
        .args(flags)
        .args(["-x", "c-header"])
        .arg(&header)
        .arg("-o")
        .arg(&partial)
        .env("LC_ALL", "C")
        .stdin(Stdio::null())
        .output()
        .map_err(failed)?;
    if !made.status.success() {
        drop(std::fs::remove_file(&partial));
        let said = String::from_utf8_lossy(&made.stderr).into_owned();
        return Err(BenchError::new(format!("the prelude does not compile:\n{}", shorten(&said)))
            .hint("install the C library's headers (apt-get install -y libc6-dev)"));
    }
    fs_err::rename(&partial, output).map_err(failed)
}
