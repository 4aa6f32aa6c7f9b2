//! The words of a piece of CUDA: its names, without comments and literals.

/// A name in code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Word<'a> {
    pub(super) text: &'a str,
    /// Where it begins.
    pub(super) at: usize,
    /// Whether a parenthesis follows, so that it may be a call.
    pub(super) called: bool,
}

/// The text with comments, and the contents of literals, as spaces. Bytes keep their places.
pub(super) fn bare(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut out = bytes.to_vec();
    let mut at = 0;
    let blank = |out: &mut [u8], from: usize, to: usize| {
        for byte in &mut out[from..to] {
            if *byte != b'\n' {
                *byte = b' ';
            }
        }
    };
    while at < bytes.len() {
        let end = match (bytes[at], bytes.get(at + 1)) {
            (b'/', Some(b'/')) => bytes[at..]
                .iter()
                .position(|&byte| byte == b'\n')
                .map_or(bytes.len(), |length| at + length),
            (b'/', Some(b'*')) => text[at + 2..]
                .find("*/")
                .map_or(bytes.len(), |length| at + 2 + length + 2),
            (quote @ (b'"' | b'\''), _) => {
                let end = literal(bytes, at, quote);
                let closed = end > at + 1 && bytes[end - 1] == quote;
                blank(&mut out, at + 1, end - usize::from(closed));
                at = end;
                continue;
            }
            _ => {
                at += 1;
                continue;
            }
        };
        blank(&mut out, at, end);
        at = end;
    }
    // Only whole characters outside of literals and comments stay, and those inside become spaces.
    String::from_utf8(out).unwrap_or_default()
}

/// The place after a literal that begins at `at`. A line break ends one that was never closed.
fn literal(bytes: &[u8], at: usize, quote: u8) -> usize {
    let mut end = at + 1;
    while end < bytes.len() {
        match bytes[end] {
            b'\\' => end += 2,
            b'\n' => return end,
            byte if byte == quote => return end + 1,
            _ => end += 1,
        }
    }
    bytes.len()
}

/// The names in a text that has no comments ([`bare`]).
pub(super) fn words(bare: &str) -> Vec<Word<'_>> {
    let bytes = bare.as_bytes();
    let mut found = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        if bytes[at].is_ascii_digit() {
            // `0xff`, `1e5f` and `16u` hold no names.
            while at < bytes.len() && (bytes[at].is_ascii_alphanumeric() || bytes[at] == b'.') {
                at += 1;
            }
        } else if bytes[at].is_ascii_alphabetic() || bytes[at] == b'_' {
            let begin = at;
            while at < bytes.len() && (bytes[at].is_ascii_alphanumeric() || bytes[at] == b'_') {
                at += 1;
            }
            found.push(Word {
                text: &bare[begin..at],
                at: begin,
                called: bare[at..].trim_start().starts_with('('),
            });
        } else {
            at += 1;
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_literals_hold_no_names() {
        let text = "a /* b */ c(\"d \\\" e\") // f\n'g' 0x1f h2 é";
        let bare = bare(text);
        assert_eq!(bare.len(), text.len());
        let found: Vec<_> = words(&bare).iter().map(|word| word.text).collect();
        assert_eq!(found, ["a", "c", "h2"]);
        assert!(words(&bare)[1].called && !words(&bare)[0].called);
    }

    #[test]
    fn what_never_ends_is_read_to_its_end() {
        assert!(words(&bare("/* a")).is_empty());
        assert_eq!(words(&bare("\"a\nb")).len(), 1);
        assert!(words(&bare("'\\")).is_empty());
    }
}
