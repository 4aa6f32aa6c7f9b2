//! Refusals before compiling.
//!
//! The object's symbols and sections tell the rest (see `symbols`), so this looks only at
//! what never reaches them, or reaches the compiler first. In the source as written these are
//! headers of libraries, paths in includes, and directives that hide where a text comes from. In
//! what the preprocessor made of it, which is compiled as it stands, they are inline assembly that
//! does more than arithmetic, and pragmas and attributes that change the optimisation level or the
//! target.

mod assembly;
mod headers;
mod questions;

use hotloop_flow::language::c::lex::{self, Directive, Item, Lexed, Token};
use hotloop_flow::technique::{Scan, Technique};

/// The rule that the source as written breaks, in parts that only the preprocessor sees.
pub(crate) fn source(source: &str) -> Option<String> {
    let lexed = lex::lex(source);
    if let Some(line) = lexed.raw_string {
        return Some(format!("line {line}: raw string literals are not C"));
    }
    let may_join = questions::has_plain_conditions(&lexed);
    lexed.items.iter().find_map(|item| match item {
        Item::Directive(directive) => {
            let why = refuse_directive(directive)
                .or_else(|| questions::refuse(directive, source, may_join));
            why.map(|why| format!("line {}: {why}", directive.line))
        }
        Item::Token(_) => None,
    })
}

fn refuse_directive(directive: &Directive<'_>) -> Option<String> {
    match directive.name.as_ref() {
        "include" => headers::refuse(directive.header.as_deref()),
        "pragma" => refuse_pragma(&directive.body),
        // The string of an `#ident` goes to the assembler; the others hide where text comes from,
        // or bring some that is no header.
        "ident" | "sccs" | "line" | "include_next" | "import" | "embed" => {
            Some(format!("`#{}` is prohibited", directive.name))
        }
        "" if !directive.body.is_empty() => Some("line markers are prohibited".into()),
        _ => None,
    }
}

/// Pragmas that look at files, bring text of their own, or try the compiler's own failures.
fn refuse_pragma(words: &[Token<'_>]) -> Option<String> {
    let word = |at: usize| words.get(at).map_or("", |word| word.text.as_ref());
    let is_bad = matches!(
        (word(0), word(1)),
        ("GCC" | "clang", "dependency") | ("clang", "__debug" | "module") | ("include_alias", _)
    );
    is_bad.then(|| format!("`#pragma {} {}` is prohibited", word(0), word(1)))
}

/// The rule that a candidate's own part of the preprocessed text breaks, which is compiled as it
/// stands. `lexed` and `scan` tell what is in it.
pub(crate) fn preprocessed(own: &str, lexed: &Lexed<'_>, scan: &Scan) -> Option<String> {
    if let Some(evidence) = scan.techniques.get(&Technique::OptimizePragma) {
        return Some(format!(
            "line {}: `{}` changes how the candidate is compiled",
            evidence.line, evidence.text
        ));
    }
    // Some compilers join such lines here and others do not.
    let is_joined = |line: &str| line.trim_end().ends_with('\\');
    if own.lines().any(is_joined) || lexed.raw_string.is_some() {
        return Some("a backslash or a raw string literal in the program is not understood".into());
    }
    let mut program: Vec<Token<'_>> = Vec::new();
    // A clause is an expression and may hold statements. Each pragma by itself: it may stand in the
    // middle of others' words.
    let mut pragmas: Vec<&[Token<'_>]> = Vec::new();
    for item in &lexed.items {
        match item {
            Item::Token(token) if matches!(token.text.as_ref(), "_Pragma" | "__pragma") => {
                return Some(format!(
                    "line {}: `{}` is not understood",
                    token.line, token.text
                ));
            }
            Item::Token(token) => program.push(token.clone()),
            Item::Directive(directive) if directive.name == "pragma" => {
                if let Some(why) = refuse_pragma(&directive.body) {
                    return Some(format!("line {}: {why}", directive.line));
                }
                pragmas.push(&directive.body);
            }
            Item::Directive(directive) => {
                let line = directive.line;
                return Some(format!("line {line}: `#` is not understood"));
            }
        }
    }
    pragmas.push(&program);
    pragmas.iter().find_map(|words| {
        assembly::refuse_assembly(words).or_else(|| assembly::refuse_attributes(words))
    })
}

#[cfg(test)]
mod tests {
    use hotloop_flow::language::c;

    use super::*;

    /// Screens a text as if preprocessing changed nothing.
    pub(super) fn refused(text: &str) -> Option<String> {
        let lexed = c::lex_marked(text);
        preprocessed(text, &lexed, &c::scan_lexed(&lexed))
    }

    #[test]
    fn clauses_are_read_like_all_else() {
        assert!(
            refused("void f(void) {\n#pragma omp parallel if(({ asm(\".byte 1\"); 1; }))\n}")
                .is_some()
        );
        // Unknown pragmas may appear anywhere, and none ends the construct around it.
        assert!(refused("void f(void) { asm(\n#pragma unknown )\n\"syscall\"); }").is_some());
        assert_eq!(
            refused(
                "void f(void) {\n#pragma omp parallel for num_threads(2) schedule(static, 4)\n}"
            ),
            None
        );
    }

    #[test]
    fn comments_and_strings_are_free() {
        assert_eq!(
            refused(
                "// asm(\"syscall\")\n/* #pragma GCC optimize(3) */\nconst char *s = \"asm(syscall)\";"
            ),
            None
        );
    }

    #[test]
    fn pragmas_do_not_look_around() {
        for words in [
            "GCC dependency \"/etc/passwd\"",
            "clang __debug crash",
            "clang module build x",
        ] {
            assert!(source(&format!("#pragma {words}\n")).is_some(), "{words}");
            assert!(refused(&format!("#pragma {words}\n")).is_some(), "{words}");
            assert!(
                source(&format!("_Pragma({words:?})\n")).is_some(),
                "{words}"
            );
        }
        assert_eq!(source("#pragma clang loop unroll(full)\n#pragma\n"), None);
    }

    #[test]
    fn includes_must_be_plain() {
        assert!(source("#include <cblas.h>\n").is_some());
        assert!(source("#include \"/etc/passwd\"\n").is_some());
        assert!(source("#include \"../x.h\"\n").is_some());
        assert!(source("#include \"./candidate.c\"\n").is_some());
        assert!(source("#define H <stdio.h>\n#include H\n").is_some());
        assert_eq!(
            source("#include <stdio.h>\n#include \"kernel.h\"\n"),
            None,
            "whether it exists, the compiler says"
        );
    }

    #[test]
    fn directives_must_not_hide_where_text_comes_from() {
        for refused in [
            "# 1 \"/usr/include/x.h\" 3\n",
            "  %: 1 \"/usr/include/x.h\" 3\n",
            "#li\\\nne 1 \"x.h\"\n",
            "/**/ # /**/ line 1\n",
            "#include_next <stdio.h>\n",
            "#import <stdio.h>\n",
            "#embed \"x\"\n",
            "#ident \"x\"\n",
            "int x;\nR\"(a)\"",
        ] {
            assert!(source(refused).is_some(), "{refused}");
        }
        assert_eq!(source("#\n#define N 1\n#if N\n#endif\nint line;\n"), None);
    }

    #[test]
    fn what_two_compilers_could_read_in_two_ways_is_refused() {
        for text in [
            "#pragma unknown \\\n#pragma GCC poison x\n",
            " # pragma x\n # 1 \"x.h\"\n",
            "#define x y\n",
            "_Pragma(\"\\x2a\")",
            "R\"(a)\"",
        ] {
            assert!(refused(text).is_some(), "{text}");
        }
    }

    #[test]
    fn the_level_under_study_stays() {
        assert!(refused("#pragma GCC optimize(\"Ofast\")\n").is_some());
        assert!(refused("__attribute__((optimize(\"O3\"))) void f(void) {}").is_some());
        assert_eq!(refused("#pragma GCC unroll 4\n#pragma GCC ivdep\n"), None);
    }
}
