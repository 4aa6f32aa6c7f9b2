//! Compiles device halves: screened, confined, and only once per content.
//!
//! ```text
//! device half -> respelled -> screen -> fork of a warm NVRTC (confined) -> PTX, cubin -> checked -> image
//!                                    -> nvcc (confined), where NVRTC lacks what the headers need
//! ```
//!
//! | what | who looks at it |
//! |---|---|
//! | what compilers read in different ways | `lex::respelled`, whose text is screened and compiled |
//! | files, directives, libraries, names | `screen`, before anything is compiled |
//! | techniques of a stage | flow's scans of the text and of the PTX |
//! | what no stage allows | `ptx` |
//! | the module that will be loaded | `cubin` |

mod cubin;
mod fallback;
mod headers;
mod kept;
mod nvrtc;
mod opening;
mod protocol;
mod ptx;
mod reachable;
mod screen;
mod staged;
mod survey;
mod text;
mod toolkit;
mod warm;
mod wide;
pub(crate) mod zygote;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use hotloop_flow::language::c::lex::{self, Dialect, Item, Lexed};
use hotloop_flow::language::cuda::{self, Assembly};
use hotloop_flow::{BenchError, Remedy, Verdict};

use crate::compiling::diagnostics::shorten;
use crate::gpu::image::Image;
use crate::sandbox::files::OpenFiles;
use crate::sandbox::limits::{self, Limits};
use crate::sandbox::user::unprivileged_user;
use crate::scratch::{Folder, Scratch};
use crate::sys;
use fallback::Nvcc;
use kept::{Compiled, Kept};
use nvrtc::Outcome;
pub(crate) use opening::Opening;
use opening::{H200, architecture};
use protocol::{Confined, Start, Work};
pub(crate) use staged::Staged;
pub(crate) use survey::survey;
use text::WARM_UP;
use toolkit::GET;
pub(crate) use toolkit::Toolkit;
use warm::{ALLOWANCE, Forked, WarmCompiler};

/// Bytes of the largest file that a fork may write: a heap for precompiled headers, mostly holes.
const FILE_BYTES: u64 = 1 << 30;
/// Bytes of the largest PTX that is read. Tables in a program's text are written out in it.
const PTX_BYTES: usize = 8 << 20;

/// Compiles the device halves of candidates and of trusted code.
pub(crate) struct DeviceCompiler {
    start: Start,
    includes: Vec<PathBuf>,
    roles: PathBuf,
    scratch: Arc<Scratch>,
    landlock: bool,
    kept: Kept,
    /// What every text is compiled with.
    options: Vec<String>,
    nvcc: Option<Nvcc>,
    version: String,
    warm: Mutex<Arc<Warm>>,
}

/// A warm compiler, and the precompiled headers that only its own forks can read.
struct Warm {
    compiler: WarmCompiler,
    folder: Folder,
    precompiled: [OnceLock<Option<PathBuf>>; 3],
}

impl DeviceCompiler {
    /// Starts the compiler and proves that it compiles a text that is right.
    pub(crate) fn open(opening: Opening<'_>) -> Result<Self, BenchError> {
        let toolkit = &opening.toolkit;
        let Some(library) = toolkit.nvrtc.clone() else {
            return Err(missing("NVRTC (libnvrtc.so) was not found"));
        };
        if toolkit.headers.is_empty() {
            return Err(missing("the CUDA headers (cuda_fp16.h) were not found"));
        }
        let includes = reachable::reachable(&toolkit.headers, &opening.cache)?;
        let options = options(&includes, opening.capability);
        let start = Start {
            library,
            options: options.clone(),
        };
        let warm = Warm::start(opening.roles, &start, &opening.scratch)?;
        let known = warm.compiler.compiler();
        let (major, minor) = opening.capability.unwrap_or(H200);
        if !known.architectures.contains(&(10 * major + minor)) {
            return Err(BenchError::machine(format!(
                "NVRTC {}.{} does not know GPUs of compute capability {major}.{minor}",
                known.version.0, known.version.1
            ))
            .hint("install a CUDA toolkit that does"));
        }
        let version = format!("NVRTC {}.{}", known.version.0, known.version.1);
        let nvcc = Nvcc::new(&opening);
        let identity = [
            format!("{:?}", known.version),
            format!("{:?}", identity(&start.library)),
            format!("{:?}", nvcc.as_ref().and_then(|nvcc| identity(nvcc.path()))),
            options.join(" "),
        ];
        let compiler = Self {
            start,
            includes,
            roles: opening.roles.to_owned(),
            kept: Kept::new(
                opening.cache,
                Arc::clone(&opening.scratch),
                opening.reuse,
                &identity,
            ),
            scratch: opening.scratch,
            landlock: opening.landlock,
            options,
            nvcc,
            version,
            warm: Mutex::new(Arc::new(warm)),
        };
        compiler.prove()?;
        Ok(compiler)
    }

    /// The compiler's name and version.
    pub(crate) fn version(&self) -> String {
        self.version.clone()
    }

    /// Compiles a candidate that is right. If that fails, the sandbox or the compiler is at fault.
    fn prove(&self) -> Result<(), BenchError> {
        let user = sys::is_root().then(|| unprivileged_user(0));
        let names = ["warm<1>".to_owned()];
        match self.compile_anew(WARM_UP, headers::PRELUDE, &names, true, user)? {
            Ok(_) => Ok(()),
            Err(verdict) => Err(BenchError::machine(format!(
                "the confined CUDA compiler fails on a program that is right: {}",
                verdict.detail()
            ))
            .hint("see whether judging without Landlock works; if so, the compiler's files lie in an unexpected place")
            .remedies(&[Remedy::Landlock])),
        }
    }

    /// Compiles a candidate's device half, in which `names` name kernels and variables, under the
    /// rules of its `stage`; as `user` when hotloop is root.
    pub(crate) fn compile(
        &self,
        device: &str,
        names: &[String],
        stage: Option<Staged<'_>>,
        user: Option<u32>,
    ) -> Result<Result<Image, Verdict>, BenchError> {
        let refused = |why| Ok(Err(Verdict::Refused { why }));
        // The compiler gets what the screen reads, and reads it in the same way.
        let device = match lex::respelled(device, Dialect::Cuda) {
            Ok(device) => device,
            Err(line) => return refused(in_doubt(line)),
        };
        let device = device.as_str();
        let lexed = lex::lex_in(device, Dialect::Cuda);
        if let Some(why) = screen::text(&lexed).or_else(|| screen::names(names)) {
            return refused(why);
        }
        if let Some(why) = stage.and_then(|stage| stage.rules.violation(&cuda::scan(device))) {
            return refused(why);
        }
        let compiled = match self.kept.get(device, names) {
            Some(kept) => kept,
            None => self.compile_and_keep(device, &lexed, names, user)?,
        };
        let compiled = match compiled {
            Ok(compiled) => compiled,
            Err(verdict) => return Ok(Err(verdict)),
        };
        let shown = |stage: Staged<'_>| {
            let scan = compiled.scan.of(stage.has_eight_bytes);
            let symbols = &compiled.image.symbols;
            let violation = stage.rules.violation(scan);
            violation.or_else(|| wide::refuse(stage, compiled.scan.wide(), symbols))
        };
        if let Some(why) = stage.and_then(shown) {
            return refused(why);
        }
        Ok(Ok(compiled.image))
    }

    fn compile_and_keep(
        &self,
        device: &str,
        lexed: &Lexed<'_>,
        names: &[String],
        user: Option<u32>,
    ) -> Result<Result<Compiled, Verdict>, BenchError> {
        let prelude = headers::needed(included(lexed));
        let mut made = self.compile_anew(device, prelude, names, true, user)?;
        if matches!(made, Err(Verdict::NotCompiled { .. }))
            && let Some(other) = self.fall_back(device, lexed, names, user)?
        {
            made = other;
        }
        self.kept.put(device, names, &made)?;
        Ok(made)
    }

    /// Compiles the bench's own device code or a task's, where nothing is refused.
    pub(crate) fn trusted(
        &self,
        what: &str,
        device: &str,
        names: &[String],
    ) -> Result<Image, BenchError> {
        let lexed = lex::lex_in(device, Dialect::Cuda);
        let prelude = headers::needed(included(&lexed));
        match self.compile_anew(device, prelude, names, false, None)? {
            Ok(compiled) => Ok(compiled.image),
            Err(verdict) => Err(BenchError::user(format!(
                "{what} does not compile:\n{}",
                verdict.detail()
            ))),
        }
    }

    /// What nvcc makes of a text whose headers NVRTC cannot compile, if there is an nvcc.
    fn fall_back(
        &self,
        device: &str,
        lexed: &Lexed<'_>,
        names: &[String],
        user: Option<u32>,
    ) -> Result<Option<Result<Compiled, Verdict>>, BenchError> {
        let needs_host = included(lexed).any(|header| header.starts_with("cub/"));
        let Some(nvcc) = self.nvcc.as_ref().filter(|_| needs_host) else {
            return Ok(None);
        };
        // The host's headers have macros of their own.
        let assembly = if included(lexed).all(headers::is_of_device) {
            cuda::assembly(device)
        } else {
            Assembly::ByLine
        };
        Ok(Some(match nvcc.compile(device, names, user)? {
            Ok(outcome) => self
                .compiled(&outcome, names, Some(assembly))
                .map_err(|verdict| *verdict),
            Err(verdict) => Err(verdict),
        }))
    }

    fn compile_anew(
        &self,
        device: &str,
        prelude: &str,
        names: &[String],
        confined: bool,
        user: Option<u32>,
    ) -> Result<Result<Compiled, Verdict>, BenchError> {
        let warm = self.warm()?;
        let mut options = self.options.clone();
        let precompiled = self.precompiled(&warm, prelude);
        options.push(format!("--pre-include={prelude}"));
        options.extend(
            precompiled
                .iter()
                .map(|file| format!("--use-pch={}", file.display())),
        );
        let folder = self.scratch.folder(user)?;
        let work = Work {
            source: device.to_owned(),
            options,
            names: names.to_vec(),
            folder: folder.path().to_owned(),
            confinement: confined.then(|| self.confined(folder.path(), user, precompiled)),
        };
        Ok(match warm.compiler.compile(&work)? {
            Forked::Done(outcome) => self
                .compiled(&outcome, names, confined.then(|| cuda::assembly(device)))
                .map_err(|verdict| *verdict),
            Forked::Broken(how) => Err(Verdict::NotCompiled {
                diagnostics: format!("the compiler broke: {how}"),
            }),
            Forked::TimedOut => Err(ALLOWANCE.timed_out()),
        })
    }

    /// Checks what a compiler made of a candidate, whose `assembly` may come from there; takes the
    /// rest as it is.
    fn compiled(
        &self,
        outcome: &Outcome,
        names: &[String],
        assembly: Option<Assembly>,
    ) -> Result<Compiled, Box<Verdict>> {
        let refused = |why| Box::new(Verdict::Refused { why });
        let failed = |diagnostics| Box::new(Verdict::NotCompiled { diagnostics });
        if !outcome.is_compiled || outcome.cubin.is_empty() {
            return Err(failed(self.diagnostics(&outcome.log)));
        }
        if let Some(at) = outcome.symbols.iter().position(String::is_empty) {
            let name = names.get(at).map_or("", String::as_str);
            return Err(failed(format!(
                "`{name}` is no kernel and no variable of the device code"
            )));
        }
        let text = String::from_utf8_lossy(&outcome.ptx);
        let text = text.trim_end_matches('\0');
        if assembly.is_some() && text.is_empty() {
            return Err(refused(
                "the compiler gives no PTX of it: its data are too large".into(),
            ));
        }
        // What is too large is not read.
        let shown = cubin::inspect(&outcome.cubin).map_err(refused)?;
        if assembly.is_some() && text.len() > PTX_BYTES {
            let (bytes, most) = (text.len() >> 20, PTX_BYTES >> 20);
            return Err(refused(format!(
                "its PTX has {bytes} MiB, more than {most}; compute large tables at run time"
            )));
        }
        if assembly.is_some()
            && let Some(why) = ptx::refuse(text)
        {
            return Err(refused(why));
        }
        let image = Image {
            cubin: outcome.cubin.clone(),
            symbols: names
                .iter()
                .cloned()
                .zip(outcome.symbols.iter().cloned())
                .collect(),
            taken: shown.taken,
            uses_heap: shown.uses_heap,
            variable_bytes: shown.variable_bytes,
        };
        Ok(Compiled {
            image,
            scan: cuda::scan_ptx(text, assembly.unwrap_or(Assembly::ByLine)),
        })
    }

    /// What the compiler said, without paths of this machine, and plainly of names that do not
    /// exist.
    fn diagnostics(&self, log: &[u8]) -> String {
        let said = String::from_utf8_lossy(log);
        let mut said: String = said
            .trim_end_matches('\0')
            .lines()
            .filter(|line| !line.starts_with("__nv_name_map") || !line.contains("Error in parsing"))
            .map(|line| match line.strip_prefix("__nv_name_map") {
                Some(rest) => {
                    let why = rest.split_once("error: ").map_or(rest, |(_, why)| why);
                    format!("error: the host code uses what the device code lacks: {why}\n")
                }
                None => format!("{line}\n"),
            })
            .collect();
        for folder in &self.includes {
            said = said.replace(&format!("{}/", folder.display()), "");
        }
        shorten(&said)
    }

    /// The warm compiler; a new one if something ended it.
    fn warm(&self) -> Result<Arc<Warm>, BenchError> {
        let mut warm = self.warm.lock().unwrap_or_else(PoisonError::into_inner);
        if !warm.compiler.is_alive() {
            *warm = Arc::new(Warm::start(&self.roles, &self.start, &self.scratch)?);
        }
        Ok(Arc::clone(&warm))
    }

    /// The precompiled form of a prelude, made when it is needed first. Older compilers make none.
    fn precompiled<'a>(&self, warm: &'a Warm, prelude: &str) -> Option<&'a PathBuf> {
        let index = match prelude {
            headers::PRELUDE => 0,
            headers::HALVES => 1,
            _ => 2,
        };
        let made = warm.precompiled[index].get_or_init(|| {
            let file = warm.folder.path().join(format!("{index}.pch"));
            let mut options = self.options.clone();
            options.extend([
                format!("--pre-include={prelude}"),
                format!("--create-pch={}", file.display()),
            ]);
            let work = Work {
                source: WARM_UP.to_owned(),
                options,
                names: Vec::new(),
                folder: warm.folder.path().to_owned(),
                confinement: None,
            };
            let made = warm.compiler.compile(&work);
            let is_made = matches!(made, Ok(Forked::Done(outcome)) if outcome.is_compiled);
            (is_made && file.exists()).then_some(file)
        });
        made.as_ref()
    }

    fn confined(
        &self,
        folder: &Path,
        user: Option<u32>,
        precompiled: Option<&PathBuf>,
    ) -> Confined {
        let mut read = self.includes.clone();
        read.extend(precompiled.cloned());
        let files = OpenFiles {
            read,
            write: vec![folder.to_owned()],
            ..OpenFiles::default()
        };
        Confined {
            user,
            limits: Limits {
                address_space: ALLOWANCE.memory_bytes,
                file_bytes: FILE_BYTES,
                open_files: 64,
                threads: limits::beside_others(1, user),
                cpu_s: ALLOWANCE.processor_s,
            },
            files: self.landlock.then_some(files),
        }
    }
}

impl Warm {
    fn start(roles: &Path, start: &Start, scratch: &Scratch) -> Result<Self, BenchError> {
        let compiler = WarmCompiler::start(roles, start).map_err(|why| {
            BenchError::machine(format!(
                "NVRTC ({}) does not work: {}",
                start.library.display(),
                why.trim()
            ))
            .hint(GET)
        })?;
        Ok(Self {
            compiler,
            folder: scratch.folder(None)?,
            precompiled: Default::default(),
        })
    }
}

fn in_doubt(line: u32) -> String {
    format!(
        "line {line}: compilers may read the text from here on in different ways; write ordinary \
         strings in place of raw ones, and no backslash outside of literals"
    )
}

fn missing(what: &str) -> BenchError {
    BenchError::machine(format!("{what}, so CUDA cannot be compiled")).hint(GET)
}

/// What every text is compiled with, for one GPU.
fn options(headers: &[PathBuf], capability: Option<(u32, u32)>) -> Vec<String> {
    let mut options = vec![
        architecture(capability),
        "-std=c++17".into(),
        "-lineinfo".into(),
        "-w".into(),
        // Structures for host code alone may stand in the device half, too.
        "-default-device".into(),
    ];
    options.extend(
        headers
            .iter()
            .map(|folder| format!("-I{}", folder.display())),
    );
    options
}

/// What tells that a file is another one.
fn identity(file: &Path) -> Option<(u64, std::time::SystemTime)> {
    let data = file.metadata().ok()?;
    Some((data.len(), data.modified().ok()?))
}

/// The headers that a text includes.
fn included<'a>(lexed: &'a Lexed<'_>) -> impl Iterator<Item = &'a str> {
    lexed.items.iter().filter_map(|item| match item {
        Item::Directive(directive) => directive.header.as_deref(),
        Item::Token(_) => None,
    })
}

#[cfg(test)]
mod tests;
