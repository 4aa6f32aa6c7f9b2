//! The names of the hidden roles, as the first argument of the executable.

pub(crate) const SUPERVISOR: &str = "__supervisor";
pub(crate) const RUNNER: &str = "__runner";
pub(crate) const CONFINE: &str = "__confine";
pub(crate) const BLAS_CORE: &str = "__blas-core";
pub(crate) const TRY_NAMESPACES: &str = "__try-namespaces";
