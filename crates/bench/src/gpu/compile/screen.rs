//! Refusals before compiling, from the text that is compiled and from the names that are looked up
//! in it.
//!
//! The PTX shows which instructions a text uses (see `ptx`). This module looks at everything that
//! never reaches the PTX, or reaches the compiler first: files, libraries, and directives that hide
//! the origin of a text.

use hotloop_flow::language::c::lex::{self, Dialect, Directive, Item, Lexed, Token, TokenKind};
use hotloop_flow::language::cuda;

use crate::gpu::compile::text::SOURCE;

/// The pragmas that change how code is generated, how structures are laid out or what is said about
/// it, and nothing else.
const PRAGMAS: [&str; 20] = [
    "GCC",
    "STDC",
    "clang",
    "diag_default",
    "diag_suppress",
    "diag_warning",
    "endregion",
    "ivdep",
    "message",
    "nounroll",
    "nv_diag_default",
    "nv_diag_suppress",
    "nv_diag_warning",
    "nv_exec_check_disable",
    "omp",
    "once",
    "pack",
    "region",
    "unroll",
    "warning",
];

/// What asks the compiler about the machine's files.
const ORACLES: [&str; 3] = ["__has_embed", "__has_include", "__has_include_next"];

/// How many names one text may be asked for, and how long one may be.
const NAMES: usize = 256;
const NAME_BYTES: usize = 2048;

/// The rule that a device half breaks, spelled as [`lex::respelled`] does.
pub(super) fn text(lexed: &Lexed<'_>) -> Option<String> {
    let mut program = Vec::new();
    for item in &lexed.items {
        match item {
            Item::Token(token) => program.push(token),
            Item::Directive(directive) => {
                if let Some(why) = refuse_directive(directive) {
                    return Some(format!("line {}: {why}", directive.line));
                }
            }
        }
    }
    let found = program
        .iter()
        .find(|token| is_oracle(token) || is_pragma(token))?;
    Some(format!(
        "line {}: `{}` is prohibited",
        found.line, found.text
    ))
}

fn is_oracle(token: &Token<'_>) -> bool {
    ORACLES.iter().any(|name| token.is_ident(name))
}

/// A `_Pragma` that the lexer could not read as the directive that it stands for.
fn is_pragma(token: &Token<'_>) -> bool {
    token.is_ident("_Pragma") || token.is_ident("__pragma")
}

fn refuse_directive(directive: &Directive<'_>) -> Option<String> {
    let body = &directive.body;
    if let Some(oracle) = body.iter().find(|token| is_oracle(token)) {
        return Some(format!("`{}` is prohibited", oracle.text));
    }
    if let Some(why) = refuse_operators(body) {
        return Some(why);
    }
    match directive.name.as_ref() {
        "include" => refuse_include(directive.header.as_deref()),
        "ident" | "sccs" | "line" | "include_next" | "import" | "embed" => {
            Some(format!("`#{}` is prohibited", directive.name))
        }
        "" if !body.is_empty() => Some("line markers are prohibited".into()),
        "pragma" => refuse_pragma(body),
        _ => None,
    }
}

fn refuse_include(header: Option<&str>) -> Option<String> {
    let Some(header) = header else {
        return Some("an include must name its header literally".into());
    };
    if cuda::is_library(header) || cuda::is_torch(header) {
        return Some(format!("the library header `{header}` is prohibited"));
    }
    let is_path = header.starts_with('/')
        || header.contains('\\')
        || header
            .split('/')
            .any(|part| matches!(part, "." | ".." | SOURCE));
    is_path.then(|| format!("an include of the path `{header}` is prohibited"))
}

/// A macro may stand for a `_Pragma` that is written out, and for no other.
fn refuse_operators(body: &[Token<'_>]) -> Option<String> {
    let at = |index: usize| body.get(index);
    (0..body.len())
        .filter(|index| is_pragma(&body[*index]))
        .find_map(|index| {
            let (open, text, close) = (at(index + 1), at(index + 2), at(index + 3));
            let is_written_out = open.is_some_and(|open| open.is_punct("("))
                && text.is_some_and(|text| text.kind == TokenKind::Str && !text.escaped)
                && close.is_some_and(|close| close.is_punct(")"));
            match text.filter(|_| is_written_out) {
                Some(text) => refuse_pragma(&tokens(&text.text)),
                None => Some(format!("this `{}` is not understood", body[index].text)),
            }
        })
}

fn tokens(text: &str) -> Vec<Token<'_>> {
    let items = lex::lex_in(text, Dialect::Cuda).items;
    let token = |item| match item {
        Item::Token(token) => Some(token),
        Item::Directive(_) => None,
    };
    items.into_iter().filter_map(token).collect()
}

fn refuse_pragma(body: &[Token<'_>]) -> Option<String> {
    let first = body.first()?;
    let second = body.get(1).map_or("", |token| token.text.as_ref());
    let is_known = PRAGMAS.contains(&first.text.as_ref());
    // GCC's pragmas mark system headers, load precompiled ones and include plugins.
    let is_plain = !matches!(first.text.as_ref(), "GCC" | "clang")
        || matches!(
            second,
            "unroll"
                | "ivdep"
                | "diagnostic"
                | "loop"
                | "optimize"
                | "push_options"
                | "pop_options"
        );
    (!is_known || !is_plain).then(|| {
        let second = if is_known {
            format!(" {second}")
        } else {
            String::new()
        };
        format!(
            "`#pragma {}{second}` is prohibited in device code",
            first.text
        )
    })
}

/// The rule that the names of kernels and variables break: NVRTC reads each behind a directive of
/// its own, so each must be one expression on one line.
pub(super) fn names(names: &[String]) -> Option<String> {
    if names.len() > NAMES {
        return Some(format!(
            "{} kernels and variables are more than {NAMES}",
            names.len()
        ));
    }
    names.iter().find_map(|name| {
        let why = refuse_name(name)?;
        let shown: String = name.chars().take(80).collect();
        Some(format!("`{shown}` names no kernel and no variable: {why}"))
    })
}

fn refuse_name(name: &str) -> Option<&'static str> {
    const OPERATORS: [&str; 27] = [
        "::", "<", ">", "<<", ">>", ",", "(", ")", "+", "-", "*", "/", "%", "&", "|", "^", "!",
        "~", "?", ":", "==", "!=", "<=", ">=", "&&", "||", ".",
    ];
    if name.len() > NAME_BYTES {
        return Some("it is too long");
    }
    let is_odd = |byte: u8| !matches!(byte, b' '..=b'~') || b"'$".contains(&byte);
    if name.bytes().any(is_odd) {
        return Some("it holds an odd character");
    }
    if name.contains("//") || name.contains("/*") {
        return Some("it holds a comment");
    }
    let mut depth = 0_i32;
    let mut tokens = 0;
    for item in lex::lex_in(name, Dialect::Cuda).items {
        let Item::Token(token) = item else {
            return Some("it holds a directive");
        };
        tokens += 1;
        let text = token.text.as_ref();
        let is_plain = match token.kind {
            TokenKind::Ident => {
                !is_oracle(&token)
                    && !is_pragma(&token)
                    && !text.contains("asm")
                    && text != "operator"
            }
            TokenKind::Number => true,
            TokenKind::Punct => OPERATORS.contains(&text),
            TokenKind::Str | TokenKind::Char | TokenKind::Other => false,
        };
        depth += i32::from(text == "(") - i32::from(text == ")");
        if !is_plain || depth < 0 {
            return Some("it is no plain expression");
        }
    }
    (tokens == 0 || depth != 0).then_some("it is no whole expression")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(source: &str) -> Option<String> {
        text(&lex::lex_in(source, Dialect::Cuda))
    }

    #[test]
    fn texts_that_ask_for_files_are_refused() {
        for source in [
            "#include \"/etc/passwd\"\n",
            "#include </dev/stdin>\n",
            "#include \"../../etc/passwd\"\n",
            "#include \"./x.h\"\n",
            "#include \"candidate.cu\"\n",
            "#define H \"/etc/passwd\"\n#include H\n",
            "%:include \"/etc/passwd\"\n",
            "#inc\\\nlude \"/etc/passwd\"\n",
            "#embed \"/etc/passwd\"\n",
            "#include_next <math.h>\n",
            "#import <math.h>\n",
            "#if __has_include(\"/etc/shadow\")\n#endif\n",
            "#define ASK __has_include\n",
            "int a = __has_embed;\n",
            "# 1 \"/usr/include/stdio.h\" 1 3\n",
            "#line 1 \"cuda_fp16.h\"\n",
        ] {
            assert!(refused(source).is_some(), "{source}");
        }
    }

    #[test]
    fn libraries_that_launch_by_themselves_are_refused() {
        for header in [
            "cublas_v2.h",
            "cutlass/gemm/gemm.h",
            "thrust/scan.h",
            "cute/tensor.hpp",
            "npp.h",
        ] {
            let why = refused(&format!("#include <{header}>\n")).unwrap();
            assert_eq!(
                why,
                format!("line 1: the library header `{header}` is prohibited")
            );
        }
        for header in [
            "cub/block/block_reduce.cuh",
            "cuda_fp16.h",
            "cuda/std/limits",
            "mma.h",
            "cstdio",
        ] {
            assert_eq!(refused(&format!("#include <{header}>\n")), None, "{header}");
        }
    }

    #[test]
    fn pragmas_that_reach_the_compiler_are_refused() {
        for pragma in [
            "#pragma nv_mangled_name other\n",
            "#pragma GCC system_header\n",
            "#pragma GCC pch_preprocess \"/tmp/x.gch\"\n",
            "#pragma hdrstop\n",
            "#pragma no_pch\n",
            "_Pragma(\"hdrstop\") int a;",
            "#define P(x) _Pragma(#x)\n__device__ int a; P(hdrstop)\n",
            "#define P _Pragma(\"hdrstop\")\n",
            "#define P _Pragma\n",
            "__device__ int a = 0; _Pragma (TEXT)\n",
        ] {
            assert!(refused(pragma).is_some(), "{pragma}");
        }
        for pragma in [
            "#pragma unroll\n",
            "#pragma unroll(4)\n",
            "#pragma once\n",
            "_Pragma(\"unroll\") for (;;) ;",
            "#define UNROLL _Pragma(\"unroll 4\")\n",
            "#pragma nv_diag_suppress 177\n",
            "#pragma pack(push, 8)\n",
            "#pragma warning(disable : 4996)\n",
            "#pragma region kernels\n",
            "#pragma\n",
        ] {
            assert_eq!(refused(pragma), None, "{pragma}");
        }
    }

    #[test]
    fn a_name_is_one_expression() {
        for name in [
            "relu",
            "scale<4, float>",
            "scale<(4 > 3)>",
            "space::kernel<float*, sizeof(int) * 2>",
            "kernel<'x'>",
        ] {
            let is_plain = !name.contains('\'');
            assert_eq!(names(&[name.to_owned()]).is_none(), is_plain, "{name}");
        }
        for name in [
            "",
            "k); int z=(0",
            "k\n#include \"/etc/passwd\"",
            "k; __global__ void other()",
            "k /* */ { }",
            "k\\",
            "k<sizeof(\"a\")>",
            "k<_Pragma(x)>",
            "k<__has_include(<a>)>",
            "(k",
            "k\u{e9}",
            "k<1'a>",
            "k // <4>",
            "k /*",
        ] {
            assert!(names(&[name.to_owned()]).is_some(), "{name}");
        }
        assert!(names(&vec!["k".to_owned(); 257]).is_some());
        assert!(names(&["k".repeat(3000)]).is_some());
    }
}
