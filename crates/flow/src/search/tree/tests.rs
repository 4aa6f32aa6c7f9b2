use super::*;
use crate::language::c::stages;
use crate::verdict::Label;

const SETTINGS: Settings = Settings {
    parents: 2,
    stages: true,
    repair: true,
    deepening: true,
    elites: 0,
    last: stages::ALL,
};
const ROOT: Root<'static> = Root {
    normal: "seed",
    speed: Some(1.0),
};

fn node(name: &str, speed: f64) -> Node {
    Node {
        hash: name.to_owned(),
        normal: name.to_owned(),
        stage: Stage::FIRST,
        label: Label::Correct,
        speed: Some(speed),
    }
}

fn chosen(tree: &Tree, settings: Settings) -> Vec<(String, u8)> {
    let name = |parent: Parent| {
        let hash = parent.hash.unwrap_or_else(|| "seed".to_owned());
        (hash, parent.stage.number())
    };
    let parents = tree.select(ROOT, settings, &mut Random::new(1));
    parents.into_iter().map(name).collect()
}

fn names(tree: &Tree, parents: usize) -> Vec<String> {
    let settings = Settings {
        parents,
        ..SETTINGS
    };
    chosen(tree, settings)
        .into_iter()
        .map(|one| one.0)
        .collect()
}

#[test]
fn an_empty_tree_expands_the_seed_one_stage_after_the_other() {
    let mut tree = Tree::default();
    assert_eq!(chosen(&tree, SETTINGS), [("seed".to_owned(), 1)]);
    tree.grow(None, vec![]);
    assert_eq!(chosen(&tree, SETTINGS), [("seed".to_owned(), 2)]);
    let flat = Settings {
        deepening: false,
        ..SETTINGS
    };
    assert_eq!(chosen(&tree, flat), [("seed".to_owned(), 1)]);
    let unstaged = Settings {
        stages: false,
        ..SETTINGS
    };
    assert_eq!(
        chosen(&tree, unstaged),
        [("seed".to_owned(), stages::ALL.number())]
    );
}

#[test]
fn scores_are_the_papers() {
    let mut tree = Tree::default();
    tree.grow(None, vec![node("a", 4.0), node("b", 2.0)]);
    // Values: a 2, b 1, seed 0; scale 2; T = 1, sqrt(2) = 1.414. Priors by rank 3/6, 2/6, 1/6.
    // a: 2 + 2 x 0.5 x 1.414 = 3.414; b: 1 + 2 x 0.333 x 1.414 = 1.943;
    // seed: its best child 2, visited once: 2 + 2 x 0.167 x 1.414 / 2 = 2.236.
    assert_eq!(names(&tree, 3), ["a", "seed", "b"]);
    // Two fruitless visits of a: T = 3, sqrt(4) = 2. a: 2 + 2 x 0.5 x 2 / 3 = 2.667;
    // seed: 2 + 2 x 0.167 x 2 / 4 = 2.167; b: 1 + 2 x 0.333 x 2 = 2.333.
    tree.grow(Some("a"), vec![]);
    tree.grow(Some("a"), vec![]);
    assert_eq!(names(&tree, 3), ["a", "b", "seed"]);
}

#[test]
fn the_value_of_a_node_is_its_best_child() {
    let mut tree = Tree::default();
    tree.grow(None, vec![node("slow", 2.0), node("fast", 4.0)]);
    tree.grow(Some("fast"), vec![node("worse", 1.5)]);
    tree.grow(Some("slow"), vec![node("leap", 64.0)]);
    // slow leads to 64, so it is worth 6 and not 1. Priors of five nodes: 5/15 to 1/15; scale 6;
    // T = 3. leap 6 + 6 x 5/15 x 2 = 10; seed: 6 would be its grandchild's, its own best child is
    // fast: 2 + 6 x 1/15 x 2 / 4 = 2.2; slow 6 + 6 x 3/15 x 2 / 2 = 7.2; fast: its best child
    // log2 1.5 = 0.585 + 6 x 4/15 x 2 / 2 = 2.185; worse 0.585 + 6 x 2/15 x 2 = 2.185.
    assert_eq!(names(&tree, 5)[0], "leap");
    // slow is leap's parent, so it waits until unrelated nodes are taken, the seed among them.
    let order = names(&tree, 5);
    let place = |name: &str| order.iter().position(|one| one == name);
    assert!(place("slow") > place("seed"), "{order:?}");
}

#[test]
fn lines_do_not_fill_an_iteration_while_others_are_left() {
    let mut tree = Tree::default();
    tree.grow(None, vec![node("a", 8.0), node("other", 2.0)]);
    tree.grow(Some("a"), vec![node("b", 16.0)]);
    tree.grow(Some("b"), vec![node("c", 32.0)]);
    let order = names(&tree, 5);
    assert_eq!(order[0], "c");
    assert!(order.iter().position(|one| one == "other") < order.iter().position(|one| one == "b"));
    assert_eq!(order.len(), 5, "relatives fill what is left: {order:?}");
}

#[test]
fn failures_and_copies_take_no_place() {
    let mut tree = Tree::default();
    let mut failed = node("failed", 9.0);
    failed.label = Label::Wrong;
    let copy = Node {
        hash: "again".to_owned(),
        ..node("a", 5.0)
    };
    tree.grow(None, vec![node("a", 4.0), failed, copy, node("seed", 1.0)]);
    // The fastest copy stands for the others; the seed's copy is not chosen beside the seed.
    assert_eq!(names(&tree, 9), ["again", "seed"]);
    tree.grow(None, vec![node("x", 7.0), node("y", 6.0), node("z", 5.5)]);
    assert!(
        !names(&tree, 9).contains(&"z".to_owned()),
        "two children of an expansion stay"
    );
}
