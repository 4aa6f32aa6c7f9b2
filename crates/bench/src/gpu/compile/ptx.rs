//! What no device half may do in any stage, as its PTX shows it.
//!
//! | what | why |
//! |---|---|
//! | functions and variables from elsewhere | the device runtime launches what no plan holds; the rest would not load |
//! | `.attribute`, such as `.managed` | the host and other processes share such memory |
//! | textures and surfaces | no plan makes one, so a handle is a guess |
//! | `discard` | drops writes that are still in L2, poison and canaries included: older contents would show |
//! | `prefetch`, `evict_last`, cache policies, `applypriority` | lines could outlive the sweep between runs |
//!
//! The rest is free, because every run is verified on fresh inputs: clocks, the number of a
//! multiprocessor, traps, breakpoints and sleep. Hints to evict lines early, and how much a load
//! fetches, keep nothing.

use hotloop_flow::language::cuda::ptx_words::{Piece, pieces};

/// Functions that the driver itself provides.
const DRIVERS: [&str; 4] = ["vprintf", "__assertfail", "malloc", "free"];

/// Instructions that are refused.
const INSTRUCTIONS: [(&str, &str); 13] = [
    ("applypriority", KEEPS),
    ("createpolicy", KEEPS),
    ("discard", "it drops what was written to memory"),
    ("prefetch", KEEPS),
    ("prefetchu", KEEPS),
    ("suld", OBJECTS),
    ("suq", OBJECTS),
    ("sured", OBJECTS),
    ("sust", OBJECTS),
    ("tex", OBJECTS),
    ("tld4", OBJECTS),
    ("txq", OBJECTS),
    ("istypep", OBJECTS),
];
const KEEPS: &str = "it can keep data in the L2 cache from one run to the next";
const OBJECTS: &str = "textures and surfaces are not supported";

/// Parts of instructions and directives that are refused.
const PARTS: [(&str, &str); 8] = [
    ("attribute", "its memory is not the GPU's alone"),
    ("L2::cache_hint", KEEPS),
    ("L2::evict_last", KEEPS),
    ("evict_last", KEEPS),
    ("prefetch", KEEPS),
    ("samplerref", OBJECTS),
    ("surfref", OBJECTS),
    ("texref", OBJECTS),
];

/// Elements of the largest array that a module may declare. The assembler keeps only 32 bits of a
/// length, so the module itself does not tell.
const MOST_ELEMENTS: u64 = 2 << 30;

/// The rule that a PTX breaks.
pub(super) fn refuse(ptx: &str) -> Option<String> {
    let pieces = pieces(ptx);
    (0..pieces.len()).find_map(|at| {
        let (text, rest) = (word(&pieces[at])?, &pieces[at + 1..]);
        refuse_word(text, rest).or_else(|| refuse_length(text, rest))
    })
}

/// The text of a word; nothing of any other piece.
fn word<'p>(piece: &'p Piece<'_>) -> Option<&'p str> {
    match piece {
        Piece::Word(word) => Some(word.text.as_ref()),
        Piece::Str(_) | Piece::Begin(_) | Piece::Hash(_) | Piece::Mark(_) => None,
    }
}

fn refuse_word(text: &str, rest: &[Piece<'_>]) -> Option<String> {
    let mut parts = text.split('.');
    let head = parts.next().unwrap_or_default();
    let parts: Vec<&str> = parts.collect();
    // A special register such as `%tid.x`.
    if head.starts_with('%') {
        return None;
    }
    if let Some(at) = parts.iter().position(|part| *part == "extern") {
        return refuse_extern(&parts[at + 1..], rest);
    }
    // An instruction has parts; a name alone is a function or a variable.
    let known = INSTRUCTIONS.iter().find(|(known, _)| *known == head);
    if let Some((instruction, why)) = known.filter(|_| !parts.is_empty()) {
        return Some(format!(
            "the instruction `{instruction}` is prohibited: {why}"
        ));
    }
    let of_part = |part: &&str| PARTS.iter().find(|(known, _)| known == part);
    parts
        .iter()
        .find_map(of_part)
        .map(|(part, why)| format!("`.{part}` in the PTX is prohibited: {why}"))
}

/// What follows an `.extern`. Shared memory of unknown size is declared so, too.
fn refuse_extern(parts: &[&str], rest: &[Piece<'_>]) -> Option<String> {
    let mut names = rest.iter();
    match parts.first() {
        Some(&"shared") => return None,
        // `.extern .func (.param .b32 r) vprintf (...)`
        Some(&"func") if rest.first() == Some(&Piece::Mark('(')) => {
            names.find(|piece| **piece == Piece::Mark(')'));
        }
        _ => {}
    }
    let is_name = |text: &&str| !text.contains('.') && text.parse::<u64>().is_err();
    let name = names.filter_map(word).find(is_name).unwrap_or_default();
    if parts.first() != Some(&"func") {
        return Some(format!("the device variable `{name}` is defined nowhere"));
    }
    (!DRIVERS.contains(&name)).then(|| format!("the device function `{name}` is defined nowhere"))
}

/// The lengths behind a name, as in `.global .align 4 .b8 most[139586437120];`. NVIDIA's compilers
/// declare arrays in bytes, or in elements of at most eight.
fn refuse_length(name: &str, mut rest: &[Piece<'_>]) -> Option<String> {
    if name.contains('.') {
        return None;
    }
    let mut elements: u64 = 1;
    while let [Piece::Mark('['), length, Piece::Mark(']'), behind @ ..] = rest {
        elements = elements.saturating_mul(number(word(length)?)?.max(1));
        rest = behind;
    }
    (elements >= MOST_ELEMENTS).then(|| {
        format!("a device variable has {elements} elements, and {MOST_ELEMENTS} are too many")
    })
}

/// A whole number as PTX spells it: `16`, `0x10U`, `020`, `0b10000`; the largest one if it is none
/// that fits.
fn number(text: &str) -> Option<u64> {
    if !text.starts_with(|first: char| first.is_ascii_digit()) {
        return None;
    }
    let digits = text.strip_suffix('U').unwrap_or(text);
    let (digits, radix) = match digits.as_bytes() {
        [b'0', b'x' | b'X', ..] => (&digits[2..], 16),
        [b'0', b'b' | b'B', ..] => (&digits[2..], 2),
        [b'0', _, ..] => (&digits[1..], 8),
        _ => (digits, 10),
    };
    Some(u64::from_str_radix(digits, radix).unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_keeps_or_drops_data_is_refused() {
        for code in [
            "prefetch.global.L2 [%rd1];",
            "prefetch .global.L2 [%rd1];",
            "prefetch /* \" */ .global.L2::evict_last [%rd1];",
            "@%p1 prefetchu.L1 [%rd1];",
            "$a:prefetch.global.L2 [%rd1];",
            "%a:discard.global.L2 [%rd1], 128;",
            "a: b:prefetchu.L1 [%rd1];",
            ".pragma \"\n\"; prefetch.global.L2 [%rd1]; .pragma \"\n\";",
            ".global .attribute(.managed) .align 4 .u32 a;",
            ".global\n.attribute (.unified(1, 2)) .f32 a;",
            "discard.global.L2 [%rd1], 128;",
            "applypriority.global.L2::evict_normal [%rd1], 128;",
            "createpolicy.fractional.L2::evict_first.b64 %rd1, 1.0;",
            "ld.global.L2::cache_hint.f32 %f1, [%rd1], %rd2;",
            "ld.global.L1::no_allocate.L2::evict_last.f32 %f1, [%rd1];",
            "cp.async.bulk.prefetch.L2.global [%rd1], 16;",
            "tex.1d.v4.f32.s32 {%f1,%f2,%f3,%f4}, [%rd1, {%r1}];",
            ".global .texref source;",
        ] {
            assert!(refuse(code).is_some(), "{code}");
        }
    }

    #[test]
    fn what_is_from_elsewhere_is_refused() {
        assert_eq!(
            refuse(".extern .func (.param .b32 func_retval0) cudaLaunchDeviceV2\n(").unwrap(),
            "the device function `cudaLaunchDeviceV2` is defined nowhere"
        );
        assert!(refuse(".extern .func other (.param .b32 a);").is_some());
        assert_eq!(
            refuse(".extern .global .align 4 .f32 there;").unwrap(),
            "the device variable `there` is defined nowhere"
        );
        for known in [
            ".extern .func (.param .b32 func_retval0) vprintf\n(\n.param .b64 a)",
            ".extern .func __assertfail\n(",
            ".extern .shared .align 16 .b8 tile[];",
        ] {
            assert_eq!(refuse(known), None, "{known}");
        }
    }

    #[test]
    fn an_array_of_all_memory_is_refused() {
        assert!(refuse(".global .align 4 .b8 most[139586437120];").is_some());
        assert!(refuse(".global .align 4 .b8 all[18446744073709551615];").is_some());
        for hidden in [
            ".global .b8 big\n[139586437120];",
            ".global .b8 big[0x100000000];",
            ".global .b8 big[02000000000000U];",
            ".global .b8 big[100000][100000];",
            ".global .b8 big[1.0];",
        ] {
            assert!(refuse(hidden).is_some(), "{hidden}");
        }
        assert_eq!(refuse(".global .align 4 .b8 some[1048576];"), None);
        assert_eq!(refuse(".extern .shared .align 16 .b8 tile[];"), None);
        assert_eq!(
            refuse("mov.u32 %r1, %r2; st.global.f32 [4294967296], %f1;"),
            None
        );
        assert_eq!(refuse("ld.global.f32 %f1, [%rd1+4294967296];"), None);
    }

    #[test]
    fn ordinary_code_is_free() {
        for code in [
            "// prefetch.global.L2 [%rd1];\n.file 1 \"prefetch.global.L2\"",
            "$L__BB0_1: // discard\nmov.u32 %r1, %envreg3; bra $L__BB0_1;",
            ".visible .entry prefetch(\n.param .u64 prefetch_param_0\n)",
            "ld.global.nc.L1::evict_last.L2::128B.f32 %f1, [%rd1];",
            "ld.global.L2::evict_first.f32 %f1, [%rd1]; st.global.cs.f32 [%rd1], %f1;",
            "mov.u64 %rd1, %clock64; mov.u32 %r1, %smid; trap; brkpt; nanosleep.u32 20;",
            "setmaxnreg.dec.sync.aligned.u32 40; griddepcontrol.wait;",
            "call.uni (retval0), vprintf, (param0, param1);",
            "",
        ] {
            assert_eq!(refuse(code), None, "{code}");
        }
    }

    #[test]
    fn broken_texts_end() {
        for code in ["/*", "\"", "//", ".extern", ".extern .func (", "é.é", "/"] {
            drop(refuse(code));
        }
    }
}
