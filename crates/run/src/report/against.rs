//! Runs against their controls: what learning changed that the search alone did not.

use super::RunReport;
use super::text::align;

/// A row for each run and its control. A control without probes still has the weights that its run
/// started from, so the probe before the run also describes the control.
pub fn table<'a>(pairs: impl Iterator<Item = (&'a RunReport, &'a RunReport)>) -> String {
    let head = [
        "run against its control",
        "mean speed",
        "control",
        "times",
        "intervals",
        "best speed",
        "control",
    ];
    let rows: Vec<Vec<String>> = pairs.map(|(run, control)| row(run, control)).collect();
    if rows.is_empty() {
        return String::new();
    }
    align(&[vec![head.map(str::to_owned).to_vec()], rows].concat())
}

fn row(run: &RunReport, control: &RunReport) -> Vec<String> {
    let own = control.after.or(control.before);
    let (mine, its) = (
        run.after.map(|probe| probe.speed),
        own.or(run.before).map(|probe| probe.speed),
    );
    let shown = |estimate: Option<crate::probe::Estimate>| {
        estimate.map_or("-".to_owned(), |one| {
            format!(
                "{:.2} {} [{:.2}, {:.2}]",
                one.value, run.unit, one.low, one.high
            )
        })
    };
    let both = mine.zip(its);
    let times = both.filter(|(_, its)| its.value > 0.0);
    let best = |run: &RunReport| {
        run.best.as_ref().map_or("-".to_owned(), |best| {
            format!("{:.1} {}", best.speed, run.unit)
        })
    };
    vec![
        run.name.clone(),
        shown(mine),
        shown(its)
            + if own.is_none() && its.is_some() {
                " (before)"
            } else {
                ""
            },
        times.map_or("-".to_owned(), |(mine, its)| {
            format!("{:.2}", mine.value / its.value)
        }),
        both.map_or("-", |(mine, its)| {
            if mine.low > its.high || mine.high < its.low {
                "apart"
            } else {
                "overlap"
            }
        })
        .to_owned(),
        best(run),
        best(control),
    ]
}
