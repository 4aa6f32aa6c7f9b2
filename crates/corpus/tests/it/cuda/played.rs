//! Every kind of candidate computes what its task asks for, on a CPU that plays a GPU.

use std::fmt::Write;
use std::process::Command;

use hotloop_corpus::cuda::{self, TASKS};

/// Candidates of each task.
const COUNT: usize = 12;

/// The checks of each task, as C++: `N` is the candidate's namespace.
fn checks(task: &str) -> &'static str {
    match task {
        "cuda/relu" => {
            "for (long long n : {1LL, 7LL, 1003LL, 4096LL, 70001LL}) {
    auto x = fill(n), y = poisoned(n);
    std::vector<double> want(n);
    for (long long i = 0; i < n; i++) want[i] = x[i] > 0 ? x[i] : 0;
    N::solve(x.data(), y.data(), n);
    if (!same(\"N\", y, want, 0)) { bad++; break; }
}"
        }
        "cuda/saxpy" => {
            "for (int n : {1, 7, 1003, 4096, 70001}) {
    auto x = fill(n), y = fill(n), z = poisoned(n);
    std::vector<double> want(n);
    for (int i = 0; i < n; i++) want[i] = 1.5 * x[i] + y[i];
    N::solve(1.5f, x.data(), y.data(), z.data(), n);
    if (!same(\"N\", z, want, 1e-6)) { bad++; break; }
}"
        }
        "cuda/sum" => {
            "for (auto [B, D1, D2] : {std::tuple(1, 1, 1), std::tuple(3, 37, 130), std::tuple(2, 130, 7)}) {
    auto x = fill(B * D1 * D2), y = poisoned(B * D2);
    std::vector<double> want(B * D2);
    for (int b = 0; b < B; b++) for (int i = 0; i < D1; i++) for (int j = 0; j < D2; j++)
        want[b * D2 + j] += x[(b * D1 + i) * D2 + j];
    N::solve(x.data(), y.data(), B, D1, D2);
    if (!same(\"N\", y, want, 2e-5)) { bad++; break; }
}"
        }
        "cuda/transpose" => {
            "for (auto [rows, cols] : {std::tuple(1, 1), std::tuple(5, 131), std::tuple(70, 33), std::tuple(64, 64)}) {
    auto x = fill(rows * cols), y = poisoned(rows * cols);
    std::vector<double> want(rows * cols);
    for (int i = 0; i < rows; i++) for (int j = 0; j < cols; j++) want[j * rows + i] = x[i * cols + j];
    N::solve(x.data(), y.data(), rows, cols);
    if (!same(\"N\", y, want, 0)) { bad++; break; }
}"
        }
        "cuda/softmax" => {
            "for (auto [rows, cols] : {std::tuple(1, 1), std::tuple(5, 7), std::tuple(9, 1030), std::tuple(3, 64)}) {
    auto x = fill(rows * cols), y = poisoned(rows * cols);
    std::vector<double> want(rows * cols);
    for (int i = 0; i < rows; i++) {
        double sum = 0;
        for (int j = 0; j < cols; j++) sum += std::exp((double)x[i * cols + j]);
        for (int j = 0; j < cols; j++) want[i * cols + j] = std::exp((double)x[i * cols + j]) / sum;
    }
    N::solve(x.data(), y.data(), rows, cols);
    if (!same(\"N\", y, want, 2e-6)) { bad++; break; }
}"
        }
        "cuda/layernorm" => {
            "for (auto [rows, n] : {std::tuple(1, 1), std::tuple(5, 7), std::tuple(9, 1030), std::tuple(3, 64)}) {
    auto x = fill(rows * n), gamma = fill(n), beta = fill(n), y = poisoned(rows * n);
    std::vector<double> want(rows * n);
    for (int i = 0; i < rows; i++) {
        double mean = 0, squares = 0;
        for (int j = 0; j < n; j++) mean += x[i * n + j] / (double)n;
        for (int j = 0; j < n; j++) squares += std::pow(x[i * n + j] - mean, 2);
        for (int j = 0; j < n; j++)
            want[i * n + j] = (x[i * n + j] - mean) / std::sqrt(squares / n + 1e-5) * gamma[j] + beta[j];
    }
    N::solve(x.data(), gamma.data(), beta.data(), y.data(), rows, n, 1e-5f);
    if (!same(\"N\", y, want, 2e-5)) { bad++; break; }
}"
        }
        "cuda/matmul" => {
            "for (int n : {1, 17, 36, 70}) {
    auto A = fill(n * n), B = fill(n * n), C = poisoned(n * n);
    std::vector<double> want(n * n);
    for (int i = 0; i < n; i++) for (int k = 0; k < n; k++) for (int j = 0; j < n; j++)
        want[i * n + j] += (double)A[i * n + k] * B[k * n + j];
    N::solve(A.data(), B.data(), C.data(), n);
    if (!same(\"N\", C, want, 2e-5)) { bad++; break; }
}"
        }
        unknown => panic!("{unknown} has no check"),
    }
}

/// The source as C++, in a namespace of its own.
fn played(source: &str, namespace: &str) -> String {
    let waits = source.contains("__syncthreads") || source.contains("__shfl");
    let mut text = format!("namespace {namespace} {{\n");
    for line in source.lines().filter(|line| !line.starts_with("#include")) {
        let line = line.replace("extern \"C\" ", "");
        match line.split_once("<<<") {
            Some((kernel, rest)) => {
                let (shape, arguments) = rest.split_once(">>>").unwrap();
                let (call, kernel) = (arguments.trim_end_matches(';'), kernel.trim());
                writeln!(
                    text,
                    "    gpu::launch({waits}, {shape}, [&] {{ {kernel}{call}; }});"
                )
                .unwrap();
            }
            None => writeln!(text, "{line}").unwrap(),
        }
    }
    text + "}\n"
}

#[test]
fn candidates_compute_what_their_tasks_ask_for() {
    if Command::new("g++").arg("--version").output().is_err() {
        eprintln!("skipped: there is no g++");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let header = include_str!("gpu.hpp");
    fs_err::write(folder.path().join("gpu.hpp"), header).unwrap();
    let mut text = "#include \"gpu.hpp\"\n#include <tuple>\n".to_owned();
    let mut main = "int main() {\n    int bad = 0;\n".to_owned();
    let mut sources = Vec::new();
    for (of, task) in TASKS.into_iter().enumerate() {
        for (at, program) in cuda::programs(task, 11, COUNT).iter().enumerate() {
            let namespace = format!("t{of}_{at}");
            text += &played(&program.source(), &namespace);
            main += &checks(task)
                .replace("N::", &format!("{namespace}::"))
                .replace("\"N\"", &format!("\"{namespace}\""));
            main += "\n";
            sources.push((namespace, program.source()));
        }
    }
    text += &main;
    text += "    return bad;\n}\n";
    let file = folder.path().join("all.cpp");
    fs_err::write(&file, &text).unwrap();
    let program = folder.path().join("all");
    let compiled = Command::new("g++")
        .args(["-std=c++17", "-O1", "-w", "-ffp-contract=off", "-o"])
        .args([&program, &file])
        .output()
        .unwrap();
    let complaints = String::from_utf8_lossy(&compiled.stderr);
    assert!(
        compiled.status.success(),
        "{}",
        complaints.chars().take(3000).collect::<String>()
    );
    let ran = Command::new(&program).output().unwrap();
    let said = String::from_utf8_lossy(&ran.stdout).into_owned();
    let first = said.split(':').next().unwrap_or("");
    let source = sources.iter().find(|(namespace, _)| namespace == first);
    assert!(
        ran.status.success(),
        "{said}{}",
        source.map_or("", |(_, source)| source.as_str())
    );
}
