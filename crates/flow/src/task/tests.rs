use super::*;

#[test]
fn the_limits_of_a_fill_must_be_in_order() {
    let parse = |kind: &str, limits: &str| {
        let toml = include_str!("../../tests/data/matmul.toml");
        let first =
            r#"type = "f64", role = "in", shape = ["M", "K"], fill = { uniform = [-1.0, 1.0] }"#;
        let other = first.replace("f64", kind).replace("[-1.0, 1.0]", limits);
        let toml = toml.replace(first, &other);
        Task::parse(TaskFiles {
            toml,
            ..TaskFiles::default()
        })
        .map(|_| ())
        .map_err(|error| error.to_string())
    };
    assert_eq!(parse("f64", "[-2.0, 1.0]"), Ok(()));
    let reversed = "task.toml: args: `A` has the fill uniform = [1, -1], which is empty; write \
        low and then high";
    assert_eq!(parse("f64", "[1.0, -1.0]"), Err(reversed.to_owned()));
    for limits in ["[1.0, 1.0]", "[nan, 1.0]", "[0.0, inf]"] {
        assert!(parse("f64", limits).is_err(), "{limits}");
    }
    assert_eq!(parse("i32", "[0.0, 1.0]"), Ok(()));
    assert!(
        parse("i32", "[0.0, 0.5]").is_err(),
        "high is not included, and 0 is all there is below"
    );
}

#[test]
fn drawn_sizes_must_be_complete_and_not_empty() {
    let parse = |drawn: &str, shape: &str| {
        let toml = include_str!("../../tests/data/matmul.toml");
        let toml = toml.replace("sizes = {", &format!("sizes = {{ drawn = {drawn},"));
        let toml = toml.replacen(r#"["M", "K"]"#, shape, 1);
        Task::parse(TaskFiles {
            toml,
            ..TaskFiles::default()
        })
        .map_err(|error| error.to_string())
    };
    let (plain, all) = (r#"["M", "K"]"#, "{ M = [1, 9], N = [2, 2], K = [3, 40] }");
    let task = parse(all, plain).unwrap();
    let largest = task.function().sizes.draw(|_, most| most).unwrap();
    assert_eq!(
        largest.into_values().collect::<Vec<_>>(),
        [40, 9, 2],
        "K, M and N"
    );
    let larger = |pick: fn(i64, i64) -> i64| {
        let sizes = task.function().sizes.draw_larger(pick).unwrap();
        sizes.into_values().collect::<Vec<_>>()
    };
    assert_eq!(larger(|least, _| least), [40, 9, 2]);
    assert_eq!(
        larger(|_, most| most),
        [224; 3],
        "an eighth below the listed 256"
    );
    assert_eq!(
        parse("{}", plain)
            .unwrap()
            .function()
            .sizes
            .draw(|least, _| least),
        None
    );
    let rule = |what: &str| Err(format!("task.toml: sizes.drawn: {what}"));
    let told = |drawn: &str| parse(drawn, plain).map(|_| ());
    assert_eq!(
        told("{ M = [1, 9] }"),
        rule("draws each size of `timed`, or none")
    );
    let reversed = "M = [9, 1] is empty; write low and then high";
    assert_eq!(
        told("{ M = [9, 1], N = [2, 2], K = [3, 40] }"),
        rule(reversed)
    );
    let empty = "M = [0, 1] begins below 1, and no problem is empty";
    assert_eq!(told("{ M = [0, 1], N = [2, 2], K = [3, 40] }"), rule(empty));
    assert!(
        parse("{ M = [2, 8], N = [2, 2], K = [3, 40] }", r#"["M/2", "K"]"#).is_err(),
        "three rows have no half"
    );
}

#[test]
fn thin_sizes_do_not_make_the_drawn_ones_large() {
    let thin = "{ M = 1, N = 70001, K = 1 }, { M = 70001, N = 1, K = 2 }";
    let thick = format!("{{ M = 200, N = 301, K = 400 }}, {thin}");
    for (hidden, largest) in [(thin, [256, 256, 256]), (thick.as_str(), [400, 200, 301])] {
        let drawn = "drawn = { M = [1, 9], N = [1, 9], K = [1, 9] }";
        let sizes = format!("sizes = {{ hidden = [{hidden}], {drawn},");
        let task = parse(MATMUL.replace("sizes = {", &sizes)).unwrap();
        for growth in [1, 500, 1000] {
            let pick = |least: i64, most: i64| if most == 1000 { growth } else { least };
            let drawn = task.function().sizes.draw_larger(pick).unwrap();
            let size = |size: i64| 9 + (size - 9) * growth / 1000;
            assert_eq!(
                drawn.into_values().collect::<Vec<_>>(),
                largest.map(size),
                "K, M and N"
            );
        }
    }
}

fn parse(toml: String) -> Result<Task, String> {
    let files = TaskFiles {
        toml,
        ..TaskFiles::default()
    };
    Task::parse(files).map_err(|error| error.to_string())
}

const MATMUL: &str = include_str!("../../tests/data/matmul.toml");

#[test]
fn a_task_has_its_own_stages_or_those_of_its_language() {
    assert_eq!(parse(MATMUL.into()).unwrap().spec.stages.len(), 6);
    let own = "\n[[stages]]\nname = \"plain\"\nwording = \"No vectors.\"\nforbids = [\"simd\"]\n[[stages]]\nname = \"all\"\nwording = \"Anything.\"\n";
    let task = parse(format!("{MATMUL}{own}")).unwrap();
    let names: Vec<_> = task
        .spec
        .stages
        .iter()
        .map(|rules| (rules.stage.number(), rules.spec.name.as_str()))
        .collect();
    assert_eq!(names, [(1, "plain"), (2, "all")]);
    let error = parse(format!("{MATMUL}{}", own.replace("simd", "warp"))).unwrap_err();
    for part in ["task.toml", "forbids", "warp", "inline-asm"] {
        assert!(error.contains(part), "{error}");
    }
    let error = parse(format!("{MATMUL}{}", own.replace("plain", "all"))).unwrap_err();
    let twice = "task.toml: stages.2.name: another stage is already called `all`";
    assert_eq!(error, twice);
}

#[test]
fn a_language_says_what_its_tasks_may_ask_for() {
    let cuda = MATMUL.replace("language = \"c\"", "language = \"cuda\"");
    let task = parse(cuda.replace("f64", "f16")).unwrap();
    assert_eq!(
        (task.spec.language, task.spec.stages.len()),
        (Language::Cuda, 6)
    );
    let half = parse(MATMUL.replacen("f64", "bf16", 1)).unwrap_err();
    assert_eq!(
        half,
        "task.toml: args: `A` is bf16, which a task in c cannot have; it has f64, f32, i32 and \
         i64"
    );
    let module = "name = \"m\"\nsummary = \"s\"\nlanguage = \"torch\"\nclass = \"Model\"\ncost = { flops = \"0\", bytes = \"0\" }\nverify = { method = \"full\", bound = \"1\", why = \"w\" }\n";
    let task = parse(module.into()).unwrap();
    assert_eq!(task.spec.interface.name(), "Model");
    let error = parse(module.replace("torch", "c")).unwrap_err();
    assert!(error.contains("a task in c asks for a function"), "{error}");
    let error = parse(module.replace("class", "entry")).unwrap_err();
    assert!(error.contains("missing field `args`"), "{error}");
}

const RELU: &str = include_str!("../../tests/data/relu.toml");

#[test]
fn a_name_has_one_slash_at_most() {
    let named = |name: &str| parse(MATMUL.replacen("matmul", name, 1));
    assert_eq!(named("cuda/row-sum").unwrap().file_name(), "cuda-row-sum");
    let long = "a".repeat(41);
    for name in [
        "", "/", "a/", "/a", "a//b", "a/b/c", "..", "a/..", "A", "a b", &long,
    ] {
        let error = named(name).unwrap_err();
        assert!(error.contains("at most one slash"), "{name}: {error}");
    }
}

#[test]
fn a_library_belongs_to_a_language_and_may_need_a_file() {
    let with = |toml: &str, library: &str, file: bool| {
        let files = TaskFiles {
            toml: toml.replacen("cost =", &format!("baseline = \"{library}\"\ncost ="), 1),
            baseline: file.then(String::new),
            ..TaskFiles::default()
        };
        Task::parse(files)
            .map(|task| task.spec.baseline.map(Library::key))
            .map_err(|error| error.to_string())
    };
    assert_eq!(with(MATMUL, "openblas", true), Ok(Some("openblas")));
    for library in ["cublas-sgemm", "cublas-sgeam"] {
        assert_eq!(with(RELU, library, false), Ok(Some(library)));
        let error = with(RELU, library, true).unwrap_err();
        assert!(error.contains("remove the file baseline.cu"), "{error}");
        let error = with(MATMUL, library, false).unwrap_err();
        assert!(
            error.contains("is for tasks in cuda, and this one is in c"),
            "{error}"
        );
    }
    let error = with(MATMUL, "openblas", false).unwrap_err();
    assert!(error.contains("need each other"), "{error}");
    assert!(with(RELU, "openblas", true).is_err());
}

#[test]
fn a_cuda_task_is_sent_as_it_is() {
    let task = parse(RELU.into()).unwrap();
    assert_eq!(task.spec.cache, CacheState::Cold);
    let text = serde_json::to_string(&task).unwrap();
    assert_eq!(serde_json::from_str::<Task>(&text).unwrap(), task);
    let text = serde_json::to_string(&task.spec).unwrap();
    assert_eq!(serde_json::from_str::<TaskSpec>(&text).unwrap(), task.spec);
}
