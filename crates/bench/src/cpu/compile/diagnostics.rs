//! What compilers print, and what it means.

use hotloop_flow::{BenchError, Remedy};

/// What a compiler's driver says of a program of its own that wrote a file beyond the limit. Only believed of trusted code.
pub(super) const FILE_LIMIT: &str = "File size limit exceeded";
/// How a compiler says that it could not start a process, whoever's limit that was.
pub(super) const NO_PROCESS: &str = "Resource temporarily unavailable";
/// How everything says that a disk is full.
pub(super) const NO_SPACE: &str = "No space left on device";
/// Characters of diagnostics that a verdict keeps.
const DIAGNOSTICS: usize = 2000;

/// A compiler that cannot start its processes, with the remedy.
pub(super) fn no_process(said: &str) -> BenchError {
    BenchError::machine(format!("the compiler cannot start its processes: {}", said.trim()))
        .hint("raise the limit on processes (ulimit -u, or the container's), or judge fewer candidates at once")
        .remedies(&[Remedy::Jobs])
}

/// The lines that matter, up to a limit: errors before notes, no paths of this machine.
pub(super) fn shorten(text: &str) -> String {
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
