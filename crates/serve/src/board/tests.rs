use super::*;
use hotloop_flow::bench::Seconds;
use hotloop_flow::{Candidate, Verdict};

fn limits() -> Limits {
    Limits {
        retries: 1,
        jobs: 3,
        kept: 2,
        job_bytes: 100,
        ..Limits::default()
    }
}

fn task() -> Arc<hotloop_flow::Task> {
    let file = |name: &str| std::fs::read_to_string(format!("../../tasks/matmul/{name}")).unwrap();
    let files = hotloop_flow::task::TaskFiles {
        toml: file("task.toml"),
        reference: file("reference.c"),
        prompt: file("prompt.md"),
        seed: file("seed.c"),
        baseline: Some(file("baseline.c")),
    };
    Arc::new(hotloop_flow::Task::parse(files).unwrap())
}

fn attach(board: &mut Board, name: &str) -> Result<Ticket, Full> {
    let candidate = Candidate::restore(hotloop_flow::Language::C, name.repeat(10));
    let job = Job {
        id: JobId(0),
        task: task(),
        candidate,
        stage: None,
    };
    let key = Key {
        job: job.key(),
        apart: None,
    };
    let mut tickets = board.attach(vec![(key, job)])?;
    Ok(tickets.remove(0))
}

fn taken(board: &mut Board) -> Vec<Job> {
    board.take().into_iter().flatten().collect()
}

fn judged() -> Judgement {
    Judgement {
        verdict: Verdict::Crashed {
            how: "so".to_owned(),
        },
        seconds: Seconds::default(),
    }
}

fn told(ticket: &Ticket) -> Option<Outcome> {
    ticket.borrow().clone()
}

#[test]
fn one_candidate_is_one_job_however_many_ask() {
    let mut board = Board::new(limits());
    let (first, second) = (
        attach(&mut board, "a").unwrap(),
        attach(&mut board, "a").unwrap(),
    );
    let jobs = taken(&mut board);
    assert_eq!(jobs.len(), 1);
    board.reply(jobs[0].id, Ok(judged()), Instant::now());
    assert!(told(&first).unwrap().is_ok() && told(&second).unwrap().is_ok());
    let third = attach(&mut board, "a").unwrap();
    assert!(told(&third).is_some(), "who asks again finds the verdict");
    assert!(taken(&mut board).is_empty());
    assert_eq!((board.attached, board.waiting()), (2, 0));
}

#[test]
fn a_machines_failure_is_tried_again_then_told_and_not_kept() {
    let mut board = Board::new(limits());
    let ticket = attach(&mut board, "a").unwrap();
    let failed = || Err(BenchError::machine("broken"));
    let first = taken(&mut board);
    assert_eq!(board.reply(first[0].id, failed(), Instant::now()), None);
    assert!(told(&ticket).is_none());
    let second = taken(&mut board);
    assert_ne!(first[0].id, second[0].id, "a retry is a new attempt");
    assert!(
        board
            .reply(second[0].id, failed(), Instant::now())
            .is_some()
    );
    assert_eq!(told(&ticket).unwrap().unwrap_err().what, "broken");
    let again = attach(&mut board, "a").unwrap();
    assert!(told(&again).is_none(), "asking again judges again");
    assert_eq!(taken(&mut board).len(), 1);
}

#[test]
fn verdicts_are_kept_for_a_while_and_up_to_a_number() {
    let mut board = Board::new(limits());
    let start = Instant::now();
    for (name, after) in [("a", 0), ("b", 10), ("c", 20)] {
        drop(attach(&mut board, name).unwrap());
        let id = taken(&mut board)[0].id;
        board.reply(id, Ok(judged()), start + Duration::from_secs(after));
    }
    assert_eq!(board.kept(), 2);
    assert_eq!(board.entries.len(), 2);
    board.sweep(start + Duration::from_secs(10) + limits().keep);
    assert_eq!(board.kept(), 1);
    assert_eq!(board.bytes, 0);
}

#[test]
fn what_nobody_waits_for_is_given_up_after_a_while() {
    let mut board = Board::new(limits());
    let kept = attach(&mut board, "a").unwrap();
    drop(attach(&mut board, "b").unwrap());
    let start = Instant::now();
    assert!(board.sweep(start).is_empty());
    assert!(board.sweep(start + limits().abandon / 2).is_empty());
    let abandoned = board.sweep(start + limits().abandon);
    assert_eq!(abandoned.len(), 1);
    assert_eq!(taken(&mut board).len(), 1, "it was still in the queue");
    assert_eq!(board.waiting(), 1);
    assert!(told(&kept).is_none());
}

#[test]
fn too_many_jobs_or_bytes_are_refused() {
    let mut board = Board::new(limits());
    let tickets: Vec<_> = ["a", "b", "c"]
        .map(|name| attach(&mut board, name).unwrap())
        .into();
    assert!(attach(&mut board, "d").is_err(), "three jobs are allowed");
    assert!(attach(&mut board, "a").is_ok(), "joining one is no new job");
    board.fail_all(&BenchError::machine("gone"));
    assert!(tickets.iter().all(|ticket| told(ticket).unwrap().is_err()));
    assert_eq!((board.waiting(), board.bytes), (0, 0));
    assert!(
        attach(&mut board, &"x".repeat(11)).is_err(),
        "110 bytes are too many"
    );
}

#[test]
fn only_the_judgement_that_was_meant_is_forgotten() {
    let mut board = Board::new(limits());
    let ticket = attach(&mut board, "a").unwrap();
    let id = taken(&mut board)[0].id;
    board.reply(id, Ok(judged()), Instant::now());
    let kept = told(&ticket).unwrap().unwrap();
    let key = board.done[0].1.clone();
    board.forget_one(&key, &Arc::new(judged()));
    assert_eq!(board.kept(), 1);
    board.forget_one(&key, &kept);
    assert_eq!((board.kept(), board.entries.len()), (0, 0));
    drop(attach(&mut board, "a").unwrap());
    board.forget_one(&key, &kept);
    assert_eq!(board.waiting(), 1, "a new attempt goes on");
}
