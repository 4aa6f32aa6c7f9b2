//! The results of extraction for realistic completions.

use hotloop_flow::{Candidate, Malformed};

use crate::MATMUL;

macro_rules! completion {
    ($name:literal) => {
        ($name, include_str!(concat!("../data/", $name)))
    };
}

/// All completions of the data folder.
pub(crate) const COMPLETIONS: [(&str, &str); 14] = [
    completion!("plain.md"),
    completion!("with-shell-block.md"),
    completion!("improved-twice.md"),
    completion!("cut-off-in-main.md"),
    completion!("cut-off-in-entry.md"),
    completion!("no-fence.md"),
    completion!("other-name.md"),
    completion!("cuda.md"),
    completion!("extra-parameter.md"),
    completion!("only-prose.md"),
    completion!("static-inline.md"),
    completion!("helper-in-its-own-block.md"),
    completion!("empty-fence-first.md"),
    completion!("unbalanced.md"),
];

fn fate(name: &str) -> Result<Candidate, Malformed> {
    let (_, completion) = COMPLETIONS
        .into_iter()
        .find(|(known, _)| *known == name)
        .expect("the completion exists");
    Candidate::extract(completion, &MATMUL)
}

#[test]
fn usable_completions_become_the_expected_candidates() {
    // Name, beginning and end of the source, and the number of repairs.
    let table = [
        (
            "plain.md",
            "#include <stdio.h>\n\n#define BLOCK 4",
            "sum;\n        }\n}\n",
            0,
        ),
        (
            "with-shell-block.md",
            "#include <omp.h>",
            "return 0;\n}\n",
            0,
        ),
        (
            "improved-twice.md",
            "void matmul_optimized",
            "// second\n}\n",
            0,
        ),
        (
            "cut-off-in-main.md",
            "#include <stdlib.h>",
            "C[i] = 0.0;\n}\n\n",
            1,
        ),
        (
            "no-fence.md",
            "#include <math.h>\n\nstatic double dot",
            "K, N);\n}\n\n",
            0,
        ),
        ("static-inline.md", "void matmul_optimized", "B[0];\n}\n", 1),
        (
            "helper-in-its-own-block.md",
            "double inner_product",
            "inner_product(A, B, K);\n}\n",
            1,
        ),
        ("empty-fence-first.md", "#include <stdio.h>", "M);\n}\n", 0),
        (
            "unbalanced.md",
            "void matmul_optimized",
            "C[i] = 0.0;\n}\n",
            0,
        ),
    ];
    for (name, begin, end, repaired) in table {
        let candidate = fate(name).unwrap_or_else(|malformed| panic!("{name}: {malformed}"));
        assert!(
            candidate.source().starts_with(begin),
            "{name}:\n{}",
            candidate.source()
        );
        assert!(
            candidate.source().ends_with(end),
            "{name}:\n{}",
            candidate.source()
        );
        assert_eq!(
            candidate.notes().len(),
            repaired,
            "{name}: {:?}",
            candidate.notes()
        );
    }
}

#[test]
fn unusable_completions_say_what_is_missing() {
    let table = [
        (
            "cut-off-in-entry.md",
            "the definition of `matmul_optimized` is cut off",
        ),
        ("other-name.md", "no function `matmul_optimized` is defined"),
        ("cuda.md", "it returns `__global__ void`"),
        ("extra-parameter.md", "it takes 7 parameters instead of 6"),
        ("only-prose.md", "no function `matmul_optimized` is defined"),
    ];
    for (name, why) in table {
        let malformed = fate(name).expect_err(name);
        assert!(malformed.why.contains(why), "{name}: {malformed}");
    }
}

/// Each use of the macro was read to the end of the text: minutes for a megabyte.
#[test]
fn an_attribute_that_nothing_closes_is_read_once() {
    let macros = format!("#define A __attribute__{}\n", "(".repeat(300_000));
    let entries = format!("{}matmul_optimized(){{}}\n", "A ".repeat(200)).repeat(1000);
    let completion = format!("```c\n{macros}{entries}```\n");
    assert!(Candidate::extract(&completion, &MATMUL).is_err());
}
