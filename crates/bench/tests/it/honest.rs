//! No honest candidate is refused or judged wrong, whatever its style.

use hotloop_flow::Label;

use crate::fixtures;
use crate::{brief, settings};

#[test]
fn every_honest_candidate_is_correct() {
    let _turn = crate::turn();
    let only = std::env::var("HOTLOOP_FIXTURE").ok();
    let settings = if std::env::var_os("HOTLOOP_TEST_BRIEF").is_some() {
        brief()
    } else {
        settings()
    };
    let mut honest = fixtures::load("honest");
    honest.retain(|candidate| {
        only.as_ref()
            .is_none_or(|only| candidate.name.contains(only))
    });
    assert!(
        only.is_some() || honest.len() >= 120,
        "the suite has at least 120 candidates"
    );
    let mut surprises = Vec::new();
    for (candidate, judgement) in honest.iter().zip(fixtures::judge(&settings, &honest)) {
        let gflops = judgement
            .verdict
            .measured()
            .and_then(hotloop_flow::Measured::gflops)
            .unwrap_or(0.0);
        println!(
            "{:34} {:12} {gflops:8.2} GFLOPS",
            candidate.name,
            judgement.verdict.label()
        );
        if judgement.verdict.label() != Label::Correct {
            surprises.push(format!(
                "{}: {}: {}",
                candidate.name,
                judgement.verdict.label(),
                judgement.verdict.detail()
            ));
        }
    }
    assert!(
        surprises.is_empty(),
        "{} surprises:\n{}",
        surprises.len(),
        surprises.join("\n")
    );
}
