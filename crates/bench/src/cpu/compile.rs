//! From source to a shared object: confined, limited, and only once per content.

mod patience;
mod prelude;

use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io::{Read, Seek};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};

use hotloop_flow::bench::OptLevel;
use hotloop_flow::technique;
use hotloop_flow::verdict::Phase;
use hotloop_flow::{BenchError, Verdict};

use crate::cache::{CANDIDATE, Cache};
use crate::confine::{Confinement, NO_LIMITS, NOT_STARTED, THEN};
use crate::cpu::symbols::{self, Finding};
use crate::cpu::toolchain::{LINKING, Toolchain};
use crate::role::names::CONFINE;
use crate::sandbox::limits::{self, Limits};
use crate::scratch::{Folder, Scratch, no_space};
use crate::sys;
use patience::{Patience, Waited};
use prelude::{PRELUDE, Prelude};

/// What a compiler's driver says of a program of its own that wrote a file beyond the limit. Only believed of trusted code.
const FILE_LIMIT: &str = "File size limit exceeded";
/// What mends limits that a confined process cannot set because its own are lower.
const RAISE_ALL: &str = "raise the hard limits that `ulimit -Ha` shows: that on the size of files (ulimit -f), or another";

/// Changes whenever what is compiled, or how, changes meaning.
const VERSION: &str = "7";
/// Seconds that compiling may take by the clock, and on a processor.
const WALL_S: f64 = 10.0;
const PROCESSOR_S: u64 = 6;
/// A compiler without most of its processor time has longer by the clock.
const PATIENCE: Patience = Patience {
    wall: WALL_S,
    processor: 0.9 * PROCESSOR_S as f64,
    put_off: 20.0,
};
/// Bytes of address space of each of its processes, and how many they may be.
const MEMORY_BYTES: u64 = 4 << 30;
const PROCESSES: u64 = 64;
/// How a compiler says that it could not start a process, whoever's limit that was.
const NO_PROCESS: &str = "Resource temporarily unavailable";
/// How everything says that a disk is full.
const NO_SPACE: &str = "No space left on device";
/// Bytes of the largest file that compiling may write, and of what preprocessing may give: it is
/// read into memory, and the prelude's headers take 1.7 million of them.
const OUTPUT_BYTES: u64 = 64 << 20;
const PREPROCESSED_BYTES: u64 = 6 << 20;
/// Bytes of the largest object that is kept.
const KEPT_BYTES: u64 = 1 << 20;
/// A file system with less room than this may be why a compiler ran out of it.
const ROOM: u64 = 256 << 20;
/// Sets of headers that are remembered.
const HEADER_SETS: usize = 64;
/// Characters of diagnostics that a verdict keeps.
const DIAGNOSTICS: usize = 2000;

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
    /// What headers say by themselves, by the source that includes only them: hashes of lines.
    headers: Mutex<HashMap<String, Arc<HashSet<u64>>>>,
    hasher: RandomState,
}

/// What became of a source.
pub(crate) enum Built {
    /// A shared object; the folder, if any, keeps it alive.
    Object(PathBuf, Option<Folder>),
    /// The candidate's fault.
    Rejected(Verdict),
}

/// How a confined command ended; what it printed, if all went well.
enum Ended {
    Fine(File),
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
        let (headers, hasher) = (Mutex::default(), RandomState::new());
        let builder = Self {
            toolchain,
            level,
            cache,
            reuse,
            scratch,
            roles,
            landlock,
            prelude,
            headers,
            hasher,
        };
        builder.prove()?;
        Ok(builder)
    }

    /// Compiles a candidate that is right. If that fails, the sandbox or the compiler is at fault,
    /// and every verdict on a real candidate would be a lie.
    fn prove(&self) -> Result<(), BenchError> {
        let shim = self
            .shim("void proof(void); void hotloop_call(void *const *a) { (void)a; proof(); }\n")?;
        let source = "#include <math.h>\n#include <omp.h>\nstatic double x;\nvoid proof(void) {\n#pragma omp parallel\n    { x = sin(x); }\n}\n";
        let user = sys::is_root().then(|| crate::sandbox::user::unprivileged_user(0));
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
                let folder = self.scratch.folder(None)?;
                let file = folder.path().join("verdict.json");
                let text = serde_json::to_vec(&verdict)
                    .map_err(|error| BenchError::new(error.to_string()))?;
                fs_err::write(&file, text).map_err(|error| no_space(&error))?;
                self.cache.put(&rejection_name, &file)?;
                Ok(Built::Rejected(verdict))
            }
        }
    }

    fn compile(&self, source: &str, shim: &Path, user: Option<u32>) -> Result<Built, BenchError> {
        let folder = self.scratch.folder(user)?;
        fs_err::write(folder.path().join("candidate.c"), source)
            .map_err(|error| no_space(&error))?;
        let arguments = self.building_arguments(shim);
        match self.confined(&folder, &arguments, user, shim, OUTPUT_BYTES)? {
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
        let bytes = fs_err::read(&object).map_err(|error| BenchError::new(error.to_string()))?;
        Ok(match symbols::inspect(&bytes) {
            Finding::Refused(why) => Built::Rejected(Verdict::Refused { why }),
            Finding::Undefined(diagnostics) => {
                Built::Rejected(Verdict::NotCompiled { diagnostics })
            }
            Finding::Clean => Built::Object(object, Some(folder)),
        })
    }

    /// What the preprocessor makes of a candidate and is the candidate's own, or its complaint. What its macros put
    /// into a header is its own too.
    pub(crate) fn preprocess(
        &self,
        source: &str,
        user: Option<u32>,
    ) -> Result<Result<String, Verdict>, BenchError> {
        let text = match self.preprocess_all(source, user)? {
            Ok(text) => text,
            Err(verdict) => return Ok(Err(verdict)),
        };
        let lexed = hotloop_flow::lex::lex(source);
        if !technique::may_change_headers(&lexed) {
            return Ok(Ok(technique::own_text(&text, "candidate.c", |_| true)));
        }
        Ok(self
            .header_lines(technique::headers_alone(&lexed), user)?
            .map(|known| {
                technique::own_text(&text, "candidate.c", |line| {
                    known.contains(&self.hasher.hash_one(line))
                })
            }))
    }

    /// The lines that the preprocessor makes of nothing but headers.
    fn header_lines(
        &self,
        source: String,
        user: Option<u32>,
    ) -> Result<Result<Arc<HashSet<u64>>, Verdict>, BenchError> {
        // A poisoned lock only means that another thread failed elsewhere; the map is sound.
        let headers = || self.headers.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = headers().get(&source) {
            return Ok(Ok(Arc::clone(known)));
        }
        Ok(self.preprocess_all(&source, user)?.map(|text| {
            let lines = Arc::new(
                text.split_inclusive('\n')
                    .map(|line| self.hasher.hash_one(line))
                    .collect(),
            );
            let mut headers = headers();
            if headers.len() >= HEADER_SETS {
                headers.clear();
            }
            headers.insert(source, Arc::clone(&lines));
            lines
        }))
    }

    fn preprocess_all(
        &self,
        source: &str,
        user: Option<u32>,
    ) -> Result<Result<String, Verdict>, BenchError> {
        let folder = self.scratch.folder(user)?;
        fs_err::write(folder.path().join("candidate.c"), source)
            .map_err(|error| no_space(&error))?;
        let mut arguments = vec![self.level.flag().to_owned()];
        arguments.extend(self.toolchain.flags().iter().map(|flag| (*flag).to_owned()));
        let headers = self
            .prelude
            .folder
            .join(prelude::SCREENED)
            .display()
            .to_string();
        arguments.extend(["-include".to_owned(), headers]);
        arguments.extend(["-E", "candidate.c"].map(String::from));
        match self.confined(
            &folder,
            &arguments,
            user,
            Path::new("/dev/null"),
            PREPROCESSED_BYTES,
        )? {
            Ended::Fine(printed) => Ok(Ok(read_start(printed, PREPROCESSED_BYTES))),
            Ended::TimedOut => Ok(Err(Verdict::TimedOut {
                limit_s: WALL_S,
                during: Phase::Compile,
            })),
            Ended::Failed(diagnostics) => Ok(Err(Verdict::NotCompiled { diagnostics })),
        }
    }

    /// The arguments that make a candidate's object. Where it is known how, a second command links
    /// it without the driver.
    fn building_arguments(&self, shim: &Path) -> Vec<String> {
        let mut arguments = self.compiler_arguments();
        let shim = shim.display().to_string();
        if let Some(linker) = &self.toolchain.linker {
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
        let mut arguments = vec![self.level.flag().to_owned()];
        arguments.extend(self.toolchain.flags().iter().map(|flag| (*flag).to_owned()));
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

    /// Runs the compiler in `folder`; once more, if it says that it could not start a process. That is believed of one that
    /// cannot compile nothing at all either.
    fn confined(
        &self,
        folder: &Folder,
        arguments: &[String],
        user: Option<u32>,
        extra: &Path,
        file_bytes: u64,
    ) -> Result<Ended, BenchError> {
        let ended = self.attempt(folder, arguments, user, extra, file_bytes)?;
        if !matches!(&ended, Ended::Failed(said) if said.contains(NO_PROCESS)) {
            return Ok(ended);
        }
        let empty = self.scratch.folder(user)?;
        fs_err::write(empty.path().join("empty.c"), "").map_err(|error| no_space(&error))?;
        let nothing = ["-pipe", "-c", "empty.c", "-o", "empty.o"].map(String::from);
        if let Ended::Failed(said) =
            self.attempt(&empty, &nothing, user, Path::new("/dev/null"), OUTPUT_BYTES)?
        {
            return Err(no_process(&said));
        }
        self.attempt(folder, arguments, user, extra, file_bytes)
    }

    /// Runs the compiler in `folder` with nothing else to write and little to read.
    ///
    /// What it prints goes to files without names: a source could ask whether they exist, and show
    /// the preprocessor other code than the compiler. And none of it is evidence of the machine's
    /// failure, for a source can have anything printed: `#error No space left on device`.
    fn attempt(
        &self,
        folder: &Folder,
        arguments: &[String],
        user: Option<u32>,
        extra: &Path,
        file_bytes: u64,
    ) -> Result<Ended, BenchError> {
        let mut files = self.toolchain.files.clone();
        files.write.push(folder.path().to_owned());
        files
            .read
            .extend([self.prelude.folder.clone(), extra.to_owned()]);
        let threads = limits::beside_others(PROCESSES, user);
        let limits = Limits {
            address_space: MEMORY_BYTES,
            file_bytes,
            open_files: 128,
            threads,
            cpu_s: PROCESSOR_S,
        };
        let confinement = Confinement {
            user,
            limits,
            files: self.landlock.then_some(files),
        };
        let text = serde_json::to_string(&confinement)
            .map_err(|error| BenchError::new(error.to_string()))?;
        let failed = |error: std::io::Error| {
            BenchError::new(format!("the compiler could not be started: {error}"))
        };
        let stdout = File::from(sys::memory_file("printed", 0).map_err(failed)?);
        let stderr = File::from(sys::memory_file("diagnostics", 0).map_err(failed)?);
        let killed_before = sys::killed_for_memory();
        let child = Command::new(&self.roles)
            .arg(CONFINE)
            .arg(text)
            .arg(&self.toolchain.path)
            .args(arguments)
            .current_dir(folder.path())
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("TMPDIR", folder.path())
            .env("LC_ALL", "C")
            .stdin(Stdio::null())
            .stdout(stdout.try_clone().map_err(failed)?)
            .stderr(stderr.try_clone().map_err(failed)?)
            .process_group(0)
            .spawn()
            .map_err(failed)?;
        let pid = child.id() as sys::Pid;
        let waited = PATIENCE.wait(pid);
        // The whole group, whatever the driver left; not reaped yet, so the group is still its own.
        drop(sys::signal(-pid, libc::SIGKILL));
        let (status, usage) = sys::reap_with_usage(pid)
            .map_err(|error| BenchError::new(format!("the compiler was lost: {error}")))?;
        let waited = waited.map_err(|error| {
            BenchError::new(format!("the compiler could not be watched: {error}"))
        })?;
        let ended = waited == Waited::Ended;
        if waited == Waited::Starved {
            return Err(BenchError::new("the compiler hardly had a processor")
                .hint("other work keeps the cores busy, or the host takes them away"));
        }
        if ended && status.success() {
            return Ok(Ended::Fine(stdout));
        }
        if !ended
            || usage.processor_s > PROCESSOR_S as f64 - 0.1
            || status.signal() == Some(libc::SIGXCPU)
        {
            return Ok(Ended::TimedOut);
        }
        let said = read_start(stderr, 64 << 10); // enough for any message; the rest of a flood is dropped
        if status.code() == Some(NOT_STARTED) && said.contains(NO_PROCESS) {
            return Err(no_process(&said));
        }
        if status.code() == Some(NOT_STARTED) {
            let error = BenchError::new(format!(
                "the compiler could not be confined: {}",
                said.trim()
            ));
            return Err(if said.contains(NO_LIMITS) {
                error.hint(RAISE_ALL)
            } else {
                error
            });
        }
        if said.contains(NO_SPACE) && sys::free_bytes(folder.path()) < ROOM {
            return Err(no_space(&std::io::Error::from_raw_os_error(libc::ENOSPC)));
        }
        if status.signal() == Some(libc::SIGKILL) || sys::killed_for_memory() != killed_before {
            return Err(
                BenchError::new("the compiler was killed from outside").hint(
                    "the machine may be out of memory; judge fewer candidates at once with --jobs",
                ),
            );
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

    fn build_trusted(
        &self,
        what: &str,
        sources: &[&str],
        linked: bool,
    ) -> Result<PathBuf, BenchError> {
        let mut parts = vec![if linked { "linked" } else { "object" }];
        parts.extend(sources);
        let name = format!("{}.{}", self.key(&parts), if linked { "so" } else { "o" });
        if let Some(object) = self.cache.get(&name) {
            return Ok(object);
        }
        let folder = self.scratch.folder(None)?;
        let mut command = Command::new(&self.toolchain.path);
        command.args([
            "-O2",
            "-march=native",
            "-fopenmp",
            "-fPIC",
            "-std=gnu17",
            "-D_GNU_SOURCE",
        ]);
        command.arg(if linked { "-shared" } else { "-c" });
        for (index, source) in sources.iter().enumerate() {
            let file = folder.path().join(format!("source{index}.c"));
            fs_err::write(&file, source).map_err(|error| no_space(&error))?;
            command.arg(file);
        }
        let object = folder.path().join("trusted");
        command
            .args(["-lm", "-o"])
            .arg(&object)
            .env("LC_ALL", "C")
            .stdin(Stdio::null());
        let output = command.output().map_err(|error| {
            BenchError::new(format!(
                "{} could not be started: {error}",
                self.toolchain.path.display()
            ))
        })?;
        if !output.status.success() {
            let said = String::from_utf8_lossy(&output.stderr);
            if said.contains(NO_SPACE) {
                return Err(no_space(&std::io::Error::from_raw_os_error(libc::ENOSPC)));
            }
            let error = BenchError::new(format!("{what} does not compile:\n{}", shorten(&said)));
            return Err(if said.contains(FILE_LIMIT) {
                error.hint(sys::RAISE)
            } else {
                error
            });
        }
        self.cache.put(&name, &object)
    }
}

/// A compiler that cannot start its processes, with the remedy.
fn no_process(said: &str) -> BenchError {
    BenchError::new(format!("the compiler cannot start its processes: {}", said.trim()))
        .hint("raise the limit on processes (ulimit -u, or the container's), or judge fewer at once with --jobs")
}

/// What a command printed into a file, up to `most` bytes.
fn read_start(mut file: File, most: u64) -> String {
    let mut bytes = Vec::new();
    // A memory file can always be read; if not, nothing was said.
    drop(
        file.rewind()
            .and_then(|()| file.take(most).read_to_end(&mut bytes)),
    );
    String::from_utf8_lossy(&bytes).into_owned()
}

/// The lines that matter, up to a limit: errors before notes, no paths of this machine.
fn shorten(text: &str) -> String {
    let telling_words = [
        "error",
        "undefined",
        "multiple definition",
        "limit",
        "cannot",
    ];
    let is_telling = |line: &&str| telling_words.iter().any(|word| line.contains(word));
    let telling: Vec<&str> = text.lines().filter(is_telling).collect();
    let mut short = if telling.is_empty() {
        text.trim().to_owned()
    } else {
        telling.join("\n")
    };
    if short.len() > DIAGNOSTICS {
        let cut = (0..=DIAGNOSTICS)
            .rev()
            .find(|at| short.is_char_boundary(*at))
            .unwrap_or(0);
        short.truncate(cut);
        short.push('…');
    }
    short
}
