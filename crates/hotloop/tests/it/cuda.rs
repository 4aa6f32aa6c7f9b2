//! CUDA tasks on whatever machine this is.

use crate::{ended, hotloop, lines, root};

fn file(folder: &std::path::Path, name: &str, text: &str) -> String {
    let path = folder.join(name);
    std::fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_owned()
}

#[test]
fn verdicts_that_need_no_gpu_are_final_everywhere() {
    let folder = tempfile::tempdir().unwrap();
    let empty = file(folder.path(), "empty.cu", "");
    let reads = "#include <cuda_runtime.h>\n\
        extern \"C\" void solve(const float* x, float* y, long long n) {\n\
        float first; cudaMemcpy(&first, x, 4, cudaMemcpyDeviceToHost); }\n";
    let reads = file(folder.path(), "reads.cu", reads);
    let lines = lines(&["judge", "cuda/relu", "--json", &empty, &reads]);
    let by_name = |name: &str| {
        let mut lines = lines.iter();
        lines
            .find(|line| line["file"].as_str().unwrap().ends_with(name))
            .unwrap()
    };
    assert_eq!(by_name("empty.cu")["verdict"], "malformed");
    assert_eq!(
        by_name("reads.cu")["verdict"],
        "refused",
        "{}",
        by_name("reads.cu")
    );
    assert_eq!(by_name("reads.cu")["language"], "cuda");
}

#[test]
fn what_has_to_run_is_judged_or_is_the_machines_error() {
    let (status, out, error) = ended(&mut hotloop(&["judge", "cuda/relu"]));
    if status == 0 {
        assert!(out.contains("correct") && out.contains("GB/s"), "{out}");
    } else {
        assert_eq!(status, 3, "{out}{error}");
        assert!(
            out.contains("no verdict") && out.contains("the machine failed"),
            "{out}"
        );
    }
}

#[test]
fn a_cuda_task_is_listed_and_shown() {
    let (status, out, _) = ended(&mut hotloop(&["task", "list"]));
    assert!(status == 0 && out.contains("cuda/attention"), "{out}");
    let (status, out, _) = ended(&mut hotloop(&["task", "show", "cuda/matmul"]));
    assert!(
        status == 0 && out.contains("cuBLAS") && out.contains("tensor cores"),
        "{out}"
    );
    let folder = root().join("tasks/cuda/matmul");
    let (status, same, _) = ended(&mut hotloop(&["task", "show", folder.to_str().unwrap()]));
    assert_eq!((status, same), (0, out));
}
