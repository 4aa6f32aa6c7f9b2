//! Landlock: the files that a confined process may access.

use std::path::{Path, PathBuf};

use landlock::{
    ABI, Access, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible, PathBeneath, PathFd,
    Ruleset, RulesetAttr, RulesetCreated, RulesetCreatedAttr, RulesetError, Scope,
};
use serde::{Deserialize, Serialize};

/// The files that a confined process may access. All others are closed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct OpenFiles {
    /// Files and folders that may be read.
    pub(crate) read: Vec<PathBuf>,
    /// Files and folders that may be read and executed.
    pub(crate) execute: Vec<PathBuf>,
    /// Folders that may be written.
    pub(crate) write: Vec<PathBuf>,
}

/// Landlock's version on this kernel.
pub(crate) fn landlock_version() -> Option<u32> {
    crate::sandbox::calls::landlock_version()
}

/// Closes all files but `open` to this thread and those it starts.
pub(crate) fn confine(open: &OpenFiles) -> Result<(), String> {
    // Best effort: rules of later versions apply if the kernel supports them.
    let newest = ABI::V6;
    let explain = |error: RulesetError| format!("landlock: {error}");
    let mut rules = Ruleset::default()
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(AccessFs::from_all(newest))
        .and_then(|rules| rules.handle_access(AccessNet::from_all(newest)))
        .and_then(|rules| rules.scope(Scope::from_all(newest)))
        .and_then(Ruleset::create)
        .map_err(explain)?;
    let read = AccessFs::ReadFile | AccessFs::ReadDir;
    for path in &open.read {
        rules = allow(rules, path, read)?;
    }
    for path in &open.execute {
        rules = allow(rules, path, read | AccessFs::Execute)?;
    }
    for path in &open.write {
        rules = allow(
            rules,
            path,
            AccessFs::from_all(newest) & !BitFlags::from(AccessFs::Execute),
        )?;
    }
    rules.restrict_self().map_err(explain)?;
    Ok(())
}

fn allow(
    rules: RulesetCreated,
    path: &Path,
    access: BitFlags<AccessFs>,
) -> Result<RulesetCreated, String> {
    // A missing path needs no rule. Compilers name folders that some systems lack.
    let Ok(fd) = PathFd::new(path) else {
        return Ok(rules);
    };
    // The kernel refuses folder rights on a plain file.
    let access = if path.is_dir() {
        access
    } else {
        access & AccessFs::from_file(ABI::V6)
    };
    rules
        .add_rule(PathBeneath::new(fd, access))
        .map_err(|error| format!("landlock: {}: {error}", path.display()))
}
