//! Choices that several tasks share, and how they are written.

use crate::axis::axis;

axis!(
    /// How global memory is read.
    Load {
        /// `x[i]`
        Plain = 6,
        /// `__ldg(&x[i])`
        ReadOnly = 3,
    }
);

impl Load {
    /// The value at a place.
    pub(super) fn of(self, place: &str) -> String {
        match self {
            Self::Plain => place.to_owned(),
            Self::ReadOnly => format!("__ldg(&{place})"),
        }
    }
}

axis!(
    /// Whether pointers promise not to alias.
    Alias {
        Unknown = 5,
        Restrict = 4,
    }
);

impl Alias {
    /// The parameter of an input.
    pub(super) fn input(self, name: &str) -> String {
        match self {
            Self::Unknown => format!("const float* {name}"),
            Self::Restrict => format!("const float* __restrict__ {name}"),
        }
    }

    /// The parameter of an output.
    pub(super) fn output(self, name: &str) -> String {
        match self {
            Self::Unknown => format!("float* {name}"),
            Self::Restrict => format!("float* __restrict__ {name}"),
        }
    }
}

/// `#pragma unroll` where a loop is to be unrolled.
pub(super) fn pragma(unroll: u32, indent: &str) -> String {
    if unroll > 1 {
        format!("{indent}#pragma unroll {unroll}\n")
    } else {
        String::new()
    }
}
