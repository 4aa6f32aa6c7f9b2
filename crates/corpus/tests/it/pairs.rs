//! Pairs from trees in the layouts of the suites. The trees here are ours; those of the suites are
//! read where the environment names them.

use std::path::{Path, PathBuf};

use hotloop_corpus::pairs::{BuildError, Built, Options, Own, Suite, Tools, build, write};

const MAIN: &str = "#include <stdio.h>\n#include \"config.h\"\n#include \"kernel.cu\"\nint main(int argc, char **argv) {\n\
    FILE *f = fopen(argv[1], \"r\");\n    sum<<<1, BLOCK>>>(0, 0);\n    return 0;\n}\n";
const CONFIG: &str = "#ifndef CONFIG_H\n#define CONFIG_H\n#define BLOCK 64\ntypedef struct { float x; } Node;\n#endif\n";
const SLOW: &str = "/* slow */\n__global__ void sum(Node *a, float *b) {\n    for (int i = 0; i < BLOCK; i++) b[0] += a[i].x;\n}\n";
const FAST: &str = "__device__ float halve(float *s) { return s[0] / 2; }\n\
    __global__ void sum(Node *a, float *b) {\n    __shared__ float s[BLOCK];\n    s[threadIdx.x] = a[threadIdx.x].x;\n\
    __syncthreads();\n    b[0] = halve(s);\n}\n";

fn put(root: &Path, file: &str, text: impl AsRef<[u8]>) {
    let path = root.join(file);
    fs_err::create_dir_all(path.parent().unwrap()).unwrap();
    fs_err::write(path, text).unwrap();
}

/// A small suite in Parboil's layout.
fn suite() -> tempfile::TempDir {
    let root = tempfile::tempdir().unwrap();
    let at = root.path();
    put(
        at,
        "LICENSE",
        "University of Illinois/NCSA\nOpen Source License\n",
    );
    let app = "benchmarks/sums/src";
    put(
        at,
        "benchmarks/sums/DESCRIPTION",
        "Sums numbers. And more.\n",
    );
    for (variant, kernel) in [("cuda_base", SLOW), ("cuda", FAST)] {
        put(at, &format!("{app}/{variant}/main.cu"), MAIN);
        put(at, &format!("{app}/{variant}/config.h"), CONFIG);
        put(
            at,
            &format!("{app}/{variant}/kernel.cu"),
            kernel.replace('\n', "\r\n"),
        );
        put(
            at,
            &format!("{app}/{variant}/same.cu"),
            "__global__ void k(int *a) { a[0] = 1; }\n",
        );
    }
    put(
        at,
        &format!("{app}/cuda/Makefile"),
        "# c\nAPP_CUDACFLAGS=-arch sm_20\nX=1\n",
    );
    put(
        at,
        &format!("{app}/cuda_base/only.cu"),
        "__global__ void old(int *a) { a[0] = 2; }\n",
    );
    put(
        at,
        &format!("{app}/cuda/newer.cu"),
        "__global__ void old(int *a) { __shared__ int s; s = 2; a[0] = s; }\n",
    );
    put(
        at,
        "benchmarks/other/src/cuda/x.cu",
        "__global__ void x(int *a) { a[0] = 1; }\n",
    );
    root
}

fn options(root: &Path) -> Options {
    Options {
        parboil: Some(root.to_owned()),
        held_out: 20,
        seed: 1,
        max_tokens: 4096,
        ..Options::default()
    }
}

fn built(options: &Options) -> Result<Built, BuildError> {
    build(
        options,
        Tools {
            compiler: None,
            writer: None,
            tokens: &|text| text.split_whitespace().count(),
            progress: &|_| {},
        },
    )
}

#[test]
fn the_papers_rule_takes_names_and_device_code() {
    let root = suite();
    let paper = Options {
        paper: true,
        ..options(root.path())
    };
    let built = built(&paper).unwrap();
    let summary = &built.summary;
    let counts = (
        summary.apps,
        summary.apps_with_both,
        summary.same_named,
        summary.dropped,
        summary.kept,
    );
    // main.cu has no kernel; kernel.cu and same.cu stay, although same.cu is the same twice.
    assert_eq!(counts, (2, 1, 3, 1, 2));
    assert_eq!(
        (
            summary.identical,
            summary.kernels_slow,
            summary.kernels_fast
        ),
        (1, 2, 2)
    );
    let kernel = built
        .records
        .iter()
        .find(|record| record.file.ends_with("kernel.cu"))
        .unwrap();
    assert!(
        !kernel.slow.contains("BLOCK 64"),
        "only the file's own device code: {}",
        kernel.slow
    );
    assert_eq!(kernel.description, "SUMS - Sums numbers");
}

#[test]
fn the_better_rule_cuts_kernels_out_and_drops_what_is_equal() {
    let root = suite();
    let built = built(&options(root.path())).unwrap();
    let summary = &built.summary;
    assert_eq!(
        (summary.considered, summary.kept, summary.identical),
        (3, 2, 1)
    );
    let kernel = built
        .records
        .iter()
        .find(|record| record.file.ends_with("kernel.cu"))
        .unwrap();
    assert_eq!(
        kernel.slow,
        "#define BLOCK 64\ntypedef struct { float x; } Node;\n\n__global__ void sum(Node *a, float *b) {\n    \
         for (int i = 0; i < BLOCK; i++) b[0] += a[i].x;\n}\n"
    );
    assert!(kernel.same_signature && kernel.licence.may_be_shared);
    assert_eq!(kernel.build, ["APP_CUDACFLAGS=-arch sm_20"]);
    assert!(
        kernel.description.contains("stages data in shared memory"),
        "{}",
        kernel.description
    );
    // The only kernel files that were left are a pair, whatever their names are.
    let other = built
        .records
        .iter()
        .find(|record| record.file.ends_with("newer.cu"))
        .unwrap();
    assert!(other.slow_file.as_ref().unwrap().ends_with("only.cu"));
    let why = |file: &str| {
        let left = built.left_out.iter().find(|left| left.file.ends_with(file));
        left.unwrap_or_else(|| panic!("{file}: {:?}", built.left_out))
            .why
            .clone()
    };
    assert!(why("same.cu").contains("equal after normalising"));
    assert!(why("other/src/cuda/x.cu").contains("counterpart"));
    assert!(why("main.cu").contains("no kernel body"));
}

#[test]
fn a_suite_of_fast_files_gets_slow_ones_step_by_step() {
    let root = tempfile::tempdir().unwrap();
    put(
        root.path(),
        "cuda/sums/kernel.cu",
        FAST.replace("Node", "float4"),
    );
    put(
        root.path(),
        "cuda/sums/main.cu",
        "#define BLOCK 64\n#include \"kernel.cu\"\nint main() {}\n",
    );
    put(
        root.path(),
        "cuda/plain/k.cu",
        "__global__ void k(int *a) { a[0] = 1; }\n",
    );
    let built = built(&Options {
        parboil: None,
        rodinia: Some(root.path().to_owned()),
        ..options(root.path())
    })
    .unwrap();
    let rodinia = built.summary.rodinia.as_ref().unwrap();
    assert_eq!(
        (
            rodinia.files,
            rodinia.files_with_kernel,
            rodinia.kernels,
            rodinia.helpers
        ),
        (3, 2, 2, 1)
    );
    assert_eq!(
        (rodinia.with_marks, rodinia.kept, built.records.len()),
        (1, 1, 1)
    );
    let record = &built.records[0];
    assert_eq!(
        (record.suite, record.steps.len(), record.same_signature),
        (Suite::Rodinia, 1, true)
    );
    assert!(
        record.difference.contains("stages data in shared memory"),
        "{}",
        record.difference
    );
    assert!(
        built
            .left_out
            .iter()
            .any(|left| left.file == "cuda/plain/k.cu" && left.why.contains("mechanically"))
    );
}

#[test]
fn two_folders_and_lists_are_pairs_too() {
    let root = tempfile::tempdir().unwrap();
    let at = root.path();
    put(
        at,
        "slow/a/k.cu",
        "__global__ void k(int *a) { a[0] = 1; }\n",
    );
    put(
        at,
        "fast/a/k.cu",
        "__global__ void k(int *a) { if (threadIdx.x == 0) a[0] = 1; }\n",
    );
    put(
        at,
        "fast/b/lonely.cu",
        "__global__ void k(int *a) { a[0] = 1; }\n",
    );
    put(
        at,
        "list.jsonl",
        "{\"slow\": \"slow/a/k.cu\", \"fast\": \"fast/a/k.cu\", \"benchmark\": \"mine\", \"description\": \"One\"}\n\n",
    );
    let own = |own: Own| {
        built(&Options {
            parboil: None,
            own: Some(own),
            ..options(at)
        })
    };
    let folders = own(Own::Folders {
        slow: at.join("slow"),
        fast: at.join("fast"),
    })
    .unwrap();
    assert_eq!(
        (folders.records.len(), folders.records[0].benchmark.as_str()),
        (1, "a")
    );
    assert!(
        folders
            .left_out
            .iter()
            .any(|left| left.file.ends_with("lonely.cu"))
    );
    let list = own(Own::List(at.join("list.jsonl"))).unwrap();
    assert_eq!(list.records[0].benchmark, "mine");
    assert!(list.records[0].description.starts_with("One"));
    put(
        at,
        "bad.jsonl",
        "{\"slow\": \"slow/a/k.cu\", \"fast\": \"none.cu\"}\n",
    );
    let error = own(Own::List(at.join("bad.jsonl")))
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("line 1") && error.contains("none.cu"),
        "{error}"
    );
}

#[test]
fn bad_trees_are_reported_and_nothing_is_written() {
    let root = tempfile::tempdir().unwrap();
    let error = built(&options(root.path())).unwrap_err().to_string();
    assert!(error.contains("benchmarks/APP/src/cuda"), "{error}");
    let missing = built(&options(&root.path().join("none"))).unwrap_err();
    assert!(missing.to_string().contains("not a folder"), "{missing}");
    // A tree in the layout without a single pair is an error, too.
    put(root.path(), "benchmarks/a/src/cuda/k.cu", "int main() {}\n");
    assert!(matches!(
        built(&options(root.path())),
        Err(BuildError::Empty(_))
    ));
}

#[test]
fn odd_files_take_part_or_have_a_reason() {
    let root = suite();
    let at = root.path();
    let app = "benchmarks/odd/src";
    put(at, &format!("{app}/cuda/huge.cu"), vec![b'x'; 2 << 20]);
    put(at, &format!("{app}/cuda/binary.cu"), b"\0\0");
    put(
        at,
        &format!("{app}/cuda_base/k.cu"),
        b"// \xff\xe9\n#define KERNEL __global__ void\nKERNEL k(int *a) { a[0] = 1; }\n",
    );
    put(
        at,
        &format!("{app}/cuda/k.cu"),
        "__global__ void k(int *a) { if (1) { a[0] = 1; }\n#ifdef X\n}\n#else\n}\n#endif\n",
    );
    std::os::unix::fs::symlink(at, at.join(format!("{app}/cuda/again"))).unwrap();
    let built = built(&options(at)).unwrap();
    let why = |file: &str| built.left_out.iter().any(|left| left.file.ends_with(file));
    assert!(
        why("huge.cu") && why("binary.cu") && why("again"),
        "{:?}",
        built.left_out
    );
    assert!(
        built
            .records
            .iter()
            .any(|record| record.file.ends_with("odd/src/cuda/k.cu"))
    );
}

#[test]
fn a_data_set_is_whole_or_absent_and_split_by_benchmark() {
    let root = suite();
    for app in ["b", "c", "d"] {
        for (variant, kernel) in [("cuda_base", SLOW), ("cuda", FAST)] {
            put(
                root.path(),
                &format!("benchmarks/{app}/src/{variant}/k.cu"),
                kernel,
            );
        }
    }
    let built = built(&options(root.path())).unwrap();
    let summary = &built.summary;
    assert_eq!(summary.train + summary.held_out, summary.records);
    assert!(
        summary.held_out > 0 && summary.train > summary.held_out,
        "{summary:?}"
    );
    for record in &built.records {
        assert_eq!(
            record.held_out,
            summary.held_out_benchmarks.contains(&record.benchmark)
        );
    }
    let out = root.path().join("out");
    write(&built, &out).unwrap();
    let text = |name: &str| fs_err::read_to_string(out.join(name)).unwrap();
    let chats = text("train.jsonl").lines().count() + text("held-out.jsonl").lines().count();
    assert_eq!(
        (text("records.jsonl").lines().count(), chats),
        (summary.records, summary.records)
    );
    let chat: serde_json::Value =
        serde_json::from_str(text("train.jsonl").lines().next().unwrap()).unwrap();
    let roles: Vec<&str> = (0..3)
        .map(|at| chat["messages"][at]["role"].as_str().unwrap())
        .collect();
    assert_eq!(roles, ["system", "user", "assistant"]);
    assert!(text("README.md").contains("NCSA"));
    assert!(
        write(&built, &out).is_err(),
        "an existing folder stays as it is"
    );
    let left: Vec<PathBuf> = fs_err::read_dir(root.path())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    assert!(
        !left
            .iter()
            .any(|path| path.to_string_lossy().contains(".pairs-")),
        "{left:?}"
    );
}

#[test]
fn long_chats_are_left_out_by_the_callers_count() {
    let root = suite();
    let built = built(&Options {
        max_tokens: 60,
        ..options(root.path())
    })
    .unwrap();
    assert!(built.summary.too_long > 0);
    assert_eq!(
        built.chats().count() + built.summary.too_long,
        built.records.len()
    );
}

/// The counts that `docs/pairs.md` gives, on the trees that the environment names.
#[test]
fn the_real_suites_give_the_papers_counts() {
    let (Some(parboil), Some(rodinia)) = (
        std::env::var_os("HOTLOOP_PARBOIL"),
        std::env::var_os("HOTLOOP_RODINIA"),
    ) else {
        eprintln!("skipped: HOTLOOP_PARBOIL and HOTLOOP_RODINIA name no trees");
        return;
    };
    let both = Options {
        rodinia: Some(rodinia.into()),
        paper: true,
        ..options(Path::new(&parboil))
    };
    let paper = built(&both).unwrap().summary;
    assert_eq!((paper.apps, paper.apps_with_both), (18, 14));
    assert_eq!(
        (paper.same_named, paper.dropped, paper.kept, paper.identical),
        (29, 13, 16, 4)
    );
    assert_eq!((paper.kernels_slow, paper.kernels_fast), (19, 21));
    assert_eq!((paper.helpers_slow, paper.helpers_fast), (22, 29));
    assert_eq!((paper.files, paper.files_with_kernel), (85, 48));
    let suite = paper.rodinia.unwrap();
    assert_eq!(
        (suite.files_with_kernel, suite.kernels, suite.with_marks),
        (46, 79, 29)
    );
    let better = built(&Options {
        paper: false,
        ..both
    })
    .unwrap()
    .summary;
    assert_eq!(better.kept, 18, "{better:?}");
}
