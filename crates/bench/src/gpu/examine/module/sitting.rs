//! What a judgement of a module works on.

use crate::gpu::examine::arena::Arena;
use crate::gpu::examine::module::oracle::{Known, Oracle};
use crate::gpu::examine::module::work::ModuleWork;

/// What a judgement works on.
pub(super) struct Sitting<'a> {
    pub(super) work: &'a ModuleWork,
    pub(super) oracle: &'a mut Oracle,
    pub(super) known: &'a Known,
    /// What is right. No runner ever maps it.
    pub(super) right: &'a Arena,
    /// Where each output's right numbers lie in there, and how many they are.
    pub(super) places: Vec<(u64, u64)>,
}
