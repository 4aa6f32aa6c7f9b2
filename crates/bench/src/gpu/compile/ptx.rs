//! What no device half may do in any stage, as its PTX shows it.
//!
//! | what | why |
//! |---|---|
//! | functions and variables from elsewhere | the device runtime launches what no plan holds; the rest would not load |
//! | textures and surfaces | no plan makes one, so a handle is a guess |
//! | `discard` | drops writes that are still in L2, poison and canaries included: older contents would show |
//! | `prefetch`, `evict_last`, cache policies, `applypriority` | lines could outlive the sweep between runs |
//!
//! The rest is free, because every run is verified on fresh inputs: clocks, the number of a
//! multiprocessor, traps, breakpoints and sleep. Hints to evict lines early, and how much a load
//! fetches, keep nothing.

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
const PARTS: [(&str, &str); 7] = [
    ("L2::cache_hint", KEEPS),
    ("L2::evict_last", KEEPS),
    ("evict_last", KEEPS),
    ("prefetch", KEEPS),
    ("samplerref", OBJECTS),
    ("surfref", OBJECTS),
    ("texref", OBJECTS),
];

/// Bytes of the largest array that a module may declare. The assembler keeps only 32 bits of a
/// length, so the module itself does not tell.
const MOST_BYTES: u64 = 2 << 30;

/// The rule that a PTX breaks.
pub(super) fn refuse(ptx: &str) -> Option<String> {
    if let Some(bytes) = lengths(ptx).find(|bytes| *bytes >= MOST_BYTES) {
        return Some(format!(
            "a device variable has {bytes} elements, more than {MOST_BYTES}"
        ));
    }
    let words = words(ptx);
    for (at, word) in words.iter().enumerate() {
        let next = words.get(at + 1).copied().unwrap_or_default();
        if *word == ".extern" {
            if let Some(why) = refuse_extern(&words[at + 1..]) {
                return Some(why);
            }
            continue;
        }
        if word.starts_with(['%', '$']) {
            continue;
        }
        let mut parts = word.split('.');
        let head = parts.next().unwrap_or_default();
        // An instruction has parts; a name alone is a function or a variable.
        if word.contains('.') || next.starts_with('.') {
            let found = INSTRUCTIONS
                .iter()
                .find(|(instruction, _)| *instruction == head);
            if let Some((instruction, why)) = found {
                return Some(format!(
                    "the instruction `{instruction}` is prohibited: {why}"
                ));
            }
        }
        for part in parts {
            if let Some((part, why)) = PARTS.iter().find(|(known, _)| *known == part) {
                return Some(format!("`.{part}` in the PTX is prohibited: {why}"));
            }
        }
    }
    None
}

/// What follows an `.extern`. Shared memory of unknown size is declared so, too.
fn refuse_extern(rest: &[&str]) -> Option<String> {
    match rest.first() {
        Some(&".shared") => None,
        Some(&".func") => {
            // `.extern .func (.param .b32 r) vprintf (...)`
            let rest = &rest[1..];
            let after = if rest.first() == Some(&"(") {
                let end = rest.iter().position(|word| *word == ")")?;
                &rest[end + 1..]
            } else {
                rest
            };
            let name = after.first().copied().unwrap_or_default();
            (!DRIVERS.contains(&name))
                .then(|| format!("the device function `{name}` is defined nowhere"))
        }
        _ => {
            let is_name = |word: &&&str| !word.starts_with('.') && word.parse::<u64>().is_err();
            let name = rest.iter().find(is_name).copied().unwrap_or_default();
            Some(format!("the device variable `{name}` is defined nowhere"))
        }
    }
}

/// The words and brackets of a PTX, without comments and strings. Parts that a comment or a space
/// separates from their instruction are words of their own, which begin with a point.
fn words(ptx: &str) -> Vec<&str> {
    let is_word =
        |byte: u8| byte.is_ascii_alphanumeric() || b"_.$%:".contains(&byte) || byte >= 0x80;
    let bytes = ptx.as_bytes();
    let mut words = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let rest = &bytes[at..];
        let length = match rest[0] {
            b'/' if rest.starts_with(b"//") => find(rest, b"\n"),
            b'/' if rest.starts_with(b"/*") => 2 + find(&rest[2..], b"*/") + 2,
            b'"' => 1 + find(&rest[1..], b"\"") + 1,
            byte if is_word(byte) => {
                let length = rest
                    .iter()
                    .position(|byte| !is_word(*byte))
                    .unwrap_or(rest.len());
                // A cut within a character would be a cut at a byte of a word.
                words.extend(ptx.get(at..at + length));
                length
            }
            b'(' | b')' => {
                words.extend(ptx.get(at..=at));
                1
            }
            _ => 1,
        };
        at += length;
    }
    words
}

/// The numbers in brackets behind a name, as in `.global .align 4 .b8 most[139586437120];`.
/// NVIDIA's compilers declare arrays in bytes, or in elements of at most eight.
fn lengths(ptx: &str) -> impl Iterator<Item = u64> {
    let declared = ptx.lines().filter(|line| line.contains(".global"));
    declared
        .flat_map(|line| line.split('[').skip(1))
        .filter_map(|rest| rest.split_once(']')?.0.trim().parse().ok())
}

fn find(bytes: &[u8], what: &[u8]) -> usize {
    bytes
        .windows(what.len())
        .position(|window| window == what)
        .unwrap_or(bytes.len())
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
        assert_eq!(refuse(".global .align 4 .b8 some[1048576];"), None);
        assert_eq!(refuse("ld.global.f32 %f1, [%rd1+4294967296];"), None);
    }

    #[test]
    fn ordinary_code_is_free() {
        for code in [
            "// prefetch.global.L2 [%rd1];\n.file 1 \"prefetch.global.L2\"",
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
