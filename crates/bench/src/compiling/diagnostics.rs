//! What compilers print, and what it means.

use hotloop_flow::{BenchError, Remedy};

/// The compiler driver's message if one of its programs exceeded the file size limit. It is trusted
/// only for trusted code.
pub(crate) const FILE_LIMIT: &str = "File size limit exceeded";
/// A compiler's message if it could not start a process, whatever the limit was.
pub(crate) const NO_PROCESS: &str = "Resource temporarily unavailable";
/// The usual message for a full disk.
pub(crate) const NO_SPACE: &str = "No space left on device";
/// Maximum number of characters of diagnostics in a verdict.
const DIAGNOSTICS: usize = 2000;

/// The error for a compiler that cannot start its processes, with the remedy.
pub(crate) fn no_process(said: &str) -> BenchError {
    BenchError::machine(format!(
        "the compiler cannot start its processes: {}",
        said.trim()
    ))
    .hint(
        "raise the limit on processes (ulimit -u, or the container's), or judge fewer \
            candidates at once",
    )
    .remedies(&[Remedy::Jobs])
}

/// The relevant lines, up to a limit: errors before notes, without paths of this machine.
pub(crate) fn shorten(text: &str) -> String {
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
