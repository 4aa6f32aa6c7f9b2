//! From the user's name for a fleet to a bench over it.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use hotloop_bench::Settings;
use hotloop_fleet::{Access, Config, FleetBench, Log, Opening, keeper};
use hotloop_flow::{Bench, Remedy};

use crate::failure::{Failure, advice};
use crate::progress::complain_beside;

/// Environment variables with the token and the certificate authority of a server that is given by
/// its address.
const TOKEN: &str = "HOTLOOP_FLEET_TOKEN";
const CA: &str = "HOTLOOP_FLEET_CA";
/// How long the server or all workers may be unreachable.
const PATIENCE: Duration = Duration::from_mins(2);

/// A fleet by its file, by an access file or by its server's address.
pub(crate) enum Named {
    /// It is described.
    Config(Box<Config>),
    /// The access data of its server.
    Access(Access),
}

/// Determines what kind of name the user gave.
pub(crate) fn named(text: &str) -> Result<Named, Failure> {
    if text.contains("://") {
        let token = std::env::var(TOKEN).unwrap_or_default();
        let ca = std::env::var_os(CA).map(Into::into);
        return Ok(Named::Access(Access {
            url: text.to_owned(),
            token,
            ca,
        }));
    }
    let path = Path::new(text);
    // Both are TOML; only an access file has a url.
    if let Ok(access) = Access::read(path) {
        return Ok(Named::Access(access));
    }
    Ok(Named::Config(Box::new(Config::read(path)?)))
}

/// How to reach the fleet's server.
fn access(text: &str) -> Result<Access, Failure> {
    match named(text)? {
        Named::Access(access) => Ok(access),
        Named::Config(config) => Ok(keeper::access(&config)?),
    }
}

/// A bench over a fleet. A second call with the same `scope` from the same machine attaches to the
/// jobs in progress. `spread` gives every job to any free worker.
pub(crate) fn open(
    text: &str,
    settings: Settings,
    scope: &str,
    spread: bool,
) -> Result<Box<dyn Bench>, Failure> {
    let read = |path: &str| std::fs::read_to_string(path).unwrap_or_default();
    let host = host(&read("/etc/machine-id"), &read("/proc/sys/kernel/hostname"));
    let opening = Opening {
        access: access(text)?,
        settings,
        scope: format!("{host} {scope}"),
        class: None,
        spread,
        patience: PATIENCE,
        log: log("fleet"),
    };
    Ok(Box::new(FleetBench::open(opening)?))
}

/// This host's name in the fleet. Containers have no machine id, or that of their image, but they
/// have host names.
fn host(machine_id: &str, name: &str) -> String {
    format!("{} {}", machine_id.trim(), name.trim())
}

/// A string that no other call returns.
pub(crate) fn unique() -> String {
    let now = std::time::SystemTime::UNIX_EPOCH
        .elapsed()
        .unwrap_or_default();
    format!("{} {}", std::process::id(), now.as_nanos())
}

/// Writes notices to standard error, each with `who` in front.
pub(crate) fn log(who: &'static str) -> Log {
    Arc::new(move |line: &str, remedies: &[Remedy]| {
        let line = advice(Some(line), remedies).unwrap_or_default();
        complain_beside(&format!("{who}: {line}"));
    })
}

/// No notices.
pub(crate) fn silent() -> Log {
    Arc::new(|_, _| {})
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_without_a_machine_id_differ_by_name() {
        assert_ne!(host("", "one\n"), host("", "two\n"));
        assert_ne!(
            host("0123\n", "one\n"),
            host("0123\n", "two\n"),
            "containers of one image"
        );
        assert_ne!(host("0123\n", "one\n"), host("4567\n", "one\n"));
    }
}
