use hotloop_flow::how::Check;

use super::*;

fn mistake(text: &str) -> String {
    Layered::read(Some(("run.toml", text)), &[])
        .map(|_| ())
        .unwrap_err()[0]
        .to_string()
}

fn count_keys(table: &Table) -> usize {
    let keys = |(key, value): (&String, &Value)| match value {
        Value::Table(inner) if !WHOLE.contains(&key.as_str()) => count_keys(inner),
        _ => 1,
    };
    table.iter().map(keys).sum()
}

#[test]
fn the_embedded_defaults_are_complete_commented_and_few() {
    let layered = Layered::read(None, &[]).unwrap();
    assert_eq!(layered.config.sampling.group, 16);
    let table: Table = DEFAULT.parse().unwrap();
    assert!(count_keys(&table) <= 55, "{} keys", count_keys(&table));
    for line in DEFAULT
        .lines()
        .filter(|line| line.contains('=') && !line.starts_with('#'))
    {
        assert!(line.contains(" # "), "no sentence: {line}");
    }
}

#[test]
fn a_resolved_configuration_reads_back_as_itself() {
    let layered = Layered::read(
        None,
        &["reward={ shape = \"composite\", r-max = 2.5 }".into()],
    )
    .unwrap();
    let again = Layered::read(Some(("run.toml", &layered.config.to_toml())), &[]).unwrap();
    assert_eq!(again.config, layered.config);
}

#[test]
fn later_layers_win() {
    let text = "model = \"nano\"\n[sampling]\ngroup = 8\ntemperature = 1\n";
    let sets = [
        "sampling.group=32".to_owned(),
        "model=other/model".to_owned(),
        "learning.rate=0".to_owned(),
    ];
    let config = Layered::read(Some(("run.toml", text)), &sets)
        .unwrap()
        .config;
    assert_eq!(
        (config.sampling.group, config.model.as_str()),
        (32, "other/model")
    );
    assert!(config.learning.rate.abs() < f64::EPSILON);
}

#[test]
fn each_mistake_is_one_line_that_names_file_and_key() {
    assert_eq!(
        mistake("[sampling]\ngrup = 8"),
        "run.toml: sampling.grup: no such key; did you mean `group`?"
    );
    assert_eq!(
        mistake("speed = 8"),
        "run.toml: speed: no such key; did you mean `seed`?"
    );
    assert_eq!(
        mistake("frobnicate = 8"),
        "run.toml: frobnicate: no such key"
    );
    assert_eq!(
        mistake("[sampling]\ngroup = \"8\""),
        "run.toml: sampling.group: expected a whole number, not string"
    );
    assert_eq!(
        mistake("[bench]\nopt = \"O4\""),
        "run.toml: bench.opt: unknown variant `O4`, expected one of `O0`, `O1`, `O2`, `O3`"
    );
    assert_eq!(
        mistake("[bench]\ntiming = \"median\""),
        "run.toml: bench.timing: unknown variant `median`, expected `gated` or `paper`"
    );
    assert_eq!(
        mistake("seed = -1"),
        "run.toml: seed: invalid value: integer `-1`, expected u64"
    );
    assert!(
        mistake("a = = b").starts_with("run.toml: line 1: "),
        "{}",
        mistake("a = = b")
    );
    let reward = mistake("reward = { shape = \"best\" }");
    assert!(
        reward.starts_with("run.toml: reward") && reward.contains("`best`"),
        "{reward}"
    );
    let set = |text: &str| {
        Layered::read(None, &[text.to_owned()])
            .map(|_| ())
            .unwrap_err()[0]
            .to_string()
    };
    assert_eq!(
        set("sampling.group"),
        "override: sampling.group: expected key=value"
    );
    assert_eq!(
        set("sampling.size=3"),
        "override: sampling.size: no such key"
    );
    assert_eq!(set("folder=some/where"), "override: folder: no such key");
}

#[test]
fn a_run_directory_of_an_earlier_version_is_still_read() {
    let check = |text: &str| {
        Layered::read(Some(("run.toml", text)), &[])
            .unwrap()
            .config
            .bench
            .how
            .check
    };
    assert_eq!(check("[bench]\nverify = \"paper\""), Check::Paper);
    assert_eq!(check("[bench]\ncheck = \"paper\""), Check::Paper);
}

#[test]
fn all_mistakes_are_reported_at_once() {
    let mistakes = Layered::read(Some(("run.toml", "sede = 1\n[bench]\nslts = 2")), &[])
        .map(|_| ())
        .unwrap_err();
    assert_eq!(mistakes.len(), 2);
}

#[test]
fn tasks_are_a_comma_separated_string_or_a_list_of_names_with_commas() {
    let read = |text: &str, sets: &[&str]| {
        let sets: Vec<String> = sets.iter().map(|set| (*set).to_owned()).collect();
        Layered::read(Some(("run.toml", text)), &sets)
            .unwrap()
            .config
    };
    let names = |config: &Config| config.tasks().map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(
        names(&read("task = \"matmul, ./a\"", &[])),
        ["matmul", "./a"]
    );
    let listed = read("task = [\"./my,task\", \"fft\"]", &[]);
    assert_eq!(names(&listed), ["./my,task", "fft"]);
    assert_eq!(
        read(&listed.to_toml(), &[]),
        listed,
        "what a run writes down is what it was told"
    );
    assert_eq!(names(&read("", &["task=[\"./my,task\"]"])), ["./my,task"]);
    assert_eq!(names(&read("", &["task=matmul, fft"])), ["matmul", "fft"]);
    assert_eq!(
        names(&read("", &["task=\"matmul, fft\""])),
        ["matmul", "fft"]
    );
    assert_eq!(
        mistake("task = 3"),
        "run.toml: task: expected a string or a list of strings, not integer"
    );
    assert_eq!(
        mistake("task = [3]"),
        "run.toml: task: expected a string or a list of strings, not array"
    );
    assert_eq!(
        mistake("model = [\"nano\"]"),
        "run.toml: model: expected a string, not array"
    );
}

#[test]
fn numbers_are_finite() {
    let sets = [
        "sampling.temperature=inf",
        "sampling.temperature=nan",
        "learning.beta=inf",
        "learning.rate=-nan",
        "loop.max-kl=inf",
        "budget.seconds=inf",
        "copy-penalty=nan",
    ];
    for set in sets {
        let (key, value) = set.split_once('=').unwrap();
        let mistakes = Layered::read(None, &[set.to_owned()]).unwrap_err();
        assert_eq!(
            (mistakes.len(), mistakes[0].key.as_str()),
            (1, key),
            "{set}"
        );
        assert!(
            mistakes[0].what.contains("must be a finite number"),
            "{mistakes:?}"
        );
        let (section, name) = key.split_once('.').unwrap_or(("", key));
        let text = match section {
            "" => format!("{name} = {value}\n"),
            _ => format!("[{section}]\n{name} = {value}\n"),
        };
        let mistakes = Layered::read(Some(("run.toml", &text)), &[]).unwrap_err();
        assert_eq!(
            (mistakes[0].file.as_str(), mistakes[0].key.as_str()),
            ("run.toml", key)
        );
    }
    let reward = "reward={ shape = \"ladder-log\", high = inf }".to_owned();
    let mistakes = Layered::read(None, &[reward]).unwrap_err();
    assert_eq!(mistakes[0].key, "reward", "{mistakes:?}");
}
