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
    /// Numbers of many sizes in all arguments.
    ManySizes,
    /// Uniform but for a few small numbers, in all arguments: any that does not look uniform would
    /// give the call away.
    FewSmall,
}

impl Inputs {
    /// How the argument `at` is drawn. Integers have no small numbers among others.
    pub(super) fn shape(self, at: usize, kind: Kind) -> Shape {
        let is_integer = matches!(kind, Kind::I32 | Kind::I64);
        match self {
            Self::Uniform => Shape::Uniform,
            Self::Mixed(turn) => Shape::HOSTILE[(turn + at) % Shape::HOSTILE.len()],
            Self::ManySizes if is_integer => Shape::Extremes,
            Self::ManySizes => Shape::Uneven,
            Self::FewSmall if is_integer => Shape::Frequent,
            Self::FewSmall => Shape::Rare,
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

    /// Runs of the timed call whose time does not count. The first one comes before all others, so
    /// a candidate that counts its runs knows it. The second one comes anywhere.
    pub(super) fn hostile(call: usize) -> [Self; 2] {
        [Inputs::ManySizes, Inputs::FewSmall].map(|inputs| Self { call, inputs })
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
    fn who_counts_runs_and_looks_at_few_numbers_meets_small_ones_all_the_same() {
        let [known, anywhere] = Making::hostile(9);
        let floats = |making: Making| [0, 1, 2].map(|at| making.inputs.shape(at, Kind::F32));
        assert_eq!(floats(known), [Shape::Uneven; 3]);
        assert_eq!(floats(anywhere), [Shape::Rare; 3]);
        for making in [known, anywhere] {
            assert_ne!(making.inputs.shape(0, Kind::I32), Shape::Uniform);
        }
    }
}
