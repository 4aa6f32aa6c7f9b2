//! The compiler of this machine: its path, its parts and its target.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use hotloop_flow::how::Compiler;
use hotloop_flow::{BenchError, Remedy};
use serde::{Deserialize, Serialize};

use crate::cache::Cache;
use crate::compiling::installed::{
    file, include_folders, parent, program, say, say_error, script_members, search_path,
    shared_libraries,
};
use crate::cpu::object_file::of_vector_math;
use crate::kept::{self, Learned};
use crate::sandbox::files::OpenFiles;

/// A compiler that can be used.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Toolchain {
    /// Which compiler.
    pub(crate) compiler: Compiler,
    /// The command, by absolute path.
    pub(crate) path: PathBuf,
    /// Its first line of `--version`.
    pub(crate) version: String,
    /// Versions of compiler, assembler, linker, OpenMP and C library, and the resolved target:
    /// everything that a compiled object depends on besides its source.
    pub(crate) identity: String,
    /// The OpenMP runtime that its objects need.
    pub(crate) openmp: PathBuf,
    /// The library of vectorised mathematics, if there is one.
    vector_math: Option<PathBuf>,
    /// The files that the confined compiler must reach.
    pub(crate) files: OpenFiles,
    /// How to link without the compiler's driver, which takes longer than the linker itself.
    pub(crate) linker: Option<Linker>,
}

/// The target in the output of clang's `-###`. The rest names temporary files and the current
/// folder, which differ each time.
fn targeted(said: &str) -> String {
    let words: Vec<&str> = said.split_whitespace().collect();
    let about = [
        "\"-triple\"",
        "\"-target-cpu\"",
        "\"-target-feature\"",
        "\"-tune-cpu\"",
    ];
    let pairs = words.windows(2).filter(|pair| about.contains(&pair[0]));
    pairs
        .map(|pair| pair.join(" "))
        .collect::<Vec<_>>()
        .join("\n")
}

/// Linker flags for candidates. Constants must never be on pages with code, whatever the linker's
/// default, because they could be executed there.
pub(crate) const LINKING: &str = "-Wl,-Bsymbolic,-z,now,-z,separate-code";

/// The linker's command line around the object files.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Linker {
    /// The program, by absolute path.
    pub(crate) path: PathBuf,
    /// Arguments before the objects.
    pub(crate) before: Vec<String>,
    /// Arguments after the objects: the libraries.
    pub(crate) behind: Vec<String>,
}

impl Toolchain {
    /// Finds a compiler by `path` if given, otherwise by its name.
    pub(crate) fn find(compiler: Compiler, path: Option<&Path>) -> Result<Self, BenchError> {
        let name = compiler.name();
        let path = match path {
            Some(path) => path.to_owned(),
            None => search_path(name).ok_or_else(|| missing(compiler))?,
        };
        let version = say(&path, &["--version"])
            .and_then(|text| text.lines().next().map(str::to_owned))
            .ok_or_else(|| BenchError::machine(format!("{} does not run", path.display())))?;
        let openmp = openmp_runtime(compiler, &path).ok_or_else(|| {
            let package = if compiler == Compiler::Clang {
                "libomp-dev"
            } else {
                "gcc"
            };
            BenchError::machine(format!("{name} has no OpenMP runtime"))
                .hint(format!("apt-get install -y {package}"))
        })?;
        let target = match compiler {
            Compiler::Gcc => say(&path, &["-march=native", "-Q", "--help=target"]),
            Compiler::Clang => say_error(&path, &["-march=native", "-###", "-x", "c", "/dev/null"])
                .map(|said| targeted(&said)),
        };
        let programs: Vec<PathBuf> = ["as", "ld"]
            .iter()
            .filter_map(|name| program(&path, name))
            .collect();
        let mut identity = blake3::Hasher::new();
        let versions = programs.iter().map(|program| say(program, &["--version"]));
        let library = std::fs::canonicalize(&openmp)
            .map(|real| real.display().to_string())
            .ok();
        for part in [Some(version.clone()), target, library, c_library()]
            .into_iter()
            .chain(versions)
        {
            identity.update(part.unwrap_or_default().as_bytes());
        }
        let mut files = files_of(compiler, &path, &programs);
        files.read.extend(openmp.canonicalize());
        let identity = identity.finalize().to_hex()[..16].to_owned();
        let linker = (compiler == Compiler::Gcc).then(|| linker(&path)).flatten();
        Ok(Self {
            compiler,
            vector_math: file(&path, "libmvec.so.1"),
            path,
            version,
            identity,
            openmp,
            files,
            linker,
        })
    }

    /// The same, from the cache where nothing has changed: asking takes some forty processes.
    pub(crate) fn known(
        cache: &Cache,
        compiler: Compiler,
        path: Option<&Path>,
    ) -> Result<Self, BenchError> {
        let path = path
            .map(Path::to_owned)
            .or_else(|| search_path(compiler.name()));
        let Some(path) = path else {
            return Err(missing(compiler));
        };
        let mut name = blake3::Hasher::new();
        for part in [
            compiler.name().into(),
            path.as_os_str().to_owned(),
            std::env::var_os("PATH").unwrap_or_default(),
            cpu_flags().into(),
            env!("CARGO_PKG_VERSION").into(),
        ] {
            name.update(part.as_encoded_bytes());
            name.update(b"\0");
        }
        let name = format!("toolchain-{}", &name.finalize().to_hex()[..16]);
        kept::fact(cache, &name, || {
            let found = Self::find(compiler, Some(&path))?;
            let linker = found.linker.iter().map(|linker| &linker.path);
            let files = found.files.read.iter().chain(&found.files.execute);
            let from = files.chain(linker).chain([&path]).cloned().collect();
            Ok(Learned { fact: found, from })
        })
    }

    /// The compiler flags of every candidate, except for the level.
    pub(crate) fn flags(&self) -> Vec<&'static str> {
        let mut flags = vec![
            "-march=native",
            "-fopenmp",
            "-fPIC",
            "-std=gnu17",
            "-D_GNU_SOURCE",
            "-w",
            "-fdiagnostics-color=never",
        ];
        match self.compiler {
            // A shared object must not lose the inlining that a program would get. One file has
            // nothing to gain from the linker's plugin, and systems keep it in odd places.
            Compiler::Gcc => {
                flags.extend([
                    "-fno-semantic-interposition",
                    "-fmax-errors=8",
                    "-fno-lto",
                    "-fno-use-linker-plugin",
                ]);
            }
            Compiler::Clang => flags.extend(["-ferror-limit=8", "-fno-caret-diagnostics"]),
        }
        flags
    }

    /// Libraries that a runner loads before it is confined. That of vector mathematics is there
    /// only for an object that calls it: others could find its functions in the loader's tables.
    pub(crate) fn libraries(&self, object: &Path) -> Vec<PathBuf> {
        let mut libraries = vec![PathBuf::from("libm.so.6"), self.openmp.clone()];
        let calls_it = fs_err::read(object).is_ok_and(|bytes| of_vector_math(&bytes).is_some());
        libraries.extend(self.vector_math.clone().filter(|_| calls_it));
        libraries
    }
}

fn missing(compiler: Compiler) -> BenchError {
    let package = match compiler {
        Compiler::Gcc => "gcc libc6-dev",
        Compiler::Clang => "clang libomp-dev",
    };
    BenchError::machine(format!(
        "the C compiler `{}` was not found",
        compiler.name()
    ))
    .hint(format!(
        "apt-get install -y {package}, or name the path of another one"
    ))
    .remedies(&[Remedy::CompilerPath])
}

/// The CPU flags that `-march=native` depends on.
pub(crate) fn cpu_flags() -> String {
    let text = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let about = ["vendor_id", "cpu family", "model", "stepping", "flags"];
    let is_about = |line: &&str| {
        line.split_once(':')
            .is_some_and(|(key, _)| about.contains(&key.trim()))
    };
    // The first processor represents all.
    let first = text.split("\n\n").next().unwrap_or_default();
    first
        .lines()
        .filter(is_about)
        .collect::<Vec<_>>()
        .join("\n")
}

fn c_library() -> Option<String> {
    say(Path::new("ldd"), &["--version"]).and_then(|text| text.lines().next().map(str::to_owned))
}

/// Asks the driver how it would link a candidate. The plugin, the placeholder object and the
/// output's name are left out.
fn linker(compiler: &Path) -> Option<Linker> {
    let object = file(compiler, "libgcc.a")?.display().to_string();
    let output = "hotloop-linker-output";
    let mut arguments = vec![
        "-###",
        "-shared",
        "-nostartfiles",
        "-fopenmp",
        "-fno-lto",
        "-fno-use-linker-plugin",
    ];
    arguments.extend([LINKING, &object, "-lm", "-o", output]);
    let said = say_error(compiler, &arguments)?;
    let line = said
        .lines()
        .rev()
        .find(|line| line.starts_with(' ') && line.contains("collect2"))?;
    let words = line
        .split_whitespace()
        .skip(1)
        .map(|word| word.trim_matches('"').to_owned());
    // `-f` flags are for the driver's own linker step.
    let words: Vec<String> = words
        .filter(|word| !word.starts_with("-f") && !word.starts_with("-plugin"))
        .collect();
    let at = words.iter().position(|word| *word == object)?;
    let mut before: Vec<String> = words[..at].to_vec();
    // The name of the output comes with its flag.
    let name = before.iter().position(|word| word == output)?;
    before.drain(name.checked_sub(1)?..=name);
    let path = program(compiler, "ld")?;
    Some(Linker {
        path,
        before,
        behind: words[at + 1..].to_vec(),
    })
}

fn openmp_runtime(compiler: Compiler, path: &Path) -> Option<PathBuf> {
    let names: &[&str] = match compiler {
        Compiler::Gcc => &["libgomp.so.1", "libgomp.so"],
        Compiler::Clang => &["libomp.so", "libomp.so.5", "libiomp5.so"],
    };
    names.iter().find_map(|name| file(path, name))
}

/// Everything that the confined compiler must reach: its programs and their libraries, headers, and
/// the few files that it links. It lists single files if their folder contains other libraries.
fn files_of(compiler: Compiler, path: &Path, programs: &[PathBuf]) -> OpenFiles {
    let mut execute: BTreeSet<PathBuf> = BTreeSet::new();
    let mut read: BTreeSet<PathBuf> = BTreeSet::new();
    let parts = match compiler {
        Compiler::Gcc => vec!["cc1", "collect2", "lto-wrapper"],
        Compiler::Clang => vec![],
    };
    let parts: Vec<PathBuf> = parts
        .iter()
        .filter_map(|name| program(path, name))
        .collect();
    for program in std::iter::once(&path.to_owned())
        .chain(programs)
        .chain(&parts)
    {
        execute.insert(program.clone());
        execute.extend(std::fs::canonicalize(program));
        execute.extend(shared_libraries(program));
    }
    execute.extend(parts.iter().map(|part| parent(part)));
    // The compiler's own folders: internal headers, libgcc, start files, plugins.
    for name in ["libgcc.a", "crtbeginS.o", "liblto_plugin.so", "include"] {
        let folder = file(path, name).map(|found| {
            if found.is_dir() {
                found
            } else {
                parent(&found)
            }
        });
        execute.extend(
            folder
                .into_iter()
                .flat_map(|folder| [folder.clone(), folder.canonicalize().unwrap_or(folder)]),
        );
    }
    execute.extend(
        say(path, &["-print-resource-dir"])
            .map(|text| PathBuf::from(text.trim()))
            .filter(|p| p.is_absolute()),
    );
    read.extend(include_folders(path, "c"));
    for name in LINKED {
        if let Some(found) = file(path, name) {
            read.extend(script_members(&found));
            read.extend(found.canonicalize());
            read.insert(found);
        }
    }
    read.extend(["/etc/ld.so.cache", "/dev/urandom", "/usr/lib/gcc"].map(PathBuf::from));
    OpenFiles {
        read: read.into_iter().collect(),
        execute: execute.into_iter().collect(),
        write: vec![PathBuf::from("/dev/null")],
    }
}

/// The files that a candidate's object is linked with.
const LINKED: [&str; 15] = [
    "libc.so",
    "libc.so.6",
    "libc_nonshared.a",
    "libm.so",
    "libm.so.6",
    "libmvec.so",
    "libmvec.so.1",
    "libgomp.so",
    "libgomp.spec",
    "libomp.so",
    "libgcc_s.so",
    "libgcc_s.so.1",
    "libpthread.so",
    "libpthread.a",
    "ld-linux-x86-64.so.2",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_toolchain_is_the_same_one_each_time() {
        for compiler in [Compiler::Gcc, Compiler::Clang] {
            let identity = || {
                Toolchain::find(compiler, None)
                    .ok()
                    .map(|toolchain| toolchain.identity)
            };
            assert_eq!(
                identity(),
                identity(),
                "{compiler:?}: its machine class would change from start to start"
            );
        }
        let said =
            "clang -cc1\" \"-triple\" \"x86\" \"-target-cpu\" \"native\" \"-o\" \"/tmp/null-1.o\"";
        assert_eq!(
            targeted(said),
            "\"-triple\" \"x86\"\n\"-target-cpu\" \"native\""
        );
    }
}
