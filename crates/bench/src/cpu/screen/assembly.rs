//! Inline assembly may compute and nothing else, and no other text may reach the assembler.

use hotloop_flow::language::c;
use hotloop_flow::language::c::lex::{Token, TokenKind};

/// Instructions that have no place in arithmetic: system calls, clocks, jumps out of the statement.
const PROHIBITED_INSTRUCTIONS: [&str; 35] = [
    "syscall", "sysenter", "sysexit", "sysret", "int", "int3", "into", "iret", "iretq", "rdtsc",
    "rdtscp", "rdpmc", "call", "callq", "lcall", "ret", "retq", "lret", "ljmp", "hlt", "wrpkru",
    "xrstor", "wrmsr", "wrfsbase", "wrgsbase", "in", "out", "cli", "sti", "vmcall", "xbegin",
    "ud2", "swapgs", "lgdt", "clflush",
];

/// Words that only prefix the next instruction.
const PREFIXES: [&str; 30] = [
    "lock", "rep", "repe", "repz", "repne", "repnz", "data16", "data32", "addr16", "addr32",
    "notrack", "bnd", "xacquire", "xrelease", "cs", "ds", "es", "fs", "gs", "ss", "rex", "rex64",
    "rex.w", "rex.r", "rex.x", "rex.b", "rex.wr", "rex.wrx", "rex.wb", "rex.wrxb",
];

/// Assembler directives that only place code.
const PLAIN_DIRECTIVES: [&str; 3] = [".align", ".p2align", ".balign"];

/// The rule that the program's inline assembly breaks.
pub(super) fn refuse_assembly(program: &[Token<'_>]) -> Option<String> {
    let is_asm = |token: &Token<'_>| token.kind == TokenKind::Ident && c::is_asm(&token.text);
    for (at, _) in program
        .iter()
        .enumerate()
        .filter(|(_, token)| is_asm(token))
    {
        let mut text = String::new();
        let mut depth = 0;
        for token in &program[at + 1..] {
            // Reads up to the next statement only, so that every token is read once.
            if is_asm(token) {
                if depth > 0 {
                    return Some("inline assembly within inline assembly is not understood".into());
                }
                break;
            }
            if token.is_punct("(") {
                depth += 1;
            } else if token.is_punct(")") {
                depth -= 1;
                if depth == 0 {
                    break;
                }
            } else if depth == 1 && (token.is_punct(":") || token.is_punct("::")) {
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
    let Some(text) = without_comments(text) else {
        return Some("inline assembly: a quote or an open comment is not understood".into());
    };
    for statement in text.split(['\n', ';', '\r']) {
        // In a template, `%{` and `%}` are the braces of `{vex}`.
        let leads = |word: &&str| {
            word.ends_with(':')
                || (word.starts_with("%{") && word.ends_with("%}"))
                || PREFIXES.contains(&word.to_ascii_lowercase().as_str())
        };
        let mut words = statement.split_whitespace().skip_while(leads);
        let Some(word) = words.next() else { continue };
        let lower = word.to_ascii_lowercase();
        if lower.starts_with('.') {
            if !PLAIN_DIRECTIVES.contains(&lower.as_str()) {
                return Some(format!(
                    "inline assembly: the directive `{word}` is prohibited"
                ));
            }
            continue;
        }
        // `register double x asm("%xmm0")` names a register; anything else that is no plain word
        // may become one: an operand's name, `{att|intel}`.
        let is_register = statement.trim().strip_prefix('%').is_some_and(|name| {
            name.len() > 2
                && name.chars().all(|c| c.is_ascii_alphanumeric())
                && !name.as_bytes()[1].is_ascii_digit()
        });
        if !is_register && !lower.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') {
            return Some(format!("inline assembly: `{word}` is not understood"));
        }
        let indirect_jump = lower.starts_with('j') && statement.contains('*');
        if PROHIBITED_INSTRUCTIONS.contains(&lower.as_str()) || indirect_jump {
            return Some(format!(
                "inline assembly: the instruction `{word}` is prohibited"
            ));
        }
    }
    None
}

/// Assembly without comments, as the assembler reads it: `#` hides the rest of its line, `/*` in it
/// included. A quote would hide either, and arithmetic has no use for one.
fn without_comments(text: &str) -> Option<String> {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(['#', '/', '\'', '"']) {
        plain.push_str(&rest[..at]);
        rest = &rest[at..];
        if rest.starts_with('#') {
            rest = &rest[rest.find(['\n', '\r']).unwrap_or(rest.len())..];
        } else if let Some(inside) = rest.strip_prefix("/*") {
            plain.push(' ');
            rest = &inside[inside.find("*/")? + 2..];
        } else if let Some(behind) = rest.strip_prefix('/') {
            plain.push('/');
            rest = behind;
        } else {
            return None;
        }
    }
    plain.push_str(rest);
    Some(plain)
}

/// The rule that a string of an attribute breaks. A section's name goes to the assembler as it is,
/// with whatever newlines and directives are in it.
pub(super) fn refuse_attributes(program: &[Token<'_>]) -> Option<String> {
    let is_plain =
        |c: char| c.is_alphanumeric() || c == ' ' || "_.,:=+-/()[]<>%$@*!?'&".contains(c);
    // Some sections of these names have a linker compile.
    let is_linkers = |text: &str| text.contains(".gnu.");
    let strange = |token: &&Token<'_>| {
        token.kind == TokenKind::Str
            && (is_linkers(&token.text) || !token.text.chars().all(is_plain))
    };
    let groups = c::attributes(program);
    let token = groups.into_iter().flatten().find(strange)?;
    Some(format!(
        "the string {:?} in an attribute is not understood",
        token.text
    ))
}

#[cfg(test)]
mod tests {
    use crate::cpu::screen::tests::refused;

    #[test]
    fn assembly_may_only_compute() {
        assert!(refused("void f(void) { __asm__ volatile(\"sys\" \"call\"); }").is_some());
        assert!(refused("__asm__(\".incbin \\\"x\\\"\");").is_some());
        assert!(refused("void f(void) { asm(\"nop\\n\\tint $0x80\"); }").is_some());
        assert!(refused("void f(void) { asm(\"jmp *%rax\"); }").is_some());
        assert!(refused("void f(void) { asm(\"syscall\" ::\"a\"(39)); }").is_some());
        for template in [
            "{syscall|nop}",
            "/**/syscall",
            "rex.w syscall",
            "%P0",
            "1: lock %{vex%} syscall",
            "nop # x\\n int3",
        ] {
            assert!(
                refused(&format!("void f(void) {{ asm(\"{template}\"); }}")).is_some(),
                "{template}"
            );
        }
        for template in [
            "nop # in words; all fine",
            "/* int */ nop",
            "%{vex%} vaddpd %0, %0, %0",
            ".p2align 4\\n\\t2: jnz 2b",
        ] {
            assert_eq!(
                refused(&format!("void f(void) {{ asm(\"{template}\"); }}")),
                None
            );
        }
        assert_eq!(
            refused(
                "void f(void) { register double x asm(\"%xmm0\"); register long y asm(\"rdi\"); }"
            ),
            None
        );
        assert_eq!(
            refused(
                "void f(double *a) { asm(\"vmulpd %0, %0, %0\" : \"+x\"(*a) : : \"memory\"); }"
            ),
            None
        );
        assert_eq!(
            refused("void f(void) { asm(\"1: dec %%ecx\\n jnz 1b\" ::: \"ecx\"); }"),
            None
        );
    }

    #[test]
    fn comments_hide_what_they_hide_from_an_assembler() {
        for template in [
            "# /*\\n syscall\\n# */",
            "mov $'/*2, %ecx\\n syscall\\n nop # */",
            "nop /* open",
            "nop # '\\n rdtsc",
        ] {
            assert!(
                refused(&format!("void f(void) {{ asm(\"{template}\"); }}")).is_some(),
                "{template}"
            );
        }
        assert_eq!(
            refused("void f(void) { asm(\"nop # it's; all fine /*\\n nop\"); }"),
            None
        );
    }

    #[test]
    fn attributes_carry_no_assembly() {
        for source in [
            "__attribute__((section(\".text\\n\\tsyscall\\n\\t#\"))) void f(void);",
            "__attribute__((noinline, section(\".text; syscall #\"))) void f(void);",
            "[[gnu::section(\".text\\n.incbin 1\")]] void f(void);",
            "char x[8] __attribute__((section(\".gnu.lto_.symtab.0\")));",
            "#ident \"x\"\nvoid f(void);",
        ] {
            assert!(refused(source).is_some(), "{source}");
        }
        assert_eq!(
            refused(
                "__attribute__((section(\".text.hot\"), hot)) void f(void) { puts(\"a;\\n\"); }"
            ),
            None
        );
    }

    #[test]
    fn assembly_behind_or_within_assembly_is_read() {
        assert!(refused("void f(void) { asm asm(\"syscall\"); }").is_some());
        assert!(refused("void f(void) { asm(\"# \" asm(\"syscall\")); }").is_some());
        assert!(
            refused("void f(int x) { asm(\"nop\" :: \"r\"(({ asm(\"syscall\"); x; }))); }")
                .is_some()
        );
        assert_eq!(
            refused("void f(int x) { asm(\"nop\" :: \"r\"(({ asm(\"nop\"); x; }))); }"),
            None
        );
        assert!(
            refused("__attribute__((a(__attribute__((section(\"\\n\")))))) void f(void);")
                .is_some()
        );
        assert!(
            refused("__attribute__((a)) __attribute__((section(\"\\n\"))) void f(void);").is_some()
        );
        assert!(refused("__attribute__((a)) [[gnu::section(\"\\n\")]] void f(void);").is_some());
    }

    /// If each were read to the end of the source, this would take more than a minute.
    #[test]
    fn a_source_of_nothing_but_assembly_or_attributes_is_read_once() {
        for word in ["asm ", "__attribute__ ", "__attribute__((", ":: ("] {
            refused(&word.repeat((256 << 10) / word.len()));
        }
        assert!(refused(&"asm( ".repeat(50_000)).is_some());
    }
}
