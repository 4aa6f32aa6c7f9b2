//! The calls that a round makes, and how their inputs are drawn: uniformly, or so that shortcuts fail.

use hotloop_flow::interface::Kind;

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
    /// How the argument `at` is drawn. Integers have no small numbers among others.
    pub(super) fn shape(self, at: usize, kind: Kind) -> Shape {
        let is_integer = matches!(kind, Kind::I32 | Kind::I64);
        match self {
            Self::Uniform => Shape::Uniform,
            Self::Mixed(turn) => Shape::HOSTILE[(turn + at) % Shape::HOSTILE.len()],
            Self::ManySizes(turn) if is_integer => {
                [Shape::Frequent, Shape::Extremes][(turn + at) % 2]
            }
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
    pub(super) fn hostile(call: usize, turn: usize) -> [Self; 2] {
        [turn, turn + 1].map(|turn| Self {
            call,
            inputs: Inputs::ManySizes(turn),
        })
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
                let of = |kind| makings.map(|making| making.inputs.shape(at, kind));
                let floats = of(Kind::F32);
                assert!(floats.contains(&Shape::Uneven), "{floats:?}");
                assert!(floats.contains(&Shape::Rare), "{floats:?}");
                let integers = of(Kind::I32);
                assert!(integers.contains(&Shape::Frequent), "{integers:?}");
                assert!(integers.contains(&Shape::Extremes), "{integers:?}");
            }
        }
    }
}
