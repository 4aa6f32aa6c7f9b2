//! Checks which CUDA libraries are on this machine.

#![expect(
    unsafe_code,
    reason = "looking for a library opens and closes it, which runs its initialisers"
)]

use super::error::Error;

/// Whether the CUDA driver's library exists. Creating a context without it would panic.
pub(super) fn driver_present() -> bool {
    // SAFETY: opens and closes a library by name, and its initialisers are the vendor's.
    unsafe { cudarc::driver::sys::is_culib_present() }
}

/// Whether the compiler's library exists.
pub(super) fn nvrtc_present() -> bool {
    // SAFETY: as above.
    unsafe { cudarc::nvrtc::sys::is_culib_present() }
}

/// Whether cuBLAS exists.
pub(super) fn blas_present() -> bool {
    // SAFETY: as above.
    unsafe { cudarc::cublas::sys::is_culib_present() }
}

/// The first missing library, if any.
pub(super) fn missing() -> Option<Error> {
    let needed = [
        (
            driver_present(),
            "libcuda.so.1",
            "it comes with NVIDIA's driver, so this machine has none or hides it",
        ),
        (
            nvrtc_present(),
            "libnvrtc.so",
            "install the CUDA toolkit or `pip install nvidia-cuda-nvrtc` and set LD_LIBRARY_PATH",
        ),
        (
            blas_present(),
            "libcublas.so",
            "install the CUDA toolkit or `pip install nvidia-cublas` and set LD_LIBRARY_PATH",
        ),
    ];
    let absent = needed.into_iter().find(|(present, ..)| !present);
    absent.map(|(_, library, hint)| Error::Missing { library, hint })
}
