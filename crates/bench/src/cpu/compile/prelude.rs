//! The headers that every candidate starts with, and their precompiled form.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use hotloop_flow::BenchError;
use hotloop_flow::how::OptLevel;

use crate::cache::{Cache, own_end};
use crate::cpu::compile::diagnostics::{FILE_LIMIT, NO_SPACE, shorten};
use crate::cpu::toolchain::Toolchain;
use crate::sys;

/// Changes whenever what is compiled, or how, changes meaning.
pub(super) const VERSION: &str = "8";

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

/// Which word is guarded and was used, and what to do about it, if that is what a compiler complains of.
pub(super) fn guarded(diagnostics: &str) -> Option<String> {
    let complaint = diagnostics.lines().find(|line| line.contains("poisoned"))?;
    // gcc names the word; clang shows it below, in a line that is not kept.
    let named = ["`__optimize__`", "`optimize`"]
        .into_iter()
        .find(|word| complaint.contains(&word.replace('`', "\"")));
    let word = named.or_else(|| {
        complaint
            .contains("use a poisoned identifier")
            .then_some("`optimize` or `__optimize__`")
    })?;
    let place = complaint
        .strip_prefix("candidate.c:")
        .and_then(|rest| rest.split(':').next()?.parse::<u32>().ok());
    let line = place
        .map(|line| format!("line {line}: "))
        .unwrap_or_default();
    Some(format!(
        "{line}{word} may stand in no directive and no attribute; give what is called so another name"
    ))
}

/// The prelude's header, and its precompiled form beside it.
pub(super) struct Prelude {
    pub(super) folder: PathBuf,
    /// For clang, which wants the precompiled file itself.
    pub(super) precompiled: Option<PathBuf>,
}

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
        for part in [
            VERSION,
            PRELUDE,
            GUARD,
            &toolchain.identity,
            &flags.join(" "),
        ] {
            hasher.update(part.as_bytes());
        }
        let key = &hasher.finalize().to_hex()[..16];
        let folder = cache.path(&format!("prelude-{key}"));
        let is_clang = toolchain.compiler == hotloop_flow::how::Compiler::Clang;
        let output = folder.join(if is_clang {
            "prelude.pch"
        } else {
            "prelude.h.gch"
        });
        if !output.exists() {
            build_prelude(toolchain, &flags, &folder, &output)?;
        }
        Ok(Self {
            folder,
            precompiled: is_clang.then_some(output),
        })
    }
}

/// Written beside its final place and moved there, so that two benches can do it at once, of one program or of two.
fn build_prelude(
    toolchain: &Toolchain,
    flags: &[&str],
    folder: &Path,
    output: &Path,
) -> Result<(), BenchError> {
    let failed = |error: std::io::Error| {
        let hint = sys::remedy(&error, "free some space");
        BenchError::machine(format!("the precompiled prelude: {error}")).hint(hint)
    };
    fs_err::create_dir_all(folder).map_err(failed)?;
    let header = folder.join("prelude.h");
    for (file, text) in [
        (folder.join(SCREENED), PRELUDE.to_owned()),
        (header.clone(), format!("{PRELUDE}{GUARD}")),
    ] {
        if !file.exists() {
            let partial = folder.join(format!(".prelude.{}", own_end()));
            fs_err::write(&partial, text).map_err(failed)?;
            fs_err::rename(&partial, &file).map_err(failed)?;
        }
    }
    let partial = folder.join(format!(".precompiled.{}", own_end()));
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
        return Err(BenchError::machine(format!(
            "the prelude does not compile:\n{}",
            shorten(&said)
        ))
        .hint(remedy(&said)));
    }
    fs_err::rename(&partial, output).map_err(failed)
}

/// What mends a prelude that does not compile. It is our own, so what is said of the disk is true.
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
                "two headers, one of them also precompiled, and nothing unfinished"
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

    #[test]
    fn a_guarded_word_is_named_with_its_line_and_a_remedy() {
        let what =
            "may stand in no directive and no attribute; give what is called so another name";
        let gcc = "candidate.c:1:3: error: attempt to use poisoned \"optimize\"";
        assert_eq!(guarded(gcc), Some(format!("line 1: `optimize` {what}")));
        let reserved = "error: attempt to use poisoned \"__optimize__\"";
        assert_eq!(guarded(reserved), Some(format!("`__optimize__` {what}")));
        let clang = "candidate.c:12:3: error: attempt to use a poisoned identifier";
        assert_eq!(
            guarded(clang),
            Some(format!("line 12: `optimize` or `__optimize__` {what}"))
        );
        assert_eq!(guarded("error: expected ';' before \"optimize\""), None);
        assert_eq!(
            guarded("candidate.c:1:2: error: #error poisoned \"well\""),
            None
        );
    }
}
