//! Recognises sources that preprocessing leaves unchanged, which saves a process.
//!
//! This is safe. The resulting text is screened and compiled like any other, and a compiler expands
//! nothing in it. If a macro were missed, the source would not compile.

use std::collections::HashSet;
use std::path::Path;

use hotloop_flow::language::c::lex::{self, Directive, Item, Token, TokenKind};

use crate::cpu::compile::prelude::PRELUDE;

/// Names that preprocessors replace without listing them.
const UNLISTED: [&str; 8] = [
    "__BASE_FILE__",
    "__COUNTER__",
    "__DATE__",
    "__FILE__",
    "__INCLUDE_LEVEL__",
    "__LINE__",
    "__TIME__",
    "__TIMESTAMP__",
];

/// The macros that every candidate starts with.
pub(super) struct Macros(HashSet<String>);

impl Macros {
    /// Reads a compiler's list of macros; empty if it cannot be read.
    pub(super) fn read(file: &Path) -> Option<Self> {
        let text = std::fs::read_to_string(file).ok()?;
        let names = text.lines().filter_map(|line| {
            let name = line.strip_prefix("#define ")?;
            name.split([' ', '(']).next().map(str::to_owned)
        });
        Some(Self(names.collect()))
    }

    fn replaces(&self, token: &Token<'_>) -> bool {
        let name = token.text.as_ref();
        token.kind == TokenKind::Ident
            && (self.0.contains(name) || UNLISTED.contains(&name) || name.starts_with("__has_"))
    }

    /// The source without the includes of the prelude's headers, if that is all that
    /// preprocessing would do to it.
    pub(super) fn preprocessed(&self, source: &str) -> Option<String> {
        // Joined lines, letters of other alphabets and pragmas within a line are left to those who
        // must know.
        let is_plain = source.is_ascii() && !source.contains(['\\', '\r', '\0']);
        // Comments stay in this text, and what looks like a line marker in one must not.
        if !is_plain || source.contains("_Pragma") || source.lines().any(looks_like_marker) {
            return None;
        }
        let mut text = String::with_capacity(source.len());
        let mut done = 0;
        for item in &lex::lex(source).items {
            match item {
                Item::Token(token) if self.replaces(token) => return None,
                Item::Token(_) => {}
                Item::Directive(directive) => {
                    // If directives are not what they seem, `#` appears elsewhere.
                    let before = source.get(done..directive.offset)?;
                    let start = before.rfind('\n').map_or(0, |at| at + 1);
                    if !before[start..].trim().is_empty() {
                        return None;
                    }
                    text.push_str(&before[..start]);
                    text.push_str(&self.line(directive, source)?);
                    done = directive.end;
                }
            }
        }
        text.push_str(source.get(done..)?);
        Some(text)
    }

    /// What remains of a directive after preprocessing.
    fn line(&self, directive: &Directive<'_>, source: &str) -> Option<String> {
        match (
            directive.name.as_ref(),
            &directive.header,
            directive.body.as_slice(),
        ) {
            ("include", Some(header), _) => {
                let line = format!("#include <{header}>");
                PRELUDE.lines().any(|known| known == line).then(String::new)
            }
            ("pragma", None, [first, ..]) => {
                let words = source.get(first.offset..directive.end)?;
                let plain = !words.contains('\n')
                    && !directive.body.iter().any(|token| self.replaces(token));
                plain.then(|| format!("#pragma {words}"))
            }
            _ => None,
        }
    }
}

fn looks_like_marker(line: &str) -> bool {
    let rest = line
        .trim_start()
        .strip_prefix('#')
        .map(|rest| rest.trim_start().trim_start_matches("line").trim_start());
    rest.is_some_and(|rest| rest.starts_with(|first: char| first.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn preprocessed(source: &str) -> Option<String> {
        Macros(["bool", "NULL"].map(String::from).into()).preprocessed(source)
    }

    #[test]
    fn a_source_without_macros_only_loses_its_includes() {
        let source = "// text\n#include <omp.h>\n # include \"math.h\"\nint a; /* b\n*/ int c;\n  %: pragma omp parallel for // d\nfor (;;) ;";
        assert_eq!(
            preprocessed(source).unwrap(),
            "// text\n\n\nint a; /* b\n*/ int c;\n#pragma omp parallel for // d\nfor (;;) ;"
        );
    }

    #[test]
    fn all_else_is_the_preprocessors() {
        for source in [
            "#define N 1\n",
            "#if 1\n#endif\n",
            "#undef bool\n",
            "#include <pthread.h>\n",
            "#include \"other.h\"\n",
            "int a = NULL;",
            "int a = __LINE__;",
            "_Pragma(\"omp parallel\") for (;;) ;",
            "#pragma omp parallel if(bool)\n",
            "#pragma omp parallel /* a\n */ for\n",
            "/* a */ #pragma omp parallel\n",
            "char *a = \"\\n\";",
            "int \u{e9};",
            "# 1 \"x.h\"\n",
            "/*\n# 7 \"candidate.c\"\n/*/\nint a;\n/**/\n",
            "/*\n# 7 \"candidate.c\"\n// */ int a;\n",
            "/*\n#line 7 \"candidate.c\"\n/*/\nint a;\n/**/\n",
            "#\n",
        ] {
            assert_eq!(preprocessed(source), None, "{source}");
        }
    }
}
