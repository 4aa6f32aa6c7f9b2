//! The names in a Rust file: those it imports and defines, and the paths it contains.

use std::collections::BTreeSet;

/// The names in a file.
#[derive(Default)]
pub(super) struct Source {
    pub(super) uses: Vec<Used>,
    /// Paths of at least two parts outside `use`.
    pub(super) paths: Vec<Vec<String>>,
    /// Names of items.
    pub(super) defined: BTreeSet<String>,
    /// All words outside `use`.
    pub(super) words: BTreeSet<String>,
}

pub(super) struct Used {
    pub(super) path: Vec<String>,
    /// Its name in this file.
    pub(super) name: String,
    pub(super) is_public: bool,
}

impl Source {
    pub(super) fn read(text: &str) -> Self {
        let tokens = without_tests(&tokens(text));
        let mut source = Self::default();
        let mut at = 0;
        let mut is_public = false;
        while at < tokens.len() {
            match tokens[at].as_str() {
                "use" => {
                    at = source.read_use(&tokens, at + 1, &[], is_public);
                }
                "fn" | "struct" | "enum" | "trait" | "type" | "const" | "static" | "union"
                | "macro_rules" | "mod" => {
                    let is_name =
                        |token: &&String| !["!", "mut", "unsafe", "fn"].contains(&token.as_str());
                    source
                        .defined
                        .extend(tokens[at + 1..].iter().find(is_name).cloned());
                }
                word if is_word(word) && tokens[at - 1..at] != ["::"] => {
                    let path = path_at(&tokens, at);
                    at += 2 * (path.len() - 1);
                    source.words.insert(path[0].clone());
                    if path.len() > 1 {
                        source.paths.push(path);
                    }
                }
                _ => {}
            }
            // `pub`, `pub(crate)`, `pub(super)` and `pub(in …)` come just before.
            is_public = match tokens.get(at).map(String::as_str) {
                Some("pub") => true,
                Some("(" | ")" | "crate" | "super" | "in" | "::") => is_public,
                Some(_) | None => false,
            };
            at += 1;
        }
        source
    }

    /// Reads one tree of a `use` and returns where it ends.
    fn read_use(
        &mut self,
        tokens: &[String],
        mut at: usize,
        before: &[String],
        is_public: bool,
    ) -> usize {
        let mut path = before.to_vec();
        loop {
            match tokens[at].as_str() {
                "{" => {
                    while tokens[at] != "}" {
                        at = self.read_use(tokens, at + 1, &path, is_public);
                    }
                    return at + 1;
                }
                "::" => {}
                "as" => {
                    let name = tokens[at + 1].clone();
                    self.uses.push(Used {
                        path,
                        name,
                        is_public,
                    });
                    return at + 2;
                }
                ";" | "," | "}" => {
                    if path.len() > before.len() {
                        if path.last().is_some_and(|last| last == "self") {
                            path.pop();
                        }
                        let name = path.last().cloned().unwrap_or_default();
                        self.uses.push(Used {
                            path,
                            name,
                            is_public,
                        });
                    }
                    return at;
                }
                word => path.push(word.to_owned()),
            }
            at += 1;
        }
    }
}

fn is_word(token: &str) -> bool {
    token.starts_with(|c: char| c.is_alphabetic() || c == '_')
}

/// The path that begins at a word.
fn path_at(tokens: &[String], at: usize) -> Vec<String> {
    let mut path = vec![tokens[at].clone()];
    let mut next = at + 1;
    while tokens.get(next).is_some_and(|token| token == "::")
        && tokens.get(next + 1).is_some_and(|token| is_word(token))
    {
        path.push(tokens[next + 1].clone());
        next += 2;
    }
    path
}

/// Words, `::` and single characters, without comments, strings, character literals and lifetimes.
fn tokens(text: &str) -> Vec<String> {
    let mut found = vec![String::new()];
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let length = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("/*") {
            rest.find("*/").map_or(rest.len(), |end| end + 2)
        } else if let Some(length) = literal(rest) {
            length
        } else if is_word(rest) {
            let end = |c: char| !c.is_alphanumeric() && c != '_';
            let length = rest.find(end).unwrap_or(rest.len());
            found.push(rest[..length].to_owned());
            length
        } else if rest.starts_with("::") {
            found.push("::".to_owned());
            2
        } else {
            if !first.is_whitespace() {
                found.push(first.to_string());
            }
            first.len_utf8()
        };
        rest = &rest[length..];
    }
    found
}

/// The length of the string, character or lifetime that `text` begins with.
fn literal(text: &str) -> Option<usize> {
    let bare = text.trim_start_matches(['b', 'c']);
    let prefix = text.len() - bare.len();
    if let Some(raw) = bare.strip_prefix('r').filter(|_| prefix < 2) {
        let signs = raw.len() - raw.trim_start_matches('#').len();
        if raw[signs..].starts_with('"') {
            let end = format!("\"{}", "#".repeat(signs));
            let start = prefix + 1 + signs + 1;
            return text[start..].find(&end).map(|at| start + at + end.len());
        }
    }
    let quote = bare
        .chars()
        .next()
        .filter(|c| prefix < 2 && ['"', '\''].contains(c))?;
    let inside = &bare[1..];
    let is_lifetime =
        quote == '\'' && !inside.starts_with('\\') && inside.chars().nth(1) != Some('\'');
    if is_lifetime {
        return Some(prefix + 1);
    }
    let mut escaped = false;
    for (at, c) in inside.char_indices() {
        if c == quote && !escaped {
            return Some(prefix + 1 + at + 1);
        }
        escaped = c == '\\' && !escaped;
    }
    None
}

/// The tokens of all items that are not only for tests.
fn without_tests(tokens: &[String]) -> Vec<String> {
    let mark = ["#", "[", "cfg", "(", "test", ")", "]"];
    let mut kept = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        if tokens[at..].iter().take(mark.len()).eq(mark.iter()) {
            // The item ends with its braces, or with a semicolon outside all braces.
            let mut depth = 0;
            at += mark.len();
            loop {
                match tokens.get(at).map(String::as_str) {
                    Some("{" | "(" | "[") => depth += 1,
                    Some(")" | "]" | "}") => depth -= 1,
                    Some(_) => {}
                    None => return kept,
                }
                let is_end = tokens[at] == "}" || tokens[at] == ";";
                at += 1;
                if depth == 0 && is_end {
                    break;
                }
            }
        } else {
            kept.push(tokens[at].clone());
            at += 1;
        }
    }
    kept
}
