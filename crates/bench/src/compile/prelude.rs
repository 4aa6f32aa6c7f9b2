//! The headers that every candidate starts with, and their precompiled form.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use flow::BenchError;
use flow::bench::OptLevel;

use super::{VERSION, shorten};
use crate::cache::Cache;
use crate::toolchain::Toolchain;

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

/// Ends the prelude of what is compiled, but not of what is only preprocessed and screened: however these words are
/// hidden from the screen, the compiler takes none of them. Only the level under study counts.
const GUARD: &str = "#pragma GCC poison optimize __optimize__\n";

/// The header of what is preprocessed and screened.
pub(super) const SCREENED: &str = "headers.h";

/// What a compiler says of a word that is guarded.
pub(super) fn guarded_word(diagnostics: &str) -> Option<&'static str> {
    ["__optimize__", "optimize"].into_iter().find(|word| {
        // gcc's words, and clang's.
        diagnostics.contains(&format!("poisoned \"{word}\"")) || diagnostics.contains("use a poisoned identifier")
    })
}

/// The prelude's header, and its precompiled form beside it.
pub(super) struct Prelude {
    pub(super) folder: PathBuf,
    /// For clang, which wants the precompiled file itself.
    pub(super) precompiled: Option<PathBuf>,
}

impl Prelude {
    /// Made now if this machine has none yet.
    pub(super) fn prepare(toolchain: &Toolchain, level: OptLevel, cache: &Cache) -> Result<Self, BenchError> {
        let mut flags = vec![level.flag()];
        flags.extend(toolchain.flags());
        let mut hasher = blake3::Hasher::new();
        for part in [VERSION, PRELUDE, GUARD, &toolchain.identity, &flags.join(" ")] {
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
    for (file, text) in [(folder.join(SCREENED), PRELUDE.to_owned()), (header.clone(), format!("{PRELUDE}{GUARD}"))] {
        if !file.exists() {
            let partial = folder.join(format!(".prelude.{}", std::process::id()));
            fs_err::write(&partial, text).map_err(failed)?;
            fs_err::rename(&partial, &file).map_err(failed)?;
        }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_guarded_word_is_known_by_what_compilers_say_of_it() {
        assert_eq!(guarded_word("candidate.c:1:3: error: attempt to use poisoned \"optimize\""), Some("optimize"));
        assert_eq!(guarded_word("error: attempt to use poisoned \"__optimize__\""), Some("__optimize__"));
        assert!(guarded_word("candidate.c:1:3: error: attempt to use a poisoned identifier").is_some());
        assert_eq!(guarded_word("error: expected ';' before \"optimize\""), None);
    }
}
