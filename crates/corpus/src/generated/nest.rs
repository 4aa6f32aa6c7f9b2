//! The loops around an expression, and what each input of it reads.

use super::expression::{Binary, Dialect, Expression};
use super::family::Family;
use crate::rng::Rng;

/// Which element of its buffer an input reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Access {
    /// `[i][j]` of M x N
    Straight,
    /// `[j][i]` of N x M
    Transposed,
    /// `[j]` of N
    Row,
    /// `[i]` of M
    Column,
    /// `[i + down][j + right]` of M x N; all such inputs read the first buffer
    Neighbour { down: i32, right: i32 },
    /// `[i][k]` of M x K, or `[k][i]` of K x M
    Left { transposed: bool },
    /// `[k][j]` of K x N, or `[j][k]` of N x K
    Right { transposed: bool },
}

/// The loops.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Loops {
    /// `out[i][j] = e`
    Each,
    /// `out[i]` is the sum over j, or `out[j]` over i
    Sum { over_rows: bool },
    /// `out[i][j] = decay * out[i][j-1] + e`, or down columns
    Scan { down: bool, decay: f64 },
    /// As `Each` where all neighbours exist, a copy elsewhere
    Inside { reach: i32 },
    /// `out[i][j]` is the sum over k
    Contract,
}

/// A whole nest.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Nest {
    pub(super) family: Family,
    pub(super) loops: Loops,
    pub(super) expression: Expression,
    /// One for each input of the expression.
    pub(super) accesses: Vec<Access>,
    /// The timed sizes M, N and, for contractions, K.
    pub(super) timed: Vec<(&'static str, i64)>,
}

impl Nest {
    pub(super) fn draw(family: Family, operations: usize, rng: &mut Rng) -> Self {
        let inputs = 1 + rng.below(operations.min(2) + 1);
        let inputs = inputs.min(operations + 1).max(1);
        let (loops, accesses) = match family {
            Family::Map => (Loops::Each, straight(inputs, rng)),
            Family::Broadcast => {
                let inputs = inputs.max(2);
                let mut accesses = vec![Access::Straight; inputs];
                for access in &mut accesses[1..] {
                    *access = [Access::Row, Access::Column][rng.below(2)];
                }
                // An outer product has no straight input.
                if inputs == 2 && rng.percent(40) {
                    accesses = vec![Access::Column, Access::Row];
                }
                (Loops::Each, accesses)
            }
            Family::Reduce => {
                let over_rows = rng.percent(50);
                (Loops::Sum { over_rows }, straight(inputs, rng))
            }
            Family::Scan => {
                let decay = rng.weighted(&[(0.25, 1), (0.5, 2), (0.75, 2)]);
                let down = rng.percent(50);
                (Loops::Scan { down, decay }, straight(inputs, rng))
            }
            Family::Stencil => return Self::stencil(operations, rng),
            Family::Contract => {
                let left = Access::Left {
                    transposed: rng.percent(30),
                };
                let right = Access::Right {
                    transposed: rng.percent(50),
                };
                (Loops::Contract, vec![left, right])
            }
        };
        let mut expression = Expression::draw(operations, accesses.len(), rng);
        // A sum over k of f(a) + g(b) needs no loop over i, j and k together.
        while family == Family::Contract && !expression.mixes() {
            expression = Expression::draw(operations, accesses.len(), rng);
        }
        Self {
            family,
            loops,
            expression,
            accesses,
            timed: sizes(family, rng),
        }
    }

    /// A weighted sum: one operation more than neighbours would be too few, so each operation is
    /// one more neighbour.
    fn stencil(operations: usize, rng: &mut Rng) -> Self {
        let reach = 1 + rng.below(2) as i32;
        let mut places: Vec<(i32, i32)> = vec![(0, 0)];
        while places.len() < operations + 1 {
            let mut offset = || rng.below(2 * reach as usize + 1) as i32 - reach;
            let place = (offset(), offset());
            if !places.contains(&place) {
                places.push(place);
            }
        }
        let weights = [0.25, 0.5, -0.5, 0.75, -0.25, 1.5];
        let term = |at: usize, rng: &mut Rng| {
            let weight = Expression::Number(weights[rng.below(weights.len())]);
            Expression::Both(
                Binary::Multiply,
                Box::new(weight),
                Box::new(Expression::Input(at)),
            )
        };
        let mut expression = term(0, rng);
        for at in 1..places.len() {
            let next = term(at, rng);
            expression = Expression::Both(Binary::Add, Box::new(expression), Box::new(next));
        }
        let accesses = places
            .into_iter()
            .map(|(down, right)| Access::Neighbour { down, right })
            .collect();
        Self {
            family: Family::Stencil,
            loops: Loops::Inside { reach },
            expression,
            accesses,
            timed: sizes(Family::Stencil, rng),
        }
    }

    /// The buffer that an input reads.
    pub(super) fn buffer(&self, input: usize) -> usize {
        match self.accesses[input] {
            Access::Neighbour { .. } => 0,
            _ => input,
        }
    }

    /// The access of each buffer, which decides its shape.
    pub(super) fn buffers(&self) -> Vec<Access> {
        let count = match self.loops {
            Loops::Inside { .. } => 1,
            _ => self.accesses.len(),
        };
        self.accesses[..count].to_vec()
    }

    /// What the nest computes, as a person writes it.
    pub(super) fn formula(&self) -> String {
        let element = self.expression.write(&Formula(self));
        match self.loops {
            Loops::Each | Loops::Inside { .. } => format!("out[i][j] = {element}"),
            Loops::Sum { over_rows: true } => format!("out[i] = sum over j of {element}"),
            Loops::Sum { over_rows: false } => format!("out[j] = sum over i of {element}"),
            Loops::Scan { down: false, decay } => {
                format!("out[i][j] = {decay} * out[i][j-1] + {element}")
            }
            Loops::Scan { down: true, decay } => {
                format!("out[i][j] = {decay} * out[i-1][j] + {element}")
            }
            Loops::Contract => format!("out[i][j] = sum over k of {element}"),
        }
    }
}

/// Inputs of two dimensions, one of which may be transposed.
fn straight(inputs: usize, rng: &mut Rng) -> Vec<Access> {
    let mut accesses = vec![Access::Straight; inputs];
    if rng.percent(30) {
        accesses[inputs - 1] = Access::Transposed;
    }
    accesses
}

fn sizes(family: Family, rng: &mut Rng) -> Vec<(&'static str, i64)> {
    let mut size = |least: i64, steps: usize| least + 8 * rng.below(steps) as i64;
    match family {
        Family::Contract => vec![("M", size(72, 6)), ("N", size(72, 6)), ("K", size(72, 6))],
        _ => vec![("M", size(256, 16)), ("N", size(256, 20))],
    }
}

/// Expressions as mathematics.
struct Formula<'a>(&'a Nest);

/// The name of a buffer.
pub(super) fn name(buffer: usize) -> char {
    ['a', 'b', 'c', 'd'][buffer]
}

fn shifted(index: char, by: i32) -> String {
    match by {
        0 => index.to_string(),
        _ => format!("{index}{by:+}"),
    }
}

impl Dialect for Formula<'_> {
    fn input(&self, number: usize) -> String {
        let name = name(self.0.buffer(number));
        match self.0.accesses[number] {
            Access::Straight => format!("{name}[i][j]"),
            Access::Transposed => format!("{name}[j][i]"),
            Access::Row => format!("{name}[j]"),
            Access::Column => format!("{name}[i]"),
            Access::Neighbour { down, right } => {
                format!("{name}[{}][{}]", shifted('i', down), shifted('j', right))
            }
            Access::Left { transposed: false } => format!("{name}[i][k]"),
            Access::Left { transposed: true } => format!("{name}[k][i]"),
            Access::Right { transposed: false } => format!("{name}[k][j]"),
            Access::Right { transposed: true } => format!("{name}[j][k]"),
        }
    }

    fn number(&self, number: f64) -> String {
        number.to_string()
    }

    fn magnitude(&self, of: &str) -> String {
        format!("|{of}|")
    }

    fn both(&self, how: Binary, left: &str, right: &str) -> String {
        match how {
            Binary::Add => format!("({left} + {right})"),
            Binary::Subtract => format!("({left} - {right})"),
            Binary::Multiply => format!("{left} * {right}"),
            Binary::Max => format!("max({left}, {right})"),
            Binary::Min => format!("min({left}, {right})"),
        }
    }
}
