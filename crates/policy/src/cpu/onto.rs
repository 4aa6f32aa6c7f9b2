//! What a product does to the values in its place.

/// What happens to the values that are already there.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Onto {
    /// They are overwritten.
    Set,
    /// The product is added to them.
    Add,
}
