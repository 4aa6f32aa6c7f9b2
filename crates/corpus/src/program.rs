//! A correct candidate, represented by its choices.

use hotloop_flow::Stage;
use hotloop_flow::language::c::stages;
use serde::Serialize;

use crate::canonical::canonical;
use crate::dress::Uses;
use crate::matmul::nest::Nest;
use crate::matmul::tile::MicroTile;
use crate::matvec::Matvec;
use crate::rng::Rng;
use crate::softmax::Softmax;
use crate::stencil::Stencil;
use crate::transpose::Transpose;

/// The tasks that the corpus knows, with their shares of the mixture in percent.
pub const TASKS: [(&str, u32); 6] = [
    ("matmul", 50),
    ("matmul-any", 10),
    ("matvec", 12),
    ("transpose", 10),
    ("stencil2d", 10),
    ("softmax", 8),
];

/// Maximum size of a canonical source in bytes, which keeps candidates within about 250 tokens.
pub const BYTES_MAX: usize = 960;

/// Programs to try when looking for a relative.
const RELATIVES: usize = 200;

/// The families of candidates.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Program {
    /// A matrix product as a loop nest.
    Nest(Nest),
    /// A matrix product as a micro-tile.
    MicroTile(MicroTile),
    /// A matrix-vector product.
    Matvec(Matvec),
    /// A transposition.
    Transpose(Transpose),
    Stencil(Stencil),
    Softmax(Softmax),
}

/// The number of combinations of a family, and the function from a number to a combination.
type Family = (u64, fn(u64) -> Program);

/// Calls a method of the family.
macro_rules! each {
    ($program:expr, $choices:ident => $call:expr) => {
        match $program {
            Program::Nest($choices) => $call,
            Program::MicroTile($choices) => $call,
            Program::Matvec($choices) => $call,
            Program::Transpose($choices) => $call,
            Program::Stencil($choices) => $call,
            Program::Softmax($choices) => $call,
        }
    };
}

impl Program {
    /// The number of combinations of choices, including those that make no sense.
    pub fn combinations() -> u64 {
        Self::families().iter().map(|(count, _)| count).sum()
    }

    fn families() -> [Family; 6] {
        [
            (Nest::combinations(), |index| Self::Nest(Nest::nth(index))),
            (MicroTile::combinations(), |index| {
                Self::MicroTile(MicroTile::nth(index))
            }),
            (Matvec::combinations(), |index| {
                Self::Matvec(Matvec::nth(index))
            }),
            (Transpose::combinations(), |index| {
                Self::Transpose(Transpose::nth(index))
            }),
            (Stencil::combinations(), |index| {
                Self::Stencil(Stencil::nth(index))
            }),
            (Softmax::combinations(), |index| {
                Self::Softmax(Softmax::nth(index))
            }),
        ]
    }

    /// Combination number `index` over all families in order; `None` if it makes no sense.
    pub fn nth(index: u64) -> Option<Self> {
        let mut left = index;
        for (count, family) in Self::families() {
            if left < count {
                return Some(family(left)).filter(Self::makes_sense);
            }
            left -= count;
        }
        None
    }

    /// A candidate for `task` by the mixture's weights.
    pub fn draw(task: &str, rng: &mut Rng) -> Self {
        loop {
            let program = match task {
                "matmul" | "matmul-any" if rng.percent(68) => Self::Nest(Nest::draw(rng)),
                "matmul" | "matmul-any" => Self::MicroTile(MicroTile::draw(rng)),
                "matvec" => Self::Matvec(Matvec::draw(rng)),
                "transpose" => Self::Transpose(Transpose::draw(rng)),
                "stencil2d" => Self::Stencil(Stencil::draw(rng)),
                "softmax" => Self::Softmax(Softmax::draw(rng)),
                unknown => unreachable!("the corpus has no task {unknown}"),
            };
            if program.task() == task && program.makes_sense() {
                return program;
            }
        }
    }

    /// A neighbour of the same task, with one choice drawn again, or two if they depend on each
    /// other.
    #[must_use]
    pub fn changed(&self, rng: &mut Rng) -> Self {
        loop {
            let once = |program: &Self, rng: &mut Rng| match program {
                Self::Nest(choices) => Self::Nest(choices.changed(rng)),
                Self::MicroTile(choices) => Self::MicroTile(choices.changed(rng)),
                Self::Matvec(choices) => Self::Matvec(choices.changed(rng)),
                Self::Transpose(choices) => Self::Transpose(choices.changed(rng)),
                Self::Stencil(choices) => Self::Stencil(choices.changed(rng)),
                Self::Softmax(choices) => Self::Softmax(choices.changed(rng)),
            };
            let mut program = once(self, rng);
            if !program.makes_sense() || rng.percent(20) {
                program = once(&program, rng);
            }
            if program != *self && program.task() == self.task() && program.makes_sense() {
                return program;
            }
        }
    }

    /// Another program that `fits`, one or a few choices away, if it finds one.
    pub fn relative(&self, rng: &mut Rng, fits: impl Fn(&Self) -> bool) -> Option<Self> {
        let mut at = *self;
        let source = self.source();
        for step in 0..RELATIVES {
            // Starts again at times, so that the relative stays close.
            at = if step % 4 == 0 {
                self.changed(rng)
            } else {
                at.changed(rng)
            };
            if !fits(&at) {
                continue;
            }
            let other = at.source();
            if other != source && other.len() <= BYTES_MAX {
                return Some(at);
            }
        }
        None
    }

    /// Whether the choices fit together, and none of them is without effect.
    pub fn makes_sense(&self) -> bool {
        each!(self, choices => choices.makes_sense())
    }

    /// The techniques that its choices use.
    pub fn uses(&self) -> Uses {
        each!(self, choices => choices.uses())
    }

    /// The task that it solves.
    pub fn task(&self) -> &'static str {
        match self {
            Self::Nest(choices) => choices.sort.task(),
            Self::MicroTile(choices) => choices.sort.task(),
            Self::Matvec(_) => "matvec",
            Self::Transpose(_) => "transpose",
            Self::Stencil(_) => "stencil2d",
            Self::Softmax(_) => "softmax",
        }
    }

    /// Its stage: the first that allows it, or the last if it uses the techniques of all earlier
    /// stages.
    pub fn stage(&self) -> Stage {
        let Uses {
            blocks,
            simd,
            threads,
            prefetch,
        } = self.uses();
        match (prefetch, threads, simd, blocks) {
            (true, true, true, _) | (true, true, _, true) => stages::ALL,
            (true, ..) => stages::PREFETCH,
            (_, true, ..) => stages::OPENMP,
            (_, _, true, _) => stages::SIMD,
            (_, _, _, true) => stages::CACHE_BLOCKING,
            (false, false, false, false) => stages::REGISTER_BLOCKING,
        }
    }

    /// The canonical C source.
    pub fn source(&self) -> String {
        canonical(&each!(self, choices => choices.source()))
    }

    /// The same with `register` on the values that an unoptimised tile should keep there; `None`
    /// without such a tile.
    pub fn in_registers(&self) -> Option<String> {
        match self {
            Self::MicroTile(choices) => choices.in_registers().map(|source| canonical(&source)),
            _ => None,
        }
    }
}
