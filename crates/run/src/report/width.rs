//! Estimates how wide a text is on the sheet, from classes of letters. The exact width depends on
//! the page's font.

/// The width of a text at this size.
pub(super) fn width(text: &str, size: f64, bold: bool) -> f64 {
    let ems: f64 = text.chars().map(ems).sum();
    ems * size * if bold { 1.08 } else { 1.0 }
}

/// A letter's advance in common sans-serif fonts, as a fraction of the font's size.
fn ems(letter: char) -> f64 {
    match letter {
        'f' | 'i' | 'j' | 'l' | 'I' | ' ' | '!' | '.' | ',' | ':' | ';' | '\'' | '|' => 0.3,
        'r' | 't' | '(' | ')' | '[' | ']' | '{' | '}' | '-' | '/' | '"' | '`' => 0.4,
        'm' | 'w' | 'M' | 'W' | '%' | '@' | '…' => 0.9,
        'A'..='Z' => 0.68,
        // Letters of Asian scripts and pictures fill a square.
        '\u{1100}'.. => 1.0,
        _ => 0.58,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wider_letters_and_bold_ones_take_more_room() {
        assert!(width("ill", 12.0, false) < width("WMm", 12.0, false));
        assert!(width("reward", 12.0, false) < width("reward", 12.0, true));
        assert!((width("步", 12.0, false) - 12.0).abs() < 1e-9);
    }
}
