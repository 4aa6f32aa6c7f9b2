//! What fresh judgements show about a candidate that looked fast.

use hotloop_flow::verdict::Measured;
use hotloop_flow::{Judgement, Verdict};

/// What fresh judgements show about a candidate.
#[derive(Debug, PartialEq)]
pub(crate) enum Fresh {
    /// It was correct every time.
    Right {
        /// The median of its quiet timings, or of all timings if none was quiet. Of two middle
        /// ones, this is the slower.
        middle: Measured,
        /// How many timings the median covers.
        timings: usize,
    },
    /// It failed at least once, so its fast timing was luck.
    Disproved,
    /// The machine could not judge it.
    Unknown,
}

impl Fresh {
    pub(crate) fn of(judgements: &[Judgement]) -> Self {
        let mut timings: Vec<&Measured> = Vec::new();
        for judgement in judgements {
            match &judgement.verdict {
                Verdict::Correct(measured) => timings.push(measured),
                _ => return Self::Disproved,
            }
        }
        if timings.iter().any(|measured| measured.timing.quiet) {
            timings.retain(|measured| measured.timing.quiet);
        }
        timings.sort_by(|a, b| b.seconds.total_cmp(&a.seconds));
        let middle = timings
            .len()
            .checked_sub(1)
            .map(|last| timings[last / 2].clone());
        middle.map_or(Self::Unknown, |middle| Self::Right {
            middle,
            timings: timings.len(),
        })
    }
}

#[cfg(test)]
mod tests {
    use hotloop_flow::bench::Seconds;

    use super::*;

    fn timed_at(gflops: f64, quiet: bool) -> Judgement {
        let mut measured = Measured::steady(gflops, 1.0 / gflops);
        measured.timing.quiet = quiet;
        Judgement {
            verdict: Verdict::Correct(measured),
            seconds: Seconds::default(),
        }
    }

    fn wrong() -> Judgement {
        Judgement {
            verdict: Verdict::Malformed { why: String::new() },
            seconds: Seconds::default(),
        }
    }

    #[test]
    fn the_median_is_of_quiet_timings_and_counts_them() {
        let told = |judgements: &[Judgement]| match Fresh::of(judgements) {
            Fresh::Right { middle, timings } => (1.0 / middle.seconds, timings),
            other => panic!("{other:?}"),
        };
        let disturbed = [3.0, 9.0, 9.0, 9.0].map(|gflops| timed_at(gflops, false));
        assert_eq!(
            told(&[&disturbed[..], &[timed_at(5.0, true)]].concat()),
            (5.0, 1)
        );
        assert_eq!(told(&disturbed), (9.0, 4));
        assert_eq!(
            told(&[4.0, 1.0, 3.0, 2.0].map(|gflops| timed_at(gflops, true))),
            (2.0, 4),
            "never the luckier one"
        );
    }

    #[test]
    fn one_failure_disproves_and_no_judgement_is_unknown() {
        assert_eq!(
            Fresh::of(&[timed_at(5.0, true), wrong(), timed_at(5.0, true)]),
            Fresh::Disproved
        );
        assert_eq!(Fresh::of(&[]), Fresh::Unknown);
    }
}
