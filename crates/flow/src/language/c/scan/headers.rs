//! What a source's macros can do to the headers that it includes.
//!
//! A macro that a header expands puts a source's own words into the header's text, where
//! nobody would look for them: `#define __BEGIN_DECLS _Pragma("...")` before an include.

use std::fmt::Write;

use super::marker;
use crate::language::c::lex::{Item, Lexed, Token, TokenKind};

/// Whether a macro stands before an include whose header could expand it. Numbers and
/// nothing at all are harmless: `#define _GNU_SOURCE`, `#define N 256`.
pub fn may_change_headers(lexed: &Lexed<'_>) -> bool {
    let is_harmless = |body: &[Token<'_>]| match body {
        [_name] => true,
        [_name, value] => value.kind == TokenKind::Number,
        _ => false,
    };
    let mut changed = false;
    for item in &lexed.items {
        let Item::Directive(directive) = item else {
            continue;
        };
        match directive.name.as_ref() {
            "define" => changed |= !is_harmless(&directive.body),
            "undef" => changed = true,
            "include" | "include_next" | "import" if changed => return true,
            _ => {}
        }
    }
    false
}

/// The headers that a source names, as a source of their own.
pub fn headers_alone(lexed: &Lexed<'_>) -> String {
    let mut text = String::new();
    for item in &lexed.items {
        if let Item::Directive(directive) = item
            && matches!(
                directive.name.as_ref(),
                "include" | "include_next" | "import"
            )
            && let Some(header) = &directive.header
        {
            // Those of dead branches may not exist.
            writeln!(
                text,
                "#if __has_include(<{header}>)\n#include <{header}>\n#endif"
            )
            .expect("a string takes all");
        }
    }
    text
}

/// The lines of the compiler's `-E` output that are the source's own: those of `file_name`, and
/// those of headers that are not `known`. Line markers stay true for the former.
pub fn own_text(text: &str, file_name: &str, known: impl Fn(&str) -> bool) -> String {
    let mut own = String::new();
    let mut ours = true;
    for line in text.split_inclusive('\n') {
        if let Some((number, file)) = marker(line) {
            ours = file == file_name || file == "<stdin>";
            if ours {
                writeln!(own, "# {number} \"{file_name}\"").expect("a string takes all");
            }
        } else if ours || (!line.trim().is_empty() && !known(line)) {
            own.push_str(line);
        }
    }
    own
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::language::c::lex::lex;

    #[test]
    fn macros_before_headers_may_change_them() {
        for source in [
            "#define __BEGIN_DECLS x\n#include <pthread.h>\n",
            "#define F(x)\n#include <stdio.h>\n",
            "#undef __THROW\n#include <stdio.h>\n",
        ] {
            assert!(may_change_headers(&lex(source)), "{source}");
        }
        for source in [
            "#define _GNU_SOURCE\n#define _POSIX_C_SOURCE 200809L\n#include <stdio.h>\n",
            "#include <stdio.h>\n#define MIN(a, b) a\n",
            "#define MIN(a, b) a\n",
        ] {
            assert!(!may_change_headers(&lex(source)), "{source}");
        }
    }

    #[test]
    fn what_a_header_says_only_here_is_the_sources_own() {
        let text = "# 1 \"a.h\" 1\nint a;\nint hooked;\n# 3 \"candidate.c\" 2\nint b;\n # 1 \"a.h\"\nint c;\n";
        assert_eq!(
            own_text(text, "candidate.c", |line| line == "int a;\n"),
            "int hooked;\n# 3 \"candidate.c\"\nint b;\n # 1 \"a.h\"\nint c;\n"
        );
        assert_eq!(
            own_text(text, "candidate.c", |_| true),
            "# 3 \"candidate.c\"\nint b;\n # 1 \"a.h\"\nint c;\n",
            "only a compiler's markers are believed"
        );
    }

    #[test]
    fn headers_stand_alone() {
        let source = "#define X y\n#include <a.h>\nint x;\n#include \"b.h\"\n";
        let alone = headers_alone(&lex(source));
        assert_eq!(
            alone,
            "#if __has_include(<a.h>)\n#include <a.h>\n#endif\n#if __has_include(<b.h>)\n#include <b.h>\n#endif\n"
        );
    }
}
