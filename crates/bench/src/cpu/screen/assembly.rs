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
        let mut has_operands = false;
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
                has_operands = true;
                break;
            } else if token.kind == TokenKind::Str {
                text.push_str(&token.text);
            } else if token.is_punct(";") && depth == 0 {
                break;
            }
        }
        if let Some(why) = refuse_text(&text, has_operands) {
            return Some(why);
        }
    }
    None
}

fn refuse_text(text: &str, has_operands: bool) -> Option<String> {
    let written = if has_operands {
        let Some(written) = c::written(text) else {
            return Some("inline assembly: braces that do not match are not understood".into());
        };
        written
    } else {
        text.to_owned()
    };
    let Some(plain) = c::without_comments(&written) else {
        return Some(
            "inline assembly: a quote, a slash, a control character or an open comment is not \
             understood"
                .into(),
        );
    };
    plain.split(['\n', ';', '\r']).find_map(refuse_statement)
}

fn refuse_statement(statement: &str) -> Option<String> {
    let statement = behind_labels(statement);
    // `{vex}` chooses an encoding.
    let encoding = |word: &str| word.strip_prefix('{')?.strip_suffix('}').map(str::to_owned);
    let leads = |word: &str| {
        encoding(word).is_some_and(|name| name.chars().all(char::is_alphanumeric))
            || PREFIXES.contains(&word.to_ascii_lowercase().as_str())
    };
    let (mut word, mut behind) = first_word(statement);
    while leads(word) {
        (word, behind) = first_word(behind);
    }
    let lower = word.to_ascii_lowercase();
    if lower.is_empty() {
        return None;
    }
    if lower.starts_with('.') {
        let is_plain = PLAIN_DIRECTIVES.contains(&lower.as_str()) && fills_plainly(behind);
        return (!is_plain).then(|| {
            format!("inline assembly: the directive `{word}` is prohibited as it is used")
        });
    }
    // `register double x asm("%xmm0")` names a register; anything else that is no plain word
    // may become one, such as an operand's name.
    let is_register = statement.trim().strip_prefix('%').is_some_and(|name| {
        name.len() > 2
            && name.chars().all(|c| c.is_ascii_alphanumeric())
            && !name.as_bytes()[1].is_ascii_digit()
    });
    if !is_register && !lower.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') {
        return Some(format!("inline assembly: `{word}` is not understood"));
    }
    let indirect_jump = lower.starts_with('j') && statement.contains('*');
    (PROHIBITED_INSTRUCTIONS.contains(&lower.as_str()) || indirect_jump)
        .then(|| format!("inline assembly: the instruction `{word}` is prohibited"))
}

/// What follows the labels of a statement. Assemblers allow space in front of a label's colon, but
/// only what they take for space themselves.
fn behind_labels(statement: &str) -> &str {
    let mut rest = statement.trim_ascii_start();
    loop {
        let end = rest.find(|c: char| c.is_ascii_whitespace() || c == ':');
        let behind = rest[end.unwrap_or(rest.len())..].trim_ascii_start();
        match behind.strip_prefix(':') {
            Some(behind) => rest = behind.trim_ascii_start(),
            None => return rest,
        }
    }
}

/// The first word of a text and what follows it.
fn first_word(text: &str) -> (&str, &str) {
    let text = text.trim_ascii_start();
    text.split_at(
        text.find(|c: char| c.is_ascii_whitespace())
            .unwrap_or(text.len()),
    )
}

/// Whether an alignment is filled as an assembler does it by itself. A byte that the source chooses
/// is the beginning of an instruction that nobody reads.
fn fills_plainly(arguments: &str) -> bool {
    let filling = arguments.split(',').nth(1).unwrap_or_default();
    matches!(filling.trim_ascii(), "" | "0x90" | "144")
}

/// The rule that a string of an attribute breaks. A section's name goes to the assembler as it is,
/// with whatever newlines and directives are in it.
pub(super) fn refuse_attributes(program: &[Token<'_>]) -> Option<String> {
    let is_plain =
        |c: char| c.is_alphanumeric() || c == ' ' || "_.,:=+-/()[]<>%$@*!?'&".contains(c);
    // Some sections of these names have a linker compile.
    let is_linkers = |text: &str| text.contains(".gnu.");
    let strange = |text: &String| is_linkers(text) || !text.chars().all(is_plain);
    let groups = c::attributes(program).into_iter();
    let text = groups
        .flat_map(c::literals)
        .map(|(_, text)| text)
        .find(strange)?;
    Some(format!(
        "the string {text:?} in an attribute is not understood"
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
            "1: lock {vex} syscall",
            "/ /*\\n .byte 1\\n/ */",
            "nop // /*\\n .byte 1\\n nop // */",
            "nop \\0",
            "nop # x\\n int3",
            "1 : .byte 1",
            "a: b\\t: .byte 1",
            "a\u{a0}: .byte 1",
            ".p2align 1, 0x0f",
            ".balign 2,0xc5,1",
            ".align 2, x",
        ] {
            assert!(
                refused(&format!("void f(void) {{ asm(\"{template}\"); }}")).is_some(),
                "{template}"
            );
        }
        for template in [
            "nop # in words; all fine",
            "/* int */ nop",
            "{vex} vaddpd %xmm0, %xmm0, %xmm0",
            ".p2align 4\\n\\t2: jnz 2b",
            "2 : dec %ecx\\n jnz 2b",
            ".p2align 4,,10\\n .balign 16, 0x90\\n .align 1 << 4",
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
    fn alternatives_are_read_as_the_compiler_writes_them() {
        for template in [
            "nop {|#}; .byte 1",
            "{syscall|nop}",
            "sys{|x}call",
            "nop {|#\\n}; .byte 1",
            "nop {{a|b}|c}",
            "nop }",
            "nop {a",
            "%{vex%} syscall",
            "nop %",
        ] {
            let source = format!("void f(int x) {{ asm(\"{template}\" : \"+r\"(x)); }}");
            assert!(refused(&source).is_some(), "{template}");
        }
        for template in [
            "{nop|syscall}",
            "%{vex%} addpd %%xmm0, %%xmm0",
            "mov{l %1, %0| %0, %1}",
            "vaddpd %%zmm0, %%zmm1, %%zmm2%{%%k1%}%{z%}",
        ] {
            let source = format!("void f(int x) {{ asm(\"{template}\" : \"+r\"(x)); }}");
            assert_eq!(refused(&source), None, "{template}");
        }
    }

    #[test]
    fn attributes_carry_no_assembly() {
        for source in [
            "__attribute__((section(\".text\\n\\tsyscall\\n\\t#\"))) void f(void);",
            "__attribute__((noinline, section(\".text; syscall #\"))) void f(void);",
            "[[gnu::section(\".text\\n.incbin 1\")]] void f(void);",
            "char x[8] __attribute__((section(\".gnu.lto_.symtab.0\")));",
            "char x[8] __attribute__((section(\".gn\" \"u.lto_.symtab.0\")));",
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
