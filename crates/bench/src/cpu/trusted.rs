//! A task's trusted code, loaded into the supervisor: reference, check, point, baseline.
#![expect(
    unsafe_code,
    reason = "calls the task's own C code through the generated shim"
)]

use std::ffi::{CString, c_void};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

type Pointers = *const *mut c_void;

/// The functions of a task's trusted object.
pub(crate) struct Trusted {
    reference: unsafe extern "C" fn(Pointers),
    check: Option<unsafe extern "C" fn(Pointers, *const f64) -> f64>,
    point: Option<unsafe extern "C" fn(Pointers, libc::c_long) -> f64>,
}

/// A library's version of the task.
pub(crate) struct Baseline {
    call: unsafe extern "C" fn(Pointers),
}

fn open(path: &Path, flags: i32) -> Result<*mut c_void, String> {
    let name = CString::new(path.as_os_str().as_bytes()).map_err(|error| error.to_string())?;
    // SAFETY: trusted code, and handles stay open for the life of the supervisor.
    let handle = unsafe { libc::dlopen(name.as_ptr(), libc::RTLD_NOW | flags) };
    if handle.is_null() {
        Err(format!("{}: cannot be loaded", path.display()))
    } else {
        Ok(handle)
    }
}

fn symbol(handle: *mut c_void, name: &str) -> Result<*mut c_void, String> {
    let text = CString::new(name).map_err(|error| error.to_string())?;
    // SAFETY: a live handle and a C string.
    let address = unsafe { libc::dlsym(handle, text.as_ptr()) };
    if address.is_null() {
        Err(format!("the object lacks `{name}`"))
    } else {
        Ok(address)
    }
}

impl Trusted {
    /// Loads the object that was built from `reference.c` and its shim.
    pub(crate) fn load(path: &Path) -> Result<Self, String> {
        let handle = open(path, libc::RTLD_LOCAL)?;
        // SAFETY: the shim declares these symbols with these types.
        unsafe {
            let asks = |name| {
                let has: unsafe extern "C" fn() -> i32 = std::mem::transmute(symbol(handle, name)?);
                Ok::<bool, String>(has() != 0)
            };
            let check = symbol(handle, "hotloop_check")?;
            let point = symbol(handle, "hotloop_point")?;
            Ok(Self {
                reference: std::mem::transmute::<*mut c_void, unsafe extern "C" fn(Pointers)>(
                    symbol(handle, "hotloop_reference")?,
                ),
                check: asks("hotloop_has_check")?.then(|| {
                    std::mem::transmute::<
                        *mut c_void,
                        unsafe extern "C" fn(Pointers, *const f64) -> f64,
                    >(check)
                }),
                point: asks("hotloop_has_point")?.then(|| {
                    std::mem::transmute::<
                        *mut c_void,
                        unsafe extern "C" fn(Pointers, libc::c_long) -> f64,
                    >(point)
                }),
            })
        }
    }

    /// Writes the correct values and scales. There is one pointer per argument, and outputs are
    /// followed by their scale.
    pub(crate) fn reference(&self, pointers: &[*mut c_void]) {
        // SAFETY: the caller lays out pointers as the shim reads them.
        unsafe { (self.reference)(pointers.as_ptr()) };
    }

    /// The worst error by random projection, in units of scale.
    pub(crate) fn check(&self, pointers: &[*mut c_void], vector: &[f64]) -> Option<f64> {
        // SAFETY: as above, and the vector has the length that the task declares.
        self.check
            .map(|check| unsafe { check(pointers.as_ptr(), vector.as_ptr()) })
    }

    /// The correct value of element `index` of the first output.
    pub(crate) fn point(&self, pointers: &[*mut c_void], index: usize) -> Option<f64> {
        // SAFETY: as above, and the index is within the output.
        self.point
            .map(|point| unsafe { point(pointers.as_ptr(), index as libc::c_long) })
    }
}

impl Baseline {
    /// Loads the library and the object that was built from `baseline.c`.
    pub(crate) fn load(library: &Path, path: &Path) -> Result<Self, String> {
        open(library, libc::RTLD_GLOBAL)?;
        let handle = open(path, libc::RTLD_LOCAL)?;
        let call = symbol(handle, "hotloop_call")?;
        // SAFETY: the shim declares this symbol with this type.
        Ok(Self {
            call: unsafe {
                std::mem::transmute::<*mut c_void, unsafe extern "C" fn(Pointers)>(call)
            },
        })
    }

    /// Calls it with one pointer per argument.
    pub(crate) fn call(&self, pointers: &[*mut c_void]) {
        // SAFETY: as in `Trusted::reference`.
        unsafe { (self.call)(pointers.as_ptr()) };
    }
}
