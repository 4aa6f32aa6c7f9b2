//! Accesses of eight bytes to arrays of smaller elements: two elements at once.
//!
//! The PTX says from which parameters of a kernel an address comes, and the plans say what a launch
//! passes there. So it does not matter what is done with what was loaded.

use std::collections::{BTreeMap, BTreeSet};

use hotloop_flow::interface::{Function, Role};
use hotloop_flow::language::cuda::WideAccess;
use hotloop_flow::technique::Technique;

use super::staged::Staged;
use crate::gpu::plan::{Origin, Place, Plan, Step};

/// Bytes of a wide access.
const BYTES: u64 = 8;

/// What the rules of a stage say against accesses in a module whose kernels have these `symbols`,
/// as its plans launch them.
pub(super) fn refuse(
    stage: Staged<'_>,
    accesses: &[WideAccess],
    symbols: &BTreeMap<String, String>,
) -> Option<String> {
    if accesses.is_empty() || !stage.rules.forbids(Technique::VectorLoads) {
        return None;
    }
    let mut of_kernel: BTreeMap<&str, Vec<&WideAccess>> = BTreeMap::new();
    for access in accesses {
        of_kernel.entry(&access.kernel).or_default().push(access);
    }
    let found = stage.plans.iter().find_map(|plan| {
        let narrow = narrow(plan, stage.function);
        if narrow.is_empty() {
            return None;
        }
        plan.launches().find_map(|launch| {
            let symbol = symbols.get(&launch.kernel).map_or("", String::as_str);
            let own = [symbol, ""].map(|kernel| of_kernel.get(kernel));
            own.into_iter().flatten().flatten().find(|access| {
                let Some((number, offset)) = access.from else {
                    return true;
                };
                let pointers = launch.arguments.get(number).map(|one| &one.pointers);
                let mut pointers = pointers.into_iter().flatten();
                pointers.any(|(at, place)| {
                    // Half of a pointer may be taken, or the whole parameter.
                    let at = *at as u64;
                    let is_of = offset == u64::MAX || (at..at + BYTES).contains(&offset);
                    is_of && narrow.contains(&place.buffer)
                })
            })
        })
    });
    found.map(|access| {
        format!(
            "{} forbids {}: line {} uses `{}` on elements of fewer bytes",
            stage.rules.stage,
            Technique::VectorLoads.name(),
            access.line,
            access.text
        )
    })
}

/// The buffers of a plan with elements that are smaller: arguments, and what is copied from them or
/// to them.
fn narrow(plan: &Plan, function: &Function) -> BTreeSet<usize> {
    let is_narrow = |origin: &Origin| match origin {
        Origin::Argument(index) => function
            .args
            .get(*index)
            .is_some_and(|arg| arg.role != Role::Scalar && (arg.kind.bytes() as u64) < BYTES),
        Origin::Own | Origin::Variable { .. } => false,
    };
    let buffers = plan.buffers.iter().enumerate();
    let found = buffers.filter(|(_, buffer)| is_narrow(&buffer.origin));
    let mut found: BTreeSet<usize> = found.map(|(index, _)| index).collect();
    let copies: BTreeSet<(usize, usize)> = plan
        .steps
        .iter()
        .filter_map(|step| match step {
            Step::Copy {
                to: Place { buffer: to, .. },
                from: Place { buffer: from, .. },
                ..
            } => Some((*to, *from)),
            Step::Launch(_) | Step::Set { .. } | Step::Write { .. } => None,
        })
        .collect();
    let mut known = 0;
    while known < found.len() {
        known = found.len();
        for (to, from) in &copies {
            if found.contains(to) || found.contains(from) {
                found.extend([*to, *from]);
            }
        }
    }
    found
}
