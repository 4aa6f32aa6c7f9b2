use super::*;

const PLAN: &str = r#"
budget = 600

[let]
model = ""
most = "50"

[[job]]
name = "warm"
seconds = "{most}+10"
run = ["corpus chats --out {folder}/chats.jsonl", "tune --model {model} --out {folder}/warm"]

[[job]]
name = "{kind}-1"
seconds = 90
each = [{ kind = "learns", rate = 1e-4 }, { kind = "control", rate = 0 }]
train = "run.toml"
set = { model = "{model}", adapter = "{job:warm}/warm", "learning.rate" = "{rate}", "budget.seconds" = 70 }
against = "control-1"

[[job]]
name = "lr{lr}-kl{kl}"
seconds = 5
each = { kl = ["0", "0.01"], lr = ["5e-5"] }
train = "{here}/run.toml"

[[job]]
name = "held-out"
seconds = 60
run = "evaluate --adapter none,{job:learns-1} {best:control-1}"
show = true
"#;

fn asked(values: &[(&str, &str)]) -> Asked {
    Asked {
        out: PathBuf::from("out"),
        values: values
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect(),
        ..Asked::default()
    }
}

fn read(text: &str, asked: &Asked) -> Result<Plan, PlanMistake> {
    let file = Path::new("plans/plan.toml");
    Plan::read(PlanText { file, text }, asked)
}

fn planned() -> Plan {
    read(PLAN, &asked(&[("model", "nano")])).unwrap()
}

fn find(plan: &Plan, name: &str) -> Job {
    plan.jobs
        .iter()
        .find(|job| job.name == name)
        .unwrap()
        .clone()
}

#[test]
fn a_plan_becomes_jobs_in_its_order() {
    let plan = planned();
    assert_eq!(plan.budget_s, Some(600.0));
    let names: Vec<&str> = plan.jobs.iter().map(|job| job.name.as_str()).collect();
    assert_eq!(
        names,
        [
            "warm",
            "learns-1",
            "control-1",
            "lr5e-5-kl0",
            "lr5e-5-kl0.01",
            "held-out"
        ]
    );
    let warm = &plan.jobs[0];
    assert!((warm.seconds - 60.0).abs() < 1e-9 && warm.resume.is_none());
    assert_eq!(
        warm.commands[1].join(" "),
        "tune --model nano --out out/warm/warm"
    );
    let learns = find(&plan, "learns-1");
    assert_eq!(
        learns.commands[0].join(" "),
        "train plans/run.toml --set adapter=out/warm/warm --set budget.seconds=70 --set learning.rate=0.0001 --set \
         model=nano --set directory=out/learns-1"
    );
    assert_eq!(
        learns.resume.unwrap().join(" "),
        "train --resume out/learns-1 --set budget.seconds=70"
    );
    assert_eq!(
        (learns.needs, learns.against),
        (vec!["warm".to_owned()], Some("control-1".to_owned()))
    );
    assert_eq!(
        find(&plan, "control-1").against,
        None,
        "no run is its own control"
    );
    let held = find(&plan, "held-out");
    assert_eq!(held.needs, ["control-1", "learns-1"]);
    assert_eq!(
        held.commands[0][2..],
        ["none,out/learns-1", "{best:control-1}"]
    );
}

#[test]
fn a_part_of_a_plan_includes_the_jobs_it_needs() {
    let mut part = asked(&[("model", "nano")]);
    part.only = vec!["held*".to_owned()];
    let plan = read(PLAN, &part).unwrap();
    let names: Vec<&str> = plan.jobs.iter().map(|job| job.name.as_str()).collect();
    assert_eq!(names, ["warm", "learns-1", "control-1", "held-out"]);
    part.have = vec![("warm".to_owned(), PathBuf::from("elsewhere"))];
    let plan = read(PLAN, &part).unwrap();
    assert!(plan.jobs[0].have);
    assert!(plan.jobs[1].commands[0].contains(&"adapter=elsewhere/warm".to_owned()));
    assert!(
        matches("*-kl*1", "lr5e-5-kl0.01")
            && !matches("*-kl*1", "lr5e-5-kl0")
            && matches("a*", "a")
    );
}

#[test]
fn mistakes_name_file_key_and_remedy() {
    let said = |text: &str, asked: &Asked| read(text, asked).unwrap_err().to_string();
    let nano = asked(&[("model", "nano")]);
    let job = |rest: &str| format!("[[job]]\nname = \"a\"\n{rest}");
    for (text, words) in [
        (
            job("seconds = 5\nrun = \"doctor\"\nsed = 1"),
            "unknown field `sed`",
        ),
        (
            job("seconds = \"a lot\"\nrun = \"doctor\""),
            "job `a`: seconds = \"a lot\": give seconds above 0",
        ),
        (
            job("seconds = -3\nrun = \"doctor\""),
            "give seconds above 0",
        ),
        (
            job("seconds = 5"),
            "job `a`: give either `run` (commands) or `train`",
        ),
        (
            job("seconds = 5\nrun = \"doctor\"\nset = { a = 1 }"),
            "`set` belongs to `train`",
        ),
        (job("seconds = 5\nrun = 3"), "run: give a command"),
        (
            job("seconds = 5\nrun = \"judge {best:b}\""),
            "job `a`: run: there is no job `b` before this one",
        ),
        (
            job("seconds = 5\nrun = \"doctor\"\neach = 3"),
            "each: give a list of tables",
        ),
        (
            job("seconds = 5\ntrain = \"x.toml\"\nagainst = \"b\""),
            "there is no training run of that name",
        ),
        (
            job("seconds = 5\nrun = \"doctor\"\neach = [{}, {}]"),
            "two jobs are called `a`",
        ),
        ("budget = 0".to_owned(), "budget = 0: give seconds above 0"),
    ] {
        let said = said(&text, &asked(&[]));
        assert!(
            said.starts_with("plans/plan.toml: ") && said.contains(words),
            "{said}"
        );
    }
    for (asked, words) in [
        (asked(&[]), "job `warm`: run: `model` has no value"),
        (
            asked(&[("models", "x")]),
            "there is no `models` in the plan's [let]; it has model, most",
        ),
        (
            Asked {
                only: vec!["cold".to_owned()],
                ..nano.clone()
            },
            "there is no job `cold`; there are warm",
        ),
        (
            Asked {
                have: vec![("cold".to_owned(), PathBuf::new())],
                ..nano
            },
            "there is no job `cold` whose folder could be given",
        ),
    ] {
        let said = said(PLAN, &asked);
        assert!(said.contains(words), "{said}");
    }
}
