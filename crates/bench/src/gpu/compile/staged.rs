//! What a device half is held to.

use hotloop_flow::interface::Function;
use hotloop_flow::stage::Rules;

use crate::gpu::plan::Plan;

/// The rules of a candidate's stage, and what they depend on.
#[derive(Clone, Copy)]
pub(crate) struct Staged<'a> {
    pub(crate) rules: Rules<'a>,
    /// Whether elements of the task's arguments have eight bytes.
    pub(crate) has_eight_bytes: bool,
    /// The task's function, and what the candidate's host half does in its calls.
    pub(crate) function: &'a Function,
    pub(crate) plans: &'a [Plan],
}
