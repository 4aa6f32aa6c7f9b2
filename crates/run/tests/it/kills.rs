//! Real processes, killed for real.

use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Duration;

use hotloop_flow::random::Random;
use hotloop_run::RunState;

use crate::fake::{plan, same, same_facts, whole};

const DIRECTORY: &str = "HOTLOOP_TEST_RUN";
const SEARCH: &str = "HOTLOOP_TEST_SEARCH";
const SEARCHES: [&[&str]; 2] = [
    &["budget.steps=30", "loop.probe=4"],
    &[
        "budget.steps=30",
        "loop.probe=4",
        "search.archive=puct",
        "prompts.contrast=3",
        "prompts.profile=true",
        "learning.advantage=entropic",
        "reward={ shape = \"gain\" }",
        "copy-penalty=1",
    ],
];

/// The process that gets killed: this test binary again, told where to run.
#[test]
fn child() {
    if let Some(directory) = std::env::var_os(DIRECTORY) {
        let search: usize = std::env::var(SEARCH).unwrap().parse().unwrap();
        whole(&plan(&PathBuf::from(directory), SEARCHES[search]));
    }
}

#[test]
fn processes_killed_at_random_moments_end_where_an_unbroken_one_does() {
    killed(0);
}

#[test]
fn a_tree_of_programs_and_their_prompts_survive_kills() {
    killed(1);
}

fn killed(search: usize) {
    let folder = tempfile::tempdir().unwrap();
    let (unbroken, broken) = (folder.path().join("unbroken"), folder.path().join("broken"));
    let (_, expect) = whole(&plan(&unbroken, SEARCHES[search]));
    let mut random = Random::new(5);
    let mut kills = 0;
    loop {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "kills::child"])
            .env(DIRECTORY, &broken)
            .env(SEARCH, search.to_string())
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        // The first processes get little time, so that early moments are tested, too.
        std::thread::sleep(Duration::from_millis(
            1 + random.below(4 + 2 * kills) as u64,
        ));
        if let Some(status) = child.try_wait().unwrap() {
            assert!(status.success());
            break;
        }
        child.kill().unwrap();
        child.wait().unwrap();
        kills += 1;
        assert!(kills < 500, "the run does not get on");
    }
    assert!(kills > 3, "only {kills} kills");
    same(RunState::read(&broken).unwrap(), expect);
    same_facts(&broken, &unbroken);
}
