//! The sandbox: its layers, and a report of those that are active here.
//!
//! | layer | what it stops | where it is missing |
//! |---|---|---|
//! | seccomp | system calls beyond memory, threads and time | nothing runs |
//! | Landlock | every file but the candidate's own object | files stay closed by a second seccomp filter |
//! | namespaces | shared memory of others, counting others' threads | the thread limit counts the whole user, and leaves room for others |
//! | watch | machine code hidden within instructions, where a stage forbids something | such code is not found |
//! | identity | root's power to pass limits | only root needs it |
//! | limits | memory, threads, files, processor time | never |

pub(crate) mod calls;
pub(crate) mod files;
pub(crate) mod limits;
pub(crate) mod namespaces;
pub(crate) mod rights;
pub(crate) mod user;

use serde::{Deserialize, Serialize};

use crate::sys;

/// A layer that a machine may lack.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Layer {
    /// Files by rule.
    Landlock,
    /// System calls by filter.
    Seccomp,
    /// User and IPC namespaces.
    Namespaces,
    /// A look at candidates as they run.
    Watch,
}

/// The layers that are active on this machine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "a layer is there or it is not"
)]
pub struct Layers {
    /// Landlock's version, if the kernel has it.
    pub landlock: Option<u32>,
    /// Whether seccomp filters can be installed.
    pub seccomp: bool,
    /// Whether an unprivileged process may make user namespaces.
    pub namespaces: bool,
    /// Whether the bench may look at its candidates as they run.
    pub watch: bool,
    /// Whether hotloop is root and therefore drops to an unprivileged user first.
    pub drops_root: bool,
}

impl Layers {
    /// Asks the kernel. `roles` is the executable that plays the bench's hidden roles.
    pub fn probe(roles: &std::path::Path, without: &[Layer]) -> Self {
        let has = |layer: Layer| !without.contains(&layer);
        Self {
            landlock: files::landlock_version().filter(|_| has(Layer::Landlock)),
            seccomp: calls::is_available() && has(Layer::Seccomp),
            namespaces: has(Layer::Namespaces) && namespaces::work(roles),
            watch: has(Layer::Watch) && sys::may_trace(),
            drops_root: sys::is_root(),
        }
    }

    /// The layers in words, as verdicts record them.
    pub fn names(&self) -> Vec<String> {
        let mut names = vec!["limits".to_owned()];
        if let Some(version) = self.landlock {
            names.push(format!("landlock-{version}"));
        }
        if self.seccomp {
            names.push("seccomp".into());
        }
        if self.namespaces {
            names.push("namespaces".into());
        }
        if self.watch {
            names.push("watch".into());
        }
        if self.drops_root {
            names.push("drops-root".into());
        }
        names
    }
}
