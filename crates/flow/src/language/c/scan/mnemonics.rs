//! Words of assembly that work on vectors.
//!
//! A test of the bench asks a decoder for the names of all instructions on vectors, and looks for
//! each of them here.

/// Beginnings of the names of packed integers, the matrix unit, masks and ciphers. They are long
/// enough not to match labels, and exclude `pext`.
const VECTORS: [&str; 83] = [
    "aesdec",
    "aesenc",
    "aesimc",
    "aeskey",
    "cvtpd2",
    "cvtps2",
    "cvtpi2",
    "cvttpd2",
    "cvttps2",
    "cvtdq2",
    "emms",
    "extrq",
    "femms",
    "gf2p8",
    "insertq",
    "kadd",
    "kand",
    "kmov",
    "knot",
    "kor",
    "kshift",
    "ktest",
    "kunpck",
    "kxnor",
    "kxor",
    "lddqu",
    "ldtilecfg",
    "maskmov",
    "movddup",
    "movdq",
    "movntdq",
    "movntq",
    "movq2dq",
    "movshdup",
    "movsldup",
    "mpsadbw",
    "pabs",
    "packss",
    "packus",
    "paddb",
    "paddd",
    "paddq",
    "padds",
    "paddus",
    "paddw",
    "palignr",
    "pand",
    "pavg",
    "pblend",
    "pclmul",
    "pcmp",
    "pextr",
    "pf2i",
    "phadd",
    "phmin",
    "phsub",
    "pi2f",
    "pinsr",
    "pmadd",
    "pmax",
    "pmin",
    "pmov",
    "pmul",
    "psadbw",
    "pshuf",
    "psign",
    "psll",
    "psra",
    "psrl",
    "psub",
    "pswapd",
    "ptest",
    "punpck",
    "pxor",
    "sha1",
    "sha256",
    "sttilecfg",
    "tdp",
    "tilezero",
    "tileload",
    "tilestore",
    "tilerelease",
    "tcmm",
];
/// Short names, and those of the first vectors on floating-point numbers.
const SHORT: [&str; 22] = [
    "por", "vpor", "orps", "orpd", "dpps", "dppd", "pfacc", "pfadd", "pfcmpeq", "pfcmpge",
    "pfcmpgt", "pfmax", "pfmin", "pfmul", "pfnacc", "pfpnacc", "pfrcp", "pfrcpit1", "pfrcpit2",
    "pfrcpv", "pfsub", "pfsubr",
];
/// Beginnings of what works on packed floating-point numbers, before `ps` or `pd`. There will be no
/// more: newer instructions begin with `v`. A label may be called `steps`.
const PACKED: [&str; 29] = [
    "add", "and", "blend", "cmp", "cvt", "div", "extract", "hadd", "hsub", "insert", "max", "min",
    "mov", "mul", "pf", "rcp", "round", "rsqrt", "shuf", "sqrt", "sub", "tdp", "unpck", "xor", "v",
    "tmm", "ttdp", "tcvt", "tcmm",
];
/// Beginnings behind `v`.
const WIDE: [&str; 43] = [
    "4f",
    "add",
    "aes",
    "align",
    "and",
    "bcst",
    "blend",
    "broadcast",
    "cmp",
    "com",
    "cvt",
    "dbp",
    "div",
    "dp",
    "exp",
    "extract",
    "f",
    "gather",
    "get",
    "gf2p8",
    "hadd",
    "hsub",
    "insert",
    "ld",
    "mask",
    "max",
    "min",
    "mov",
    "mpsad",
    "mul",
    "or",
    "p",
    "r",
    "scale",
    "scatter",
    "sha",
    "shuf",
    "sm",
    "sqrt",
    "sub",
    "test",
    "unpck",
    "xor",
];
/// Beginnings behind `v` of what may also work on one number alone.
const OF_ONE: [&str; 18] = [
    "add", "cmp", "comi", "cvt", "div", "fmadd", "fmsub", "fnmadd", "fnmsub", "max", "min", "mov",
    "mul", "rcp", "round", "rsqrt", "sqrt", "sub",
];

/// Whether a word, in small letters, names a vector register or an instruction on vectors.
pub(super) fn is_vector_assembly(word: &str) -> bool {
    let register = ["xmm", "ymm", "zmm", "tmm", "mm"]
        .iter()
        .find_map(|start| word.strip_prefix(start));
    if register.is_some_and(|number| number.bytes().all(|byte| byte.is_ascii_digit()))
        && word != "mm"
    {
        return true;
    }
    if works_on_one_number(word) {
        return false;
    }
    let wide = word
        .strip_prefix('v')
        .is_some_and(|rest| word.len() >= 5 && WIDE.iter().any(|start| rest.starts_with(start)));
    let packed = word
        .strip_suffix("pd")
        .or(word.strip_suffix("ps"))
        .is_some_and(|stem| PACKED.iter().any(|start| stem.starts_with(start)));
    // A label that gives libmvec's function another name.
    let is_label = word.starts_with("_zgv");
    wide || packed
        || is_label
        || SHORT.contains(&word)
        || VECTORS.iter().any(|start| word.starts_with(start))
}

/// `vfmadd231sd` and its like: newer forms of plain arithmetic.
fn works_on_one_number(word: &str) -> bool {
    let Some(rest) = word.strip_prefix('v') else {
        return false;
    };
    let of_one = [
        "sd", "ss", "sh", "2si", "2usi", "2sil", "2siq", "2sdl", "2sdq", "2ssl", "2ssq",
    ];
    matches!(word, "vmovd" | "vmovq")
        || (OF_ONE.iter().any(|start| rest.starts_with(start))
            && of_one.iter().any(|end| rest.ends_with(end)))
}
