//! Workers, servers, tunnels and coordinators end, and nothing is lost, duplicated or punished.

use std::time::{Duration, Instant};

use hotloop_fleet::{FleetBench, State};
use hotloop_flow::{Bench, JobId};

use crate::parts::{Notices, Server, Worker, all_judged, job, open, opening, replies, wait_until};
use crate::tunnel::Tunnel;

/// Groups of two, each taking a moment.
fn submit_pairs(bench: &mut dyn Bench, pairs: u64, rehearse: &str) {
    for pair in 0..pairs {
        bench
            .submit(vec![
                job(2 * pair, rehearse, 2 * pair),
                job(2 * pair + 1, rehearse, 2 * pair + 1),
            ])
            .unwrap();
    }
}

/// The worker process that has jobs, if any.
fn busy(bench: &FleetBench) -> Option<u32> {
    bench
        .workers()
        .unwrap()
        .iter()
        .find(|beat| beat.busy > 0)
        .map(|beat| beat.pid)
}

#[test]
fn a_worker_that_is_killed_loses_nothing() {
    let Some(server) = Server::start() else {
        return;
    };
    let workers = [
        Worker::start(&server.access_file(), "rehearse"),
        Worker::start(&server.access_file(), "rehearse"),
    ];
    let mut bench = open(&server, "killed");
    submit_pairs(&mut bench, 8, "0.4");
    wait_until("both work", || {
        bench
            .workers()
            .unwrap()
            .iter()
            .filter(|beat| beat.busy > 0)
            .count()
            == 2
    });
    let [first, _second] = workers;
    first.kill();
    all_judged(&mut bench, 16);
}

#[test]
fn a_worker_that_stalls_past_its_lease_is_not_believed_twice() {
    let Some(server) = Server::start() else {
        return;
    };
    let stalled = Worker::start(&server.access_file(), "rehearse");
    let mut bench = open(&server, "stalled");
    bench.submit(vec![job(0, "1", 0), job(1, "1", 1)]).unwrap();
    wait_until("it works", || busy(&bench) == Some(stalled.id()));
    stalled.signal("-STOP");
    let other = Worker::start(&server.access_file(), "rehearse");
    let came = replies(&mut bench, 2);
    assert!(came.iter().all(|reply| reply.judged.is_ok()));
    stalled.signal("-CONT");
    // It finishes, and its answer is a duplicate.
    bench.submit(vec![job(2, "0", 2)]).unwrap();
    assert_eq!(replies(&mut bench, 1)[0].id, JobId(2));
    assert!(
        bench.next(Duration::from_secs(4)).unwrap().is_none(),
        "nothing is told twice"
    );
    drop(other);
}

#[test]
fn a_candidate_that_ends_every_worker_is_the_machines_failure() {
    let Some(server) = Server::start() else {
        return;
    };
    let mut workers: Vec<Worker> = Vec::new();
    for _ in 0..3 {
        workers.push(Worker::with(&server.access_file(), "rehearse", "2", "1"));
    }
    let mut bench = open(&server, "poison");
    bench
        .submit(vec![job(0, "die", 0), job(1, "0.1", 1)])
        .unwrap();
    wait_until("it was tried on all three", || {
        workers.iter_mut().all(Worker::has_ended)
    });
    let mut fourth = Worker::with(&server.access_file(), "rehearse", "2", "1");
    let came = replies(&mut bench, 2);
    for reply in &came {
        let error = reply.judged.as_ref().unwrap_err();
        assert!(error.what.contains("3 times"), "{error}");
    }
    // The innocent candidate is judged when it is retried alone. A retry is a new attempt.
    assert!(!fourth.has_ended(), "the fourth never gets it");
    bench.submit(vec![job(1, "0.1", 1)]).unwrap();
    assert!(replies(&mut bench, 1)[0].judged.is_ok());
}

#[test]
fn a_server_that_is_killed_and_restarted_loses_nothing() {
    let Some(mut server) = Server::start() else {
        return;
    };
    let access = server.access_file();
    let _workers = [
        Worker::start(&access, "rehearse"),
        Worker::start(&access, "rehearse"),
    ];
    let mut bench = open(&server, "restarted");
    submit_pairs(&mut bench, 10, "0.3");
    wait_until("it works", || busy(&bench).is_some());
    server.kill();
    std::thread::sleep(Duration::from_secs(2));
    server.run();
    all_judged(&mut bench, 20);
}

#[test]
fn a_tunnel_that_is_cut_for_seconds_loses_nothing() {
    let Some(server) = Server::start() else {
        return;
    };
    let _workers = [
        Worker::start(&server.access_file(), "rehearse"),
        Worker::start(&server.access_file(), "rehearse"),
    ];
    let mut tunnel = Tunnel::open(server.port);
    let through = hotloop_fleet::Access::read(&server.access_through(tunnel.port)).unwrap();
    let mut bench = FleetBench::open(opening(through, "cut")).unwrap();
    submit_pairs(&mut bench, 10, "0.3");
    assert!(bench.next(Duration::from_secs(30)).unwrap().is_some());
    tunnel.cut();
    std::thread::sleep(Duration::from_secs(8));
    tunnel.mend();
    let came = replies(&mut bench, 19);
    assert!(came.iter().all(|reply| reply.judged.is_ok()));
    assert!(bench.next(Duration::from_millis(300)).unwrap().is_none());
}

#[test]
fn a_coordinator_that_is_restarted_finds_its_jobs() {
    let Some(server) = Server::start() else {
        return;
    };
    let _worker = Worker::steady(&server.access_file(), "rehearse");
    let mut first = open(&server, "coordinator");
    submit_pairs(&mut first, 6, "0.3");
    let told = replies(&mut first, 2);
    assert_eq!(told.len(), 2);
    // Like a killed coordinator, it does not leave its scope.
    std::mem::forget(first);
    let mut second = open(&server, "coordinator");
    let judged_before = judged(&second);
    // The rest is submitted in other groups than before, but its jobs are in progress all the same.
    second
        .submit((2..12).map(|id| job(id, "0.3", id)).collect())
        .unwrap();
    let came = replies(&mut second, 10);
    assert!(came.iter().all(|reply| reply.judged.is_ok()));
    wait_until("the worker has told", || judged(&second) >= 12);
    assert_eq!(
        judged(&second),
        12,
        "nothing was judged twice ({judged_before} before)"
    );
}

/// Replies are stored and groups leave the queue while a coordinator reads both. A job that it
/// misses in one it must find in the other.
#[test]
fn a_coordinator_that_is_restarted_again_and_again_has_nothing_judged_twice() {
    const JOBS: u64 = 160;
    let Some(server) = Server::start() else {
        return;
    };
    let _worker = Worker::steady(&server.access_file(), "rehearse");
    let mut told: std::collections::BTreeSet<u64> = std::collections::BTreeSet::new();
    let mut restarts = 0;
    while told.len() < JOBS as usize {
        let mut bench = open(&server, "again and again");
        restarts += 1;
        let rest: Vec<u64> = (0..JOBS).filter(|id| !told.contains(id)).collect();
        for pair in rest.chunks(2) {
            bench
                .submit(pair.iter().map(|id| job(*id, "0.01", *id)).collect())
                .unwrap();
        }
        let came = replies(&mut bench, rest.len().min(12));
        told.extend(came.iter().map(|reply| reply.id.0));
        std::mem::forget(bench);
    }
    let last = open(&server, "again and again");
    wait_until("the worker has told", || judged(&last) >= JOBS);
    assert_eq!(
        judged(&last),
        JOBS,
        "nothing was judged twice in {restarts} restarts"
    );
}

/// A stored message holds the replies of a whole group, and is kept until all of them were taken.
#[test]
fn a_coordinator_that_is_restarted_may_ask_for_one_of_a_group_before_the_other() {
    let Some(server) = Server::start() else {
        return;
    };
    let _worker = Worker::steady(&server.access_file(), "rehearse");
    let mut first = open(&server, "one by one");
    first
        .submit(vec![job(0, "0.01", 0), job(1, "0.01", 1)])
        .unwrap();
    wait_until("the worker has told", || judged(&first) == 2);
    std::mem::forget(first);
    let mut second = open(&server, "one by one");
    second.submit(vec![job(0, "0.01", 0)]).unwrap();
    assert_eq!(replies(&mut second, 1).len(), 1);
    // Long enough for an acknowledged message to be gone.
    assert!(second.next(Duration::from_secs(1)).unwrap().is_none());
    std::mem::forget(second);
    let mut third = open(&server, "one by one");
    third.submit(vec![job(1, "0.01", 1)]).unwrap();
    assert_eq!(replies(&mut third, 1).len(), 1);
    assert!(third.next(Duration::from_secs(1)).unwrap().is_none());
    assert_eq!(judged(&third), 2, "nothing was judged twice");
}

fn judged(bench: &FleetBench) -> u64 {
    bench
        .workers()
        .unwrap()
        .iter()
        .map(|beat| beat.judged)
        .sum()
}

#[test]
fn a_batch_that_is_submitted_again_attaches() {
    let Some(server) = Server::start() else {
        return;
    };
    let _worker = Worker::steady(&server.access_file(), "rehearse");
    let mut first = open(&server, "again");
    // A pair takes longer than the second coordinator needs to open. Until then the first, which is
    // still alive, takes the replies.
    submit_pairs(&mut first, 2, "3");
    std::mem::forget(first);
    let mut second = open(&server, "again");
    submit_pairs(&mut second, 2, "3");
    submit_pairs(&mut second, 2, "3");
    let mut count = 0;
    while count < 8 {
        count += usize::from(
            second
                .next(Duration::from_mins(1))
                .unwrap()
                .expect("a reply")
                .judged
                .is_ok(),
        );
    }
    wait_until("the worker has told", || judged(&second) >= 4);
    assert!(second.next(Duration::from_secs(3)).unwrap().is_none());
    assert_eq!(judged(&second), 4, "eight asked, four distinct");
}

#[test]
fn a_judgement_ends_with_its_reply_not_when_somebody_looks() {
    let Some(server) = Server::start() else {
        return;
    };
    let _worker = Worker::steady(&server.access_file(), "rehearse");
    let mut bench = open(&server, "late");
    let begin = Instant::now();
    bench.submit(vec![job(0, "0.1", 0)]).unwrap();
    wait_until("the worker has told", || judged(&bench) == 1);
    let told = begin.elapsed();
    std::thread::sleep(Duration::from_secs(6));
    let reply = bench
        .next(Duration::from_secs(30))
        .unwrap()
        .expect("a reply");
    let total = reply.judged.unwrap().seconds.total;
    assert!(
        total < told.as_secs_f64() + 3.0,
        "{total} s, and the worker had told after {told:?}"
    );
}

#[test]
fn the_earlier_of_two_coordinators_is_told_that_it_lost() {
    let Some(server) = Server::start() else {
        return;
    };
    let _worker = Worker::start(&server.access_file(), "rehearse");
    let mut first = open(&server, "two");
    let mut second = open(&server, "two");
    second.submit(vec![job(0, "0", 0)]).unwrap();
    assert!(replies(&mut second, 1)[0].judged.is_ok());
    let mut told = None;
    wait_until("it is told", || {
        told = first.next(Duration::from_millis(100)).err();
        told.is_some()
    });
    assert!(told.unwrap().what.contains("taken over"));
}

#[test]
fn a_group_is_judged_by_one_worker_and_groups_are_shared_out() {
    let Some(server) = Server::start() else {
        return;
    };
    let _workers = [
        Worker::steady(&server.access_file(), "rehearse"),
        Worker::steady(&server.access_file(), "rehearse"),
    ];
    let mut bench = open(&server, "groups");
    wait_until("both are heard", || bench.workers().unwrap().len() == 2);
    for group in 0..4 {
        bench
            .submit(
                (0..8)
                    .map(|member| job(8 * group + member, "0.1", 8 * group + member))
                    .collect(),
            )
            .unwrap();
    }
    all_judged(&mut bench, 32);
    wait_until("both have told", || judged(&bench) == 32);
    let counts: Vec<u64> = bench
        .workers()
        .unwrap()
        .iter()
        .map(|beat| beat.judged)
        .collect();
    assert!(
        counts.iter().all(|count| *count > 0 && count % 8 == 0),
        "whole groups on both: {counts:?}"
    );
}

#[test]
fn a_worker_that_is_told_to_stop_finishes_and_leaves() {
    let Some(server) = Server::start() else {
        return;
    };
    let mut first = Worker::start(&server.access_file(), "rehearse");
    let mut bench = open(&server, "drain");
    submit_pairs(&mut bench, 4, "0.5");
    wait_until("it works", || busy(&bench).is_some());
    first.stop();
    wait_until("it has left", || first.has_ended());
    assert!(bench.workers().unwrap().is_empty(), "it is off the list");
    let _second = Worker::start(&server.access_file(), "rehearse");
    all_judged(&mut bench, 8);
    wait_until("the second has told", || {
        busy(&bench).is_none() && judged(&bench) > 0
    });
    let by_second = judged(&bench);
    assert!(
        by_second <= 6 && by_second.is_multiple_of(2),
        "what the first had begun it finished: {by_second} of 8 were left"
    );
}

#[test]
fn a_machine_that_fails_thrice_puts_itself_away_but_no_candidate_can_do_that() {
    let Some(server) = Server::start() else {
        return;
    };
    let broken = Worker::start(&server.access_file(), "broken");
    let mut bench = open(&server, "quarantine");
    bench
        .submit((0..3).map(|id| job(id, "0", id)).collect())
        .unwrap();
    assert!(
        replies(&mut bench, 3)
            .iter()
            .all(|reply| reply.judged.is_err()),
        "errors, not verdicts"
    );
    let quarantined =
        |bench: &FleetBench| {
            bench.workers().unwrap().iter().any(
                |beat| matches!(&beat.state, State::Quarantined(why) if why.contains("failed")),
            )
        };
    wait_until("it puts itself away", || quarantined(&bench));
    drop(broken);
    // On a sound machine the candidates cause the same failures, and the worker stays.
    let _sound = Worker::start(&server.access_file(), "rehearse");
    bench
        .submit((10..16).map(|id| job(id, "fail", id)).collect())
        .unwrap();
    assert!(
        replies(&mut bench, 6)
            .iter()
            .all(|reply| reply.judged.is_err())
    );
    bench
        .submit((20..23).map(|id| job(id, "0", id)).collect())
        .unwrap();
    assert!(
        replies(&mut bench, 3)
            .iter()
            .all(|reply| reply.judged.is_ok())
    );
}

/// A coordinator with other terms than [`open`], for which a worker needs another bench.
fn otherwise(server: &Server, scope: &str) -> FleetBench {
    let mut opening = opening(server.access(), scope);
    opening.settings.runs += 1;
    FleetBench::open(opening).unwrap()
}

/// A worker with room for several groups that gets no lost group again.
fn roomy(server: &Server) -> Worker {
    Worker::with(&server.access_file(), "rehearse", "3600", "4")
}

#[test]
fn groups_that_are_to_be_judged_otherwise_wait_and_none_is_lost() {
    let Some(server) = Server::start() else {
        return;
    };
    let _worker = roomy(&server);
    let (mut first, mut second) = (open(&server, "first"), otherwise(&server, "second"));
    first.submit(vec![job(0, "6", 0)]).unwrap();
    wait_until("it works", || busy(&first).is_some());
    for id in 0..3 {
        second.submit(vec![job(id, "0", id)]).unwrap();
    }
    all_judged(&mut second, 3);
    all_judged(&mut first, 1);
}

#[test]
fn a_group_that_waits_does_not_take_the_bench_from_a_trial() {
    let Some(server) = Server::start() else {
        return;
    };
    let _worker = roomy(&server);
    let (mut first, mut second) = (open(&server, "first"), otherwise(&server, "second"));
    // Its last three failures make the machine suspect just when the other group needs the bench.
    first
        .submit(
            (0..7)
                .map(|id| job(id, if id < 4 { "3" } else { "fail" }, id))
                .collect(),
        )
        .unwrap();
    wait_until("it works", || busy(&first).is_some());
    second.submit(vec![job(0, "0", 0)]).unwrap();
    assert_eq!(
        replies(&mut first, 7)
            .iter()
            .filter(|reply| reply.judged.is_err())
            .count(),
        3
    );
    all_judged(&mut second, 1);
    second.submit(vec![job(1, "0", 1)]).unwrap();
    assert!(
        replies(&mut second, 1)[0].judged.is_ok(),
        "it takes groups again"
    );
}

#[test]
fn a_machine_that_is_not_quiet_takes_nothing() {
    let Some(server) = Server::start() else {
        return;
    };
    let _noisy = Worker::start(&server.access_file(), "noisy");
    let mut impatient = opening(server.access(), "noisy");
    impatient.patience = Duration::from_secs(3);
    let error = FleetBench::open(impatient).err().unwrap();
    assert!(
        error.what.contains("none is ready") || error.what.contains("no worker is heard"),
        "{error}"
    );
    let _quiet = Worker::start(&server.access_file(), "rehearse");
    let mut bench = open(&server, "noisy");
    bench
        .submit((0..4).map(|id| job(id, "0", id)).collect())
        .unwrap();
    all_judged(&mut bench, 4);
    let states: Vec<State> = bench
        .workers()
        .unwrap()
        .into_iter()
        .map(|beat| beat.state)
        .collect();
    assert!(
        states
            .iter()
            .any(|state| matches!(state, State::Quarantined(why) if why.contains("not quiet"))),
        "{states:?}"
    );
}

#[test]
fn who_waits_for_a_worker_is_told_what_for() {
    let Some(server) = Server::start() else {
        return;
    };
    let noisy = Worker::start(&server.access_file(), "noisy");
    let notices = Notices::default();
    let mut opening = opening(server.access(), "waits");
    opening.log = notices.log();
    let opened = std::thread::spawn(|| FleetBench::open(opening).unwrap());
    wait_until("it is told", || {
        notices.hold("waiting: of 1 worker none is ready")
    });
    assert!(
        notices.hold("not quiet") && notices.hold("FleetStatus"),
        "why, and how to look"
    );
    drop(noisy);
    let broken = Worker::start(&server.access_file(), "broken");
    let mut bench = opened.join().unwrap();
    bench
        .submit((0..3).map(|id| job(id, "0", id)).collect())
        .unwrap();
    assert!(
        replies(&mut bench, 3)
            .iter()
            .all(|reply| reply.judged.is_err())
    );
    wait_until("it puts itself away", || {
        bench
            .workers()
            .unwrap()
            .iter()
            .any(|beat| beat.pid == broken.id() && beat.state != State::Ready)
    });
    bench
        .submit((0..3).map(|id| job(id, "0", id)).collect())
        .unwrap();
    wait_until("it is told", || {
        drop(bench.next(Duration::from_millis(100)));
        notices.hold("waiting: 3 candidates, and no worker of class")
    });
    assert!(notices.hold("the machine failed 3 times in a row"));
}

#[test]
fn a_group_that_vanishes_without_an_answer_is_sent_again() {
    let Some(mut server) = Server::start() else {
        return;
    };
    let notices = Notices::default();
    let first = Worker::start(&server.access_file(), "rehearse");
    let mut opening = opening(server.access(), "vanish");
    opening.log = notices.log();
    let mut bench = FleetBench::open(opening).unwrap();
    first.signal("-STOP");
    bench.submit(vec![job(0, "0", 0)]).unwrap();
    // The server forgets everything, as after a disk failure.
    server.kill();
    std::fs::remove_dir_all(
        server
            .folder
            .path()
            .join("store/jetstream/$G/streams/HOTLOOP_JOBS/msgs"),
    )
    .unwrap();
    std::fs::create_dir_all(
        server
            .folder
            .path()
            .join("store/jetstream/$G/streams/HOTLOOP_JOBS/msgs"),
    )
    .unwrap();
    server.run();
    first.signal("-CONT");
    all_judged(&mut bench, 1);
    assert!(notices.hold("sent again"));
}
