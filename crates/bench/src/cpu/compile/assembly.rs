//! What compiler and llvm-mca say about a candidate, in the same confinement as its compilation.
//!
//! This serves prompts only. Nothing of it is loaded or run, and no verdict depends on it.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use hotloop_flow::BenchError;
use hotloop_flow::how::Compiler;

use super::{Builder, PREPROCESSED};
use crate::compiling::confined::{ConfinedCompiler, OUTPUT_BYTES, Run, read_start};
use crate::compiling::installed::{search_path, shared_libraries};
use crate::sandbox::files::OpenFiles;
use crate::scratch::{Folder, no_space};

/// What a compiler wrote and said.
pub(crate) struct Assembly {
    /// The assembly of the whole source.
    pub(crate) text: String,
    /// What it says about loops that it did not vectorise; gcc only.
    pub(crate) missed: String,
}

/// Bytes of a file that is read.
const READ_BYTES: u64 = 4 << 20;
const ASSEMBLY: &str = "candidate.s";
const MISSED: &str = "missed.txt";
const LOOP: &str = "loop.s";

impl Builder {
    /// The assembly of a candidate; `None` if it does not compile.
    pub(crate) fn assembly(
        &self,
        source: &str,
        user: Option<u32>,
    ) -> Result<Option<Assembly>, BenchError> {
        let Ok(preprocessed) = self.preprocess(source, user)? else {
            return Ok(None);
        };
        let folder = self.compiler.scratch.folder(user)?;
        let text = preprocessed.text;
        fs_err::write(folder.path().join(PREPROCESSED), text).map_err(|error| no_space(&error))?;
        let mut arguments = self.flags();
        arguments.extend(self.prelude.compiling());
        arguments.extend(["-S", PREPROCESSED, "-o", ASSEMBLY].map(String::from));
        if self.toolchain.compiler == Compiler::Gcc {
            arguments.push(format!("-fopt-info-vec-missed={MISSED}"));
        }
        let ended = self.compiler.run(Run {
            folder: &folder,
            arguments: &arguments,
            user,
            extra: Path::new("/dev/null"),
            file_bytes: OUTPUT_BYTES,
        })?;
        if ended.is_err() {
            return Ok(None);
        }
        let read = |name| read(&folder, name);
        Ok(Some(Assembly {
            text: read(ASSEMBLY),
            missed: read(MISSED),
        }))
    }

    /// What llvm-mca says about a loop; `None` where it is not installed, or does not know the
    /// processor or an instruction.
    pub(crate) fn analysed(
        &self,
        body: &str,
        user: Option<u32>,
    ) -> Result<Option<String>, BenchError> {
        let Some(path) = search_path("llvm-mca") else {
            return Ok(None);
        };
        let mut execute = vec![path.clone()];
        execute.extend(path.canonicalize());
        execute.extend(shared_libraries(&path));
        let read = ["/etc/ld.so.cache", "/dev/null"].map(PathBuf::from);
        let analyser = ConfinedCompiler {
            program: path,
            files: OpenFiles {
                read: read.to_vec(),
                execute,
                write: vec![PathBuf::from("/dev/null")],
            },
            scratch: Arc::clone(&self.compiler.scratch),
            roles: self.compiler.roles.clone(),
            landlock: self.compiler.landlock,
            allowance: self.compiler.allowance,
        };
        let folder = self.compiler.scratch.folder(user)?;
        fs_err::write(folder.path().join(LOOP), body).map_err(|error| no_space(&error))?;
        let arguments = ["-bottleneck-analysis", "-instruction-info=0", LOOP].map(String::from);
        let ended = analyser.run(Run {
            folder: &folder,
            arguments: &arguments,
            user,
            extra: Path::new("/dev/null"),
            file_bytes: OUTPUT_BYTES,
        })?;
        Ok(ended.ok().map(|printed| read_start(printed, READ_BYTES)))
    }
}

/// A file that a confined program may have written.
fn read(folder: &Folder, name: &str) -> String {
    let file = std::fs::File::open(folder.path().join(name));
    file.map_or_else(|_| String::new(), |file| read_start(file, READ_BYTES))
}
