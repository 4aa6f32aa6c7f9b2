//! Templates of inline assembly.

/// A template with operands as the compiler writes it: of `{att|intel}` it takes the first, and
/// `%{`, `%|` and `%}` are the plain signs. Operands stay as they are.
pub fn written(template: &str) -> Option<String> {
    let mut out = String::with_capacity(template.len());
    // Which of the alternatives is being read, if any.
    let mut alternative = None;
    let mut rest = template.chars();
    while let Some(c) = rest.next() {
        match (c, alternative) {
            ('%', _) => {
                let sign = rest.next()?;
                if alternative.is_none_or(|at| at == 0) {
                    if !"{|}".contains(sign) {
                        out.push('%');
                    }
                    out.push(sign);
                }
            }
            ('{', None) => alternative = Some(0),
            ('|', Some(at)) => alternative = Some(at + 1),
            ('}', Some(_)) => alternative = None,
            ('{', Some(_)) | ('}', None) => return None,
            (c, None | Some(0)) => out.push(c),
            (_, Some(_)) => {}
        }
    }
    alternative.is_none().then_some(out)
}

/// Assembly without comments, as assemblers read it: `#` hides the rest of its line, `/*` in it
/// included. A quote would hide either. Other slashes begin a comment for some assemblers and not
/// for others, and arithmetic has no use for them.
pub fn without_comments(text: &str) -> Option<String> {
    if text.contains(|c: char| c.is_control() && !"\n\r\t".contains(c)) {
        return None;
    }
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(['#', '/', '\'', '"']) {
        plain.push_str(&rest[..at]);
        rest = &rest[at..];
        if rest.starts_with('#') {
            rest = &rest[rest.find(['\n', '\r']).unwrap_or(rest.len())..];
        } else {
            let inside = rest.strip_prefix("/*")?;
            plain.push(' ');
            rest = &inside[inside.find("*/")? + 2..];
        }
    }
    plain.push_str(rest);
    Some(plain)
}
