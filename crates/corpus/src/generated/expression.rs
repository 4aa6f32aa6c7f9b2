//! What each element computes.

use crate::rng::Rng;

/// The constants of expressions, all exact in binary.
const NUMBERS: [(f64, u32); 5] = [(0.25, 1), (0.5, 1), (0.75, 1), (1.5, 1), (3.0, 1)];
/// Draws of inputs that show whether an expression depends on all of them.
const TRIALS: usize = 64;

/// A number from -1 to 1, as inputs are filled.
fn uniform(rng: &mut Rng) -> f64 {
    rng.below(1 << 20) as f64 / f64::from(1 << 19) - 1.0
}

/// An operation on two values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Binary {
    Add,
    Subtract,
    Multiply,
    Max,
    Min,
}

/// An expression over numbered inputs.
#[derive(Debug, Clone, PartialEq)]
pub enum Expression {
    Input(usize),
    Number(f64),
    Magnitude(Box<Self>),
    Both(Binary, Box<Self>, Box<Self>),
}

/// How expressions are written.
pub(super) trait Dialect {
    fn input(&self, number: usize) -> String;
    fn number(&self, number: f64) -> String;
    fn magnitude(&self, of: &str) -> String;
    fn both(&self, how: Binary, left: &str, right: &str) -> String;
}

impl Expression {
    /// An expression of `operations` over `inputs` inputs, all of which matter. The first operation
    /// takes the first two inputs, and each other one goes on from the result. There are at least
    /// as many operations as inputs beside the first.
    pub(super) fn draw(operations: usize, inputs: usize, rng: &mut Rng) -> Self {
        loop {
            let drawn = Self::attempt(operations, inputs, rng);
            if drawn.depends_on_all(inputs, rng) && !drawn.is_a_copy(inputs, rng) {
                return drawn;
            }
        }
    }

    fn attempt(operations: usize, inputs: usize, rng: &mut Rng) -> Self {
        let mut made = Self::Input(0);
        let mut unused = 1..inputs;
        for left in (0..operations).rev() {
            // Late inputs must not be left over.
            let needed = unused.len() > left;
            let kind = rng.below(10);
            made = match kind {
                0 if !needed => Self::Magnitude(Box::new(made)),
                1..=3 if !needed => {
                    let number = Self::Number(rng.weighted(&NUMBERS));
                    let how = [Binary::Add, Binary::Subtract, Binary::Multiply, Binary::Max];
                    Self::Both(how[rng.below(4)], Box::new(made), Box::new(number))
                }
                _ => {
                    let next = unused.next().unwrap_or_else(|| rng.below(inputs));
                    let how = rng.weighted(&[
                        (Binary::Add, 3),
                        (Binary::Subtract, 2),
                        (Binary::Multiply, 4),
                        (Binary::Max, 1),
                        (Binary::Min, 1),
                    ]);
                    Self::Both(how, Box::new(made), Box::new(Self::Input(next)))
                }
            };
        }
        made
    }

    /// Whether each input changes the result in a quarter of random draws, at least.
    fn depends_on_all(&self, inputs: usize, rng: &mut Rng) -> bool {
        let mut changed = vec![0; inputs];
        for _ in 0..TRIALS {
            let values: Vec<f64> = (0..inputs).map(|_| uniform(rng)).collect();
            let result = self.value(&values);
            for (at, changed) in changed.iter_mut().enumerate() {
                let mut other = values.clone();
                other[at] = uniform(rng);
                *changed += usize::from((self.value(&other) - result).abs() > 1e-9);
            }
        }
        changed.iter().all(|changed| changed * 4 >= TRIALS)
    }

    /// Whether a copy of an input is right in more than three quarters of random draws.
    fn is_a_copy(&self, inputs: usize, rng: &mut Rng) -> bool {
        let mut equal = vec![0; inputs];
        for _ in 0..TRIALS {
            let values: Vec<f64> = (0..inputs).map(|_| uniform(rng)).collect();
            let result = self.value(&values);
            for (value, equal) in values.iter().zip(&mut equal) {
                *equal += usize::from((value - result).abs() < 1e-9);
            }
        }
        equal.iter().any(|equal| equal * 4 > 3 * TRIALS)
    }

    fn value(&self, inputs: &[f64]) -> f64 {
        match self {
            Self::Input(number) => inputs[*number],
            Self::Number(number) => *number,
            Self::Magnitude(of) => of.value(inputs).abs(),
            Self::Both(how, left, right) => {
                let (left, right) = (left.value(inputs), right.value(inputs));
                match how {
                    Binary::Add => left + right,
                    Binary::Subtract => left - right,
                    Binary::Multiply => left * right,
                    Binary::Max => left.max(right),
                    Binary::Min => left.min(right),
                }
            }
        }
    }

    /// Whether the first operation combines the first two inputs other than by a sum.
    pub(super) fn mixes(&self) -> bool {
        match self {
            Self::Input(_) | Self::Number(_) => false,
            Self::Magnitude(of) => of.mixes(),
            Self::Both(how, left, right) => {
                let is_first = **left == Self::Input(0) && **right == Self::Input(1);
                let is_sum = matches!(how, Binary::Add | Binary::Subtract);
                (is_first && !is_sum) || left.mixes()
            }
        }
    }

    /// The number of operations.
    pub fn operations(&self) -> usize {
        match self {
            Self::Input(_) | Self::Number(_) => 0,
            Self::Magnitude(of) => 1 + of.operations(),
            Self::Both(_, left, right) => 1 + left.operations() + right.operations(),
        }
    }

    pub(super) fn write(&self, dialect: &dyn Dialect) -> String {
        match self {
            Self::Input(number) => dialect.input(*number),
            Self::Number(number) => dialect.number(*number),
            Self::Magnitude(of) => dialect.magnitude(&of.write(dialect)),
            Self::Both(how, left, right) => {
                dialect.both(*how, &left.write(dialect), &right.write(dialect))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drawn_expressions_have_their_operations_and_need_their_inputs() {
        for seed in 0..200 {
            let mut rng = Rng::new(seed, 1);
            let operations = 1 + seed as usize % 5;
            let inputs = 1 + rng.below(operations.min(2) + 1).min(operations);
            let drawn = Expression::draw(operations, inputs, &mut rng);
            assert_eq!(drawn.operations(), operations);
            assert!(drawn.depends_on_all(inputs, &mut rng));
        }
        // The square is the same as without the second input.
        let square = Expression::Both(
            Binary::Multiply,
            Box::new(Expression::Input(0)),
            Box::new(Expression::Input(0)),
        );
        assert!(!square.depends_on_all(2, &mut Rng::new(1, 1)));
        let copy = Expression::Both(
            Binary::Max,
            Box::new(Expression::Input(0)),
            Box::new(Expression::Input(0)),
        );
        assert!(copy.is_a_copy(1, &mut Rng::new(1, 1)));
    }
}
