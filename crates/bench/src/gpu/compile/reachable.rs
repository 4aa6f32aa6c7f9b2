//! Headers that compilers can reach.
//!
//! Root's compilers run as other users. Where a toolkit lies in a folder that is closed to them, as
//! packages in root's home do, they read copies of its headers in the cache.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use hotloop_flow::BenchError;

use crate::cache::{Cache, own_end};
use crate::sys;

/// The folders of headers as compilers can reach them.
pub(super) fn reachable(folders: &[PathBuf], cache: &Cache) -> Result<Vec<PathBuf>, BenchError> {
    if !sys::is_root() {
        return Ok(folders.to_vec());
    }
    folders
        .iter()
        .map(|folder| {
            if sys::closed_to_others(folder).is_some() {
                copied(folder, cache)
            } else {
                Ok(folder.clone())
            }
        })
        .collect()
}

/// The copy of a folder of headers, made once for each state of it.
fn copied(folder: &Path, cache: &Cache) -> Result<PathBuf, BenchError> {
    let failed = |error: std::io::Error| {
        BenchError::machine(format!("the CUDA headers cannot be copied: {error}")).hint(
            sys::remedy(
                &error,
                "free some space, or set HOTLOOP_CACHE to a folder with room",
            ),
        )
    };
    let changed = folder
        .metadata()
        .and_then(|data| data.modified())
        .map_err(failed)?;
    let state = format!("{} {changed:?}", folder.display());
    let hash = blake3::hash(state.as_bytes()).to_hex();
    let target = cache.path(&format!("cuda-headers-{}", &hash[..16]));
    if target.is_dir() {
        return Ok(target);
    }
    let partial = cache.path(&format!(".cuda-headers-{}.{}", &hash[..16], own_end()));
    let made = copy(folder, &partial).and_then(|()| match fs_err::rename(&partial, &target) {
        // Another bench was faster.
        Err(_) if target.is_dir() => fs_err::remove_dir_all(&partial),
        renamed => renamed,
    });
    made.map_err(|error| {
        drop(std::fs::remove_dir_all(&partial));
        failed(error)
    })?;
    Ok(target)
}

fn copy(from: &Path, to: &Path) -> std::io::Result<()> {
    fs_err::create_dir(to)?;
    fs_err::set_permissions(to, std::fs::Permissions::from_mode(0o755))?;
    for entry in fs_err::read_dir(from)? {
        let entry = entry?;
        let (kind, target) = (entry.file_type()?, to.join(entry.file_name()));
        if kind.is_dir() {
            copy(&entry.path(), &target)?;
        } else if entry.path().is_file() {
            fs_err::copy(entry.path(), &target)?;
            fs_err::set_permissions(&target, std::fs::Permissions::from_mode(0o644))?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_in_a_closed_folder_are_copied_once() {
        let (folder, cache) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let headers = folder.path().join("include");
        std::fs::create_dir_all(headers.join("crt")).unwrap();
        std::fs::write(headers.join("crt/mma.h"), "text").unwrap();
        let closed = std::fs::Permissions::from_mode(0o700);
        std::fs::set_permissions(folder.path(), closed).unwrap();
        assert_eq!(
            sys::closed_to_others(&headers).as_deref(),
            Some(folder.path())
        );
        assert_eq!(sys::closed_to_others(Path::new("/usr")), None);
        let cache = Cache::at(cache.path());
        let copy = copied(&headers, &cache).unwrap();
        assert_eq!(
            std::fs::read_to_string(copy.join("crt/mma.h")).unwrap(),
            "text"
        );
        std::fs::write(copy.join("mark"), "").unwrap();
        assert_eq!(copied(&headers, &cache).unwrap(), copy);
        assert!(copy.join("mark").exists(), "it was not made again");
    }
}
