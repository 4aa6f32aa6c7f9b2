//! Every cheat earns the verdict it deserves, and none is ever correct.

use crate::fixtures;
use crate::patient;

#[test]
fn no_cheat_is_correct() {
    let _turn = crate::turn();
    let only = std::env::var("HOTLOOP_FIXTURE").ok();
    let mut cheats = fixtures::load("cheats");
    cheats.retain(|cheat| only.as_ref().is_none_or(|only| cheat.name.contains(only)));
    let judgements = fixtures::judge(&patient(), &cheats);
    let mut surprises = Vec::new();
    for (cheat, judgement) in cheats.iter().zip(&judgements) {
        let label = judgement.verdict.label().name();
        let detail = judgement.verdict.detail();
        println!(
            "{:34} {label:12} {}",
            cheat.name,
            detail.lines().next().unwrap_or_default()
        );
        if !cheat.expect.iter().any(|expected| expected == label) {
            surprises.push(format!(
                "{}: {label} ({detail}) instead of {}",
                cheat.name,
                cheat.expect.join(" | ")
            ));
        }
        assert!(
            !cheat.expect.iter().any(|expected| expected == "correct"),
            "{}: a cheat is never correct",
            cheat.name
        );
    }
    assert!(
        only.is_some() || cheats.len() >= 60,
        "the suite has at least 60 cheats"
    );
    assert!(
        surprises.is_empty(),
        "{} surprises:\n{}",
        surprises.len(),
        surprises.join("\n")
    );
}
