//! A right candidate as the choices that it is made of.

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

/// The longest canonical source, in bytes: keeps candidates within about 250 tokens.
pub const BYTES_MAX: usize = 960;

/// Programs that are looked at for a relative that fits.
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
    /// A stencil.
    Stencil(Stencil),
    /// A softmax.
    Softmax(Softmax),
}

/// How many combinations a family has, and the one of a number.
type Family = (u64, fn(u64) -> Program);

/// Calls the same method of whichever family.
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
    /// How many combinations of choices there are, with those that make no sense.
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

    /// The combination number `index` of all families in order; none where it makes no sense.
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

    /// A neighbour of the same task: one choice drawn anew, or two where they depend on each other.
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

    /// Another program that `fits`, one or a few choices away, if one is found.
    pub fn relative(&self, rng: &mut Rng, fits: impl Fn(&Self) -> bool) -> Option<Self> {
        let mut at = *self;
        let source = self.source();
        for step in 0..RELATIVES {
            // Starts anew now and then, so that the relative stays near.
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

    /// Its techniques, as the choices say.
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

    /// The stage that it belongs to: the first that allows it, or the last for those that use
    /// all that earlier stages brought.
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

    /// The same with `register` before what an unoptimised tile should keep there, where a program
    /// has such a tile.
    pub fn in_registers(&self) -> Option<String> {
        match self {
            Self::MicroTile(choices) => choices.in_registers().map(|source| canonical(&source)),
            _ => None,
        }
    }
}
