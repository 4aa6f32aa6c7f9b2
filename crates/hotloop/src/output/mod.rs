//! Output for users and programs: text on standard output, complaints on standard error.

pub(crate) mod json;
pub(crate) mod table;

use std::borrow::Cow;
use std::io::{self, IsTerminal, Write};
use std::sync::OnceLock;

pub(crate) use hotloop_flow::count;

/// Why standard output could not be written, the first time.
static LOST: OnceLock<io::Error> = OnceLock::new();

/// Removes control characters from text for a terminal, because the output of models, endpoints and
/// file names may contain commands to it. Programs get the unchanged text.
fn shown(text: &str, terminal: bool) -> Cow<'_, str> {
    let commands = |letter: char| letter.is_control() && letter != '\n' && letter != '\t';
    if terminal && text.contains(commands) {
        text.replace(commands, "\u{fffd}").into()
    } else {
        text.into()
    }
}

/// Writes lines to standard output at once. Returns false if the reader is gone or the lines cannot
/// be written.
pub(crate) fn say(text: &str) -> bool {
    let mut out = io::stdout().lock();
    let text = shown(text, out.is_terminal());
    let written = out.write_all(text.as_bytes());
    ended(out, written)
}

/// Ends a line of standard output. Returns false if it was not written.
fn ended(mut out: impl Write, written: io::Result<()>) -> bool {
    let written = written
        .and_then(|()| out.write_all(b"\n"))
        .and_then(|()| out.flush());
    let Err(error) = written else { return true };
    // A closed pipe is no error, because its reader has enough. A full disk is one, because it
    // truncates the output.
    if error.kind() != io::ErrorKind::BrokenPipe {
        drop(LOST.set(error));
    }
    false
}

/// Why output was lost.
pub(crate) fn lost() -> Option<&'static io::Error> {
    LOST.get()
}

/// The separator between the parts of a step's line (`hotloop_run::report::text`), where the line
/// may wrap.
const BREAK: &str = "  |  ";
/// As wide as the number of a step.
const INDENT: &str = "           ";

/// A line of parts, wrapped for this terminal. If it is too narrow, parts go to rows below the
/// first.
pub(crate) fn folded(line: &str) -> String {
    let width =
        terminal_size::terminal_size_of(io::stdout()).map(|(width, _)| usize::from(width.0));
    fold(line, width)
}

fn fold(line: &str, width: Option<usize>) -> String {
    let mut rows: Vec<String> = Vec::new();
    for part in line.split(BREAK) {
        match rows.last_mut() {
            Some(row)
                if width.is_none_or(|width| {
                    (row.chars().count() + BREAK.len() + part.chars().count()) <= width
                }) =>
            {
                row.extend([BREAK, part]);
            }
            Some(_) => rows.push(format!("{INDENT}{part}")),
            None => rows.push(part.to_owned()),
        }
    }
    rows.join("\n")
}

/// Writes a line to standard error. A failure to do so cannot be reported.
pub(crate) fn complain(text: &str) {
    let mut out = io::stderr().lock();
    let text = shown(text, out.is_terminal());
    drop(
        out.write_all(text.as_bytes())
            .and_then(|()| out.write_all(b"\n")),
    );
}

/// Writes a value as one line of JSON. A program gets it in pieces, because a value may be much
/// larger than memory has room for its text.
pub(crate) fn say_json(value: &impl serde::Serialize) -> bool {
    const KEYS: &str = "what we print has no maps with odd keys";
    if io::stdout().is_terminal() {
        return say(&serde_json::to_string(value).expect(KEYS));
    }
    let mut out = io::BufWriter::new(io::stdout().lock());
    let written = serde_json::to_writer(&mut out, value).map_err(|error| {
        assert!(error.is_io(), "{KEYS}");
        io::Error::from(error)
    });
    ended(out, written)
}

pub(crate) fn percent(share: f64) -> String {
    let percent = share * 100.0;
    if percent < 9.95 {
        format!("{percent:.1} %")
    } else {
        format!("{percent:.0} %")
    }
}

/// Seconds, in the unit that reads best.
pub(crate) fn seconds(seconds: f64) -> String {
    match seconds {
        s if s < 1e-3 => format!("{:.1} us", s * 1e6),
        s if s < 1.0 => format!("{:.2} ms", s * 1e3),
        s => format!("{s:.2} s"),
    }
}

/// A number with about three significant digits.
pub(crate) fn number(value: f64) -> String {
    match value.abs() {
        v if v < 0.995 => format!("{value:.3}"),
        v if v < 9.995 => format!("{value:.2}"),
        v if v < 999.5 => format!("{value:.1}"),
        _ => format!("{value:.0}"),
    }
}

/// Bytes with a unit that fits.
pub(crate) fn bytes(count: u64) -> String {
    match count as f64 {
        few if few < 1e6 => format!("{} kB", number(few / 1e3)),
        some if some < 1e9 => format!("{} MB", number(some / 1e6)),
        many => format!("{} GB", number(many / 1e9)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_that_does_not_fit_wraps_between_its_parts() {
        let line = "step    1  reward 1.00  |  correct 80 %  |  sampling 1.0 s";
        assert_eq!(fold(line, None), line);
        assert_eq!(fold(line, Some(line.len())), line);
        let narrow = "step    1  reward 1.00  |  correct 80 %\n           sampling 1.0 s";
        assert_eq!(fold(line, Some(45)), narrow);
        assert_eq!(
            fold(line, Some(10)).lines().count(),
            3,
            "a part is never cut"
        );
        assert_eq!(fold("alone", Some(2)), "alone");
    }

    #[test]
    fn terminals_get_no_control_characters_and_programs_get_everything() {
        let text = "a\tb\n\u{1b}[2J\u{9b}31mred\u{7}";
        assert_eq!(shown(text, true), "a\tb\n\u{fffd}[2J\u{fffd}31mred\u{fffd}");
        assert_eq!(shown(text, false), text);
    }
}
