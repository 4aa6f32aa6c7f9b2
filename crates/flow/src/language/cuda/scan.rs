//! Finds the techniques of a source from its tokens.
//!
//! Comments and strings never count, except for the strings of inline assembly. Every branch of an
//! `#if` counts, and no macro's body does: [`scan_ptx`](super::scan_ptx) sees what is used.

use super::assembly::Assembly;
use super::ptx;
use crate::language::c::is_asm;
use crate::language::c::lex::{self, Dialect, Item, Token, TokenKind};
use crate::technique::{Scan, Technique};

/// The techniques of a source.
pub fn scan(source: &str) -> Scan {
    let mut scan = Scan::default();
    let mut tokens: Vec<Token<'_>> = Vec::new();
    for item in lex::lex_in(source, Dialect::Cuda).items {
        match item {
            Item::Token(token) => tokens.push(token),
            Item::Directive(directive) => {
                let header = directive.header.as_deref().unwrap_or_default();
                if header == "mma.h" || header.ends_with("/mma.h") {
                    scan.note(Technique::TensorCores, directive.line, header);
                }
            }
        }
    }
    // What one piece of assembly took is not read again.
    let mut read_to = 0;
    for (at, token) in tokens.iter().enumerate() {
        if token.kind != TokenKind::Ident {
            continue;
        }
        let rest = &tokens[at + 1..];
        if let Some(technique) = of_name(&token.text) {
            scan.note(technique, token.line, token.text.as_ref());
        } else if is_vector(&token.text) && is_accessed(rest) {
            scan.note(Technique::VectorLoads, token.line, token.text.as_ref());
        } else if is_asm(&token.text) && at >= read_to {
            read_to = at + of_asm(token, rest, &mut scan);
        }
    }
    scan
}

fn of_name(name: &str) -> Option<Technique> {
    const WARP: [&str; 9] = [
        "__shfl",
        "__ballot",
        "__match_",
        "__reduce_",
        "__activemask",
        "__syncwarp",
        "__any_sync",
        "__all_sync",
        "__uni_sync",
    ];
    let begins = |starts: &[&str]| starts.iter().any(|start| name.starts_with(start));
    match name {
        "__shared__" => Some(Technique::SharedMemory),
        "wmma" | "nvcuda" | "mma_sync" | "load_matrix_sync" => Some(Technique::TensorCores),
        "memcpy_async" => Some(Technique::AsyncCopy),
        "__any" | "__all" | "tiled_partition" | "coalesced_threads" => {
            Some(Technique::WarpPrimitives)
        }
        _ if begins(&WARP) => Some(Technique::WarpPrimitives),
        _ if begins(&["__pipeline_", "__mbarrier"]) => Some(Technique::AsyncCopy),
        _ => None,
    }
}

/// Whether a type holds several numbers and is loaded at once.
fn is_vector(name: &str) -> bool {
    let Some(scalar) = name.strip_suffix(['2', '4']) else {
        return false;
    };
    matches!(
        scalar,
        "float" | "int" | "uint" | "double" | "long" | "ulong" | "longlong" | "ulonglong"
    )
}

/// Whether memory is accessed as that type: by a pointer or a reference to it. A vector in
/// registers is no vector load.
fn is_accessed(rest: &[Token<'_>]) -> bool {
    let next = rest.iter().find(|token| {
        !["const", "volatile"]
            .iter()
            .any(|word| token.is_ident(word))
    });
    next.is_some_and(|next| next.is_punct("*") || next.is_punct("&"))
}

/// Records what assembly uses; returns how many tokens behind its keyword were read.
fn of_asm(keyword: &Token<'_>, rest: &[Token<'_>], scan: &mut Scan) -> usize {
    /// `volatile`, `inline` and `goto`, and one more for good measure.
    const QUALIFIERS: usize = 4;
    scan.note(Technique::InlineAsm, keyword.line, keyword.text.as_ref());
    let qualifiers = rest
        .iter()
        .take(QUALIFIERS)
        .take_while(|token| token.kind == TokenKind::Ident)
        .count();
    let strings: Vec<&str> = rest
        .iter()
        .skip(qualifiers + 1)
        .take_while(|token| token.kind == TokenKind::Str)
        .map(|token| token.text.as_ref())
        .collect();
    let text = strings.concat();
    for found in ptx::uses(&text, Assembly::ByLine) {
        scan.note(found.technique, keyword.line, format!("asm {}", found.text));
    }
    qualifiers + 1 + strings.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(source: &str, expect: &[(Technique, u32, &str)]) {
        let found = scan(source);
        let found: Vec<_> = found
            .techniques
            .iter()
            .map(|(technique, evidence)| (*technique, evidence.line, evidence.text.as_str()))
            .collect();
        assert_eq!(found, expect, "{source}");
    }

    #[test]
    fn names_reveal_techniques() {
        use Technique::{AsyncCopy, SharedMemory, TensorCores, VectorLoads, WarpPrimitives};
        check(
            "__shared__ float tile[32];",
            &[(SharedMemory, 1, "__shared__")],
        );
        check(
            "\nv += __shfl_down_sync(m, v, 1);",
            &[(WarpPrimitives, 2, "__shfl_down_sync")],
        );
        check("#include <mma.h>\n", &[(TensorCores, 1, "mma.h")]);
        check(
            "cg::memcpy_async(b, t, x, 4);",
            &[(AsyncCopy, 1, "memcpy_async")],
        );
        let load = "float4 v = reinterpret_cast<const float4 *>(x)[i];";
        check(load, &[(VectorLoads, 1, "float4")]);
        check("float2 best = make_float2(x[i], 0); // __shared__", &[]);
        check(
            "const char *s = \"__shared__\";\n#define W __shfl_sync\n",
            &[],
        );
    }

    #[test]
    fn assembly_is_read() {
        use Technique::{InlineAsm, WarpPrimitives};
        check(
            "int f() {\nasm volatile(\"shfl\"\n\".sync.bfly.b32 %0, %1, 1, 31, -1;\" : \"=r\"(a) : \"r\"(b)); }",
            &[
                (InlineAsm, 2, "asm"),
                (WarpPrimitives, 2, "asm shfl.sync.bfly.b32"),
            ],
        );
        check("asm(\"\");", &[(InlineAsm, 1, "asm")]);
        // The string was read once for each of the words before it.
        let chain = format!("{}(\"{}\");", "asm ".repeat(30_000), "a ".repeat(60_000));
        check(&chain, &[(InlineAsm, 1, "asm")]);
    }
}
