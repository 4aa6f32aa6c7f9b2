//! Where the inline assembly of compiled device code can come from, by its text.
//!
//! NVIDIA's headers hold assembly, too: `__ldg`, `__nanosleep` and conversions of half precision are
//! assembly to the compiler, which often names the line of the caller alone. So the compiler's mark
//! counts only where the text itself can make assembly. For this it needs
//! - one of the keyword's spellings, also in a macro, or
//! - a keyword put together, by `##` or by a header's macro that pastes, or
//! - a macro before an include, which a header's own assembly might use.

use crate::language::c::is_asm;
use crate::language::c::lex::{self, Dialect, Item, Token, TokenKind};

/// Where inline assembly can come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Assembly {
    /// From headers only.
    OfHeaders,
    /// From the text, too: line information tells.
    ByLine,
}

/// Where the assembly in a device half can come from. The text is spelled as
/// [`lex::respelled`] does.
pub fn assembly(device: &str) -> Assembly {
    let mut has_macro = false;
    for item in lex::lex_in(device, Dialect::Cuda).items {
        let makes = match &item {
            Item::Token(token) => can_make(token),
            Item::Directive(directive) => {
                let is_include = directive.name == "include";
                has_macro |= directive.name == "define";
                (is_include && has_macro) || directive.body.iter().any(can_make)
            }
        };
        if makes {
            return Assembly::ByLine;
        }
    }
    Assembly::OfHeaders
}

/// Whether a token begins assembly, pastes, or may be a header's macro that does.
fn can_make(token: &Token<'_>) -> bool {
    match token.kind {
        TokenKind::Ident => is_asm(&token.text) || is_of_header(&token.text),
        TokenKind::Punct | TokenKind::Other => token.text == "##",
        TokenKind::Number | TokenKind::Str | TokenKind::Char => false,
    }
}

/// Whether a name is one of those that the headers of CUDA and C++ give macros with assembly and
/// with `##`: a reserved one in capitals, or one of a library.
fn is_of_header(name: &str) -> bool {
    const PLAIN: [&str; 8] = [
        "__CUDACC_RTC__",
        "__CUDACC__",
        "__CUDA_ARCH__",
        "__FILE__",
        "__LINE__",
        "__NVCC__",
        "__VA_ARGS__",
        "__VA_OPT__",
    ];
    const LIBRARIES: [&str; 14] = [
        "CCCL_",
        "CUB_",
        "CUDAX_",
        "CUDART_DEVICE",
        "IF_DEVICE",
        "LIBCUDACXX_",
        "LOAD_ENVREG",
        "MAKE_",
        "MKTYPEDEF",
        "NVTX",
        "NV_",
        "THRUST_",
        "__loc",
        "nvtx",
    ];
    let begins = LIBRARIES.iter().any(|start| name.starts_with(start));
    let is_reserved = name.starts_with('_')
        && name.bytes().any(|byte| byte.is_ascii_uppercase())
        && !PLAIN.contains(&name);
    is_reserved || begins
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_without_the_keyword_and_pasting_makes_no_assembly() {
        for text in [
            "#include <cuda_fp16.h>\n#define TILE 16\n__global__ void k(float *x) { x[0] = __ldg(x + TILE); }",
            "#if __CUDA_ARCH__ >= 900\n#endif\n#pragma unroll\n#define MAX(a, b) ((a) > (b) ? (a) : (b))\n",
            "#define CHECK(x) check((x), #x, __FILE__, __LINE__)\n",
            "const char *text = \"asm ##\"; // asm ##\nint as, m, __as;",
        ] {
            assert_eq!(assembly(text), Assembly::OfHeaders, "{text}");
        }
    }

    #[test]
    fn what_can_make_the_keyword_is_seen() {
        for text in [
            "__global__ void k() { asm(\"\"); }",
            "#define A __asm__\n",
            "#define A \\\n  __asm volatile\n",
            "#define C(a, b) a##b\n",
            "#define C(a, b) a%:%:b\n",
            "__global__ void k() { _NV_CONCAT_EVAL(as, m)(\"\"); }",
            "#define C _CCCL_PP_CAT\n",
            "__global__ void k() { NV_IF_TARGET(as, m); }",
            "#define set fma.rn\n#include <cuda_fp16.hpp>\n",
        ] {
            let text = lex::respelled(text, Dialect::Cuda).unwrap();
            assert_eq!(assembly(&text), Assembly::ByLine, "{text}");
        }
    }
}
