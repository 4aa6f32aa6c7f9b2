//! Compiles code that the bench trusts: shims, references and baselines of tasks.

use std::path::PathBuf;
use std::process::{Command, Stdio};

use hotloop_flow::BenchError;

use crate::compiling::diagnostics::{FILE_LIMIT, NO_SPACE, shorten};
use crate::cpu::compile::Builder;
use crate::scratch::no_space;
use crate::sys;

impl Builder {
    /// Compiles trusted sources into one shared object, cached by content. If they do not compile,
    /// that is the task author's fault.
    pub(crate) fn trusted(&self, what: &str, sources: &[&str]) -> Result<PathBuf, BenchError> {
        self.build_trusted(what, sources, true)
    }

    /// Compiles a shim into an object file for the linker, cached by content.
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
        let folder = self.compiler.scratch.folder(None)?;
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
            BenchError::machine(format!(
                "{} could not be started: {error}",
                self.toolchain.path.display()
            ))
        })?;
        if !output.status.success() {
            let said = String::from_utf8_lossy(&output.stderr);
            if said.contains(NO_SPACE) {
                return Err(no_space(&std::io::Error::from_raw_os_error(libc::ENOSPC)));
            }
            let what = format!("{what} does not compile:\n{}", shorten(&said));
            return Err(if said.contains(FILE_LIMIT) {
                BenchError::machine(what).hint(sys::RAISE)
            } else {
                BenchError::user(what)
            });
        }
        self.cache.put(&name, &object)
    }
}
