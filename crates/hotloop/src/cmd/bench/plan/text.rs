//! Plans in words.

use hotloop_bench::torch::{Compiled, Facts, Input, ModulePlan, Outcome, Shape, Step};

use crate::output::table::Table;
use crate::output::{bytes, count, seconds};

/// What a plan is not, in the words that every output has.
pub(super) const NO_JUDGEMENT: &str = "A plan is no judgement: nothing ran on a GPU and no result was compared. \
    `hotloop bench module` judges answers.";

/// An answer and what came of it.
pub(super) struct Planned {
    pub(super) name: String,
    pub(super) outcome: Outcome,
    pub(super) seconds: f64,
}

fn shape((dtype, sizes): &Shape) -> String {
    let sizes: Vec<String> = sizes.iter().map(ToString::to_string).collect();
    format!("{dtype}[{}]", sizes.join(", "))
}

/// Inputs, parameters and outputs of a problem in a line.
pub(super) fn of_problem(facts: &Facts) -> String {
    let inputs = facts.inputs.iter().map(|input| match input {
        Input::Tensor(of) => shape(of),
        Input::Value(value) => value.clone(),
    });
    let inputs = inputs.collect::<Vec<_>>().join(", ");
    let outputs = match (&facts.outputs, &facts.unknown) {
        (Some(outputs), _) => outputs.iter().map(shape).collect::<Vec<_>>().join(", "),
        (None, why) => format!("unknown ({})", why.as_deref().unwrap_or("no reason")),
    };
    let parameters = match facts.parameters.len() {
        0 => String::new(),
        some => format!(" with {}", count(some, "parameter")),
    };
    format!("{inputs}{parameters} -> {outputs}")
}

/// Whether device halves are compiled here.
pub(super) fn of_compiler(device: &Compiled) -> String {
    match device {
        Compiled::By(compiler) => format!("the code for the GPU was compiled by {compiler}"),
        Compiled::Not(why) => format!("the code for the GPU was not compiled: {why}"),
    }
}

/// Everything about one answer.
pub(super) fn of_one(problem: &str, facts: &Facts, planned: &Planned) -> String {
    let head = format!("{problem}: {}", of_problem(facts));
    let took = seconds(planned.seconds);
    let name = &planned.name;
    match &planned.outcome {
        Outcome::Failed(verdict) => format!(
            "{head}\n{name}: {}, after {took}\n\n{}",
            verdict.label(),
            verdict.detail()
        ),
        Outcome::Planned(plan) => format!(
            "{head}\n{name}: planned, after {took}\n\n{}\n\n{}\n{}\n{}.\n{NO_JUDGEMENT}",
            memory(plan),
            steps(plan),
            notes(plan),
            of_compiler(&plan.compiled),
        ),
    }
}

fn memory(plan: &ModulePlan) -> String {
    let mut table = Table::new().left("memory").right("bytes").left("");
    for (index, one) in plan.buffers.iter().enumerate() {
        let outputs = plan.outputs.iter().filter(|output| output.memory == index);
        let shapes: Vec<String> = outputs.map(|output| shape(&output.shape)).collect();
        let returned = if shapes.is_empty() {
            String::new()
        } else {
            format!("returned as {}", shapes.join(", "))
        };
        table.row([one.name.clone(), bytes(one.bytes), returned]);
    }
    table.render()
}

fn steps(plan: &ModulePlan) -> String {
    /// More are counted and not shown.
    const SHOWN: usize = 60;
    let name = |memory: usize| plan.buffers[memory].name.as_str();
    let by = |sizes: [u32; 3]| format!("{} x {} x {}", sizes[0], sizes[1], sizes[2]);
    let mut table = Table::new()
        .left("step")
        .left("grid")
        .left("block")
        .left("memory");
    for step in plan.steps.iter().take(SHOWN) {
        match step {
            Step::Launch(launch) => {
                let touched: Vec<&str> = launch.touches().into_iter().map(name).collect();
                let (grid, block) = (by(launch.grid), by(launch.block));
                table.row([launch.kernel.clone(), grid, block, touched.join(", ")]);
            }
            Step::Set {
                to, bytes: many, ..
            } => table.row([
                "memset",
                "",
                "",
                &format!("{}: {}", name(to.memory), bytes(*many)),
            ]),
            Step::Copy { to, from, .. } => {
                let what = format!("{} from {}", name(to.memory), name(from.memory));
                table.row(["copy", "", "", &what]);
            }
            Step::Write { to, data } => {
                let many = bytes(data.bytes.len() as u64);
                table.row(["write", "", "", &format!("{}: {many}", name(to.memory))]);
            }
        }
    }
    let more = plan.steps.len().saturating_sub(SHOWN);
    let more = if more > 0 {
        format!("\nand {} more", count(more, "step"))
    } else {
        String::new()
    };
    format!("{}{more}\n", table.render())
}

fn notes(plan: &ModulePlan) -> String {
    let mut notes = String::new();
    for failure in &plan.failures {
        notes.push_str("A call that fails: ");
        notes.push_str(failure);
        notes.push('\n');
    }
    if let Some(why) = &plan.uncompared {
        notes.push_str("The shapes of the results could not be compared with the problem's: ");
        notes.push_str(why);
        notes.push('\n');
    }
    notes.push_str(&count(plan.launches(), "launch"));
    notes.push_str(" in one call;");
    notes
}
