//! Refusals that can be told from the source alone.
//!
//! The object's symbols and sections tell the rest (see `symbols`), so this looks only at
//! what never reaches them, or reaches the compiler first: headers of libraries, paths in
//! includes, calls of BLAS by name, inline assembly that does more than arithmetic, and
//! pragmas that change the optimisation level or the target.

mod assembly;
mod conditions;
mod spared;

use hotloop_flow::language::c::lex::{self, Item, Token, TokenKind};
use hotloop_flow::technique::{Scan, Technique};

pub(crate) use spared::spared;

/// Headers of libraries that do the task, or that reach out of the sandbox.
const PROHIBITED_HEADERS: [&str; 26] = [
    "cblas.h",
    "blas.h",
    "f77blas.h",
    "openblas_config.h",
    "lapacke.h",
    "lapack.h",
    "clapack.h",
    "mkl.h",
    "mkl_cblas.h",
    "mkl_dfti.h",
    "blis.h",
    "blis/blis.h",
    "fftw3.h",
    "gsl/gsl_blas.h",
    "gsl/gsl_cblas.h",
    "Accelerate/Accelerate.h",
    "cublas.h",
    "cublas_v2.h",
    "cuda_runtime.h",
    "dlfcn.h",
    "link.h",
    "sys/ptrace.h",
    "sys/socket.h",
    "sys/syscall.h",
    "linux/userfaultfd.h",
    "sys/wait.h",
];

/// Beginnings of names that belong to libraries which do the task.
const PROHIBITED_PREFIXES: [&str; 8] = [
    "cblas_",
    "LAPACKE_",
    "mkl_",
    "MKL_",
    "openblas_",
    "bli_",
    "fftw_",
    "gsl_blas_",
];

/// Whether the compiler's own preprocessor must be asked before the source can be screened.
pub(crate) fn needs_preprocessing(scan: &Scan) -> bool {
    scan.needs_preprocessing || scan.uses(Technique::InlineAsm)
}

/// The rule that the source breaks, if it breaks one.
pub(crate) fn directives(source: &str) -> Option<String> {
    let lexed = lex::lex(source);
    if let Some(line) = lexed.raw_string {
        return Some(format!("line {line}: raw string literals are not C"));
    }
    let refusal = lexed.items.iter().find_map(|item| match item {
        // Its string goes to the assembler.
        Item::Directive(directive) if matches!(directive.name.as_ref(), "ident" | "sccs") => {
            Some(format!(
                "line {}: `#{}` is prohibited",
                directive.line, directive.name
            ))
        }
        Item::Directive(directive)
            if matches!(
                directive.name.as_ref(),
                "include" | "include_next" | "import" | "embed"
            ) =>
        {
            refuse_include(directive.header.as_deref())
                .map(|why| format!("line {}: {why}", directive.line))
        }
        Item::Directive(_) | Item::Token(_) => None,
    });
    refusal.or_else(|| conditions::refuse(&lexed))
}

fn refuse_include(header: Option<&str>) -> Option<String> {
    let Some(header) = header else {
        return Some("an include must name its header literally".into());
    };
    if PROHIBITED_HEADERS.contains(&header) {
        return Some(format!("the header `{header}` is prohibited"));
    }
    // By whatever path, the candidate itself would come back under another name.
    let is_path = header.starts_with('/')
        || header
            .split('/')
            .any(|part| matches!(part, "." | ".." | "candidate.c"));
    is_path.then(|| format!("an include of the path `{header}` is prohibited"))
}

/// The rule that the program's tokens break. `text` is the source, or what preprocessing made of it and
/// is its own.
pub(crate) fn tokens(text: &str, scan: &Scan) -> Option<String> {
    if let Some(evidence) = scan.techniques.get(&Technique::OptimizePragma) {
        return Some(format!(
            "line {}: `{}` changes how the candidate is compiled",
            evidence.line, evidence.text
        ));
    }
    let lexed = lex::lex(text);
    let mut program: Vec<&Token<'_>> = Vec::new();
    // A clause is an expression and may hold statements. Each pragma by itself: it may stand in the middle of others' words.
    let mut pragmas: Vec<Vec<&Token<'_>>> = Vec::new();
    for item in &lexed.items {
        match item {
            Item::Token(token) => program.push(token),
            // Macro bodies count where the preprocessor was not asked.
            Item::Directive(directive) if directive.name == "define" => {
                program.extend(&directive.body);
            }
            Item::Directive(directive) if directive.name == "pragma" => {
                pragmas.push(directive.body.iter().collect());
            }
            Item::Directive(_) => {}
        }
    }
    std::iter::once(&program).chain(&pragmas).find_map(|words| {
        refuse_names(words)
            .or_else(|| assembly::refuse_assembly(words))
            .or_else(|| assembly::refuse_attributes(words))
    })
}

fn refuse_names(program: &[&Token<'_>]) -> Option<String> {
    let prohibited = |token: &&&Token<'_>| {
        token.kind == TokenKind::Ident
            && PROHIBITED_PREFIXES
                .iter()
                .any(|prefix| token.text.starts_with(prefix))
    };
    program
        .iter()
        .find(prohibited)
        .map(|token| format!("`{}` belongs to a prohibited library", token.text))
}

#[cfg(test)]
mod tests {
    use super::*;

    pub(super) fn refused(source: &str) -> Option<String> {
        directives(source).or_else(|| tokens(source, &hotloop_flow::language::c::scan(source)))
    }

    #[test]
    fn libraries_are_refused_by_header_and_by_name() {
        assert!(refused("#include <cblas.h>\n").is_some());
        assert!(refused("void f(void) { cblas_dgemm(1); }").is_some());
        assert!(refused("#define G cblas_dgemm\nvoid f(void) { G(1); }").is_some());
    }

    #[test]
    fn clauses_are_read_like_all_else() {
        assert!(
            refused("void f(void) {\n#pragma omp parallel if(({ asm(\".byte 1\"); 1; }))\n}")
                .is_some()
        );
        assert!(refused("void f(void) {\n#pragma omp parallel if(cblas_dgemm(1))\n}").is_some());
        // Unknown pragmas may stand anywhere, and none ends what it stands in.
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
                "// cblas_dgemm\n/* #include <cblas.h> */\nconst char *s = \"cblas_dgemm system(\";"
            ),
            None
        );
    }

    #[test]
    fn includes_must_be_plain() {
        assert!(refused("#include \"/etc/passwd\"\n").is_some());
        assert!(refused("#include \"../x.h\"\n").is_some());
        assert!(refused("#include \"./candidate.c\"\n").is_some());
        assert!(refused("#define H <stdio.h>\n#include H\n").is_some());
        assert_eq!(
            refused("#include <stdio.h>\n#include \"kernel.h\"\n"),
            None,
            "whether it exists, the compiler says"
        );
    }

    #[test]
    fn the_level_under_study_stays() {
        assert!(refused("#pragma GCC optimize(\"Ofast\")\n").is_some());
        assert!(refused("__attribute__((optimize(\"O3\"))) void f(void) {}").is_some());
        assert_eq!(refused("#pragma GCC unroll 4\n#pragma GCC ivdep\n"), None);
    }
}
