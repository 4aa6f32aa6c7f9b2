//! The headers that a source may name.

use hotloop_flow::language::c;

/// Headers of libraries that solve the task, or that reach out of the sandbox.
const PROHIBITED_HEADERS: [&str; 26] = [
    "cblas.h",
    "blas.h",
    "f77blas.h",
    "openblas_config.h",
    "lapacke.h",
    "lapack.h",
    "clapack.h",
    "mkl.h",
    "mkl_cblas.h",
    "mkl_dfti.h",
    "blis.h",
    "blis/blis.h",
    "fftw3.h",
    "gsl/gsl_blas.h",
    "gsl/gsl_cblas.h",
    "Accelerate/Accelerate.h",
    "cublas.h",
    "cublas_v2.h",
    "cuda_runtime.h",
    "dlfcn.h",
    "link.h",
    "sys/ptrace.h",
    "sys/socket.h",
    "sys/syscall.h",
    "linux/userfaultfd.h",
    "sys/wait.h",
];

/// The rule that the header of an include breaks.
pub(super) fn refuse(header: Option<&str>) -> Option<String> {
    let Some(header) = header else {
        return Some("an include must name its header literally".into());
    };
    if !c::is_plain(header) {
        let shown = header.escape_debug();
        return Some(format!(
            "an include of `{shown}`, which is no header's name, is prohibited"
        ));
    }
    if PROHIBITED_HEADERS.contains(&header) {
        return Some(format!("the header `{header}` is prohibited"));
    }
    is_path(header).then(|| format!("an include of the path `{header}` is prohibited"))
}

/// Whether it is more than a header's name: with any path, the candidate could include itself under
/// another name.
pub(super) fn is_path(header: &str) -> bool {
    let mut parts = header.split('/');
    header.starts_with('/') || parts.any(|part| matches!(part, "." | ".." | "candidate.c"))
}
