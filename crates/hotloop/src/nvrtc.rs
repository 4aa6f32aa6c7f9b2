//! Compiles CUDA by NVRTC, if that library is on this machine. Nothing is run.

#![expect(
    unsafe_code,
    reason = "looking for a library opens it, and its version is asked by a C function"
)]

use cudarc::nvrtc::{CompileError, CompileOptions, compile_ptx_with_opts, sys};
use hotloop_corpus::pairs::{Compile, Compiled};

/// Architectures to ask for, best first; old compilers do not know new ones.
const ARCHITECTURES: [(u32, u32); 3] = [(9, 0), (8, 0), (5, 2)];

/// NVRTC for one architecture.
#[derive(Debug)]
pub(crate) struct Nvrtc {
    version: (i32, i32),
    architecture: (u32, u32),
}

impl Nvrtc {
    /// The compiler, if it is here and works for the architecture, or for one that it chooses.
    pub(crate) fn find(architecture: Option<(u32, u32)>) -> Option<Self> {
        // SAFETY: opens and closes a library by name, and its initialisers are the vendor's.
        if !unsafe { sys::is_culib_present() } {
            return None;
        }
        let (mut major, mut minor) = (0, 0);
        // SAFETY: both pointers are valid for the call.
        let asked = unsafe { sys::nvrtcVersion(&raw mut major, &raw mut minor) };
        asked.result().ok()?;
        let known = architecture.map_or(ARCHITECTURES.to_vec(), |wanted| vec![wanted]);
        known
            .into_iter()
            .map(|architecture| Self {
                version: (major, minor),
                architecture,
            })
            .find(|nvrtc| nvrtc.try_compile("__global__ void k() {}").is_ok())
    }

    fn try_compile(&self, source: &str) -> Result<(), CompileError> {
        let (major, minor) = self.architecture;
        let options = CompileOptions {
            options: vec![
                "--std=c++14".to_owned(),
                format!("--gpu-architecture=compute_{major}{minor}"),
                "-default-device".to_owned(),
                "--disable-warnings".to_owned(),
            ],
            ..CompileOptions::default()
        };
        compile_ptx_with_opts(source, options).map(drop)
    }
}

impl Compile for Nvrtc {
    fn name(&self) -> String {
        let (version, (major, minor)) = (self.version, self.architecture);
        format!("NVRTC {}.{}, compute_{major}{minor}", version.0, version.1)
    }

    fn compile(&mut self, source: &str) -> Result<Compiled, String> {
        if source.contains('\0') {
            return Ok(Compiled::No("the source holds a NUL byte".to_owned()));
        }
        match self.try_compile(source) {
            Ok(()) => Ok(Compiled::Yes),
            Err(CompileError::CompileError { log, .. }) => {
                let log = log.to_string_lossy();
                let line = log.lines().find(|line| line.contains("error"));
                let why = line.or(log.lines().next()).unwrap_or("refused");
                Ok(Compiled::No(why.to_owned()))
            }
            Err(error) => Err(format!("{}: {error:?}", self.name())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_compiled_or_refused_with_a_line() {
        let Some(mut nvrtc) = Nvrtc::find(None) else {
            eprintln!("skipped: this machine has no NVRTC");
            return;
        };
        let good = "__global__ void k(float *a) { a[0] = 1; }";
        assert_eq!(nvrtc.compile(good), Ok(Compiled::Yes));
        let Ok(Compiled::No(why)) = nvrtc.compile("__global__ void k() { x = 1; }") else {
            panic!("there is no x");
        };
        assert!(why.contains("error"), "{why}");
    }
}
