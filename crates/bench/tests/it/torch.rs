//! Answers written for torch, up to their plans: no GPU, no NVRTC and no torch is needed.
//!
//! An honest answer's file begins with the name of its problem. A hostile one's first line says
//! `# PROBLEM: VERDICT: words of the reason`, or `//` in CUDA.

use std::path::{Path, PathBuf};

use hotloop_bench::torch::{Answer, Compiled, Facts, ModulePlan, Origin, Outcome, Planner, Step};
use hotloop_flow::BenchError;

use crate::{beside, settings};

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/torch")
        .join(name)
}

/// The names and texts of a folder's files that `HOTLOOP_FIXTURE` does not leave out.
fn files(name: &str) -> Vec<(String, String)> {
    let only = std::env::var("HOTLOOP_FIXTURE").ok();
    let paths = std::fs::read_dir(folder(name)).unwrap();
    let mut files: Vec<(String, String)> = paths
        .map(|entry| entry.unwrap().path())
        .map(|path| {
            let name = path.file_stem().unwrap().to_string_lossy().into_owned();
            (name, std::fs::read_to_string(path).unwrap())
        })
        .filter(|(name, _)| only.as_ref().is_none_or(|only| name.contains(only)))
        .collect();
    files.sort();
    files
}

/// A problem and its facts.
fn problem(planner: &Planner, name: &str) -> (String, Facts) {
    let path = folder("problems").join(format!("{name}.py"));
    let source = std::fs::read_to_string(path).unwrap();
    let facts = planner.problem(&source).unwrap().unwrap();
    (source, facts)
}

/// What comes of an answer. A machine with other work fails sometimes, and says so.
fn outcome(
    planner: &Planner,
    source: &str,
    facts: &Facts,
    answer: Answer<'_>,
) -> Result<Outcome, BenchError> {
    /// How often a machine may say so.
    const ATTEMPTS: usize = 4;
    let mut attempts = (0..ATTEMPTS).map(|_| planner.plan(source, facts, answer));
    let had_none = |error: &BenchError| error.what.contains("hardly had a processor");
    let decided = attempts.find(|attempt| !attempt.as_ref().is_err_and(had_none));
    decided.expect("a processor")
}

fn planned(planner: &Planner, of: &str, answer: &str) -> ModulePlan {
    let (source, facts) = problem(planner, of);
    match outcome(planner, &source, &facts, Answer::Python(answer)).unwrap() {
        Outcome::Planned(plan) => *plan,
        Outcome::Failed(verdict) => panic!("{}: {}", verdict.label(), verdict.detail()),
    }
}

/// Each file is a problem that asserts of the stand-in what is known of torch.
#[test]
fn the_stand_in_has_the_shapes_of_torch() {
    let _beside = beside();
    let planner = Planner::open(&settings()).unwrap();
    for (name, source) in files("stand_in") {
        let facts = planner.problem(&source).unwrap();
        assert!(facts.is_ok(), "{name}: {facts:?}");
    }
}

#[test]
fn honest_answers_have_plans() {
    have_plans("honest", "answer.py");
}

#[test]
fn honest_files_have_plans() {
    have_plans("files/honest", "answer.cu");
}

fn have_plans(folder: &str, of: &str) {
    let _beside = beside();
    let planner = Planner::open(&settings()).unwrap();
    let mut failed = Vec::new();
    for (name, answer) in files(folder) {
        let problem_name = name.split('-').next().unwrap();
        let (source, facts) = problem(&planner, problem_name);
        match outcome(
            &planner,
            &source,
            &facts,
            Answer::named(Path::new(of), &answer),
        )
        .unwrap()
        {
            Outcome::Planned(plan) => {
                let returned = facts.outputs.as_ref().unwrap().len();
                assert!(
                    plan.launches() > 0 && plan.outputs.len() == returned,
                    "{name}"
                );
                assert_eq!(plan.uncompared, None, "{name}");
            }
            Outcome::Failed(verdict) => {
                failed.push(format!("{name}: {}: {}", verdict.label(), verdict.detail()));
            }
        }
    }
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

#[test]
fn hostile_answers_have_verdicts_and_no_plan() {
    have_verdicts("cheats", "answer.py");
}

#[test]
fn hostile_files_have_verdicts_and_no_plan() {
    have_verdicts("files/cheats", "answer.cu");
}

fn have_verdicts(folder: &str, of: &str) {
    let _beside = beside();
    let planner = Planner::open(&settings()).unwrap();
    let mut failed = Vec::new();
    for (name, answer) in files(folder) {
        let first = answer.lines().next().unwrap();
        let first = first.trim_start_matches("# ").trim_start_matches("// ");
        let mut words = first.splitn(3, ": ");
        let mut word = || words.next().unwrap_or_default().trim_end().to_owned();
        let (problem_name, label, why) = (word(), word(), word());
        let (source, facts) = problem(&planner, &problem_name);
        let said = match outcome(
            &planner,
            &source,
            &facts,
            Answer::named(Path::new(of), &answer),
        ) {
            Ok(Outcome::Failed(verdict)) => {
                let detail = verdict.detail();
                if verdict.label().name() == label && detail.contains(&why) {
                    continue;
                }
                format!("{}: {detail}", verdict.label())
            }
            Ok(Outcome::Planned(plan)) => format!("planned: {plan:?}"),
            Err(error) => format!("error: {error}"),
        };
        failed.push(format!("{name}: expected {label}: {why}\n    {said}"));
    }
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

#[test]
fn a_file_gets_the_memory_of_its_problem() {
    let _beside = beside();
    let planner = Planner::open(&settings()).unwrap();
    let (source, facts) = problem(&planner, "layernorm");
    let text = std::fs::read_to_string(folder("files/honest").join("layernorm-parameters.cu"));
    let text = text.unwrap();
    let came = outcome(&planner, &source, &facts, Answer::Cuda(&text)).unwrap();
    let Outcome::Planned(plan) = came else {
        panic!("{came:?}");
    };
    let names: Vec<&str> = plan.buffers.iter().map(|one| one.name.as_str()).collect();
    assert_eq!(names, ["input 0", "ln.weight", "ln.bias", "own 0"]);
    let [Step::Launch(launch)] = plan.steps.as_slice() else {
        panic!("{:?}", plan.steps);
    };
    assert_eq!(launch.touches(), [0, 1, 2, 3]);
    assert_eq!(
        (plan.outputs[0].memory, &plan.outputs[0].strides[..]),
        (3, &[8192, 256, 1][..])
    );
}

#[test]
fn a_plan_names_kernels_and_the_memory_that_they_touch() {
    let _beside = beside();
    let planner = Planner::open(&settings()).unwrap();
    let answer = std::fs::read_to_string(folder("honest").join("layernorm-own-names.py")).unwrap();
    let plan = planned(&planner, "layernorm", &answer);
    let names: Vec<&str> = plan.buffers.iter().map(|one| one.name.as_str()).collect();
    assert_eq!(names, ["input 0", "ln.weight", "ln.bias", "own 0"]);
    let parameter = Origin::Parameter("ln.weight".to_owned());
    assert_eq!(plan.buffers[1].origin, parameter, "by order");
    let [Step::Launch(launch)] = plan.steps.as_slice() else {
        panic!("{:?}", plan.steps);
    };
    assert_eq!(launch.kernel, "layernorm_kernel<128>");
    assert_eq!((launch.grid, launch.block), ([512, 1, 1], [128, 1, 1]));
    assert_eq!(launch.touches(), [0, 1, 2, 3]);
    assert_eq!(launch.arguments[5].bytes, 1e-5f32.to_le_bytes());
    assert_eq!(plan.outputs[0].shape.1, [16, 32, 256]);
    assert_eq!(plan.outputs[0].memory, 3);
    if let Compiled::Not(why) = planner.compiler() {
        assert_eq!(plan.compiled, Compiled::Not(why));
    }
}

#[test]
fn constants_are_what_the_constructor_wrote() {
    let _beside = beside();
    let planner = Planner::open(&settings()).unwrap();
    let path = folder("honest").join("relu-constants-of-parts.py");
    let plan = planned(&planner, "relu", &std::fs::read_to_string(path).unwrap());
    let sets = plan.steps.iter().filter_map(|step| match step {
        Step::Set { to, pattern, bytes } => {
            let memory = plan.buffers[to.memory].name.as_str();
            Some((memory, to.offset, pattern.as_slice(), *bytes))
        }
        _ => None,
    });
    let sets: Vec<(&str, u64, &[u8], u64)> = sets.collect();
    let single = |number: f32| number.to_le_bytes();
    assert_eq!(
        sets,
        [
            ("own 0", 0, &[0][..], 32),
            ("own 0", 8, &single(1.0), 8),
            ("own 0", 20, &single(-1.0), 4),
            ("own 1", 0, &single(0.5), 16),
            ("own 2", 0, &[0], 32),
            ("own 3", 0, &[0xab, 0x3e], 8),
        ]
    );
}

#[test]
fn a_problem_that_cannot_be_read_says_why() {
    let _beside = beside();
    let planner = Planner::open(&settings()).unwrap();
    let (relu, _) = problem(&planner, "relu");
    let unknown = relu.replace("nn.Module)", "nn.LSTM)");
    let why = planner.problem(&unknown).unwrap().unwrap_err();
    assert!(why.contains("torch.nn.LSTM"), "{why}");
    let endless = relu.replace("return []", "while True: pass");
    let why = planner.problem(&endless).unwrap().unwrap_err();
    assert!(why.contains("10"), "{why}");
    for (inputs, why) in [
        ("[[torch.rand(4)]]", "input 0 is a list that holds tensors"),
        (
            "[torch.rand(4), {1: (torch.rand(4),)}]",
            "input 1 is a dict",
        ),
        ("[torch.rand(4, 8).t()]", "input 0 has the strides [1, 8]"),
    ] {
        let moved = format!("{relu}\n\ndef get_inputs():\n    return {inputs}\n");
        let said = planner.problem(&moved).unwrap().unwrap_err();
        assert!(said.contains(why), "{inputs}: {said}");
    }
    let strange = relu.replace("torch.relu(x)", "torch.fft.fft(x)");
    let facts = planner.problem(&strange).unwrap().unwrap();
    assert!(facts.outputs.is_none() && facts.unknown.is_some());
}

/// With `HOTLOOP_KERNELBENCH` naming a checkout.
#[test]
fn the_real_problems_of_level_one_are_read() {
    let Some(folder) = std::env::var_os("HOTLOOP_KERNELBENCH") else {
        println!("skipped: HOTLOOP_KERNELBENCH names no checkout");
        return;
    };
    let _beside = beside();
    let planner = Planner::open(&settings()).unwrap();
    let level = Path::new(&folder).join("KernelBench/level1");
    let mut read = 0;
    for entry in std::fs::read_dir(level).unwrap() {
        let source = std::fs::read_to_string(entry.unwrap().path()).unwrap();
        let facts = planner.problem(&source).unwrap().unwrap();
        assert!(facts.outputs.is_some(), "{:?}", facts.unknown);
        read += 1;
    }
    assert_eq!(read, 100);
}

/// The same: answers to its problems, right and wrong ones. What they compute shows on a GPU only
/// (`hotloop bench module kernelbench/1 ANSWERS`).
#[test]
fn answers_to_the_real_problems_have_plans() {
    let Some(checkout) = std::env::var_os("HOTLOOP_KERNELBENCH") else {
        println!("skipped: HOTLOOP_KERNELBENCH names no checkout");
        return;
    };
    let _beside = beside();
    let planner = Planner::open(&settings()).unwrap();
    let level = Path::new(&checkout).join("KernelBench/level1");
    let problems = std::fs::read_dir(level).unwrap();
    let problems: Vec<PathBuf> = problems.map(|entry| entry.unwrap().path()).collect();
    let folder = folder("kernelbench");
    let answers = [folder.clone(), folder.join("cheats")].map(|it| std::fs::read_dir(it).unwrap());
    let answers = answers.into_iter().flatten().map(|it| it.unwrap().path());
    for path in answers.filter(|path| path.extension().is_some()) {
        let name = path.file_name().unwrap().to_str().unwrap();
        let begin = format!(
            "{}_",
            name.split('-').next().unwrap().trim_start_matches('0')
        );
        let is_it = |it: &&PathBuf| {
            it.file_name()
                .unwrap()
                .to_str()
                .unwrap()
                .starts_with(&begin)
        };
        let problem = std::fs::read_to_string(problems.iter().find(is_it).unwrap()).unwrap();
        let facts = planner.problem(&problem).unwrap().unwrap();
        let answer = std::fs::read_to_string(&path).unwrap();
        let came = outcome(&planner, &problem, &facts, Answer::Python(&answer)).unwrap();
        assert!(matches!(came, Outcome::Planned(_)), "{name}: {came:?}");
    }
}
