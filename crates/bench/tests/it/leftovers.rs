//! Nothing stays behind hostile candidates: no process, file, map, descriptor or semaphore.

use std::collections::BTreeSet;
use std::path::Path;

use hotloop_bench::{LocalBench, Settings};
use hotloop_flow::{Bench, Candidate, Job, JobId, Label};

use crate::fixtures::{drain, load};
use crate::{alone, settings, turn};

/// Candidates that crash, hang, flood, or try to leave something running.
const HOSTILE: [&str; 14] = [
    "endless-loop",
    "sleep-forever",
    "stack-bomb",
    "thread-bomb",
    "memory-bomb",
    "write-input",
    "deferred-thread",
    "omp-thread-bomb",
    "exit-after-pass",
    "abort-call",
    "off-by-one",
    "munmap-output",
    "printf-forever",
    "raise-stop",
];
const ROUNDS: usize = 36;

pub(crate) fn names(folder: &str) -> BTreeSet<String> {
    let entries = std::fs::read_dir(folder)
        .map(Iterator::collect::<Vec<_>>)
        .unwrap_or_default();
    entries
        .into_iter()
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .collect()
}

fn count(folder: &str) -> usize {
    names(folder).len()
}

fn lines(file: &str) -> usize {
    std::fs::read_to_string(file)
        .unwrap_or_default()
        .lines()
        .count()
}

/// Processes of this suite's own executable, ended but unreaped children included. By its file,
/// so that a bench that someone else runs on this machine is not counted.
pub(crate) fn role_processes() -> Vec<String> {
    let roles = settings().roles.canonicalize().unwrap();
    names("/proc")
        .into_iter()
        .filter(|name| name.bytes().all(|byte| byte.is_ascii_digit()))
        .filter_map(|pid| {
            let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
            let parent: u32 = stat
                .rsplit_once(')')?
                .1
                .split_whitespace()
                .nth(1)?
                .parse()
                .ok()?;
            let command =
                std::fs::read_to_string(format!("/proc/{pid}/cmdline")).unwrap_or_default();
            let is_role =
                std::fs::read_link(format!("/proc/{pid}/exe")).is_ok_and(|exe| exe == roles);
            (is_role || parent == std::process::id()).then(|| format!("{pid} {command}"))
        })
        .collect()
}

/// What the machine shares between processes.
pub(crate) fn shared_memory() -> [usize; 4] {
    [
        count("/dev/shm"),
        lines("/proc/sysvipc/shm"),
        lines("/proc/sysvipc/sem"),
        lines("/proc/sysvipc/msg"),
    ]
}

/// Descriptors and maps, fifty of these for one, that supervisors hold.
pub(crate) fn held_by_supervisors() -> usize {
    role_processes()
        .iter()
        .filter(|line| line.contains("__supervisor"))
        .filter_map(|line| line.split(' ').next())
        .map(|pid| count(&format!("/proc/{pid}/fd")) + lines(&format!("/proc/{pid}/maps")) / 50)
        .sum()
}

#[test]
fn five_hundred_hostile_candidates_leave_nothing_behind() {
    let _alone = alone();
    let hostile: Vec<_> = load("cheats")
        .into_iter()
        .filter(|cheat| HOSTILE.contains(&cheat.name.as_str()))
        .collect();
    assert_eq!(hostile.len(), HOSTILE.len(), "every name has its file");
    let scratch = |names: BTreeSet<String>| -> BTreeSet<String> {
        names
            .into_iter()
            .filter(|name| name.starts_with(&format!("hotloop-scratch-{}-", std::process::id())))
            .collect()
    };
    let temporary = std::env::temp_dir().display().to_string();
    let before = shared_memory();
    let own_descriptors = count("/proc/self/fd");

    let mut bench = LocalBench::start(Settings {
        limit_s: 0.1,
        ..settings()
    })
    .unwrap();
    let mut judged = 0;
    let mut supervisor_descriptors = Vec::new();
    for _ in 0..ROUNDS {
        let jobs = hostile.iter().zip(0..).map(|(cheat, id)| {
            let task = std::sync::Arc::new(hotloop_bench::tasks::load(&cheat.task).unwrap());
            let candidate = Candidate::from_source(&cheat.source, &task).unwrap();
            Job {
                id: JobId(id),
                task,
                candidate,
                stage: None,
            }
        });
        bench.submit(jobs.collect()).unwrap();
        for reply in drain(&mut bench) {
            let verdict = reply.judged.unwrap().verdict;
            assert_ne!(
                verdict.label(),
                Label::Correct,
                "{}",
                hostile[reply.id.0 as usize].name
            );
            judged += 1;
        }
        supervisor_descriptors.push(held_by_supervisors());
    }
    assert!(judged >= 500, "{judged}");
    let (early, late) = (
        supervisor_descriptors[3],
        supervisor_descriptors[ROUNDS - 1],
    );
    assert!(
        late <= early + 2,
        "supervisors collect descriptors or maps: {supervisor_descriptors:?}"
    );
    drop(bench);

    assert!(
        scratch(names(&temporary)).is_empty(),
        "the scratch folder is gone"
    );
    assert_eq!(role_processes(), Vec::<String>::new());
    assert_eq!(before, shared_memory());
    assert!(
        count("/proc/self/fd") <= own_descriptors,
        "the bench closes what it opens"
    );
    assert!(Path::new("/proc/self").exists());
}

/// Seconds that a host has taken from all cores together: a limit does not pass meanwhile.
fn stolen_s() -> f64 {
    let stat = std::fs::read_to_string("/proc/stat").unwrap();
    let ticks: f64 = stat
        .lines()
        .next()
        .unwrap()
        .split_whitespace()
        .nth(8)
        .map_or(0.0, |steal| steal.parse().unwrap());
    ticks / 100.0
}

#[test]
fn a_hung_candidate_is_reclaimed_within_its_limit_and_a_second() {
    let _turn = turn();
    let hung: Vec<_> = load("cheats")
        .into_iter()
        .filter(|cheat| ["endless-loop", "sleep-forever"].contains(&cheat.name.as_str()))
        .collect();
    let mut bench = LocalBench::start(Settings {
        limit_s: 1.0,
        ..settings()
    })
    .unwrap();
    for cheat in hung {
        let job = crate::fixtures::job(0, &cheat.task, &String::from_utf8(cheat.source).unwrap());
        let stolen_before = stolen_s();
        bench.submit(vec![job]).unwrap();
        let reply = drain(&mut bench).remove(0);
        let judgement = reply.judged.unwrap();
        let stolen = stolen_s() - stolen_before;
        assert_eq!(judgement.verdict.label(), Label::TimedOut, "{}", cheat.name);
        // Not a speed: the promise is the limit and one second more, after compiling.
        assert!(
            judgement.seconds.run < 2.0 + 0.5 + stolen,
            "{}: {:?}, {stolen} s stolen",
            cheat.name,
            judgement.seconds
        );
    }
}
