//! A reviewer's opinions take part in rewards, are asked for once, and cost nobody a run.

use hotloop_flow::Verdict;
use hotloop_run::event::CandidateReviewed;
use hotloop_run::report::page::Paged;
use hotloop_run::{Ended, Event, Interrupt, Layered, Plan, RunState, Store};

use crate::fake::{FakeReviewer, Process, plan, task};

const REWARD: &str =
    "reward={shape = \"ladder-log\", reviewer = {model = \"critic\", lambda = 0.5}}";
const ZERO: &str =
    "reward={shape = \"ladder-log\", reviewer = {model = \"critic\", broken = \"zero\"}}";

/// Likes kernels whose number is even, and says so.
fn likes_even(asked: &str, _: f64) -> String {
    let number = asked.split("speed_").nth(1).unwrap_or("1");
    let number: String = number.chars().take_while(char::is_ascii_digit).collect();
    let liked = f64::from(u8::from(number.parse::<u64>().unwrap() % 2 == 0));
    format!(
        "Here: {{\"correctness\": {liked}, \"compilability\": 1.0, \"speed\": {liked}, \"reasoning\": \"by parity\"}}"
    )
}

fn reviewed(plan: &Plan, reviewer: FakeReviewer) -> (Process, Ended, RunState) {
    let mut process = Process::new(plan);
    process.reviewer = Some(reviewer);
    let (mut store, lines) = Store::open(&plan.directory).unwrap();
    let (ended, state) = process.drive(plan, &mut store, &lines);
    (process, ended, state)
}

fn opinions(process: &Process) -> Vec<&CandidateReviewed> {
    let mut opinions = Vec::new();
    for event in &process.seen {
        if let Event::CandidateReviewed(reviewed) = event {
            opinions.push(reviewed.as_ref());
        }
    }
    opinions
}

#[test]
fn an_opinion_is_added_to_the_verdicts_reward_and_given_once_a_candidate() {
    let folder = tempfile::tempdir().unwrap();
    let sets = ["budget.steps=4", "loop.probe=0", REWARD];
    let plan = plan(&folder.path().join("run"), &sets);
    let (process, ended, state) = reviewed(&plan, FakeReviewer::new(likes_even));
    assert!(matches!(ended, Ended::Done(_)), "{ended:?}");
    let given = opinions(&process);
    let distinct: std::collections::BTreeSet<_> = given.iter().map(|one| &one.hash).collect();
    assert_eq!(given.len(), distinct.len(), "each candidate once");
    assert_eq!(process.reviewer.as_ref().unwrap().asked, given.len());
    let context = state.context();
    let mut seen = [0; 2];
    for member in state
        .steps
        .iter()
        .flat_map(hotloop_run::state::Step::members)
    {
        let (Some(verdict), Some(reward)) = (&member.verdict, member.reward) else {
            continue;
        };
        let unaided = plan
            .config
            .reward
            .shape
            .of(verdict, &context)
            .unwrap()
            .unwrap();
        let mean = match &member.hash {
            Some(hash) => state.opinions[&(None, hash.clone())]
                .as_ref()
                .unwrap()
                .mean(),
            None => 0.0,
        };
        assert!(
            (reward - unaided - 0.5 * mean).abs() < 1e-9,
            "{reward} {unaided} {mean}"
        );
        seen[usize::from(mean > 0.5)] += 1;
    }
    assert!(seen.iter().all(|count| *count > 0), "{seen:?}");
    let paged = Paged::read(std::slice::from_ref(&plan.directory)).unwrap();
    let agreement = paged.report.runs[0].reviewer.as_ref().unwrap();
    assert_eq!((agreement.asked, agreement.broken), (given.len(), 0));
    let page = paged.html();
    assert!(
        page.contains("critic gave its opinion on") && page.contains("\"is it correct?\""),
        "the page tells it"
    );
}

#[test]
fn what_cannot_be_read_is_asked_again_twice_and_then_masked() {
    let folder = tempfile::tempdir().unwrap();
    let prose = |_: &str, _: f64| "A fine kernel, ten of ten.".to_owned();
    let masked = plan(
        &folder.path().join("masked"),
        &["budget.steps=1", "loop.probe=0", REWARD],
    );
    let (process, _, state) = reviewed(&masked, FakeReviewer::new(prose));
    let given = opinions(&process);
    assert!(
        given
            .iter()
            .all(|one| one.opinion.is_none() && one.why.is_some())
    );
    assert_eq!(process.reviewer.as_ref().unwrap().asked, 3 * given.len());
    for member in state.steps[0].members() {
        assert_eq!(
            member.reward.is_some(),
            member.hash.is_none(),
            "only what has no code earns"
        );
    }
    let zero = plan(
        &folder.path().join("zero"),
        &["budget.steps=1", "loop.probe=0", ZERO],
    );
    let (_, _, state) = reviewed(&zero, FakeReviewer::new(prose));
    assert!(
        state.steps[0]
            .members()
            .all(|member| member.reward.is_some())
    );
    // The second attempt is drawn, and may succeed.
    let later = |asked: &str, temperature: f64| {
        if temperature > 0.0 {
            likes_even(asked, temperature)
        } else {
            "{}".to_owned()
        }
    };
    let again = plan(
        &folder.path().join("again"),
        &["budget.steps=1", "loop.probe=0", REWARD],
    );
    let (process, _, _) = reviewed(&again, FakeReviewer::new(later));
    let given = opinions(&process);
    assert!(given.iter().all(|one| one.opinion.is_some()));
    assert_eq!(process.reviewer.as_ref().unwrap().asked, 2 * given.len());
}

#[test]
fn a_reviewer_that_fails_pauses_the_run_and_nothing_is_asked_twice() {
    let folder = tempfile::tempdir().unwrap();
    let sets = [
        "budget.steps=6",
        "loop.probe=0",
        "loop.overlap=false",
        REWARD,
    ];
    let whole = plan(&folder.path().join("whole"), &sets);
    let (asked, _, expect) = reviewed(&whole, FakeReviewer::new(likes_even));
    let asked = asked.reviewer.unwrap().asked;
    assert!(asked > 20, "only {asked}");
    let broken = plan(&folder.path().join("broken"), &sets);
    let mut failing = FakeReviewer::new(likes_even);
    failing.fails_at = Some(asked * 3 / 4);
    let (first, ended, _) = reviewed(&broken, failing);
    assert!(
        matches!(ended, Ended::Paused(Interrupt::Policy(_))),
        "{ended:?}"
    );
    let (second, ended, state) = reviewed(&broken, FakeReviewer::new(likes_even));
    assert!(matches!(ended, Ended::Done(_)), "{ended:?}");
    let all = state.opinions.len();
    assert_eq!(opinions(&first).len() + opinions(&second).len(), all);
    assert_eq!(state.opinions, expect.opinions);
    let rewards = |state: &RunState| -> Vec<Option<f64>> {
        state
            .steps
            .iter()
            .flat_map(hotloop_run::state::Step::members)
            .map(|member| member.reward)
            .collect()
    };
    assert_eq!(rewards(&state), rewards(&expect));
}

#[test]
fn a_masked_verdict_stays_masked_whatever_the_reviewer_thinks() {
    let folder = tempfile::tempdir().unwrap();
    let plan = plan(
        &folder.path().join("run"),
        &["budget.steps=6", "loop.probe=0", REWARD],
    );
    let (_, _, state) = reviewed(&plan, FakeReviewer::new(likes_even));
    let masked = |verdict: &Option<Verdict>| match verdict {
        None | Some(Verdict::Suspect { .. }) => true,
        Some(_) => false,
    };
    let members = || {
        state
            .steps
            .iter()
            .flat_map(hotloop_run::state::Step::members)
    };
    assert!(members().all(|member| !masked(&member.verdict) || member.reward.is_none()));
}

#[test]
fn mistakes_in_the_reviewers_keys_are_named() {
    let refused = |reward: &str| -> String {
        let read = Layered::read(
            Some(("run.toml", &format!("model = \"m\"\nreward = {reward}\n"))),
            &[],
        );
        let mistakes = match read {
            Err(mistakes) => mistakes,
            Ok(layered) => Plan::new(&layered, "x", &task).expect_err(reward),
        };
        mistakes.iter().map(ToString::to_string).collect()
    };
    let lambda = refused("{ shape = \"ladder\", reviewer = { model = \"m\", lambda = -1.0 } }");
    assert!(lambda.contains("reward.reviewer.lambda: -1"), "{lambda}");
    let unknown = refused("{ shape = \"ladder\", reviewer = { model = \"m\", lamda = 1.0 } }");
    assert!(unknown.contains("lamda"), "{unknown}");
    let shape = refused("{ shape = \"ladder-log\", hihg = 3.0 }");
    assert!(shape.contains("hihg"), "{shape}");
    let empty = refused("{ shape = \"ladder\", reviewer = { model = \"\" } }");
    assert!(empty.contains("reward.reviewer.model"), "{empty}");
}

#[test]
fn the_presets_are_the_papers() {
    let read = |name: &str| {
        let path = format!(
            "{}/../../experiments/{name}.toml",
            env!("CARGO_MANIFEST_DIR")
        );
        let text = fs_err::read_to_string(path).unwrap();
        Layered::read(Some((name, &text)), &[]).unwrap().config
    };
    let p3 = read("p3");
    assert_eq!(
        (
            p3.sampling.group,
            p3.sampling.prompts_per_step,
            p3.budget.steps
        ),
        (6, 1, 200)
    );
    assert_eq!((p3.learning.lora_rank, p3.stepping.overlap), (32, false));
    assert!((p3.learning.rate - 1e-5).abs() < 1e-12 && p3.learning.beta.abs() < 1e-12);
    assert_eq!(p3.learning.advantage, hotloop_flow::Advantage::MeanOnly);
    assert_eq!(p3.learning.normalise, hotloop_run::config::Normalise::Token);
    let reviewer = p3.reward.reviewer.unwrap();
    assert!((reviewer.lambda - 0.5).abs() < 1e-12);
    assert_eq!(reviewer.broken, hotloop_run::config::Broken::Zero);
    let hotloop_flow::Reward::Composite {
        alpha,
        beta,
        gamma,
        r_max,
    } = p3.reward.shape
    else {
        panic!("equation 1 is the composite reward");
    };
    // Compiling, correct and optimal earn 0.5, 1 and 1.5.
    assert!((alpha - 0.5).abs() < 1e-12 && (alpha + beta - 1.0).abs() < 1e-12);
    assert!((alpha + beta + gamma * r_max - 1.5).abs() < 1e-12);
    let p2 = read("p2");
    assert_eq!(p2.reward.shape, hotloop_flow::Reward::Weighted);
    assert!(p2.learning.beta > 0.0, "the frozen start is the reference");
}
