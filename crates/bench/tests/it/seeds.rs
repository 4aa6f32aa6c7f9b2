//! Every shipped task judges its own seed.

use crate::fixtures::{self, Fixture};
use crate::settings;

#[test]
fn every_seed_is_correct() {
    let seeds: Vec<Fixture> = bench::tasks::shipped()
        .map(|name| Fixture {
            name: name.to_owned(),
            task: name.to_owned(),
            threads: 1,
            expect: vec![],
            source: bench::tasks::load(name).unwrap().seed.into_bytes(),
        })
        .collect();
    for (seed, judgement) in seeds.iter().zip(fixtures::judge(&settings(), &seeds)) {
        println!("{:12} {:?} {:?}", seed.name, judgement.seconds, judgement.verdict);
        assert_eq!(judgement.verdict.label(), flow::Label::Correct, "{}: {}", seed.name, judgement.verdict.detail());
    }
}
