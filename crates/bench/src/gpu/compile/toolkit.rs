//! The CUDA toolkit of this machine: NVRTC, its headers, and nvcc.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::sys;

/// How to get what is missing.
pub(super) const GET: &str = "install the CUDA toolkit, or `pip install nvidia-cuda-nvrtc nvidia-cuda-runtime \
     nvidia-cuda-cccl nvidia-cuda-crt` and set LD_LIBRARY_PATH to the folder of libnvrtc";

/// What was found.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Toolkit {
    /// NVRTC's library.
    pub(crate) nvrtc: Option<PathBuf>,
    /// The folders with NVIDIA's headers; none if half precision's are in none.
    pub(crate) headers: Vec<PathBuf>,
    pub(crate) nvcc: Option<PathBuf>,
}

impl Toolkit {
    /// Looks where toolkits and Python packages put them. The first NVRTC counts.
    pub(crate) fn find() -> Self {
        let path = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
        let paths = |name: &str| -> Vec<PathBuf> {
            path(name).map_or_else(Vec::new, |value| std::env::split_paths(&value).collect())
        };
        let mut roots: Vec<PathBuf> = ["CUDA_HOME", "CUDA_PATH"]
            .into_iter()
            .filter_map(path)
            .map(PathBuf::from)
            .collect();
        roots.push("/usr/local/cuda".into());
        let mut versions = children(Path::new("/usr/local"), "cuda-");
        versions.reverse();
        roots.extend(versions);
        let mut libraries = paths("LD_LIBRARY_PATH");
        libraries.extend(roots.iter().flat_map(|root| {
            ["lib64", "lib", "targets/x86_64-linux/lib"].map(|folder| root.join(folder))
        }));
        libraries.extend(of_python(path("VIRTUAL_ENV"), path("HOME")));
        libraries
            .extend(["/usr/lib/x86_64-linux-gnu", "/usr/lib64", "/usr/lib"].map(PathBuf::from));
        Self::among(&libraries, &roots, &paths("PATH"))
    }

    /// Looks in folders of libraries, then in whole toolkits.
    fn among(libraries: &[PathBuf], roots: &[PathBuf], programs: &[PathBuf]) -> Self {
        let nvrtc = libraries.iter().find_map(|folder| library(folder));
        let beside = nvrtc.as_deref().and_then(Path::parent).map(headers_beside);
        let of_roots = roots.iter().flat_map(|root| {
            [
                root.join("include"),
                root.join("targets/x86_64-linux/include"),
            ]
        });
        let mut headers = beside.unwrap_or_default();
        headers.extend(of_roots);
        let base = headers
            .iter()
            .position(|folder| folder.join("cuda_fp16.h").exists());
        let headers = base.map_or_else(Vec::new, |base| {
            let base = headers[base].clone();
            let mut found = with_library(&base);
            if !base.join("crt/mma.h").exists() || !found.iter().any(|one| has_library(one)) {
                found.extend(
                    headers
                        .iter()
                        .filter(|one| **one != base)
                        .flat_map(|one| with_library(one)),
                );
            }
            found.retain(|folder| folder.is_dir());
            found
        });
        // An nvcc of NVRTC's own version comes first: a package of Python's lies beside it.
        let own = nvrtc
            .as_deref()
            .and_then(|library| library.parent()?.parent());
        let commands = own
            .into_iter()
            .chain(roots.iter().map(PathBuf::as_path))
            .map(|root| root.join("bin"))
            .chain(programs.iter().cloned());
        let nvcc = commands.map(|folder| folder.join("nvcc")).find(|command| {
            // A confined compiler is a user with no rights of its own.
            let is_open = !sys::is_root() || sys::closed_to_others(command).is_none();
            command.is_file() && is_open
        });
        Self {
            nvrtc,
            headers,
            nvcc,
        }
    }
}

/// A folder of headers and, where it lies in a folder of its own, NVIDIA's C++ library.
fn with_library(folder: &Path) -> Vec<PathBuf> {
    let mut folders = vec![folder.to_owned()];
    let inside = folder.join("cccl");
    if has_library(&inside) {
        folders.push(inside);
    }
    folders
}

fn has_library(folder: &Path) -> bool {
    folder.join("cuda/std").is_dir()
}

/// The newest NVRTC in a folder.
fn library(folder: &Path) -> Option<PathBuf> {
    let name = |path: &PathBuf| {
        path.file_name()
            .map(|name| name.to_string_lossy().into_owned())
    };
    let mut found = children(folder, "libnvrtc.so");
    found.sort_by_key(|path| {
        let name = name(path).unwrap_or_default();
        let version = name
            .trim_start_matches("libnvrtc.so")
            .trim_start_matches('.');
        let numbers: Vec<u32> = version
            .split('.')
            .filter_map(|one| one.parse().ok())
            .collect();
        numbers
    });
    found.pop()
}

/// The folders in which headers lie beside a folder of libraries, by toolkit and by package.
fn headers_beside(libraries: &Path) -> Vec<PathBuf> {
    let above = |levels: usize| libraries.ancestors().nth(levels).map(Path::to_owned);
    let mut folders: Vec<PathBuf> = above(1)
        .into_iter()
        .map(|root| root.join("include"))
        .collect();
    // Older packages have a folder each.
    let packages = ["cuda_runtime", "cuda_cccl", "cuda_nvcc", "cuda_crt"];
    folders.extend(
        above(2)
            .into_iter()
            .flat_map(|root| packages.map(|package| root.join(package).join("include"))),
    );
    folders.retain(|folder| folder != Path::new("/usr/include"));
    folders
}

/// The folders of libraries of NVIDIA's Python packages.
fn of_python(
    environment: Option<std::ffi::OsString>,
    home: Option<std::ffi::OsString>,
) -> Vec<PathBuf> {
    let roots = environment
        .map(PathBuf::from)
        .into_iter()
        .chain(home.map(|home| PathBuf::from(home).join(".local")));
    roots
        .flat_map(|root| children(&root.join("lib"), "python3"))
        .map(|python| python.join("site-packages/nvidia"))
        .flat_map(|nvidia| ["cu13/lib", "cuda_nvrtc/lib"].map(|folder| nvidia.join(folder)))
        .collect()
}

/// What begins with `start` in a folder, sorted by name.
fn children(folder: &Path, start: &str) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(folder) else {
        return Vec::new();
    };
    let mut found: Vec<PathBuf> = entries
        .filter_map(Result::ok)
        .filter(|entry| entry.file_name().to_string_lossy().starts_with(start))
        .map(|entry| entry.path())
        .collect();
    found.sort();
    found
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn with(files: &[&str]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        let everybody = || std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(folder.path(), everybody()).unwrap();
        for file in files {
            let path = folder.path().join(file);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(&path, "").unwrap();
            std::fs::set_permissions(path, everybody()).unwrap();
        }
        folder
    }

    #[test]
    fn a_package_has_its_headers_beside_its_library() {
        let folder = with(&[
            "cu13/lib/libnvrtc.so.12",
            "cu13/lib/libnvrtc.so.13",
            "cu13/lib/libnvrtc-builtins.so.13.2",
            "cu13/include/cuda_fp16.h",
            "cu13/include/crt/mma.h",
            "cu13/include/cccl/cuda/std/cmath",
        ]);
        let root = folder.path().join("cu13");
        let found = Toolkit::among(&[root.join("lib")], &[], &[]);
        assert_eq!(found.nvrtc, Some(root.join("lib/libnvrtc.so.13")));
        assert_eq!(
            found.headers,
            [root.join("include"), root.join("include/cccl")]
        );
        assert_eq!(found.nvcc, None);
    }

    #[test]
    fn older_packages_and_whole_toolkits_are_found() {
        let folder = with(&[
            "cuda_nvrtc/lib/libnvrtc.so.12",
            "cuda_runtime/include/cuda_fp16.h",
            "cuda_nvcc/include/crt/mma.h",
            "cuda_cccl/include/cuda/std/cmath",
        ]);
        let found = Toolkit::among(&[folder.path().join("cuda_nvrtc/lib")], &[], &[]);
        let names = ["cuda_runtime", "cuda_cccl", "cuda_nvcc"];
        let expected = names.map(|name| folder.path().join(name).join("include"));
        assert_eq!(found.headers, expected);
        let folder = with(&[
            "cuda/lib64/libnvrtc.so",
            "cuda/include/cuda_fp16.h",
            "cuda/include/crt/mma.h",
            "cuda/include/cuda/std/cmath",
            "cuda/bin/nvcc",
        ]);
        let root = folder.path().join("cuda");
        let found = Toolkit::among(&[root.join("lib64")], std::slice::from_ref(&root), &[]);
        assert_eq!(found.nvcc, Some(root.join("bin/nvcc")));
        let closed = std::fs::Permissions::from_mode(0o700);
        std::fs::set_permissions(root.join("bin"), closed).unwrap();
        let found = Toolkit::among(&[root.join("lib64")], std::slice::from_ref(&root), &[]);
        assert_eq!(
            found.nvcc.is_none(),
            sys::is_root(),
            "root's own is closed to others"
        );
        assert_eq!(found.headers, [root.join("include")]);
        assert_eq!(Toolkit::among(&[], &[], &[]), Toolkit::default());
    }
}
