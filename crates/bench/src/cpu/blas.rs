//! OpenBLAS, found and loaded at run time, with its core name asserted.
//!
//! Old builds do not know new CPUs and fall back to code that is several times too slow. A ratio to
//! that would be misleading. So the bench checks the core name and corrects it.
#![expect(unsafe_code, reason = "asks the library its core name")]

use std::convert::Infallible;
use std::ffi::{CStr, CString, c_char};
use std::path::{Path, PathBuf};
use std::process::Command;

use serde::{Deserialize, Serialize};

use crate::cache::Cache;
use crate::cpu::toolchain::cpu_flags;
use crate::kept::{self, Learned};

const NAMES: [&str; 4] = [
    "libopenblas.so.0",
    "libopenblas.so",
    "libopenblasp.so.0",
    "libopenblas64.so.0",
];
const FOLDERS: [&str; 8] = [
    "/usr/lib/x86_64-linux-gnu/openblas-pthread",
    "/usr/lib/x86_64-linux-gnu/openblas-openmp",
    "/usr/lib/x86_64-linux-gnu/openblas-serial",
    "/usr/lib/x86_64-linux-gnu",
    "/usr/lib64",
    "/usr/lib",
    "/usr/local/lib",
    "/opt/OpenBLAS/lib",
];
/// Names of code paths that use modern vector units.
const AVX512: [&str; 3] = ["SkylakeX", "Cooperlake", "SapphireRapids"];
const AVX2: [&str; 3] = ["Haswell", "Zen", "Broadwell"];

/// An OpenBLAS that can be trusted as a baseline.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct OpenBlas {
    /// The library.
    pub(crate) path: PathBuf,
    /// The code path that it uses on this CPU.
    pub(crate) core: String,
    /// The value of `OPENBLAS_CORETYPE` for that, if the library's own choice is worse.
    pub(crate) forced: Option<String>,
    /// The library's own choice.
    pub(crate) detected: String,
}

/// The role of a process that loads the library and prints its core name. The name is fixed at
/// load, so each choice needs a separate process.
pub(crate) fn print_core(library: &Path) -> i32 {
    match core_name(library) {
        Some(name) => {
            drop(std::io::Write::write_all(
                &mut std::io::stdout(),
                name.as_bytes(),
            ));
            0
        }
        None => 1,
    }
}

fn core_name(library: &Path) -> Option<String> {
    let path = CString::new(library.to_str()?).ok()?;
    // SAFETY: the library is the user's own, and the symbol's type is documented.
    unsafe {
        let handle = libc::dlopen(path.as_ptr(), libc::RTLD_NOW);
        if handle.is_null() || libc::dlsym(handle, c"cblas_dgemm".as_ptr()).is_null() {
            return None;
        }
        let symbol = libc::dlsym(handle, c"openblas_get_corename".as_ptr());
        if symbol.is_null() {
            return None;
        }
        let ask = std::mem::transmute::<*mut libc::c_void, unsafe extern "C" fn() -> *const c_char>(
            symbol,
        );
        Some(CStr::from_ptr(ask()).to_string_lossy().into_owned())
    }
}

fn ask(roles: &Path, library: &Path, core: Option<&str>) -> Option<String> {
    let mut command = Command::new(roles);
    command
        .arg(crate::role::names::BLAS_CORE)
        .arg(library)
        .env("OPENBLAS_NUM_THREADS", "1")
        .env_remove("OPENBLAS_CORETYPE");
    if let Some(core) = core {
        command.env("OPENBLAS_CORETYPE", core);
    }
    let output = command.stderr(std::process::Stdio::null()).output().ok()?;
    output
        .status
        .success()
        .then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// OpenBLAS from the cache where nothing has changed, else found.
pub(crate) fn known(cache: &Cache, roles: &Path) -> Option<OpenBlas> {
    let places = places();
    let mut name = blake3::Hasher::new();
    for place in &places {
        name.update(place.as_os_str().as_encoded_bytes());
        name.update(b"\0");
    }
    name.update(cpu_flags().as_bytes());
    let name = format!("openblas-{}", &name.finalize().to_hex()[..16]);
    let learn = || {
        Ok::<_, Infallible>(Learned {
            fact: find(roles),
            from: places,
        })
    };
    kept::fact(cache, &name, learn).unwrap_or(None)
}

/// Where OpenBLAS may be: the file named by `HOTLOOP_OPENBLAS`, else where systems put it.
fn places() -> Vec<PathBuf> {
    let named = std::env::var_os("HOTLOOP_OPENBLAS")
        .filter(|value| !value.is_empty())
        .map(PathBuf::from);
    let usual = FOLDERS
        .iter()
        .flat_map(|folder| NAMES.iter().map(move |name| Path::new(folder).join(name)));
    match named {
        Some(path) => vec![path],
        None => usual.collect(),
    }
}

/// Finds OpenBLAS: the file named by `HOTLOOP_OPENBLAS`, otherwise the usual places.
pub(crate) fn find(roles: &Path) -> Option<OpenBlas> {
    let (path, detected) = places()
        .into_iter()
        .filter(|path| path.exists())
        .find_map(|path| Some((path.clone(), ask(roles, &path, None)?)))?;
    let wanted: &[&str] = if std::arch::is_x86_feature_detected!("avx512f") {
        &AVX512
    } else if std::arch::is_x86_feature_detected!("avx2") {
        &AVX2
    } else {
        &[]
    };
    if wanted.is_empty() || wanted.contains(&detected.as_str()) {
        return Some(OpenBlas {
            path,
            core: detected.clone(),
            forced: None,
            detected,
        });
    }
    let forced = wanted
        .iter()
        .find(|core| ask(roles, &path, Some(core)).is_some_and(|name| name == **core));
    let core = forced.map_or_else(|| detected.clone(), |core| (*core).to_owned());
    Some(OpenBlas {
        path,
        core,
        forced: forced.map(|core| (*core).to_owned()),
        detected,
    })
}
