//! nvcc in the confined compiler, for headers that NVRTC cannot compile.
//!
//! nvcc makes PTX, and the assembler makes the module of exactly this PTX, so that both can be
//! checked as NVRTC's are. nvcc knows no name expressions: a table of addresses behind the text has
//! the PTX name them.

use std::path::{Path, PathBuf};

use hotloop_flow::how::Compiler;
use hotloop_flow::{BenchError, Verdict};

use crate::compiling::confined::{Allowance, ConfinedCompiler, Run};
use crate::confine::THEN;
use crate::cpu::toolchain::Toolchain;
use crate::gpu::compile::nvrtc::Outcome;
use crate::gpu::compile::opening::{Opening, architecture};
use crate::gpu::compile::text::SOURCE;
use crate::scratch::no_space;

/// Compiling whole libraries of templates takes long.
const ALLOWANCE: Allowance = Allowance {
    wall_s: 40.0,
    processor_s: 25,
    memory_bytes: 8 << 30,
};
/// Bytes of the largest file that it may write.
const FILE_BYTES: u64 = 64 << 20;
/// The table of addresses.
const TABLE: &str = "hotloop_names_";
const PTX: &str = "candidate.ptx";
const CUBIN: &str = "candidate.cubin";

/// A usable nvcc.
pub(super) struct Nvcc {
    compiler: ConfinedCompiler,
    assembler: PathBuf,
    architecture: String,
}

impl Nvcc {
    /// None where there is no nvcc, or none of its parts, or no host compiler for it.
    pub(super) fn new(opening: &Opening<'_>) -> Option<Self> {
        let toolkit = &opening.toolkit;
        let nvcc = fs_err::canonicalize(toolkit.nvcc.as_deref()?).ok()?;
        let root = nvcc.parent()?.parent()?.to_owned();
        let assembler = nvcc.parent()?.join("ptxas");
        let host = Toolchain::known(&opening.cache, Compiler::Gcc, None).ok()?;
        if !assembler.is_file() {
            return None;
        }
        let mut files = host.files;
        files.read.push(root.clone());
        // It starts its parts through the shell.
        let shell = fs_err::canonicalize("/bin/sh").ok()?;
        files
            .execute
            .extend([root.join("bin"), root.join("nvvm"), shell]);
        files
            .execute
            .extend(["/lib64", "/lib", "/usr/lib", "/usr/bin"].map(PathBuf::from));
        Some(Self {
            compiler: ConfinedCompiler {
                program: nvcc,
                files,
                scratch: opening.scratch.clone(),
                roles: opening.roles.to_owned(),
                landlock: opening.landlock,
                allowance: ALLOWANCE,
            },
            assembler,
            architecture: architecture(opening.capability),
        })
    }

    pub(super) fn path(&self) -> &Path {
        &self.compiler.program
    }

    /// Compiles a device half.
    pub(super) fn compile(
        &self,
        device: &str,
        names: &[String],
        user: Option<u32>,
    ) -> Result<Result<Outcome, Verdict>, BenchError> {
        let folder = self.compiler.scratch.folder(user)?;
        let file = |name: &str| folder.path().join(name);
        let text = format!("{device}\n{}", table(names));
        fs_err::write(file(SOURCE), text).map_err(|error| no_space(&error))?;
        let words = [
            "-ptx",
            &self.architecture,
            "-std=c++17",
            "-lineinfo",
            "-w",
            SOURCE,
            "-o",
            PTX,
            THEN,
            &self.assembler.display().to_string(),
            &self.architecture,
            "--generate-line-info",
            PTX,
            "-o",
            CUBIN,
        ];
        let arguments = words.map(String::from);
        let run = Run {
            folder: &folder,
            arguments: &arguments,
            user,
            extra: Path::new("/dev/null"),
            file_bytes: FILE_BYTES,
        };
        if let Err(verdict) = self.compiler.run(run)? {
            return Ok(Err(verdict));
        }
        let read = |name: &str| {
            fs_err::read(file(name)).map_err(|error| BenchError::machine(error.to_string()))
        };
        let (ptx, cubin) = (read(PTX)?, read(CUBIN)?);
        let symbols = symbols(&String::from_utf8_lossy(&ptx), names.len());
        Ok(Ok(Outcome {
            is_compiled: true,
            log: Vec::new(),
            ptx,
            cubin,
            symbols,
        }))
    }
}

/// What the prelude has for names that functions share.
const OVERLOAD: &str = "namespace hotloop {
template <class... F> struct overload;
template <class F> struct overload<F> { __host__ __device__ static constexpr F &of(F &f) { return f; } };
template <class F, class... G> struct overload<F, G...> : overload<G...> {
    using overload<G...>::of;
    __host__ __device__ static constexpr F &of(F &f) { return f; }
};
}
";

/// The text behind a device half that names what is asked for.
fn table(names: &[String]) -> String {
    if names.is_empty() {
        return String::new();
    }
    let addresses: Vec<String> = names
        .iter()
        .map(|name| format!("(const void *)&{name}"))
        .collect();
    let is_overloaded = |name: &String| name.starts_with("hotloop::overload<");
    let overload = if names.iter().any(is_overloaded) {
        OVERLOAD
    } else {
        ""
    };
    format!(
        "{overload}extern \"C\" {{ __device__ const void *const volatile {TABLE}[] = {{ {} }}; }}\n",
        addresses.join(", ")
    )
}

/// The symbols in that table; empty where the PTX names none.
fn symbols(ptx: &str, count: usize) -> Vec<String> {
    let list = ptx
        .split_once(&format!("{TABLE}["))
        .and_then(|(_, rest)| rest.split_once('{'))
        .and_then(|(_, rest)| rest.split_once('}'))
        .map_or("", |(list, _)| list);
    let symbol = |word: &str| {
        let word = word.trim();
        let word = word
            .strip_prefix("generic(")
            .map_or(word, |word| word.trim_end_matches(')'));
        word.to_owned()
    };
    let mut symbols: Vec<String> = list.split(',').map(symbol).collect();
    symbols.resize(count, String::new());
    symbols
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_names_symbols_in_order() {
        let names = ["k<4, float>", "filter"].map(String::from);
        assert_eq!(
            table(&names),
            "extern \"C\" { __device__ const void *const volatile hotloop_names_[] = { (const void *)&k<4, float>, (const void *)&filter }; }\n"
        );
        let ptx =
            ".global .align 8 .u64 hotloop_names_[2] = {_Z1kILi4EfEvPKT0_PS0_, generic(filter)};";
        assert_eq!(symbols(ptx, 2), ["_Z1kILi4EfEvPKT0_PS0_", "filter"]);
        assert_eq!(symbols("", 1), [""]);
        assert_eq!(table(&[]), "");
    }
}
