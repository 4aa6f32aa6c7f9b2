//! Arithmetic over named sizes, as tasks write it: `"2*M*N*K"`, `"5*N*log2(N)"`.

use std::collections::BTreeMap;

/// The named sizes of one problem instance, e.g. `M = 256`.
pub type Sizes = BTreeMap<String, i64>;

/// A formula that could not be read or evaluated.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("formula `{formula}`: {why}")]
pub struct FormulaError {
    /// The whole formula.
    pub formula: String,
    /// What is wrong with it.
    pub why: String,
}

/// The value of `formula` for `sizes`.
///
/// A formula may use `+ - * /`, parentheses, numbers, the names in `sizes` and `log2(x)`.
pub fn evaluate(formula: &str, sizes: &Sizes) -> Result<f64, FormulaError> {
    let mut parser = Parser {
        rest: formula,
        depth: 0,
        sizes,
    };
    let fail = |why: String| FormulaError {
        formula: formula.to_owned(),
        why,
    };
    let value = parser.sum().map_err(fail)?;
    if !parser.rest.trim_start().is_empty() {
        return Err(fail(format!("unexpected `{}`", parser.rest.trim_start())));
    }
    if !value.is_finite() {
        return Err(fail("is not a finite number".into()));
    }
    Ok(value)
}

/// The value of `formula` as a count: a non-negative integer.
pub fn count(formula: &str, sizes: &Sizes) -> Result<usize, FormulaError> {
    let value = evaluate(formula, sizes)?;
    if value < 0.0 || value.fract() != 0.0 || value > 1e15 {
        return Err(FormulaError {
            formula: formula.to_owned(),
            why: format!("{value} is not a count"),
        });
    }
    Ok(value as usize)
}

/// Maximum nesting of parentheses. Formulas also arrive over the network, and each level uses some
/// stack.
const DEPTH: u32 = 50;

struct Parser<'a> {
    rest: &'a str,
    depth: u32,
    sizes: &'a Sizes,
}

impl Parser<'_> {
    fn eat(&mut self, symbol: char) -> bool {
        let trimmed = self.rest.trim_start();
        if let Some(rest) = trimmed.strip_prefix(symbol) {
            self.rest = rest;
            return true;
        }
        false
    }

    fn sum(&mut self) -> Result<f64, String> {
        let mut value = self.product()?;
        loop {
            if self.eat('+') {
                value += self.product()?;
            } else if self.eat('-') {
                value -= self.product()?;
            } else {
                return Ok(value);
            }
        }
    }

    fn product(&mut self) -> Result<f64, String> {
        let mut value = self.atom()?;
        loop {
            if self.eat('*') {
                value *= self.atom()?;
            } else if self.eat('/') {
                value /= self.atom()?;
            } else {
                return Ok(value);
            }
        }
    }

    fn atom(&mut self) -> Result<f64, String> {
        if self.eat('(') {
            return self.parenthesised();
        }
        self.rest = self.rest.trim_start();
        let end = self
            .rest
            .find(|c: char| !(c.is_ascii_alphanumeric() || c == '_' || c == '.'))
            .unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        if word.is_empty() {
            return Err("a number, a size or `(` is missing".into());
        }
        self.rest = rest;
        if word == "log2" && self.eat('(') {
            return self.parenthesised().map(f64::log2);
        }
        if let Some(size) = self.sizes.get(word) {
            return Ok(*size as f64);
        }
        word.parse().map_err(|_| format!("unknown size `{word}`"))
    }

    /// The expression between a consumed `(` and its `)`.
    fn parenthesised(&mut self) -> Result<f64, String> {
        self.depth += 1;
        if self.depth > DEPTH {
            return Err(format!("more than {DEPTH} nested parentheses"));
        }
        let value = self.sum()?;
        self.depth -= 1;
        if self.eat(')') {
            Ok(value)
        } else {
            Err("a `(` is not closed".into())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sizes() -> Sizes {
        [("M".to_owned(), 3), ("N".to_owned(), 8)].into()
    }

    #[test]
    fn formulas_follow_the_usual_precedence() {
        assert_eq!(evaluate("2*M + 10/(N-3)", &sizes()), Ok(8.0));
        assert_eq!(evaluate("5*N*log2(N)", &sizes()), Ok(120.0));
    }

    #[test]
    fn mistakes_are_named() {
        assert_eq!(
            evaluate("2*Q", &sizes()).unwrap_err().why,
            "unknown size `Q`"
        );
        assert_eq!(
            evaluate("2*(M", &sizes()).unwrap_err().why,
            "a `(` is not closed"
        );
        assert_eq!(evaluate("2 M", &sizes()).unwrap_err().why, "unexpected `M`");
        assert!(count("M/2", &sizes()).is_err());
    }

    #[test]
    fn nested_parentheses_cannot_overflow_the_stack() {
        let nested = |open: &str, depth: usize| {
            evaluate(
                &format!("{}N{}", open.repeat(depth), ")".repeat(depth)),
                &sizes(),
            )
        };
        assert_eq!(nested("(", DEPTH as usize), Ok(8.0));
        for open in ["(", "log2(", "1+("] {
            assert!(
                nested(open, 1_000_000).unwrap_err().why.contains("nested"),
                "{open}"
            );
        }
        assert_eq!(
            evaluate(&"+(N)".repeat(1000)[1..], &sizes()),
            Ok(8000.0),
            "beside each other they may be many"
        );
    }
}
