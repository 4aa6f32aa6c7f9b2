//! Escape sequences of string and character literals.

/// Whether a literal contains escapes that are valid in a string but not in the operand of
/// `_Pragma`.
pub(super) fn has_other_escapes(written: &str) -> bool {
    let mut bytes = written.bytes();
    while let Some(byte) = bytes.next() {
        if byte == b'\\' && !matches!(bytes.next(), Some(b'"' | b'\\')) {
            return true;
        }
    }
    false
}

/// Resolves the escapes of a literal: `"\x78mm0"` is `xmm0` to an assembler.
pub(super) fn decode(content: &str) -> String {
    let mut decoded = String::with_capacity(content.len());
    let mut chars = content.chars().peekable();
    while let Some(letter) = chars.next() {
        if letter != '\\' {
            decoded.push(letter);
            continue;
        }
        let Some(escape) = chars.next() else { break };
        let (radix, most, mut value) = match escape {
            'x' => (16, usize::MAX, 0),
            'u' => (16, 4, 0),
            'U' => (16, 8, 0),
            '0'..='7' => (8, 2, escape.to_digit(8).unwrap_or(0)),
            // For an assembler these end a statement, and the others are blanks.
            'n' | 'r' => {
                decoded.push('\n');
                continue;
            }
            't' | 'v' | 'f' => {
                decoded.push(' ');
                continue;
            }
            other => {
                decoded.push(other);
                continue;
            }
        };
        let mut taken = 0;
        while let Some(digit) = chars
            .peek()
            .filter(|_| taken < most)
            .and_then(|letter| letter.to_digit(radix))
        {
            value = (value & 0x00ff_ffff) * radix + digit;
            taken += 1;
            chars.next();
        }
        decoded.push(char::from_u32(value).unwrap_or('\u{fffd}'));
    }
    decoded
}
