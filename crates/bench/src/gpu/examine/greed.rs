//! Whose fault it is if the GPU's memory runs out while a candidate is judged.

use crate::gpu::examine::work::{Answer, Trouble};
use crate::gpu::image::Image;
use crate::gpu::plan::{Origin, Plan};

/// Bytes that a machine should have for a candidate, whatever else uses the GPU. One that takes
/// more cannot blame the machine.
const MODEST: u64 = 1 << 30;
/// Threads that a large GPU runs at the same time. The driver reserves a stack for each.
const RESIDENT_THREADS: u64 = 1 << 18;

/// A lack of memory is the candidate's fault if it takes much.
pub(super) fn blame(image: &Image, plans: &[Plan], trouble: Trouble) -> Result<Answer, Trouble> {
    let taken = taken_bytes(image, plans);
    match trouble {
        Trouble::Memory(_) if taken > MODEST => Ok(Answer::Crashed(format!(
            "CUDA_ERROR_OUT_OF_MEMORY (it takes {taken} bytes beside its arguments)"
        ))),
        trouble => Err(trouble),
    }
}

/// What a candidate takes of the GPU's memory beside its arguments, at most.
fn taken_bytes(image: &Image, plans: &[Plan]) -> u64 {
    let allocated = plans.iter().map(own_bytes).max().unwrap_or(0);
    let stacks = image.taken.values();
    let stack = stacks.map(|taken| u64::from(taken.stack_bytes)).max();
    let stacks = stack.unwrap_or(0) * RESIDENT_THREADS;
    allocated
        .saturating_add(image.variable_bytes)
        .saturating_add(stacks)
}

fn own_bytes(plan: &Plan) -> u64 {
    let own = plan.buffers.iter();
    own.filter(|buffer| buffer.origin == Origin::Own)
        .fold(0, |all: u64, buffer| all.saturating_add(buffer.bytes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gpu::image::Taken;
    use crate::gpu::plan::Buffer;

    fn lack() -> Trouble {
        Trouble::Memory("the GPU has only 5 free bytes".to_owned())
    }

    fn plan(origin: Origin, bytes: u64) -> Plan {
        Plan {
            buffers: vec![Buffer { origin, bytes }],
            ..Plan::default()
        }
    }

    #[test]
    fn who_takes_much_cannot_blame_the_machine() {
        let is_blamed = |image: &Image, plan: Plan| {
            let blamed = blame(image, &[plan], lack());
            matches!(blamed, Ok(Answer::Crashed(how)) if how.contains("OUT_OF_MEMORY"))
        };
        let small = Image::default();
        assert!(is_blamed(&small, plan(Origin::Own, MODEST + 1)));
        assert!(!is_blamed(&small, plan(Origin::Own, MODEST)));
        assert!(!is_blamed(&small, plan(Origin::Argument(0), MODEST + 1)));
        let variables = Image {
            variable_bytes: 2 * MODEST,
            ..Image::default()
        };
        assert!(is_blamed(&variables, plan(Origin::Own, 1)));
        let stacks = Taken {
            stack_bytes: 32 << 10,
            ..Taken::default()
        };
        let stacks = Image {
            taken: [("kernel".to_owned(), stacks)].into(),
            ..Image::default()
        };
        assert!(is_blamed(&stacks, plan(Origin::Own, 1)));
    }

    #[test]
    fn other_troubles_stay_the_machines() {
        let lost = Trouble::Machine("a runner is lost".to_owned());
        let plans = [plan(Origin::Own, 2 * MODEST)];
        assert_eq!(
            blame(&Image::default(), &plans, lost.clone()).err(),
            Some(lost)
        );
    }
}
