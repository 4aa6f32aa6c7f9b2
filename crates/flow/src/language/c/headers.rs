//! Separates a source's own part of a preprocessed text from that of its headers.
//!
//! A macro that a header expands puts a source's own words into the header's text, where nobody
//! would look for them: `#define __BEGIN_DECLS _Pragma("...")` before an include. So a header's
//! text is dropped only where it reads as it does without the source.

use std::fmt::Write;

use super::lex::{Item, Lexed};
use super::line_marker::marker;

/// The headers that a source includes, as a separate source.
pub fn headers_alone(lexed: &Lexed<'_>) -> String {
    let mut text = String::new();
    for item in &lexed.items {
        if let Item::Directive(directive) = item
            && directive.name == "include"
            && let Some(header) = &directive.header
            && is_plain(header)
        {
            // Headers in dead branches may not exist.
            writeln!(
                text,
                "#if __has_include(<{header}>)\n#include <{header}>\n#endif"
            )
            .expect("a string takes all");
        }
    }
    text
}

/// Whether a header's name has nothing but what names of headers have. One with the end of a line
/// in it, by an escape, would be text of its own wherever it is repeated.
pub fn is_plain(header: &str) -> bool {
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || b"_./+-".contains(&byte);
    header.bytes().all(fits)
}

/// The lines of the compiler's `-E` output that are the source's own: those of `file_name`, and
/// those declarations of headers that have a line which is not `known`. Line markers stay true for
/// the former. The flags of a marker say nothing: compilers mark what a header's macro gives as the
/// header's, in the midst of the source's own lines.
pub fn own_text(text: &str, file_name: &str, mut known: impl FnMut(&str) -> bool) -> String {
    let mut own = String::new();
    let mut ours = true;
    // A header's declaration so far, and whether all of it is known.
    let mut declaration = String::new();
    let mut plain = true;
    for line in text.split_inclusive('\n').chain([""]) {
        let marked = marker(line);
        let is_over = line.is_empty() || marked.as_ref().is_some_and(|(_, file)| file == file_name);
        let ends = !ours && marked.is_none() && line.trim_end().ends_with([';', '}']);
        if !ours && marked.is_none() {
            declaration.push_str(line);
            plain &= line.trim().is_empty() || known(line);
        }
        if is_over || ends {
            if !plain {
                own.push_str(&declaration);
            }
            declaration.clear();
            plain = true;
        }
        match marked {
            Some((number, file)) => {
                ours = file == file_name;
                if ours {
                    writeln!(own, "# {number} \"{file_name}\"").expect("a string takes all");
                }
            }
            None if ours => own.push_str(line),
            None => {}
        }
    }
    own
}

#[cfg(test)]
mod tests {
    use super::super::lex::lex;
    use super::*;

    #[test]
    fn what_a_header_says_only_here_is_the_sources_own() {
        let text = "# 1 \"a.h\" 1\nint a;\nint\nhooked;\n# 3 \"candidate.c\" 2\nint b;\n# 4 \"candidate.c\" 3\nint d;\n # 1 \"a.h\"\nint c;\n";
        let own =
            "# 3 \"candidate.c\"\nint b;\n# 4 \"candidate.c\"\nint d;\n # 1 \"a.h\"\nint c;\n";
        assert_eq!(
            own_text(text, "candidate.c", |line| line != "hooked;\n"),
            format!("int\nhooked;\n{own}"),
            "with what stands around it"
        );
        assert_eq!(
            own_text(text, "candidate.c", |_| true),
            own,
            "only a compiler's markers are believed, and not their flags"
        );
    }

    #[test]
    fn what_a_header_does_not_end_is_not_lost() {
        let text = "# 1 \"a.h\" 1\nhooked\n# 3 \"candidate.c\" 2\nint b;\n# 1 \"a.h\"\nint a";
        assert_eq!(
            own_text(text, "candidate.c", |line| line == "int a"),
            "hooked\n# 3 \"candidate.c\"\nint b;\n"
        );
    }

    #[test]
    fn headers_stand_alone() {
        let source = "#define X y\n#include <a.h>\nint x;\n#include \"b.h\"\n";
        let alone = headers_alone(&lex(source));
        let escaped = "#include \"a.h>)\\nint hooked;\\n#endif\\n/*\"\n";
        assert_eq!(headers_alone(&lex(escaped)), "");
        assert_eq!(
            alone,
            "#if __has_include(<a.h>)\n#include <a.h>\n#endif\n#if __has_include(<b.h>)\n#include <b.h>\n#endif\n"
        );
    }
}
