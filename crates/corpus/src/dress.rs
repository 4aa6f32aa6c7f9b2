//! Choices that many tasks share: threads, prefetch, tiles, unrolling, qualifiers.

use crate::axis::axis;

axis!(
    /// A tile's edge; 0 for none.
    Tile(u32) { 0 = 60, 8 = 4, 16 = 8, 32 = 12, 64 = 10, 128 = 6 }
);

axis!(
    /// What keeps a tile's loop inside the matrix.
    Edge {
        /// Nothing: the size is a multiple of the tile.
        Exact = 4,
        /// The end is computed before the loop.
        Min = 3,
        /// The condition checks both bounds.
        And = 2,
    }
);

axis!(
    /// How the innermost loop is unrolled.
    Unroll {
        /// Not at all.
        One = 60,
        /// `#pragma GCC unroll 2`
        Pragma2 = 3,
        /// `#pragma GCC unroll 4`
        Pragma4 = 6,
        /// `#pragma GCC unroll 8`
        Pragma8 = 4,
        /// Two by hand.
        Hand2 = 6,
        /// Four by hand.
        Hand4 = 8,
        /// Eight by hand.
        Hand8 = 2,
    }
);

impl Unroll {
    /// How many, if by pragma.
    pub fn pragma(self) -> Option<u32> {
        match self {
            Self::Pragma2 => Some(2),
            Self::Pragma4 => Some(4),
            Self::Pragma8 => Some(8),
            Self::One | Self::Hand2 | Self::Hand4 | Self::Hand8 => None,
        }
    }

    /// How many, if by hand.
    pub fn hand(self) -> Option<u32> {
        match self {
            Self::Hand2 => Some(2),
            Self::Hand4 => Some(4),
            Self::Hand8 => Some(8),
            Self::One | Self::Pragma2 | Self::Pragma4 | Self::Pragma8 => None,
        }
    }
}

axis!(
    /// How the pointers are qualified.
    Qualifiers {
        /// `double*A`
        Plain = 6,
        /// `double*restrict A`
        Restrict = 3,
        /// `const double*restrict A` for inputs.
        Const = 1,
    }
);

impl Qualifiers {
    /// The type of a pointer to an input, as far as the name.
    pub fn input(self) -> &'static str {
        match self {
            Self::Plain => "double*",
            Self::Restrict => "double*restrict ",
            Self::Const => "const double*restrict ",
        }
    }

    /// The type of a pointer to the output, as far as the name.
    pub fn output(self) -> &'static str {
        match self {
            Self::Plain => "double*",
            Self::Restrict | Self::Const => "double*restrict ",
        }
    }

    /// The type of a local pointer into an input.
    pub fn local(self) -> &'static str {
        match self {
            Self::Plain | Self::Restrict => "double*",
            Self::Const => "const double*",
        }
    }
}

axis!(
    /// How the outermost loop is shared among threads.
    Threads {
        /// It is not.
        None = 60,
        /// `parallel for`
        For = 12,
        /// `parallel for schedule(static)`
        Static = 6,
        /// `parallel for schedule(dynamic)`
        Dynamic = 6,
        /// `parallel for schedule(guided)`
        Guided = 3,
        /// `parallel for collapse(2)`
        Collapse = 6,
        /// By thread number.
        Split = 5,
    }
);

/// A loop's head with everything before it, and the number of braces to close after it.
pub struct Head {
    /// Pragmas, declarations and the head, including its brace.
    pub text: String,
    /// Braces to close.
    pub braces: usize,
}

impl Threads {
    /// The head of the loop `for (var = 0; var < end; var += step)`, shared among threads.
    pub fn head(self, var: &str, end: &str, step: u32) -> Head {
        let next = step_of(var, step);
        let plain = format!("for(int {var}=0;{var}<{end};{next}){{");
        let pragma = match self {
            Self::None => {
                return Head {
                    text: plain,
                    braces: 1,
                };
            }
            Self::For => "",
            Self::Static => " schedule(static)",
            Self::Dynamic => " schedule(dynamic)",
            Self::Guided => " schedule(guided)",
            Self::Collapse => " collapse(2)",
            Self::Split => {
                let team =
                    "#pragma omp parallel\n{int t=omp_get_thread_num(),p=omp_get_num_threads();";
                let own = if step == 1 {
                    format!("for(int {var}={end}*t/p;{var}<{end}*(t+1)/p;{var}++){{")
                } else {
                    format!("for(int {var}={step}*t;{var}<{end};{var}+={step}*p){{")
                };
                return Head {
                    text: format!("\n{team}{own}"),
                    braces: 2,
                };
            }
        };
        Head {
            text: format!("\n#pragma omp parallel for{pragma}\n{plain}"),
            braces: 1,
        }
    }

    pub fn any(self) -> bool {
        self != Self::None
    }
}

/// `var++` or `var+=step`.
pub fn step_of(var: &str, step: u32) -> String {
    if step == 1 {
        format!("{var}++")
    } else {
        format!("{var}+={step}")
    }
}

axis!(
    /// How far ahead the code prefetches, and with which function.
    Prefetch {
        /// Not at all.
        None = 70,
        /// `__builtin_prefetch`, 1 ahead.
        Builtin1 = 5,
        /// `__builtin_prefetch`, 4 ahead.
        Builtin4 = 7,
        /// `__builtin_prefetch`, 8 ahead.
        Builtin8 = 5,
        /// `_mm_prefetch`, 1 ahead.
        Mm1 = 4,
        /// `_mm_prefetch`, 4 ahead.
        Mm4 = 5,
        /// `_mm_prefetch`, 8 ahead.
        Mm8 = 4,
    }
);

impl Prefetch {
    /// Whether there is any.
    pub fn any(self) -> bool {
        self != Self::None
    }

    /// Whether it needs `immintrin.h`.
    pub fn is_intrinsic(self) -> bool {
        matches!(self, Self::Mm1 | Self::Mm4 | Self::Mm8)
    }

    /// The statement; empty without prefetch. `address` computes the address from the distance.
    pub fn statement(self, address: impl Fn(u32) -> String) -> String {
        let (distance, intrinsic) = match self {
            Self::None => return String::new(),
            Self::Builtin1 => (1, false),
            Self::Builtin4 => (4, false),
            Self::Builtin8 => (8, false),
            Self::Mm1 => (1, true),
            Self::Mm4 => (4, true),
            Self::Mm8 => (8, true),
        };
        let address = address(distance);
        if intrinsic {
            format!("_mm_prefetch({address},_MM_HINT_T0);")
        } else {
            format!("__builtin_prefetch({address});")
        }
    }
}

axis!(
    /// The registers that hold a micro-tile's sums.
    Unit {
        /// Doubles.
        Scalar = 12,
        /// `__m256d`
        Avx2 = 6,
        /// `__m512d`
        Avx512 = 2,
        /// Vectors of four by GCC's extension.
        Ext4 = 3,
        /// Vectors of eight by GCC's extension.
        Ext8 = 1,
    }
);

impl Unit {
    /// Doubles in a register.
    pub fn width(self) -> u32 {
        match self {
            Self::Scalar => 1,
            Self::Avx2 | Self::Ext4 => 4,
            Self::Avx512 | Self::Ext8 => 8,
        }
    }

    /// Whether it is explicit vector code.
    pub fn is_vector(self) -> bool {
        self != Self::Scalar
    }

    /// Whether it needs `immintrin.h`.
    pub fn is_intrinsic(self) -> bool {
        matches!(self, Self::Avx2 | Self::Avx512)
    }

    /// The register's type.
    pub fn name(self) -> &'static str {
        match self {
            Self::Scalar => "double",
            Self::Avx2 => "__m256d",
            Self::Avx512 => "__m512d",
            Self::Ext4 => "v4",
            Self::Ext8 => "v8",
        }
    }

    /// The type's declaration, if C does not have the type.
    pub fn declaration(self) -> &'static str {
        match self {
            Self::Scalar | Self::Avx2 | Self::Avx512 => "",
            Self::Ext4 => "typedef double v4 __attribute__((vector_size(32),aligned(8)));",
            Self::Ext8 => "typedef double v8 __attribute__((vector_size(64),aligned(8)));",
        }
    }

    fn prefix(self) -> &'static str {
        if self.width() == 8 {
            "_mm512"
        } else {
            "_mm256"
        }
    }

    /// Loads from `base + index`, which need not be aligned.
    pub fn load(self, base: &str, index: &str) -> String {
        match self {
            Self::Scalar => format!("{base}[{index}]"),
            Self::Avx2 | Self::Avx512 => format!("{}_loadu_pd({base}+{index})", self.prefix()),
            Self::Ext4 | Self::Ext8 => format!("*({}*)({base}+{index})", self.name()),
        }
    }

    /// The statement that stores `value` at `base + index`.
    pub fn store(self, base: &str, index: &str, value: &str) -> String {
        match self {
            Self::Scalar | Self::Ext4 | Self::Ext8 => {
                format!("{}={value};", self.load(base, index))
            }
            Self::Avx2 | Self::Avx512 => {
                format!("{}_storeu_pd({base}+{index},{value});", self.prefix())
            }
        }
    }

    /// A register with `value` in every lane, or the value itself if the compiler broadcasts it.
    pub fn splat(self, value: &str) -> String {
        match self {
            Self::Scalar | Self::Ext4 | Self::Ext8 => value.to_owned(),
            Self::Avx2 | Self::Avx512 => format!("{}_set1_pd({value})", self.prefix()),
        }
    }

    /// The type of a `splat`.
    pub fn splat_name(self) -> &'static str {
        if self.is_intrinsic() {
            self.name()
        } else {
            "double"
        }
    }

    /// The statement `sum += a * b`.
    pub fn fma(self, sum: &str, a: &str, b: &str) -> String {
        match self {
            Self::Scalar | Self::Ext4 | Self::Ext8 => format!("{sum}+={a}*{b};"),
            Self::Avx2 | Self::Avx512 => {
                format!("{sum}={}_fmadd_pd({a},{b},{sum});", self.prefix())
            }
        }
    }
}

/// The includes that a source needs, in a fixed order.
#[expect(clippy::struct_excessive_bools, reason = "a set of independent facts")]
#[derive(Debug, Clone, Copy, Default)]
pub struct Needs {
    /// Intrinsics.
    pub immintrin: bool,
    /// `exp`.
    pub math: bool,
    /// Thread numbers.
    pub omp: bool,
    /// Memory.
    pub stdlib: bool,
    /// `memset`, `memcpy`.
    pub string: bool,
}

impl Needs {
    pub fn lines(self) -> String {
        let headers = [
            (self.immintrin, "immintrin"),
            (self.math, "math"),
            (self.omp, "omp"),
            (self.stdlib, "stdlib"),
            (self.string, "string"),
        ];
        headers
            .iter()
            .filter(|(needed, _)| *needed)
            .map(|(_, name)| format!("#include<{name}.h>\n"))
            .collect()
    }
}

/// The techniques that a candidate's choices use.
#[expect(clippy::struct_excessive_bools, reason = "a set of independent facts")]
#[derive(Debug, Clone, Copy, Default)]
pub struct Uses {
    /// Tiles for the caches, or packing.
    pub blocks: bool,
    /// Explicit vector code, including `omp simd`.
    pub simd: bool,
    pub threads: bool,
    pub prefetch: bool,
}
