//! Compiling units of CUDA, by a compiler that the caller brings.

use super::words::{bare, words};

/// A unit went through the compiler.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Compiled {
    Yes,
    /// Refused, with the compiler's first complaint.
    No(String),
}

/// A compiler for CUDA without a host part.
pub trait Compile {
    /// Its name and version, such as `NVRTC 12.9, compute_90`.
    fn name(&self) -> String;

    /// Compiles a unit. `Err` is the compiler's own failure and no fact about the unit.
    fn compile(&mut self, source: &str) -> Result<Compiled, String>;
}

/// What the headers of a host give and a device compiler lacks, by name.
const PRELUDE: [(&str, &str); 27] = [
    ("uint", "typedef unsigned int uint;"),
    ("ushort", "typedef unsigned short ushort;"),
    ("uchar", "typedef unsigned char uchar;"),
    ("ulong", "typedef unsigned long ulong;"),
    ("int8_t", "typedef signed char int8_t;"),
    ("int16_t", "typedef short int16_t;"),
    ("int32_t", "typedef int int32_t;"),
    ("int64_t", "typedef long long int64_t;"),
    ("uint8_t", "typedef unsigned char uint8_t;"),
    ("uint16_t", "typedef unsigned short uint16_t;"),
    ("uint32_t", "typedef unsigned int uint32_t;"),
    ("uint64_t", "typedef unsigned long long uint64_t;"),
    ("u_int8_t", "typedef unsigned char u_int8_t;"),
    ("u_int32_t", "typedef unsigned int u_int32_t;"),
    ("M_PI", "#define M_PI 3.14159265358979323846"),
    ("M_PI_2", "#define M_PI_2 1.57079632679489661923"),
    ("M_SQRT2", "#define M_SQRT2 1.41421356237309504880"),
    ("M_SQRT1_2", "#define M_SQRT1_2 0.70710678118654752440"),
    ("INT_MAX", "#define INT_MAX 2147483647"),
    ("INT_MIN", "#define INT_MIN (-2147483647 - 1)"),
    ("UINT_MAX", "#define UINT_MAX 4294967295u"),
    ("FLT_MAX", "#define FLT_MAX 3.402823466e+38f"),
    ("FLT_MIN", "#define FLT_MIN 1.175494351e-38f"),
    ("FLT_EPSILON", "#define FLT_EPSILON 1.192092896e-07f"),
    ("DBL_MAX", "#define DBL_MAX 1.7976931348623157e+308"),
    ("RAND_MAX", "#define RAND_MAX 2147483647"),
    ("NULL", "#define NULL 0"),
];

/// The unit with those parts of the prelude that it uses and does not define.
pub fn with_prelude(unit: &str) -> String {
    let bare = bare(unit);
    let words = words(&bare);
    let is_typedef = |at: usize| {
        let mut statements = bare[..at].rsplit([';', '}']);
        statements
            .next()
            .is_some_and(|text| text.contains("typedef"))
    };
    let is_defined = |name: &str| {
        words.windows(2).any(|pair| {
            pair[1].text == name
                && (pair[0].text == "define"
                    || bare[pair[1].at + name.len()..].starts_with(';') && is_typedef(pair[1].at))
        })
    };
    let mut text = String::new();
    for (name, definition) in PRELUDE {
        if words.iter().any(|word| word.text == name) && !is_defined(name) {
            text.extend([definition, "\n"]);
        }
    }
    text + unit
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_prelude_gives_what_is_used_and_not_defined() {
        let unit = "typedef unsigned int uint;\n__global__ void k(uint *a, uchar b) { a[0] = 2 * M_PI; }\n";
        let given = with_prelude(unit);
        let before = given.strip_suffix(unit).expect("it ends with the unit");
        assert_eq!(
            before,
            "typedef unsigned char uchar;\n#define M_PI 3.14159265358979323846\n"
        );
        let own = "#define M_PI 3\nfloat a = M_PI;\n";
        assert_eq!(with_prelude(own), own);
    }
}
