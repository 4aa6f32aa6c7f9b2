use std::collections::{BTreeMap, HashSet};
use std::sync::OnceLock;

use hotloop_corpus::nano_prompt::Role;
use hotloop_corpus::{Program, Record, synth};

use crate::{SMALL, pool};

fn records() -> &'static [Record] {
    static RECORDS: OnceLock<Vec<Record>> = OnceLock::new();
    RECORDS.get_or_init(|| synth(&SMALL).collect())
}

#[test]
fn the_same_options_give_the_same_records() {
    let records = records();
    assert_eq!(records.len(), SMALL.records);
    assert_eq!(records, synth(&SMALL).collect::<Vec<_>>());
}

#[test]
fn answers_are_candidates_of_the_pool_and_broken_code_is_only_shown() {
    let right: HashSet<String> = pool().programs().map(Program::source).collect();
    let mut repaired = 0;
    for record in records() {
        assert!(right.contains(&record.answer), "{}", record.answer);
        assert_eq!(
            record.role == Role::Explore,
            !record.prompt.contains("<parent>")
        );
        assert!(
            !record.prompt.contains(&record.answer),
            "nothing to do:\n{}",
            record.prompt
        );
        repaired += usize::from(record.role == Role::Repair);
    }
    assert!(repaired > SMALL.records / 10, "{repaired}");
}

#[test]
fn all_roles_stages_and_tasks_are_asked_for() {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for record in records() {
        for key in [
            record.task.clone(),
            record.stage.to_string(),
            record.role.name().to_owned(),
        ] {
            *counts.entry(key).or_default() += 1;
        }
    }
    assert_eq!(counts.len(), 6 + 6 + 4, "{counts:?}");
    assert!(
        counts.values().all(|count| *count > SMALL.records / 30),
        "{counts:?}"
    );
}

#[test]
fn no_answer_is_both_trained_and_validated() {
    let (validation, train): (Vec<&Record>, Vec<&Record>) = records()
        .iter()
        .partition(|record| record.is_validation(SMALL.validation_percent));
    let trained: HashSet<&str> = train.iter().map(|record| record.answer.as_str()).collect();
    assert!(
        validation
            .iter()
            .all(|record| !trained.contains(record.answer.as_str()))
    );
    let share = validation.len() * 100 / SMALL.records;
    assert!((5..=15).contains(&share), "{share}");
}
