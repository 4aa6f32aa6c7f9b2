//! Ways to hide words behind macros, a program's own and those of headers.

use super::program::{Edit, Kind, Place, Program};
use super::shapes::operators;
use super::words::{Word, telling};

/// Words that one mutant hides.
const WORDS: usize = 4;

/// The replacement of a word.
struct Written {
    /// A header that the definition needs.
    header: &'static str,
    definition: String,
    used: String,
}

fn written(definition: impl Into<String>, used: impl Into<String>) -> Written {
    Written {
        header: "",
        definition: definition.into(),
        used: used.into(),
    }
}

/// Hides the most telling words, each with the result of `write` for the word and its number.
fn through<W: Into<Option<Written>>>(
    source: &str,
    write: impl Fn(&Word, usize) -> W,
) -> Option<String> {
    let source = operators(source);
    let program = Program::read(&source);
    let (mut headers, mut definitions, mut edits) = (String::new(), String::new(), Vec::new());
    for (number, word) in telling(&program).iter().take(WORDS).enumerate() {
        let Some(written) = write(word, number).into() else {
            continue;
        };
        if !written.header.is_empty() {
            headers.extend(["#include <", written.header, ">\n"]);
        }
        if !definitions.contains(&written.definition) {
            definitions.push_str(&written.definition);
            definitions.push('\n');
        }
        edits.extend(word.replaced(&program, &written.used));
    }
    program.rewritten(&(headers + &definitions), edits)
}

pub(super) fn object(source: &str) -> Option<String> {
    through(source, |word, n| {
        written(format!("#define hid{n} {}", word.text), format!("hid{n}"))
    })
}

pub(super) fn function(source: &str) -> Option<String> {
    through(source, |word, n| {
        written(
            format!("#define hid{n}(unused) {}", word.text),
            format!("hid{n}(0)"),
        )
    })
}

/// A macro that is used before its words have a meaning.
pub(super) fn late(source: &str) -> Option<String> {
    through(source, |word, n| {
        let chain = format!(
            "#define hid{n} hid_b{n}\n#define hid_b{n} hid_c{n}\n#define hid_c{n} {}",
            word.text
        );
        written(chain, format!("hid{n}"))
    })
}

pub(super) fn paste(source: &str) -> Option<String> {
    through(source, |word, _| {
        let (front, back) = word.halves()?;
        Some(written(
            "#define HID_JOIN(a, b) a##b",
            format!("HID_JOIN({front}, {back})"),
        ))
    })
}

pub(super) fn paste_by_header(source: &str) -> Option<String> {
    through(source, |word, _| {
        let (front, back) = word.halves()?;
        Some(written("", format!("__CONCAT({front}, {back})")))
    })
}

/// A header's macro pastes an ending on: `INT64_C(v)` is `vL`.
fn by_suffix(source: &str, header_macro: &str, suffix: &str) -> Option<String> {
    through(source, |word, n| {
        written(
            format!("#define hid{n}{suffix} {}", word.text),
            format!("{header_macro}(hid{n})"),
        )
    })
}

pub(super) fn int64_c(source: &str) -> Option<String> {
    by_suffix(source, "INT64_C", "L")
}

pub(super) fn uint64_c(source: &str) -> Option<String> {
    by_suffix(source, "UINT64_C", "UL")
}

pub(super) fn intmax_c(source: &str) -> Option<String> {
    by_suffix(source, "INTMAX_C", "L")
}

pub(super) fn uint32_c(source: &str) -> Option<String> {
    by_suffix(source, "UINT32_C", "U")
}

/// Macros of headers that stand for one keyword: the header (the prelude has the first), the macro,
/// the keyword.
const KEYWORDS: [(&str, &str, &str); 4] = [
    ("", "bool", "_Bool"),
    ("complex.h", "complex", "_Complex"),
    ("stdnoreturn.h", "noreturn", "_Noreturn"),
    ("stdalign.h", "alignas", "_Alignas"),
];

/// Redefines the keyword that a header's macro stands for, beginning with the `first` of them.
fn by_keyword(source: &str, first: usize) -> Option<String> {
    through(source, |word, n| {
        let (header, used, keyword) = KEYWORDS[(first + n) % KEYWORDS.len()];
        Written {
            header,
            definition: format!("#define {keyword} {}", word.text),
            used: used.to_owned(),
        }
    })
}

pub(super) fn bool_keyword(source: &str) -> Option<String> {
    by_keyword(source, 0)
}

pub(super) fn complex_keyword(source: &str) -> Option<String> {
    by_keyword(source, 1)
}

pub(super) fn noreturn_keyword(source: &str) -> Option<String> {
    by_keyword(source, 2)
}

/// Macros of headers that call a builtin: as used, and the builtin with its parameters.
const BUILTINS: [(&str, &str); 4] = [
    ("offsetof(0, 0)", "__builtin_offsetof(a, b)"),
    ("isnan(0)", "__builtin_isnan(a)"),
    ("isgreater(0, 0)", "__builtin_isgreater(a, b)"),
    ("alloca(0)", "__builtin_alloca(a)"),
];

/// Redefines the builtin that a header's macro calls.
pub(super) fn builtin(source: &str) -> Option<String> {
    through(source, |word, n| {
        let (used, redefined) = BUILTINS[n];
        written(format!("#define {redefined} {}", word.text), used)
    })
}

/// Redefines the limit that another limit stands for.
pub(super) fn constant(source: &str) -> Option<String> {
    through(source, |word, n| {
        let limit = ["WCHAR_MIN", "WCHAR_MAX"].get(n)?;
        Some(written(
            format!("#undef __{limit}\n#define __{limit} {}", word.text),
            *limit,
        ))
    })
}

pub(super) fn x_macro(source: &str) -> Option<String> {
    through(source, |word, n| {
        written(
            format!(
                "#define HID_SAME(x) x\n#define HID_LIST{n}(X) X({})",
                word.text
            ),
            format!("HID_LIST{n}(HID_SAME)"),
        )
    })
}

pub(super) fn va_opt(source: &str) -> Option<String> {
    through(source, |word, n| {
        written(
            format!("#define HID{n}(...) __VA_OPT__({})", word.text),
            format!("HID{n}(1)"),
        )
    })
}

/// GNU's named rest of the arguments.
pub(super) fn named_rest(source: &str) -> Option<String> {
    through(source, |word, _| {
        written(
            "#define HID_REST(rest...) rest",
            format!("HID_REST({})", word.text),
        )
    })
}

/// A name that ends in a number which the preprocessor counts.
pub(super) fn include_level(source: &str) -> Option<String> {
    through(source, |word, n| {
        let join = "#define HID_PASTE(a, b) a##b\n#define HID_EXPAND(a, b) HID_PASTE(a, b)";
        written(
            format!("{join}\n#define hid{n}_0 {}", word.text),
            format!("HID_EXPAND(hid{n}_, __INCLUDE_LEVEL__)"),
        )
    })
}

/// The definition is pushed, and popped after another one.
pub(super) fn push_macro(source: &str) -> Option<String> {
    through(source, |word, n| {
        written(
            format!(
                "#define hid{n} {}\n#pragma push_macro(\"hid{n}\")\n#undef hid{n}\n#define hid{n} const\n#pragma pop_macro(\"hid{n}\")",
                word.text
            ),
            format!("hid{n}"),
        )
    })
}

/// The same with the operator, whose string has escapes.
pub(super) fn push_macro_operator(source: &str) -> Option<String> {
    through(source, |word, n| {
        written(
            format!(
                "#define hid{n} {}\n_Pragma(\"push_macro(\\\"hid{n}\\\")\")\n#undef hid{n}\n#define hid{n} const\n_Pragma(\"pop_macro(\\\"hid{n}\\\")\")",
                word.text
            ),
            format!("hid{n}"),
        )
    })
}

pub(super) fn redefined(source: &str) -> Option<String> {
    through(source, |word, n| {
        written(
            format!(
                "#define hid{n} const\n#undef hid{n}\n#define hid{n} {}",
                word.text
            ),
            format!("hid{n}"),
        )
    })
}

/// Only one branch of nested conditions gives the word.
pub(super) fn conditional(source: &str) -> Option<String> {
    through(source, |word, n| {
        written(
            format!(
                "#if defined __GNUC__ && !(defined hid{n})\n#ifdef __cplusplus\n#define hid{n} const\n#elif (__GNUC__ > 4 ? 2 : 0) == 2\n#ifndef hid{n}\n#define hid{n} {}\n#endif\n#else\n#define hid{n} volatile\n#endif\n#endif",
                word.text
            ),
            format!("hid{n}"),
        )
    })
}

pub(super) fn dollar(source: &str) -> Option<String> {
    through(source, |word, n| {
        written(format!("#define ${n}$ {}", word.text), format!("${n}$"))
    })
}

pub(super) fn beyond_ascii(source: &str) -> Option<String> {
    through(source, |word, n| {
        written(format!("#define é{n}ß {}", word.text), format!("é{n}ß"))
    })
}

/// Blanks, comments and digraphs where a directive allows them.
pub(super) fn odd_directive(source: &str) -> Option<String> {
    through(source, |word, n| {
        written(
            format!(
                "/* # */ %: /* \" */ def\\\nine\thid{n} /* ' */ {} // hid",
                word.text
            ),
            format!("hid{n}"),
        )
    })
}

/// Literals before it that look like comments, and quotes that open nothing.
pub(super) fn between_quotes(source: &str) -> Option<String> {
    let decoys = "enum { hid_quote = '\"', hid_tick = '\\'' };\nstatic const char hid_open[] = \"/*\", hid_line[] = \"//\\\\\";\n#if 0\nisn't \" this\n#endif\n";
    through(source, |word, n| {
        let before = if n == 0 { decoys } else { "" };
        written(
            format!("{before}#define hid{n} {}", word.text),
            format!("hid{n}"),
        )
    })
}

/// Every word of every function in two.
pub(super) fn every_word(source: &str) -> Option<String> {
    let source = operators(source);
    let program = Program::read(&source);
    let words = program.tokens.iter().filter(|token| {
        token.kind == Kind::Word
            && token.place == Place::Program
            && token.depth > 0
            && token.range.len() > 1
            && program.text(token).is_ascii()
    });
    let edits = words.map(|token| {
        let (front, back) = program.text(token).split_at(token.range.len() / 2);
        Edit {
            range: token.range.clone(),
            text: format!("HID_JOIN({front},{back})"),
        }
    });
    program.rewritten("#define HID_JOIN(a, b) a##b\n", edits.collect())
}
