//! What can go wrong on a device.

use cudarc::cublas::result::CublasError;
use cudarc::driver::DriverError;

/// Why the device could not be used or a piece of work on it failed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A library of CUDA is not installed or not found.
    #[error("{library} was not found: {hint}. Without it only the CPU can compute")]
    Missing {
        /// Its name.
        library: &'static str,
        /// What to do about it.
        hint: &'static str,
    },
    /// The kernels did not compile.
    #[error("the kernels did not compile for {arch}: {log}")]
    Compile {
        /// The architecture they were compiled for.
        arch: String,
        /// The compiler's output.
        log: String,
    },
    /// The model's shape is one the kernels cannot serve.
    #[error("{0}: the CUDA kernels do not support this model; choose the CPU")]
    Shape(String),
    /// An environment variable has an invalid value.
    #[error("{0}")]
    Setting(String),
    /// Too little memory.
    #[error("{what} needs {:.2} GiB, and {:.2} of {:.2} GiB are free on the device; {fits}", gib(*.wanted), gib(*.free), gib(*.total))]
    OutOfMemory {
        /// What the memory was for.
        what: String,
        /// Bytes needed.
        wanted: u64,
        /// Bytes free.
        free: u64,
        /// Bytes in total.
        total: u64,
        /// What would fit.
        fits: String,
    },
    /// The driver reported an error.
    #[error(
        "{source} at {at}; work runs asynchronously; HOTLOOP_CUDA_SYNC=1 names the exact kernel"
    )]
    Driver {
        /// The last submitted work.
        at: &'static str,
        source: DriverError,
    },
    /// cuBLAS reported an error.
    #[error("cuBLAS: {source:?} at {at}")]
    Blas {
        /// The requested product.
        at: &'static str,
        /// cuBLAS's error.
        source: CublasError,
    },
}

impl Error {
    /// Whether memory ran out.
    pub fn is_out_of_memory(&self) -> bool {
        matches!(self, Self::OutOfMemory { .. })
    }

    /// The same error with advice on what would fit.
    #[must_use]
    pub(super) fn advise(self, advice: impl FnOnce(u64, u64) -> String) -> Self {
        match self {
            Self::OutOfMemory {
                what,
                wanted,
                free,
                total,
                ..
            } => {
                let fits = advice(wanted, free);
                Self::OutOfMemory {
                    what,
                    wanted,
                    free,
                    total,
                    fits,
                }
            }
            other => other,
        }
    }
}

/// Bytes in GiB.
pub(super) fn gib(bytes: u64) -> f64 {
    bytes as f64 / f64::from(1 << 30)
}

/// A result of work on a device.
pub(super) type Result<T> = std::result::Result<T, Error>;
