//! Matrix products: loop nests and micro-tiles, for one size and for any.

pub mod nest;
pub mod tile;

use crate::axis::axis;
use crate::dress::Qualifiers;

axis!(
    /// Which of the two tasks.
    Sort {
        /// `matmul`: always 256.
        Fixed = 5,
        /// `matmul-any`: any size.
        Any = 1,
    }
);

axis!(
    /// How sizes are written.
    Sizes {
        /// By their names.
        Named = 4,
        /// As 256.
        Literal = 1,
    }
);

impl Sort {
    /// The task's name.
    pub fn task(self) -> &'static str {
        match self {
            Self::Fixed => "matmul",
            Self::Any => "matmul-any",
        }
    }

    fn signature(self, qualifiers: Qualifiers) -> String {
        let entry = match self {
            Self::Fixed => "matmul_optimized",
            Self::Any => "matmul_any",
        };
        let (input, output) = (qualifiers.input(), qualifiers.output());
        format!("void {entry}({input}A,{input}B,{output}C,int M,int N,int K){{")
    }
}

impl Sizes {
    /// `M`, `N` and `K`.
    fn names(self) -> [&'static str; 3] {
        match self {
            Self::Named => ["M", "N", "K"],
            Self::Literal => ["256"; 3],
        }
    }
}

axis!(
    /// Where packed elements are stored.
    Buffer {
        /// Nothing is packed.
        None = 12,
        /// In a static array.
        Static = 2,
        /// On the stack.
        Stack = 1,
        /// From `aligned_alloc`.
        Heap = 2,
    }
);

impl Buffer {
    /// The declaration of `P` with the given number of doubles: a number for arrays, a formula for
    /// the heap.
    fn declaration(self, number: u32, formula: &str) -> String {
        match self {
            Self::None => String::new(),
            Self::Static => format!("static double P[{number}]__attribute__((aligned(64)));"),
            Self::Stack => format!("double P[{number}]__attribute__((aligned(64)));"),
            Self::Heap => format!("double*P=aligned_alloc(64,{formula}*8);"),
        }
    }

    fn release(self) -> &'static str {
        if self == Self::Heap { "free(P);" } else { "" }
    }
}
