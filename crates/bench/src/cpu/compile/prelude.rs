//! The headers that every candidate starts with, and their precompiled form.

use std::path::PathBuf;
use std::process::{Command, Stdio};

use hotloop_flow::BenchError;
use hotloop_flow::how::{Compiler, OptLevel};

use crate::cache::{Cache, own_end};
use crate::compiling::diagnostics::{FILE_LIMIT, NO_SPACE, shorten};
use crate::cpu::toolchain::Toolchain;
use crate::sys;

/// Changes whenever what is compiled, or how, changes meaning, and whenever an object is checked
/// differently: objects and refusals are kept.
pub(super) const VERSION: &str = "14";

/// The headers that every candidate starts with, so that a forgotten include is no failure.
/// The same with and without a precompiled form: speed must not change what compiles.
pub(super) const PRELUDE: &str = "\
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

/// The prelude in the forms that compilers want.
///
/// gcc has it precompiled: preprocessing leaves one pragma of it, and what was preprocessed loads
/// it by that pragma. clang preprocesses with the macros of its headers only, and compiles with
/// what the headers declare, precompiled of their preprocessed text: so there is no macro left that
/// could be expanded a second time.
pub(super) struct Prelude {
    pub(super) folder: PathBuf,
    compiler: Compiler,
}

const HEADER: &str = "prelude.h";
const PRECOMPILED: &str = "prelude.h.gch";
const MACROS: &str = "macros.h";
/// clang's.
const PREPROCESSED: &str = "prelude.i";
const DECLARATIONS: &str = "prelude.pch";

impl Prelude {
    /// Made now if this machine has none yet.
    pub(super) fn prepare(
        toolchain: &Toolchain,
        level: OptLevel,
        cache: &Cache,
    ) -> Result<Self, BenchError> {
        let mut flags = vec![level.flag()];
        flags.extend(toolchain.flags());
        let mut hasher = blake3::Hasher::new();
        for part in [VERSION, PRELUDE, &toolchain.identity, &flags.join(" ")] {
            hasher.update(part.as_bytes());
        }
        let key = &hasher.finalize().to_hex()[..16];
        let prelude = Self {
            folder: cache.path(&format!("prelude-{key}")),
            compiler: toolchain.compiler,
        };
        let steps = prelude.steps();
        if let Some(last) = steps.last()
            && !prelude.folder.join(last.output).exists()
        {
            prelude.build(toolchain, &flags, &steps)?;
        }
        Ok(prelude)
    }

    /// How the compiler makes its forms of the header.
    fn steps(&self) -> Vec<Step> {
        let step = |arguments, input, output| Step {
            arguments,
            input,
            output,
        };
        match self.compiler {
            Compiler::Gcc => vec![
                step(&["-E", "-dM"], HEADER, MACROS),
                step(&["-x", "c-header"], HEADER, PRECOMPILED),
            ],
            Compiler::Clang => vec![
                step(&["-E", "-dM"], HEADER, MACROS),
                step(&["-E"], HEADER, PREPROCESSED),
                step(&["-undef", "-x", "c-header"], PREPROCESSED, DECLARATIONS),
            ],
        }
    }

    /// The file that lists the macros of its headers and of the compiler.
    pub(super) fn macros(&self) -> PathBuf {
        self.folder.join(MACROS)
    }

    /// The arguments that preprocess a source with the prelude.
    pub(super) fn preprocessing(&self) -> Vec<String> {
        let (flag, file) = match self.compiler {
            Compiler::Gcc => ("-include", HEADER),
            Compiler::Clang => ("-imacros", MACROS),
        };
        let file = self.folder.join(file).display().to_string();
        let mut arguments = vec![flag.to_owned(), file, "-E".to_owned()];
        if self.compiler == Compiler::Gcc {
            arguments.push("-fpch-preprocess".to_owned());
        }
        arguments
    }

    /// The arguments that compile what was preprocessed, and expand nothing in it.
    pub(super) fn compiling(&self) -> Vec<String> {
        match self.compiler {
            Compiler::Gcc => vec!["-fpreprocessed".to_owned()],
            Compiler::Clang => {
                let declarations = self.folder.join(DECLARATIONS).display().to_string();
                ["-include-pch", &declarations, "-undef"]
                    .into_iter()
                    .flat_map(|word| ["-Xclang".to_owned(), word.to_owned()])
                    .collect()
            }
        }
    }

    /// The line of preprocessed text by which a compiler loads the prelude, if it does so.
    pub(super) fn loading(&self) -> Option<String> {
        let file = self.folder.join(PRECOMPILED);
        (self.compiler == Compiler::Gcc)
            .then(|| format!("#pragma GCC {LOADS} \"{}\"", file.display()))
    }

    /// Written beside its final place and moved there, so that two benches can do it at once, of
    /// one program or of two.
    fn build(
        &self,
        toolchain: &Toolchain,
        flags: &[&str],
        steps: &[Step],
    ) -> Result<(), BenchError> {
        fs_err::create_dir_all(&self.folder).map_err(|error| failed(&error))?;
        let partial = self.folder.join(format!(".prelude.{}", own_end()));
        fs_err::write(&partial, PRELUDE).map_err(|error| failed(&error))?;
        fs_err::rename(&partial, self.folder.join(HEADER)).map_err(|error| failed(&error))?;
        for step in steps {
            let made = Command::new(&toolchain.path)
                .args(flags)
                .args(step.arguments)
                .arg(self.folder.join(step.input))
                .arg("-o")
                .arg(&partial)
                .env("LC_ALL", "C")
                .stdin(Stdio::null())
                .output()
                .map_err(|error| failed(&error))?;
            if !made.status.success() {
                drop(std::fs::remove_file(&partial));
                let said = String::from_utf8_lossy(&made.stderr).into_owned();
                return Err(BenchError::machine(format!(
                    "the prelude does not compile:\n{}",
                    shorten(&said)
                ))
                .hint(remedy(&said)));
            }
            fs_err::rename(&partial, self.folder.join(step.output))
                .map_err(|error| failed(&error))?;
        }
        Ok(())
    }
}

/// One run of the compiler that makes a form of the prelude.
struct Step {
    arguments: &'static [&'static str],
    input: &'static str,
    output: &'static str,
}

/// The pragma that loads a precompiled header.
pub(super) const LOADS: &str = "pch_preprocess";

fn failed(error: &std::io::Error) -> BenchError {
    let hint = sys::remedy(error, "free some space");
    BenchError::machine(format!("the precompiled prelude: {error}")).hint(hint)
}

/// The remedy for a prelude that does not compile. It is our own, so a message about the disk is
/// true.
fn remedy(said: &str) -> &'static str {
    let is_full = [NO_SPACE, "cannot write PCH file"]
        .iter()
        .any(|words| said.contains(words));
    if said.contains(FILE_LIMIT) {
        sys::RAISE
    } else if is_full {
        "free some space, or set HOTLOOP_CACHE to a folder where there is more"
    } else {
        "install the C library's headers (apt-get install -y libc6-dev)"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn benches_of_one_program_may_prepare_it_at_once() {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::at(folder.path());
        let toolchain = Toolchain::find(hotloop_flow::how::Compiler::Gcc, None).unwrap();
        let made = std::thread::scope(|scope| {
            let prepare =
                || Prelude::prepare(&toolchain, OptLevel::O0, &cache).map(|prelude| prelude.folder);
            let threads: Vec<_> = (0..3).map(|_| scope.spawn(prepare)).collect();
            threads
                .into_iter()
                .map(|thread| thread.join().unwrap())
                .collect::<Vec<_>>()
        });
        for made in made {
            let left = std::fs::read_dir(made.unwrap()).unwrap().count();
            assert_eq!(
                left, 3,
                "the header, its macros, its precompiled form, and nothing unfinished"
            );
        }
    }

    #[test]
    fn a_full_disk_is_not_a_missing_header() {
        assert!(remedy("prelude.h:12:9: fatal error: cannot write PCH file").contains("space"));
        assert!(
            remedy("error: while writing precompiled header: No space left on device")
                .contains("space")
        );
        assert!(
            remedy("prelude.h:1:10: fatal error: stdio.h: No such file or directory")
                .contains("libc6-dev")
        );
    }
}
