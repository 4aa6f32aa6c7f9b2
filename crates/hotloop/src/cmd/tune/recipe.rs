//! The papers' settings for supervised tuning. The user's settings override a recipe.

use crate::cli::corpus::TuneArgs;
use crate::cli::recipe::{Recipe, WarmUp};
use crate::failure::Failure;

/// The settings of a tuning, from the recipe and what the user set.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Chosen {
    pub(crate) rank: usize,
    pub(crate) alpha: f32,
    pub(crate) dropout: f32,
    pub(crate) rate: f64,
    pub(crate) epochs: u32,
    pub(crate) batch_tokens: usize,
    pub(crate) batch_examples: usize,
    /// Longer examples are left out.
    pub(crate) max_tokens: usize,
    pub(crate) warm_up: WarmUp,
    pub(crate) weight_decay: f64,
}

/// Tokens in a step without a recipe.
const BATCH_TOKENS: usize = 16_384;

impl Chosen {
    fn of(recipe: Option<Recipe>) -> Self {
        let plain = Self {
            rank: 16,
            alpha: 0.0,
            dropout: 0.0,
            rate: 1e-4,
            epochs: 1,
            batch_tokens: BATCH_TOKENS,
            batch_examples: usize::MAX,
            max_tokens: usize::MAX,
            warm_up: WarmUp::Usual,
            weight_decay: 0.0,
        };
        match recipe {
            None => plain,
            Some(Recipe::Kernelcompare) => Self {
                rank: 32,
                alpha: 64.0,
                dropout: 0.1,
                rate: 2e-4,
                epochs: 8,
                batch_tokens: usize::MAX,
                batch_examples: 4,
                max_tokens: 4096,
                warm_up: WarmUp::Steps(100),
                ..plain
            },
            Some(Recipe::Distil) => Self {
                rank: 8,
                epochs: 5,
                batch_tokens: usize::MAX,
                batch_examples: 16,
                max_tokens: 2048,
                weight_decay: 0.01,
                ..plain
            },
        }
    }

    /// The settings of a command line.
    pub(crate) fn from(arguments: &TuneArgs) -> Self {
        let recipe = Self::of(arguments.recipe);
        let rank = arguments.lora_rank.unwrap_or(recipe.rank);
        // A recipe's alpha belongs to its rank.
        let own = (recipe.alpha > 0.0 && rank == recipe.rank).then_some(recipe.alpha);
        // A batch by one measure replaces that of a recipe by the other.
        let (batch_tokens, batch_examples) = match (arguments.batch_tokens, arguments.batch) {
            (None, None) => (recipe.batch_tokens, recipe.batch_examples),
            (tokens, examples) => (
                tokens.unwrap_or(usize::MAX),
                examples.map_or(usize::MAX, |examples| examples as usize),
            ),
        };
        Self {
            rank,
            alpha: arguments.lora_alpha.or(own).unwrap_or(2.0 * rank as f32),
            dropout: arguments.lora_dropout.unwrap_or(recipe.dropout),
            rate: arguments.rate.unwrap_or(recipe.rate),
            epochs: arguments.epochs.unwrap_or(recipe.epochs),
            batch_tokens,
            batch_examples,
            max_tokens: arguments.max_tokens.unwrap_or(recipe.max_tokens),
            warm_up: arguments.warm_up.unwrap_or(recipe.warm_up),
            weight_decay: arguments.weight_decay.unwrap_or(recipe.weight_decay),
        }
    }

    /// What the user should know about a warm-up that is longer than the tuning.
    pub(crate) fn warning(&self, steps: u64) -> Option<String> {
        let warm_up = self.warm_up.steps(steps);
        (warm_up >= steps && steps > 0).then(|| {
            format!(
                "the rate rises over {warm_up} steps, and there are only {steps}: it never reaches {:e}; \
                 --warm-up 10% lets it rise over {}",
                self.rate,
                WarmUp::Percent(10).steps(steps)
            )
        })
    }
}

/// Refuses a wish that a full tuning cannot fulfil.
pub(crate) fn check(arguments: &TuneArgs) -> Result<(), Failure> {
    let without_held_out = arguments.held_out == 0 && arguments.held_out_data.is_empty();
    if arguments.early_stop.is_some() && without_held_out {
        return Err(Failure::user("--early-stop needs held-out examples")
            .hint("hold some out with --held-out, or name a file with --held-out-data"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Debug, Parser)]
    struct Line {
        #[command(flatten)]
        tune: TuneArgs,
    }

    fn chosen(flags: &[&str]) -> Chosen {
        let always = ["tune", "--model", "m", "--data", "d", "--out", "o"];
        let line = always.iter().chain(flags);
        Chosen::from(&Line::try_parse_from(line).expect("it is sound").tune)
    }

    #[test]
    fn recipes_are_the_papers() {
        let kernelcompare = chosen(&["--recipe", "kernelcompare"]);
        assert_eq!(
            kernelcompare,
            Chosen {
                rank: 32,
                alpha: 64.0,
                dropout: 0.1,
                rate: 2e-4,
                epochs: 8,
                batch_tokens: usize::MAX,
                batch_examples: 4,
                max_tokens: 4096,
                warm_up: WarmUp::Steps(100),
                weight_decay: 0.0,
            }
        );
        let distil = chosen(&["--recipe", "distil"]);
        assert_eq!(
            (distil.rank, distil.epochs, distil.batch_examples),
            (8, 5, 16)
        );
        assert_eq!((distil.max_tokens, distil.alpha), (2048, 16.0));
        assert!((distil.weight_decay - 0.01).abs() < 1e-12 && (distil.rate - 1e-4).abs() < 1e-12);
    }

    #[test]
    fn what_the_user_sets_wins() {
        let line = [
            "--recipe",
            "kernelcompare",
            "--lora-rank",
            "4",
            "--batch-tokens",
            "512",
            "--warm-up",
            "10%",
        ];
        let chosen = chosen(&line);
        assert_eq!((chosen.rank, chosen.alpha, chosen.epochs), (4, 8.0, 8));
        assert_eq!(
            (chosen.batch_tokens, chosen.batch_examples),
            (512, usize::MAX)
        );
        assert_eq!(chosen.warm_up, WarmUp::Percent(10));
    }

    #[test]
    fn the_papers_45_pairs_are_fewer_steps_than_their_warm_up() {
        let steps = 45_u64.div_ceil(4) * 8;
        assert_eq!(steps, 96);
        let kernelcompare = chosen(&["--recipe", "kernelcompare"]);
        let warning = kernelcompare.warning(steps).expect("96 are fewer than 100");
        assert!(
            warning.contains("only 96") && warning.contains("over 10"),
            "{warning}"
        );
        assert_eq!(kernelcompare.warning(1000), None);
        assert_eq!(chosen(&[]).warning(1), None);
    }
}
