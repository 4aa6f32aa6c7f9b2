//! The calls that a round makes, and how their inputs are drawn: uniformly, or so that shortcuts fail.

use crate::gpu::call::Call;
use crate::gpu::trusted::Shape;

/// A call that a round makes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Making {
    /// Its index among the work's calls.
    pub(super) call: usize,
    pub(super) inputs: Inputs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Inputs {
    Uniform,
    /// Neighbouring arguments get neighbouring shapes. The first one gets that of this number.
    Mixed(usize),
    /// Arguments get numbers of many sizes, and uniform ones with few that are small, in turns.
    ManySizes(usize),
}

impl Inputs {
    /// How the argument `at` is drawn.
    pub(super) fn shape(self, at: usize) -> Shape {
        match self {
            Self::Uniform => Shape::Uniform,
            Self::Mixed(turn) => Shape::HOSTILE[(turn + at) % Shape::HOSTILE.len()],
            Self::ManySizes(turn) => [Shape::Uneven, Shape::Rare][(turn + at) % 2],
        }
    }
}

impl Making {
    pub(super) fn uniform(call: usize) -> Self {
        Self {
            call,
            inputs: Inputs::Uniform,
        }
    }

    /// An untimed call. Its inputs are hostile if an earlier call has its sizes.
    pub(super) fn untimed(calls: &[Call], call: usize, turn: usize) -> Self {
        let is_repeated = calls[..call]
            .iter()
            .any(|earlier| earlier.sizes == calls[call].sizes);
        let inputs = if is_repeated {
            Inputs::Mixed(turn + call)
        } else {
            Inputs::Uniform
        };
        Self { call, inputs }
    }

    /// Runs of the timed call whose time does not count. A candidate cannot tell them from those
    /// that count before it has looked at many numbers.
    pub(super) fn hostile(call: usize, turn: usize) -> [Self; 3] {
        let inputs = [
            Inputs::ManySizes(turn),
            Inputs::ManySizes(turn + 1),
            Inputs::Mixed(turn),
        ];
        inputs.map(|inputs| Self { call, inputs })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gpu::calls::of_candidate;
    use crate::inputs::Fresh;

    #[test]
    fn the_second_call_of_each_untimed_size_is_hostile() {
        let task = crate::tasks::load("cuda/histogram").unwrap().spec;
        let calls = of_candidate(&task, &mut Fresh::from_seed(3));
        let is_hostile =
            |at: &usize| Making::untimed(&calls, *at, 5).inputs == Inputs::Mixed(5 + at);
        let (once, last) = (calls.len() / 2, calls.len() - 1);
        assert!((once..last).all(|at| is_hostile(&at)));
        assert_eq!((0..once).find(is_hostile), None);
    }

    #[test]
    fn each_argument_of_the_timed_call_meets_numbers_of_many_sizes() {
        for turn in 0..Shape::HOSTILE.len() {
            let makings = Making::hostile(9, turn);
            for at in 0..4 {
                let shapes = makings.map(|making| making.inputs.shape(at));
                assert!(shapes.contains(&Shape::Uneven), "{shapes:?}");
                assert!(shapes.contains(&Shape::Rare), "{shapes:?}");
                assert!(!shapes.contains(&Shape::Uniform), "{shapes:?}");
            }
        }
    }
}
