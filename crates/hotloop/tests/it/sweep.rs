//! Policies write answers to problems of `KernelBench`, and one judge judges them.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::mpsc::Receiver;

use serde_json::Value;

use crate::api::{Asked, FINE, endpoint};
use crate::{ended, hotloop, root};

/// An answer that lets torch do the work, which needs no GPU to be refused.
const REFUSED: &str = concat!(
    "Here it is:\n```python\n",
    include_str!("../../../bench/tests/torch/judged/torch-does-it.py"),
    "\n```\nIt is fast."
);
/// An answer that would have to run.
const RUNS: &str = concat!(
    "```python\n",
    include_str!("../../../bench/tests/torch/honest/relu-elementwise.py"),
    "```"
);
const RELU: &str = include_str!("../../../bench/tests/torch/problems/relu.py");
const SCALED: &str = include_str!("../../../bench/tests/torch/problems/scaled.py");

/// A folder with a checkout of two problems, and a suite.
struct Place(tempfile::TempDir);

impl Place {
    fn new(policies: &[(&str, &str)]) -> Self {
        let place = Self(tempfile::tempdir().unwrap());
        std::fs::create_dir_all(place.path("kb/level1")).unwrap();
        std::fs::write(place.path("kb/level1/3_Scaled.py"), SCALED).unwrap();
        std::fs::write(place.path("kb/level1/19_ReLU.py"), RELU).unwrap();
        let policies = policies.iter().map(|(name, url)| {
            format!("[[policy]]\nname = \"{name}\"\napi = \"{url}\"\nmodel = \"m\"\n")
        });
        let policies: Vec<String> = policies.collect();
        let suite = format!("problems = [\"kernelbench/1\"]\n{}", policies.concat());
        std::fs::write(place.path("suite.toml"), suite).unwrap();
        place
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn command(&self, more: &[&str]) -> Command {
        let mut command = hotloop(&["evaluate", "--suite"]);
        command.arg(self.path("suite.toml")).arg("--kernelbench");
        command.arg(self.path("kb")).arg("--out");
        command.arg(self.path("out")).args(more);
        command
    }

    fn kept(&self, name: &str) -> String {
        std::fs::read_to_string(self.path("out").join(name)).unwrap()
    }
}

/// How many requests came since the last call.
fn requests(asked: &Receiver<Asked>) -> usize {
    asked.try_iter().count()
}

#[test]
fn a_sweep_is_judged_kept_and_goes_on_where_it_was_cut_off() {
    let (url, asked) = endpoint(FINE, REFUSED);
    let place = Place::new(&[("one", &url), ("two", &url)]);
    let (status, said, error) = ended(&mut place.command(&["--json"]));
    assert_eq!((status, error.as_str()), (0, ""), "{said}");
    assert_eq!(requests(&asked), 4);
    let sheet: Value = serde_json::from_str(&said).unwrap();
    assert_eq!(sheet["rows"].as_array().unwrap().len(), 2, "{sheet}");
    for row in sheet["rows"].as_array().unwrap() {
        let scores = &row["scores"];
        assert_eq!(scores["answers"], 2, "{sheet}");
        assert_eq!(scores["fast_p"][0], 0.0, "{sheet}");
        assert_eq!(scores["tokens"], Value::Null, "the endpoint reports none");
    }
    let verdicts: Vec<&str> = sheet["answers"]
        .as_array()
        .unwrap()
        .iter()
        .map(|answer| answer["verdict"].as_str().unwrap())
        .collect();
    // It takes a number beside the tensor, which only the first problem gives.
    assert_eq!(verdicts, ["refused", "crashed", "refused", "crashed"]);
    let kept = (place.kept("answers.jsonl"), place.kept("verdicts.jsonl"));
    assert_eq!(kept.0.lines().count(), 4);
    assert_eq!(kept.1.lines().count(), 2, "equal answers are judged once");
    for name in ["table.md", "table.csv", "table.html"] {
        assert!(place.kept(name).contains("two"), "{name}");
    }
    let table: Value = serde_json::from_str(&place.kept("table.json")).unwrap();
    assert_eq!(table, sheet);

    // A kill cut off the last line of both files.
    for (name, text) in [("answers.jsonl", &kept.0), ("verdicts.jsonl", &kept.1)] {
        std::fs::write(place.path("out").join(name), &text[..text.len() - 9]).unwrap();
    }
    let (status, said, error) = ended(&mut place.command(&[]));
    assert_eq!(status, 0, "{said}{error}");
    assert_eq!(requests(&asked), 1, "one answer was missing");
    assert!(
        said.contains("kernelbench/1/3   refused  refused"),
        "{said}"
    );
    assert_eq!(place.kept("verdicts.jsonl"), kept.1);
    let whole = place.kept("answers.jsonl");
    assert_eq!(ended(&mut place.command(&[])).0, 0);
    assert_eq!(requests(&asked), 0, "nothing is missing");
    assert_eq!(place.kept("answers.jsonl"), whole);
}

#[test]
fn what_would_have_to_run_has_no_verdict_without_a_gpu() {
    if Path::new("/dev/nvidiactl").exists() {
        println!("skipped: there is a GPU");
        return;
    }
    let ((honest, _), (none, _)) = (endpoint(FINE, RUNS), endpoint(FINE, "I cannot."));
    let place = Place::new(&[("honest", &honest), ("none", &none)]);
    let suite = std::fs::read_to_string(place.path("suite.toml")).unwrap();
    let suite = suite.replace("kernelbench/1", "kernelbench/1/19");
    std::fs::write(place.path("suite.toml"), suite).unwrap();
    let (status, said, error) = ended(&mut place.command(&[]));
    assert_eq!(status, 3, "{said}{error}");
    for words in [
        "no verdict  malformed",
        "1 answer without a verdict. kernelbench/1/19 of honest: the machine failed: it",
        "one call makes 1 launch, but it cannot run here",
    ] {
        assert!(said.contains(words), "{words} is missing in\n{said}");
    }
    assert_eq!(place.kept("verdicts.jsonl"), "");
}

#[test]
fn mistakes_are_found_before_anything_is_asked() {
    let (url, asked) = endpoint(FINE, REFUSED);
    let refused = |change: &dyn Fn(&Place), more: &[&str], words: &str| {
        let place = Place::new(&[("one", &url)]);
        change(&place);
        let (status, said, error) = ended(&mut place.command(more));
        assert_eq!(status, 1, "{said}{error}");
        assert!(error.contains(words), "{words} is missing in\n{error}");
    };
    let with = |key: &'static str| {
        move |place: &Place| {
            let path = place.path("suite.toml");
            let text = std::fs::read_to_string(&path).unwrap();
            std::fs::write(&path, format!("{key}\n{text}")).unwrap();
        }
    };
    refused(&with("cuont = 1"), &[], "unknown field `cuont`");
    refused(
        &|_| {},
        &["--set", "device=cpu"],
        "write the keys into the suite",
    );
    let empty = |place: &Place| std::fs::remove_dir_all(place.path("kb")).unwrap();
    refused(&empty, &[], "--kernelbench names a checkout");
    let of_tasks = |place: &Place| {
        let text = "tasks = [\"matmul\"]\n[[policy]]\nname = \"a\"\nmodel = \"nano\"\n";
        std::fs::write(place.path("suite.toml"), text).unwrap();
    };
    refused(&of_tasks, &[], "it names no problems of KernelBench");
    let nano = |place: &Place| {
        let text =
            "problems = [\"kernelbench/1/19\"]\n[[policy]]\nname = \"a\"\nmodel = \"nano\"\n";
        std::fs::write(place.path("suite.toml"), text).unwrap();
    };
    refused(&nano, &[], "policy `a`: the nano policy knows no Python");
    assert_eq!(requests(&asked), 0);
}

#[test]
fn the_worked_example_of_the_prompt_has_a_plan() {
    let example = root().join("crates/flow/src/language/torch/example");
    let file = |name: &str| example.join(name).display().to_string();
    let (problem, answer) = (file("problem.py"), file("answer.py"));
    let (status, said, error) = ended(&mut hotloop(&["bench", "plan", &problem, &answer]));
    assert_eq!(status, 0, "{said}{error}");
    assert!(
        said.contains("planned") || said.contains("add_kernel"),
        "{said}"
    );
}
