//! Refusals that can be told from the source alone.
//!
//! The object's symbols and sections tell the rest (see `symbols`), so this looks only at
//! what never reaches them, or reaches the compiler first: headers of libraries, paths in
//! includes, calls of BLAS by name, inline assembly that does more than arithmetic, and
//! pragmas that change the optimisation level or the target.

use flow::lex::{self, Item, Token, TokenKind};
use flow::technique::{Scan, Technique};

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
const PROHIBITED_PREFIXES: [&str; 8] =
    ["cblas_", "LAPACKE_", "mkl_", "MKL_", "openblas_", "bli_", "fftw_", "gsl_blas_"];

/// Instructions that have no place in arithmetic: system calls, clocks, jumps out of the statement.
const PROHIBITED_INSTRUCTIONS: [&str; 35] = [
    "syscall", "sysenter", "sysexit", "sysret", "int", "int3", "into", "iret", "iretq", "rdtsc", "rdtscp", "rdpmc",
    "call", "callq", "lcall", "ret", "retq", "lret", "ljmp", "hlt", "wrpkru", "xrstor", "wrmsr", "wrfsbase",
    "wrgsbase", "in", "out", "cli", "sti", "vmcall", "xbegin", "ud2", "swapgs", "lgdt", "clflush",
];

/// Assembler directives that only place code.
const PLAIN_DIRECTIVES: [&str; 3] = [".align", ".p2align", ".balign"];

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
    lexed.items.iter().find_map(|item| match item {
        Item::Directive(directive)
            if matches!(directive.name.as_ref(), "include" | "include_next" | "import" | "embed") =>
        {
            refuse_include(directive.header.as_deref()).map(|why| format!("line {}: {why}", directive.line))
        }
        Item::Directive(_) | Item::Token(_) => None,
    })
}

fn refuse_include(header: Option<&str>) -> Option<String> {
    let Some(header) = header else { return Some("an include must name its header literally".into()) };
    if PROHIBITED_HEADERS.contains(&header) {
        return Some(format!("the header `{header}` is prohibited"));
    }
    let is_path = header.starts_with('/') || header.split('/').any(|part| part == "..") || header == "candidate.c";
    is_path.then(|| format!("an include of the path `{header}` is prohibited"))
}

/// The rule that the program's tokens break. `text` is the source, or what preprocessing made of it;
/// with `file`, only lines that come from it count.
pub(crate) fn tokens(text: &str, file: Option<&str>, scan: &Scan) -> Option<String> {
    if let Some(evidence) = scan.techniques.get(&Technique::OptimizePragma) {
        return Some(format!("line {}: `{}` changes how the candidate is compiled", evidence.line, evidence.text));
    }
    let lexed = lex::lex(text);
    let mut ours = true;
    let mut program: Vec<&Token<'_>> = Vec::new();
    for item in &lexed.items {
        match item {
            Item::Token(token) if ours => program.push(token),
            Item::Directive(directive) if directive.name.is_empty() => {
                if let (Some(file), Some(name)) = (file, directive.body.get(1)) {
                    ours = name.text == file;
                }
            }
            // Macro bodies count where the preprocessor was not asked.
            Item::Directive(directive) if ours && file.is_none() && directive.name == "define" => {
                program.extend(&directive.body);
            }
            Item::Token(_) | Item::Directive(_) => {}
        }
    }
    refuse_names(&program).or_else(|| refuse_assembly(&program))
}

fn refuse_names(program: &[&Token<'_>]) -> Option<String> {
    let prohibited = |token: &&&Token<'_>| {
        token.kind == TokenKind::Ident && PROHIBITED_PREFIXES.iter().any(|prefix| token.text.starts_with(prefix))
    };
    program.iter().find(prohibited).map(|token| format!("`{}` belongs to a prohibited library", token.text))
}

fn refuse_assembly(program: &[&Token<'_>]) -> Option<String> {
    let is_asm = |token: &Token<'_>| ["asm", "__asm", "__asm__"].iter().any(|name| token.is_ident(name));
    for (at, _) in program.iter().enumerate().filter(|(_, token)| is_asm(token)) {
        let mut text = String::new();
        let mut depth = 0;
        for token in &program[at + 1..] {
            if token.is_punct("(") {
                depth += 1;
            } else if token.is_punct(")") {
                depth -= 1;
                if depth == 0 {
                    break;
                }
            } else if depth == 1 && token.is_punct(":") {
                break; // operands and clobbers follow
            } else if token.kind == TokenKind::Str {
                text.push_str(&token.text);
            } else if token.is_punct(";") && depth == 0 {
                break;
            }
        }
        if let Some(why) = refuse_instructions(&text) {
            return Some(why);
        }
    }
    None
}

fn refuse_instructions(text: &str) -> Option<String> {
    for statement in text.split(['\n', ';', '\r']) {
        let mut words = statement.split_whitespace().skip_while(|word| word.ends_with(':') || word.starts_with("%{"));
        let Some(word) = words.next() else { continue };
        // `lock`, `rep` and the like only prefix what follows.
        let word = match word {
            "lock" | "rep" | "repe" | "repz" | "repne" | "repnz" | "data16" | "notrack" => words.next().unwrap_or(word),
            _ => word,
        };
        let lower = word.to_ascii_lowercase();
        if lower.contains(':') {
            return Some(format!("inline assembly: `{word}` is not understood"));
        }
        if lower.starts_with('.') && !PLAIN_DIRECTIVES.contains(&lower.as_str()) {
            return Some(format!("inline assembly: the directive `{word}` is prohibited"));
        }
        let indirect_jump = lower.starts_with('j') && statement.contains('*');
        if PROHIBITED_INSTRUCTIONS.contains(&lower.as_str()) || indirect_jump {
            return Some(format!("inline assembly: the instruction `{word}` is prohibited"));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(source: &str) -> Option<String> {
        directives(source).or_else(|| tokens(source, None, &flow::technique::scan(source)))
    }

    #[test]
    fn libraries_are_refused_by_header_and_by_name() {
        assert!(refused("#include <cblas.h>\n").is_some());
        assert!(refused("void f(void) { cblas_dgemm(1); }").is_some());
        assert!(refused("#define G cblas_dgemm\nvoid f(void) { G(1); }").is_some());
    }

    #[test]
    fn comments_and_strings_are_free() {
        assert_eq!(refused("// cblas_dgemm\n/* #include <cblas.h> */\nconst char *s = \"cblas_dgemm system(\";"), None);
    }

    #[test]
    fn includes_must_be_plain() {
        assert!(refused("#include \"/etc/passwd\"\n").is_some());
        assert!(refused("#include \"../x.h\"\n").is_some());
        assert!(refused("#define H <stdio.h>\n#include H\n").is_some());
        assert_eq!(
            refused("#include <stdio.h>\n#include \"kernel.h\"\n"),
            None,
            "whether it exists, the compiler says"
        );
    }

    #[test]
    fn assembly_may_only_compute() {
        assert!(refused("void f(void) { __asm__ volatile(\"sys\" \"call\"); }").is_some());
        assert!(refused("__asm__(\".incbin \\\"x\\\"\");").is_some());
        assert!(refused("void f(void) { asm(\"nop\\n\\tint $0x80\"); }").is_some());
        assert!(refused("void f(void) { asm(\"jmp *%rax\"); }").is_some());
        assert_eq!(refused("void f(double *a) { asm(\"vmulpd %0, %0, %0\" : \"+x\"(*a) : : \"memory\"); }"), None);
        assert_eq!(refused("void f(void) { asm(\"1: dec %%ecx\\n jnz 1b\" ::: \"ecx\"); }"), None);
    }

    #[test]
    fn the_level_under_study_stays() {
        assert!(refused("#pragma GCC optimize(\"Ofast\")\n").is_some());
        assert!(refused("__attribute__((optimize(\"O3\"))) void f(void) {}").is_some());
        assert_eq!(refused("#pragma GCC unroll 4\n#pragma GCC ivdep\n"), None);
    }
}
