//! Inserts faults into correct candidates. Repair prompts show them, and they are never an answer
//! to learn.

use hotloop_flow::Label;

use crate::nano_prompt::Why;
use crate::rng::Rng;

/// Ways to break a candidate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Breakage {
    /// `<` becomes `<=` in a loop's condition.
    OffByOne,
    /// C, y or a sum is not zeroed.
    MissingZero,
    /// The two parts of an index are swapped.
    WrongIndex,
    /// The remainder loop is missing.
    MissingRemainder,
    /// A declaration is missing.
    Undeclared,
    MissingSemicolon,
    /// A loop does not advance.
    NoStep,
    /// `+=` becomes `=`.
    LostSum,
    /// A loop's step is doubled.
    WrongStep,
}

/// A broken candidate and its expected verdict.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Broken {
    pub source: String,
    /// The expected verdict.
    pub label: Label,
    /// The verdict's detail, if there is one.
    pub why: Option<Why>,
}

/// A broken source, its verdict, and why.
type Fault = (String, Label, Option<Why>);

impl Breakage {
    /// All faults with their weights.
    pub const ALL: [(Self, u32); 9] = [
        (Self::OffByOne, 3),
        (Self::MissingZero, 2),
        (Self::WrongIndex, 4),
        (Self::MissingRemainder, 2),
        (Self::Undeclared, 4),
        (Self::MissingSemicolon, 2),
        (Self::NoStep, 1),
        (Self::LostSum, 2),
        (Self::WrongStep, 3),
    ];

    /// The canonical `source` with this fault, if it has a place for it.
    pub fn apply(self, source: &str, rng: &mut Rng) -> Option<Broken> {
        let (broken, label, why) = match self {
            Self::OffByOne => off_by_one(source, rng)?,
            Self::MissingZero => missing_zero(source, rng)?,
            Self::WrongIndex => wrong_index(source, rng)?,
            Self::MissingRemainder => missing_remainder(source, rng)?,
            Self::Undeclared => {
                let declares = |line: &str| {
                    ["int ", "double ", "double*", "const double*", "__m"]
                        .iter()
                        .any(|kind| line.starts_with(kind))
                };
                (
                    without_line(source, declares, rng)?,
                    Label::NotCompiled,
                    Some(Why::Undeclared),
                )
            }
            Self::MissingSemicolon => {
                let at = *pick(&places(source, ";\n"), rng)?;
                (
                    splice(source, at, 1, ""),
                    Label::NotCompiled,
                    Some(Why::Syntax),
                )
            }
            Self::NoStep => {
                let found: Vec<usize> = ["i++)", "j++)", "k++)"]
                    .iter()
                    .flat_map(|step| places(source, step))
                    .collect();
                let at = *pick(&found, rng)?;
                (splice(source, at, 3, ""), Label::TimedOut, None)
            }
            Self::LostSum => {
                let found: Vec<usize> = places(source, "]+=")
                    .into_iter()
                    .chain(places(source, "s+="))
                    .collect();
                let at = *pick(&found, rng)?;
                (
                    splice(source, at + 1, 2, "="),
                    Label::Wrong,
                    Some(Why::Large),
                )
            }
            Self::WrongStep => wrong_step(source, rng)?,
        };
        Some(Broken {
            source: broken,
            label,
            why,
        })
    }
}

fn off_by_one(source: &str, rng: &mut Rng) -> Option<Fault> {
    let places = conditions(source);
    let at = *pick(&places, rng)?;
    let verdict = rng.weighted(&[(None, 1), (Some(Why::Outside), 2), (Some(Why::Large), 2)]);
    let label = if verdict.is_none() {
        Label::Crashed
    } else {
        Label::Wrong
    };
    Some((splice(source, at, 1, "<="), label, verdict))
}

fn missing_zero(source: &str, rng: &mut Rng) -> Option<Fault> {
    let is_zero = |line: &str| {
        line.contains("memset(") || (line.starts_with("for(") && line.ends_with("]=0;"))
    };
    Some(if let Some(without) = without_line(source, is_zero, rng) {
        (without, Label::Wrong, Some(Why::Nan))
    } else {
        let at = *pick(&places(source, "s=0;"), rng)?;
        (splice(source, at, 4, "s;"), Label::Wrong, Some(Why::Large))
    })
}

fn wrong_index(source: &str, rng: &mut Rng) -> Option<Fault> {
    const SWAPS: [(&str, &str); 8] = [
        ("k*N+j", "j*N+k"),
        ("i*K+k", "k*K+i"),
        ("i*N+j", "j*N+i"),
        ("k*256+j", "j*256+k"),
        ("i*256+k", "k*256+i"),
        ("j*M+i", "i*M+j"),
        ("i*W+j", "j*W+i"),
        ("+r)*", ")*"),
    ];
    let found: Vec<(usize, usize, &str)> = SWAPS
        .iter()
        .flat_map(|(from, to)| {
            places(source, from)
                .into_iter()
                .map(|at| (at, from.len(), *to))
        })
        .collect();
    let (at, length, to) = *pick(&found, rng)?;
    Some((
        splice(source, at, length, to),
        Label::Wrong,
        Some(rng.weighted(&[(Why::Large, 3), (Why::Nan, 1)])),
    ))
}

fn missing_remainder(source: &str, rng: &mut Rng) -> Option<Fault> {
    let is_rest = |line: &str| {
        line.starts_with("for(;") && line.ends_with(';')
            || line.contains("?N/")
            || line.contains("?256/")
    };
    let without = without_line(source, is_rest, rng)?;
    Some((
        without,
        Label::Wrong,
        Some(rng.weighted(&[(Why::Nan, 3), (Why::Large, 1)])),
    ))
}

fn wrong_step(source: &str, rng: &mut Rng) -> Option<Fault> {
    let found: Vec<(usize, u32, usize)> = places(source, "+=")
        .into_iter()
        .filter_map(|at| step(source, at))
        .collect();
    let (at, by, length) = *pick(&found, rng)?;
    Some((
        splice(source, at, length, &(2 * by).to_string()),
        Label::Wrong,
        Some(Why::Nan),
    ))
}

/// The canonical `source` with some fault that fits it.
pub fn broken(source: &str, rng: &mut Rng) -> Option<Broken> {
    (0..20).find_map(|_| rng.weighted(&Breakage::ALL).apply(source, rng))
}

fn pick<'a, T>(places: &'a [T], rng: &mut Rng) -> Option<&'a T> {
    if places.is_empty() {
        None
    } else {
        Some(&places[rng.below(places.len())])
    }
}

fn places(source: &str, text: &str) -> Vec<usize> {
    source.match_indices(text).map(|(at, _)| at).collect()
}

fn splice(source: &str, at: usize, length: usize, to: &str) -> String {
    format!("{}{to}{}", &source[..at], &source[at + length..])
}

/// Where the conditions of loops compare with `<`.
fn conditions(source: &str) -> Vec<usize> {
    let in_head = |at: usize| {
        let line = source[..at].rfind('\n').map_or(0, |end| end + 1);
        let head = &source[line..at];
        head.rfind("for(")
            .is_some_and(|start| head[start..].matches(';').count() == 1)
    };
    source
        .match_indices('<')
        .map(|(at, _)| at)
        .filter(|at| !source[at + 1..].starts_with('=') && in_head(*at))
        .collect()
}

/// The place, value and length of the number after a `+=` that ends a loop's head.
fn step(source: &str, at: usize) -> Option<(usize, u32, usize)> {
    let rest = &source[at + 2..];
    let length = rest.find(')')?;
    Some((at + 2, rest[..length].parse().ok()?, length))
}

/// The source without one of the lines that `is_target` accepts. It gets lines without indentation.
fn without_line(source: &str, is_target: impl Fn(&str) -> bool, rng: &mut Rng) -> Option<String> {
    let lines: Vec<&str> = source.split_inclusive('\n').collect();
    let found: Vec<usize> = (0..lines.len())
        .filter(|at| is_target(lines[*at].trim()))
        .collect();
    let gone = *pick(&found, rng)?;
    Some(
        lines
            .iter()
            .enumerate()
            .filter(|(at, _)| *at != gone)
            .map(|(_, line)| *line)
            .collect(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOURCE: &str = "void f(double*C,int N){\n for(int i=0;i<N;i+=4){\n  double s=0;\n  for(int k=0;k<N;k++)s+=C[k];\n  C[i]=s;\n }\n}\n";

    fn check(breakage: Breakage, gone: &str, instead: &str) {
        let mut rng = Rng::new(3, 3);
        let all: Vec<String> = (0..50)
            .filter_map(|_| breakage.apply(SOURCE, &mut rng))
            .map(|b| b.source)
            .collect();
        assert!(all.iter().all(|broken| broken != SOURCE));
        assert!(
            all.iter()
                .any(|broken| *broken == SOURCE.replacen(gone, instead, 1)),
            "{breakage:?}"
        );
    }

    #[test]
    fn each_breakage_breaks_what_it_says() {
        check(Breakage::OffByOne, "k<N", "k<=N");
        check(Breakage::MissingZero, "s=0;", "s;");
        check(Breakage::Undeclared, "  double s=0;\n", "");
        check(Breakage::MissingSemicolon, "=s;", "=s");
        check(Breakage::NoStep, "k++", "");
        check(Breakage::LostSum, "s+=", "s=");
        check(Breakage::WrongStep, "i+=4", "i+=8");
    }

    #[test]
    fn a_source_without_a_place_for_a_fault_stays_unchanged() {
        assert_eq!(
            Breakage::MissingRemainder.apply(SOURCE, &mut Rng::new(1, 1)),
            None
        );
        assert_eq!(
            Breakage::WrongIndex.apply(SOURCE, &mut Rng::new(1, 1)),
            None
        );
    }
}
