//! What the driver does about time, kills and changed plans, with a script in the place of hotloop.

use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use super::{lease, said};
use crate::root;

/// Trains until it is stopped, but ends at once when it goes on; all runs have the same report.
const STAND_IN: &str = r#"#!/bin/sh
echo "$@" >> "${0%/*}/calls.txt"
case "$1 $2" in
"report "*)
  echo '{"runs": [{"config": {"seed": 1}, "machine": {"class": "a"}, "best": null, "points": [], "before": null,'
  echo '  "after": null, "status": "done", "totals": {"steps": 1, "answers": 2, "seconds": {"wall": 1, "policy_idle": 0}}}],'
  echo ' "pooled": []}' ;;
"train --resume") ;;
train*)
  for word do case "$word" in directory=*) directory=${word#directory=} ;; esac; done
  echo > "$directory/run.toml"
  case "$*" in *seconds=0*) ;; *) exec sleep 60 ;; esac ;;
esac
"#;

/// A folder with a plan and the script.
struct Place(tempfile::TempDir);

impl Place {
    fn new(plan: &str) -> Self {
        let place = Self(tempfile::tempdir().unwrap());
        std::fs::write(place.path("plan.toml"), plan).unwrap();
        std::fs::write(place.path("hotloop"), STAND_IN).unwrap();
        std::fs::set_permissions(
            place.path("hotloop"),
            std::fs::Permissions::from_mode(0o755),
        )
        .unwrap();
        place
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn text(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap()
    }

    fn json(&self, name: &str) -> Value {
        serde_json::from_str(&self.text(name)).unwrap()
    }

    /// `lease run`, with more arguments.
    fn run(&self, more: &[&str]) -> Command {
        let mut command = lease(&["run"]);
        self.arguments(&mut command, more);
        command
    }

    fn arguments(&self, command: &mut Command, more: &[&str]) {
        command
            .arg(self.path("plan.toml"))
            .arg("--hotloop")
            .arg(self.path("hotloop"));
        command.arg("--out").arg(self.path("out"));
        if !more.contains(&"--budget") {
            command.args(["--budget", "600"]);
        }
        command.args(more);
    }
}

#[test]
fn a_run_goes_on_under_its_own_plan_only() {
    let plan = r#"
[let]
rate = "5e-5"
seconds = "100"
[[job]]
name = "learns"
seconds = 5
train = "run.toml"
set = { "learning.rate" = "{rate}", "budget.seconds" = "{seconds}" }
"#;
    let place = Place::new(plan);
    let (code, told, error) = said(&mut place.run(&[]));
    assert_eq!(
        (code, place.json("out/learns/job.json")["state"].as_str()),
        (3, Some("cut")),
        "{told}{error}"
    );

    let (code, told, error) = said(&mut place.run(&["--let", "rate=1e-4"]));
    assert_eq!(code, 1, "{told}{error}");
    assert!(
        error.contains("learns was begun by another command than the plan's"),
        "{error}"
    );
    assert!(!place.text("calls.txt").contains("--resume"));

    // When it ends may change, and reaches the run.
    let (code, told, error) = said(&mut place.run(&["--let", "seconds=200"]));
    assert_eq!(code, 0, "{told}{error}");
    let resumed = format!(
        "train --resume {} --set budget.seconds=200\n",
        place.path("out/learns").display()
    );
    assert!(
        place.text("calls.txt").contains(&resumed),
        "{}",
        place.text("calls.txt")
    );

    let (code, told, error) = said(&mut place.run(&["--let", "seconds=300"]));
    assert!(
        code == 1 && error.contains("learns was done by another command"),
        "{told}{error}"
    );
}

#[test]
fn what_is_not_driven_again_is_not_forgotten() {
    let plan = r#"
[let]
rate = "5e-5"
[[job]]
name = "{name}"
seconds = 20
each = { name = ["first", "second", "third"] }
train = "run.toml"
set = { "learning.rate" = "{rate}", "budget.seconds" = 0 }
"#;
    let place = Place::new(plan);
    let pack = place.path("pack");
    let pack = pack.to_str().unwrap();
    let (code, told, error) = said(&mut place.run(&["--only", "first", "--pack", pack]));
    assert_eq!(code, 0, "{told}{error}");
    let first = place.json("out/lease.json")["jobs"][0].clone();

    let others = ["--only", "second", "--let", "rate=1e-4", "--pack", pack];
    let (code, told, error) = said(&mut place.run(&others));
    assert_eq!(code, 0, "{told}{error}");
    assert!(told.contains("1 of 1 jobs are done"), "{told}");
    let out = place.path("out");
    let (_, table, error) = said(lease(&["table", "--out"]).arg(&out));
    assert!(
        table.contains("\nfirst") && table.contains("\nsecond"),
        "{table}{error}"
    );
    for name in ["first", "second"] {
        assert!(
            place
                .path("pack")
                .join(format!("journal-{name}.tar.gz"))
                .exists(),
            "{name}"
        );
    }
    assert_eq!(
        place.json("out/lease.json")["jobs"][0],
        first,
        "as it was driven, not as the plan is now"
    );
    let (_, status, _) = said(lease(&["status", "--out"]).arg(&out));
    assert!(
        status.contains("done     first") && !status.contains("third"),
        "{status}"
    );
}

/// `lease run` with shorter times of its own, in Python.
fn hurried(place: &Place, times: &str, more: &[&str]) -> Command {
    let program = format!(
        "import runpy, sys\nsys.path.insert(0, sys.argv[1])\nfrom leasing import drive\n{times}\n\
         sys.argv[:2] = [sys.argv[1] + '/lease']\nrunpy.run_path(sys.argv[0], run_name='__main__')"
    );
    let mut command = Command::new("python3");
    command
        .args(["-B", "-c", &program])
        .arg(root().join("experiments/h200"))
        .arg("run");
    place.arguments(&mut command, more);
    command
}

#[test]
fn a_job_that_will_not_end_leaves_time_for_the_pack() {
    let plan = r#"
[[job]]
name = "stubborn"
seconds = 60
run = "sh -c \"trap '' INT TERM; sleep 60\""
"#;
    let place = Place::new(plan);
    let times = "drive.SHARE, drive.RESERVE, drive.GRACE, drive.LAST = 0.01, 6.0, 7.0, 1.0";
    let begin = Instant::now();
    let (code, told, error) = said(&mut hurried(&place, times, &["--budget", "16"]));
    assert!(
        begin.elapsed() < Duration::from_secs(16),
        "the budget is over"
    );
    assert_eq!(code, 3, "{told}{error}");
    let job = place.json("out/stubborn/job.json");
    assert_eq!(
        (job["state"].as_str(), job["code"].as_i64()),
        (Some("cut"), Some(-9)),
        "{job}"
    );

    // And with its real times: what could not be ended in time is not begun.
    let (_, told, error) = said(&mut place.run(&["--budget", "115"]));
    assert!(told.contains("stubborn: left out"), "{told}{error}");
}

/// How a job stands while it runs, as soon as `is` says so.
fn running(place: &Place, job: &str, is: impl Fn(&Value) -> bool) -> Value {
    let begin = Instant::now();
    loop {
        let told = std::fs::read(place.path("out").join(job).join("job.json")).ok();
        let told: Option<Value> = told.and_then(|bytes| serde_json::from_slice(&bytes).ok());
        if let Some(told) = told.filter(|told| told["state"] == "running" && is(told)) {
            return told;
        }
        assert!(
            begin.elapsed() < Duration::from_mins(1),
            "{job} never came so far"
        );
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn signal(child: &Child, name: &str) {
    assert!(
        Command::new("kill")
            .args([name, &child.id().to_string()])
            .status()
            .unwrap()
            .success()
    );
}

#[test]
fn a_job_begins_with_its_first_command() {
    let plan = "[[job]]\nname = \"two\"\nseconds = 90\nrun = [\"sleep 4\", \"sleep 60\"]\n";
    let place = Place::new(plan);
    let mut driver = place.run(&[]).stdout(Stdio::null()).spawn().unwrap();
    let first = running(&place, "two", |_| true);
    let second = running(&place, "two", |told| told["pid"] != first["pid"]);
    signal(&driver, "-TERM");
    driver.wait().unwrap();
    let began = |told: &Value| told["began"].as_f64().unwrap();
    assert!(began(&second) - began(&first) < 2.0, "{first} {second}");
}

#[test]
fn a_driver_that_is_asked_twice_still_ends_its_job() {
    let plan = "[[job]]\nname = \"slow\"\nseconds = 90\nrun = \"sh {here}/slow.sh\"\n";
    let place = Place::new(plan);
    let slow = "trap 'asked=1' INT\necho ready\nwhile [ -z \"$asked\" ]; do sleep 0.1; done\nsleep 3\necho ended\n";
    std::fs::write(place.path("slow.sh"), slow).unwrap();
    let driver = place.run(&[]).stdout(Stdio::piped()).spawn().unwrap();
    running(&place, "slow", |_| {
        place.text("out/slow/stdout.txt") == "ready\n"
    });
    for _ in 0..2 {
        std::thread::sleep(Duration::from_secs(1));
        signal(&driver, "-TERM");
    }
    let output = driver.wait_with_output().unwrap();
    let told = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(130), "{told}");
    assert!(told.contains("not done: slow"), "{told}");
    assert_eq!(place.json("out/slow/job.json")["state"], "cut");
    assert_eq!(
        place.text("out/slow/stdout.txt"),
        "ready\nended\n",
        "the table came before the job's end"
    );
}

#[test]
fn a_process_without_a_birth_is_gone() {
    let place = Place::new("[[job]]\nname = \"quick\"\nseconds = 20\nrun = \"true\"\n");
    std::fs::create_dir_all(place.path("out/quick")).unwrap();
    let gone = r#"{"state": "running", "pid": 99999999, "birth": "", "began": 0, "seconds": 0, "commands": []}"#;
    std::fs::write(place.path("out/quick/job.json"), gone).unwrap();
    let lost = r#"{"pid": 99999999, "birth": "", "began": 0, "budget": 9, "driven": ["quick"], "jobs": [
        {"name": "quick", "folder": "FOLDER", "have": false, "seconds": 20}]}"#;
    let lost = lost.replace("FOLDER", place.path("out/quick").to_str().unwrap());
    std::fs::write(place.path("out/lease.json"), lost).unwrap();
    let (_, status, error) = said(lease(&["status", "--out"]).arg(place.path("out")));
    assert!(
        status.contains("ended") && status.contains("broken   quick"),
        "{status}{error}"
    );
    let (code, told, error) = said(&mut place.run(&[]));
    assert_eq!(code, 0, "{told}{error}");
}

#[test]
fn only_seeds_of_one_machine_class_and_length_are_taken_together() {
    let program = r#"
import sys
sys.path.insert(0, sys.argv[1])
from leasing import table
def run(seed, kind="a", rate=1):
    return {"config": {"seed": seed, "directory": f"runs/{seed}", "rate": rate}, "machine": {"class": kind}}
found = {"one": run(1), "two": run(2), "again": run(1), "elsewhere": run(3, "b"), "other": run(4, "b"), "rate": run(5, rate=2),
         "longer": run(6), "begun": {**run(7), "machine": None}}
print(table.families(found, {"longer": ["budget.seconds=600"]}))
"#;
    let mut command = Command::new("python3");
    let (code, told, error) = said(
        command
            .args(["-B", "-c", program])
            .arg(root().join("experiments/h200")),
    );
    assert_eq!(
        (code, told.trim()),
        (0, "[['one', 'two'], ['elsewhere', 'other']]"),
        "{error}"
    );
}
