//! The shapes of problems, as `hotloop bench plan` shows them.

use hotloop_bench::torch::{Planner, prototype};
use serde_json::json;

use super::text;
use crate::cmd::bench::problems::Named;
use crate::failure::{Failure, Status};
use crate::output::table::Table;
use crate::output::{count, say, say_json};

/// Reads problems and shows their shapes.
pub(super) fn show(planner: &Planner, problems: &[Named], json: bool) -> Result<Status, Failure> {
    let mut table = Table::new().left("problem").left("shapes");
    let mut read = 0;
    let mut solve = String::new();
    for problem in problems {
        let facts = planner.problem(&problem.source)?;
        if json {
            say_json(&match &facts {
                Ok(facts) => json!({
                    "task": problem.name, "facts": facts, "solve": prototype(facts).ok(),
                }),
                Err(why) => json!({"task": problem.name, "why": why}),
            });
        }
        match facts {
            Ok(facts) => {
                read += 1;
                table.row([problem.name.as_str(), &text::of_problem(&facts)]);
                if problems.len() == 1 {
                    let told = prototype(&facts).map_or_else(
                        |why| format!("\nIt has no answers in CUDA alone: {why}"),
                        |it| format!("\nAn answer in CUDA alone defines\n  {it}"),
                    );
                    solve.push_str(&told);
                }
            }
            Err(why) => table.row([problem.name.as_str(), &format!("cannot be read: {why}")]),
        }
    }
    if !json {
        say(&format!(
            "{}\n\n{read} of {} read{solve}",
            table.render(),
            count(problems.len(), "problem")
        ));
    }
    Ok(Status::Fine)
}
