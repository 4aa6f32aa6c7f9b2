//! What users and programs read: text on standard output, complaints on standard error.

pub(crate) mod json;
pub(crate) mod table;

use std::io::Write;

/// Writes lines to standard output at once; false when nobody reads them any more.
pub(crate) fn say(text: &str) -> bool {
    let mut out = std::io::stdout().lock();
    out.write_all(text.as_bytes()).and_then(|()| out.write_all(b"\n")).and_then(|()| out.flush()).is_ok()
}

/// Writes a line to standard error. There is no one to tell when that fails.
pub(crate) fn complain(text: &str) {
    let mut out = std::io::stderr().lock();
    drop(out.write_all(text.as_bytes()).and_then(|()| out.write_all(b"\n")));
}

/// Writes a value as one line of JSON.
pub(crate) fn say_json(value: &impl serde::Serialize) -> bool {
    say(&serde_json::to_string(value).expect("what we print has no maps with odd keys"))
}

/// A share in percent.
pub(crate) fn percent(share: f64) -> String {
    let percent = share * 100.0;
    if percent < 9.95 { format!("{percent:.1} %") } else { format!("{percent:.0} %") }
}

/// Seconds, in the unit that reads best.
pub(crate) fn seconds(seconds: f64) -> String {
    match seconds {
        s if s < 1e-3 => format!("{:.1} us", s * 1e6),
        s if s < 1.0 => format!("{:.2} ms", s * 1e3),
        s => format!("{s:.2} s"),
    }
}

/// A number with about three digits that count.
pub(crate) fn number(value: f64) -> String {
    match value.abs() {
        v if v < 0.995 => format!("{value:.3}"),
        v if v < 9.995 => format!("{value:.2}"),
        v if v < 999.5 => format!("{value:.1}"),
        _ => format!("{value:.0}"),
    }
}

/// `1 file`, `2 files`.
pub(crate) fn count(number: usize, noun: &str) -> String {
    if number == 1 { format!("{number} {noun}") } else { format!("{number} {noun}s") }
}
