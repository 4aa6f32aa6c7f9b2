//! The destination of a product, and what happens to the values that are there.

/// What happens to the values that are already there.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Onto {
    /// They are overwritten.
    Set,
    /// The product is added to them.
    Add,
}

/// Rows to write, with `stride` values from row to row.
pub(super) struct Strided<'a> {
    pub(super) data: &'a mut [f32],
    pub(super) stride: usize,
}

impl<'a> Strided<'a> {
    pub(super) fn rows(data: &'a mut [f32], stride: usize) -> Self {
        Self { data, stride }
    }
}
