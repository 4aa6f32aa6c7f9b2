//! `hotloop experiment`: many runs that belong together, from a paper's grid or from a plan file.

mod child;
mod grid;
pub(crate) mod plan;
mod progress;
mod tables;

pub(crate) use child::end_with_plan;

use crate::cli::learn::ExperimentArgs;
use crate::failure::{Failure, Status};

/// Runs a grid or a plan, or the rest of it.
pub(crate) fn run(arguments: &ExperimentArgs) -> Result<Status, Failure> {
    let is_plan = std::path::Path::new(&arguments.experiment)
        .extension()
        .is_some_and(|extension| extension == "toml");
    let foreign = if is_plan {
        [
            ("--set", !arguments.set.is_empty()),
            ("--scale", arguments.scale.to_bits() != 1.0f64.to_bits()),
            ("", false),
            ("", false),
        ]
    } else {
        [
            ("--budget", arguments.budget.is_some()),
            ("--let", !arguments.values.is_empty()),
            ("--have", !arguments.have.is_empty()),
            ("--json", arguments.json),
        ]
    };
    if let Some((flag, _)) = foreign.iter().find(|(_, given)| *given) {
        let (what, hint) = if is_plan {
            ("a plan", "write it into the plan, or into its [let]")
        } else {
            (
                "exp1 and exp2",
                "it belongs to a plan, such as my-plan.toml",
            )
        };
        return Err(Failure::user(format!("{flag} does not go with {what}")).hint(hint));
    }
    if is_plan {
        plan::run(arguments)
    } else {
        grid::run(arguments)
    }
}
