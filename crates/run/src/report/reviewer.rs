//! The reviewer's opinions beside the bench's verdicts: a table and a calibration curve.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use serde::Serialize;

use super::figure::{Content, Figure, Series};
use crate::review::{Agreement, Axis, Bin, Reviewed};
use crate::state::{Group, Member, RunState, Step};

/// The agreement over all candidates of a run that the reviewer was asked about, each once.
pub(super) fn of(state: &RunState) -> Option<Agreement> {
    let groups = state.steps.iter().flat_map(Step::all_groups);
    let members = groups.flat_map(|group| group.members.iter().map(move |member| (group, member)));
    let mut seen = BTreeSet::new();
    let reviewed = members.filter_map(|(group, member): (&Group, &Member)| {
        let key = (group.asked.task.clone(), member.hash.clone()?);
        let opinion = state.opinions.get(&key)?.as_ref();
        let verdict = member.verdict.as_ref()?;
        let reviewed = Reviewed::new(opinion, verdict, member.speed);
        seen.insert(key).then_some(reviewed)
    });
    Agreement::of(reviewed.collect::<Vec<_>>())
}

/// What a page shows of a run's reviewer.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Opinions {
    pub lead: String,
    pub head: [&'static str; 8],
    pub rows: Vec<Vec<String>>,
    /// How often candidates were what the reviewer expected, by its opinion.
    pub bins_head: [&'static str; 5],
    pub bins: Vec<Vec<String>>,
}

impl Opinions {
    /// What to show of a reviewer whose model is `model`, if that is known.
    pub(super) fn of(agreement: &Agreement, model: Option<&str>) -> Self {
        let percent = |share: f64| format!("{:.0} %", share * 100.0);
        let row = |(question, axis): (&str, &Axis)| {
            vec![
                question.to_owned(),
                axis.of.to_string(),
                percent(axis.truth),
                format!("{:.2}", axis.opinion),
                percent(axis.agreed),
                axis.auc.map_or("-".to_owned(), |auc| format!("{auc:.2}")),
                format!("{:.3}", axis.brier),
                percent(axis.constant),
            ]
        };
        let bins = questions(agreement)
            .into_iter()
            .flat_map(|(question, axis)| {
                let row = move |bin: &Bin| {
                    vec![
                        question.to_owned(),
                        format!("{:.1} to {:.1}", bin.low, bin.high),
                        bin.count.to_string(),
                        format!("{:.2}", bin.opinion),
                        format!(
                            "{} [{}, {}]",
                            percent(bin.truth),
                            percent(bin.truth_low),
                            percent(bin.truth_high)
                        ),
                    ]
                };
                axis.bins.iter().map(row)
            });
        Self {
            lead: lead(agreement, model.unwrap_or("The reviewer")),
            head: [
                "question",
                "candidates",
                "yes, by the bench",
                "mean opinion",
                "agreed",
                "order right (AUC)",
                "Brier score",
                "constant answer",
            ],
            rows: questions(agreement).into_iter().map(row).collect(),
            bins_head: [
                "question",
                "opinions",
                "candidates",
                "mean opinion",
                "yes, by the bench",
            ],
            bins: bins.collect(),
        }
    }
}

fn lead(agreement: &Agreement, name: &str) -> String {
    let mut text = format!(
        "{name} gave its opinion on {} candidates; {} opinions could not be read. An opinion agrees if \
         it is on the verdict's side of 0.5. The last column is the share that is right if \
         one always gives the more frequent answer.",
        agreement.asked, agreement.broken
    );
    if let Some(rank) = agreement.speed {
        write!(
            text,
            " Opinions on speed and measured speeds of {} correct candidates have a rank correlation \
             of {rank:.2}.",
            agreement.timed
        )
        .expect("a String takes everything");
    }
    text
}

fn questions(agreement: &Agreement) -> [(&'static str, &Axis); 2] {
    [
        ("is it correct?", &agreement.correctness),
        ("does it compile?", &agreement.compilability),
    ]
}

/// How often candidates were what the reviewer expected, by its opinion.
pub(super) fn calibration(agreement: &Agreement) -> Figure {
    let mut series = vec![Series {
        name: "as it should be".to_owned(),
        colour: 2,
        dashed: true,
        points: vec![(0.0, 0.0), (1.0, 1.0)],
        band: Vec::new(),
    }];
    for (colour, (name, axis)) in questions(agreement).into_iter().enumerate() {
        series.push(Series {
            name: name.to_owned(),
            colour,
            dashed: false,
            points: axis
                .bins
                .iter()
                .map(|bin| (bin.opinion, bin.truth))
                .collect(),
            band: axis
                .bins
                .iter()
                .map(|bin| (bin.opinion, bin.truth_low, bin.truth_high))
                .collect(),
        });
    }
    Figure {
        title: "Calibration of the reviewer".to_owned(),
        x_label: "opinion".to_owned(),
        y_label: "share of yes, by the bench".to_owned(),
        content: Content::Lines(series),
    }
}
