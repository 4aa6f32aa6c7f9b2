use super::*;
use crate::language::c::stages;
use crate::verdict::Label;
use proptest::prelude::*;

const PAPER: Settings = Settings {
    parents: 8,
    stages: true,
    repair: true,
    deepening: true,
    elites: 0,
    last: stages::ALL,
};

fn node(name: &str, stage: Stage, label: Label, speed: Option<f64>) -> Node {
    Node {
        hash: name.into(),
        normal: format!("n-{name}"),
        stage,
        label,
        speed,
    }
}

/// Twenty correct nodes and twenty failed ones at each of the first `count` stages.
fn full(count: usize) -> Pool {
    let mut pool = Pool::default();
    for stage in stages::SIX.into_iter().take(count) {
        for at in 0..20 {
            let speed = f64::from(100 - at);
            pool.add(node(
                &format!("c{stage}-{at}"),
                stage,
                Label::Correct,
                Some(speed),
            ));
            pool.add(node(&format!("w{stage}-{at}"), stage, Label::Wrong, None));
        }
    }
    pool
}

fn choose(pool: &Pool, settings: Settings) -> Vec<Parent> {
    select(pool, "seed", settings, &mut Random::new(3))
}

fn count(parents: &[Parent], role: Role) -> usize {
    parents.iter().filter(|parent| parent.role == role).count()
}

#[test]
fn the_first_iteration_asks_the_seed_alone() {
    let seed = Parent {
        hash: None,
        role: Role::Explore,
        stage: stages::REGISTER_BLOCKING,
    };
    assert_eq!(choose(&Pool::default(), PAPER), [seed]);
}

#[test]
fn places_go_to_the_roles_by_their_shares() {
    let parents = choose(&full(1), PAPER);
    assert_eq!(parents.len(), 8);
    assert_eq!(Role::ALL.map(|role| count(&parents, role)), [1, 3, 2, 2]);
    let many = choose(
        &full(6),
        Settings {
            parents: 21,
            ..PAPER
        },
    );
    assert_eq!(Role::ALL.map(|role| count(&many, role)), [1, 8, 6, 6]);
}

#[test]
fn the_fastest_deepen_to_the_next_stage_and_the_last_stage_to_itself() {
    let parents = choose(&full(1), PAPER);
    let deepened: Vec<&str> = parents
        .iter()
        .filter(|parent| parent.role == Role::Deepen)
        .filter_map(|parent| parent.hash.as_deref())
        .collect();
    assert_eq!(deepened, ["cstage 1-0", "cstage 1-1", "cstage 1-2"]);
    assert!(
        parents
            .iter()
            .all(|parent| (parent.role == Role::Deepen) == (parent.stage == stages::CACHE_BLOCKING))
    );
    let mut last = Pool::default();
    last.add(node("x", stages::ALL, Label::Correct, Some(1.0)));
    assert_eq!(choose(&last, PAPER)[1].stage, stages::ALL);
}

#[test]
fn the_middle_is_improved_at_its_stage() {
    let parents = choose(&full(1), PAPER);
    for parent in parents.iter().filter(|parent| parent.role == Role::Improve) {
        let rank: usize = parent
            .hash
            .as_deref()
            .unwrap()
            .rsplit('-')
            .next()
            .unwrap()
            .parse()
            .unwrap();
        assert!((8..14).contains(&rank), "rank {rank}");
        assert_eq!(parent.stage, stages::REGISTER_BLOCKING);
    }
}

#[test]
fn stages_take_turns() {
    let parents = choose(&full(3), PAPER);
    let stages: BTreeSet<Stage> = parents
        .iter()
        .filter(|parent| parent.role == Role::Deepen)
        .map(|parent| parent.stage)
        .collect();
    assert_eq!(
        stages.len(),
        3,
        "each of the three places came from another stage"
    );
}

#[test]
fn with_more_stages_than_places_the_deepest_deepen() {
    let parents = choose(&full(5), PAPER);
    let stages: Vec<u8> = parents
        .iter()
        .filter(|parent| parent.role == Role::Deepen)
        .map(|parent| parent.stage.number())
        .collect();
    assert_eq!(stages, [6, 5, 4]);
}

#[test]
fn places_that_a_role_cannot_fill_go_to_the_others() {
    let mut pool = Pool::default();
    for at in 0..40 {
        pool.add(node(
            &format!("w{at}"),
            stages::REGISTER_BLOCKING,
            Label::NotCompiled,
            None,
        ));
    }
    let parents = choose(&pool, PAPER);
    assert_eq!(parents.len(), 8);
    assert_eq!(count(&parents, Role::Repair), 7);
}

#[test]
fn candidates_that_cannot_be_repaired_or_are_suspect_are_not_parents() {
    let mut pool = Pool::default();
    pool.add(node("m", stages::REGISTER_BLOCKING, Label::Malformed, None));
    pool.add(node(
        "s",
        stages::REGISTER_BLOCKING,
        Label::Suspect,
        Some(1e9),
    ));
    pool.add(node(
        "n",
        stages::REGISTER_BLOCKING,
        Label::Correct,
        Some(f64::NAN),
    ));
    assert_eq!(choose(&pool, PAPER).len(), 1);
}

#[test]
fn copies_count_once_and_copies_of_the_seed_not_at_all() {
    let mut pool = Pool::default();
    for at in 0..10 {
        let mut copy = node(
            &format!("c{at}"),
            stages::SIMD,
            Label::Correct,
            Some(f64::from(at)),
        );
        copy.normal = if at < 9 { "same".into() } else { "seed".into() };
        pool.add(copy);
    }
    let parents = choose(&pool, PAPER);
    assert_eq!(parents.len(), 2);
    assert_eq!(
        parents[1].hash.as_deref(),
        Some("c8"),
        "the fastest copy stands for all"
    );
}

#[test]
fn an_ablation_switches_off_one_thing() {
    let no_repair = choose(
        &full(2),
        Settings {
            repair: false,
            ..PAPER
        },
    );
    assert_eq!((count(&no_repair, Role::Repair), no_repair.len()), (0, 8));
    let no_deepening = choose(
        &full(1),
        Settings {
            deepening: false,
            ..PAPER
        },
    );
    assert!(
        no_deepening
            .iter()
            .all(|parent| parent.stage == stages::REGISTER_BLOCKING)
    );
    let no_stages = choose(
        &Pool::default(),
        Settings {
            stages: false,
            ..PAPER
        },
    );
    assert_eq!(no_stages[0].stage, stages::ALL);
    let elites = full(2).elites(2);
    assert_eq!(elites.len(), 4);
    assert_eq!(
        elites.correct(stages::REGISTER_BLOCKING)[0].hash,
        "cstage 1-0"
    );
}

#[test]
fn a_task_with_two_stages_deepens_once() {
    let two = Settings {
        last: Stage::numbered(2),
        ..PAPER
    };
    let deepened = choose(&full(2), two);
    assert!(deepened.iter().all(|parent| parent.stage <= two.last));
    let all = Settings {
        stages: false,
        ..two
    };
    assert_eq!(choose(&Pool::default(), all)[0].stage, two.last);
}

#[test]
fn more_places_than_there_are_nodes_are_filled_with_what_there_is() {
    let parents = |parents| {
        let settings = Settings { parents, ..PAPER };
        choose(&full(6), settings)
    };
    let all = parents(10_000);
    assert!(all.len() > 10);
    for places in [1 << 40, i64::MAX as usize, usize::MAX] {
        let distinct = |parents: &[Parent]| -> BTreeSet<Option<String>> {
            parents.iter().map(|parent| parent.hash.clone()).collect()
        };
        assert_eq!(distinct(&parents(places)), distinct(&all));
    }
}

fn nodes() -> impl Strategy<Value = Vec<Node>> {
    let node = (0..30u8, 1..=6u8, 0..8usize, prop::option::of(0.0..500.0f64)).prop_map(
        |(name, stage, label, speed)| {
            node(
                &name.to_string(),
                Stage::try_from(stage).unwrap(),
                Label::ALL[label],
                speed,
            )
        },
    );
    prop::collection::vec(node, 0..80)
}

proptest! {
    #[test]
    fn any_pool_gives_few_distinct_parents_and_the_same_ones_for_a_seed(
        nodes in nodes(), parents in 1..12usize, seed: u64,
    ) {
        let mut pool = Pool::default();
        for node in nodes {
            pool.add(node);
        }
        let settings = Settings { parents, ..PAPER };
        let chosen = select(&pool, "n-0", settings, &mut Random::new(seed));
        prop_assert!(chosen.len() <= parents && chosen[0].hash.is_none());
        let distinct: BTreeSet<Option<&String>> = chosen.iter().map(|parent| parent.hash.as_ref()).collect();
        prop_assert_eq!(distinct.len(), chosen.len());
        prop_assert!(!distinct.contains(&Some(&"0".to_owned())));
        prop_assert_eq!(select(&pool, "n-0", settings, &mut Random::new(seed)), chosen);
    }
}
