//! The names of the hidden roles, as the first argument of the executable.

pub(crate) const SUPERVISOR: &str = "__supervisor";
pub(crate) const RUNNER: &str = "__runner";
pub(crate) const CONFINE: &str = "__confine";
pub(crate) const BLAS_CORE: &str = "__blas-core";
pub(crate) const TRY_NAMESPACES: &str = "__try-namespaces";
pub(crate) const RECORD: &str = "__record";
pub(crate) const WARM_COMPILER: &str = "__warm-compiler";
pub(crate) const GPU_EXAMINER: &str = "__gpu-examiner";
pub(crate) const GPU_RUNNER: &str = "__gpu-runner";
pub(crate) const INTERPRET: &str = "__interpret";
