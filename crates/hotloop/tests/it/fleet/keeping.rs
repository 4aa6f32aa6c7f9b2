//! How a keeper handles jobs that ended, jobs that only seem to have ended, and jobs that an
//! earlier keeper left.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::cluster::{Slurm, Sshd, free_port};
use super::{Fleet, LONG, REHEARSE, is_running, local, ready, site, tunnel};
use crate::turn;

impl Fleet {
    fn state(&self) -> PathBuf {
        self.folder.path().join("test.fleet")
    }

    /// Ends the keeper as a crash would, and leaves the processes that it started running.
    fn crash(&self) {
        kill(self.status()["keeper"]["pid"].as_u64().unwrap());
        self.wait_until("nobody keeps it", |status| status["kept"] == false);
    }
}

fn kill(pid: u64) {
    assert!(
        Command::new("kill")
            .args(["-9", &pid.to_string()])
            .status()
            .unwrap()
            .success()
    );
}

fn number(path: &Path) -> u64 {
    std::fs::read_to_string(path)
        .unwrap_or_default()
        .trim()
        .parse()
        .unwrap_or(0)
}

fn wait_for(what: &str, fleet: &Fleet, mut holds: impl FnMut() -> bool) {
    let begin = Instant::now();
    while !holds() {
        assert!(
            begin.elapsed() < LONG,
            "not within {LONG:?}: {what}: {}",
            fleet.log()
        );
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn notes(status: &Value) -> String {
    status["keeper"]["notes"].to_string()
}

#[test]
fn a_server_that_was_found_is_started_again_when_it_ends() {
    let Some(fleet) = Fleet::new(&local(free_port(), 1, REHEARSE)) else {
        return;
    };
    fleet.up();
    fleet.crash();
    fleet.up();
    fleet.wait_until("the server is found", |status| {
        notes(status).contains("found a server")
    });
    let server = || number(&fleet.state().join("nats.pid"));
    let found = server();
    kill(found);
    fleet.wait_until("another answers", |status| {
        status["problem"].is_null()
            && ready(status) == 1
            && server() != found
            && is_running(&server().to_string())
    });
    fleet.down();
    assert!(!is_running(&server().to_string()), "it ends with the fleet");
}

#[test]
fn a_record_that_cannot_be_written_ends_no_fleet() {
    let Some(fleet) = Fleet::new(&local(free_port(), 1, REHEARSE)) else {
        return;
    };
    fleet.up();
    let status = fleet.wait_until("the worker is heard", |status| ready(status) == 1);
    // As on a full disk, no new file can be created under this name.
    let blocked = fleet.state().join("fleet.json.new");
    wait_for("the name is free", &fleet, || {
        std::fs::create_dir(&blocked).is_ok()
    });
    wait_for("it is told", &fleet, || {
        assert_eq!(fleet.status()["kept"], true, "{}", fleet.log());
        fleet.log().contains("fleet.json cannot be written")
    });
    kill(status["workers"][0]["pid"].as_u64().unwrap());
    std::fs::remove_dir(&blocked).unwrap();
    fleet.wait_until("the worker is replaced", |status| {
        status["keeper"]["replaced"] == 1 && ready(status) == 1
    });
    fleet.down();
}

/// A program for [`Sshd::force`] that loses every third command while a file `flaky` exists next to
/// it.
fn flaky(sshd: &Sshd) -> PathBuf {
    let at = sshd.folder.path().display();
    let program = sshd.folder.path().join("forced");
    let text = format!(
        "#!/bin/sh\nif [ -e {at}/flaky ]; then\n  n=$(( ($(cat {at}/count 2>/dev/null || echo 0) + 1) % 3 ))\n  \
         echo $n >{at}/count\n  [ $n = 1 ] && {{ echo 'the connection is lost' >&2; exit 255; }}\nfi\n\
         exec sh -c \"$SSH_ORIGINAL_COMMAND\"\n"
    );
    std::fs::write(&program, text).unwrap();
    std::fs::set_permissions(&program, PermissionsExt::from_mode(0o755)).unwrap();
    program
}

#[test]
fn a_server_behind_an_ssh_that_fails_now_and_then_is_not_started_twice() {
    let Some(sshd) = Sshd::start(&[]) else { return };
    sshd.force(&flaky(&sshd));
    let text = site(&sshd, "", 1, REHEARSE);
    let (text, _) = text.split_once("[[nodes]]").unwrap();
    let nodes = "kind = \"command\"\nlist = \"ls /proc\"\nstop = \"kill {id}\"\n\
                 start = \"setsid sh -c {command} </dev/null >/dev/null 2>&1 & echo $!\"\n";
    let Some(fleet) = Fleet::new(&format!("{text}[[nodes]]\n{nodes}")) else {
        return;
    };
    fleet.up();
    let server = || number(&sshd.folder.path().join("there/test/nats.pid"));
    let started = server();
    assert!(is_running(&started.to_string()), "{}", fleet.log());
    std::fs::write(sshd.folder.path().join("flaky"), "").unwrap();
    let status = fleet.wait_until("it could not be looked at", |status| {
        notes(status).contains("the server ")
    });
    std::fs::remove_file(sshd.folder.path().join("flaky")).unwrap();
    assert!(!notes(&status).contains("has ended"), "{status}");
    assert_eq!(server(), started);
    fleet.down();
    wait_for("the server ends with the fleet", &fleet, || {
        !is_running(&started.to_string())
    });
}

#[test]
fn jobs_of_two_pools_are_taken_over_each_by_its_own_and_suspended_ones_are_not_replaced() {
    let Some(slurm) = Slurm::start() else { return };
    let Some(sshd) = Sshd::start(&[("SLURM_CONF", slurm.conf().to_str().unwrap())]) else {
        return;
    };
    let text = site(&sshd, "00:30:00", 1, REHEARSE);
    let (_, nodes) = text.split_once("[[nodes]]").unwrap();
    let Some(fleet) = Fleet::new(&format!("{text}[[nodes]]{nodes}")) else {
        return;
    };
    fleet.up();
    let ids = |status: &Value| -> Vec<String> {
        let nodes = status["keeper"]["nodes"].as_array().unwrap();
        nodes
            .iter()
            .map(|node| node["id"].as_str().unwrap().to_owned())
            .collect()
    };
    let before = ids(&fleet.wait_until("both pools work", |status| {
        ready(status) == 2 && ids(status).len() == 2
    }));
    fleet.crash();
    fleet.up();
    slurm.suspend(&before[0]);
    slurm.cancel(&before[1]);
    // The keeper checks pools in order. So when the second pool has replaced its job, the first was
    // checked, too.
    let after = fleet.wait_until("the cancelled job is replaced", |status| {
        ids(status).len() == 2 && !before.contains(&ids(status)[1])
    });
    slurm.resume(&before[0]);
    assert_eq!(
        (&ids(&after)[0], &after["keeper"]["replaced"]),
        (&before[0], &1.into()),
        "{}",
        fleet.log()
    );
    assert!(
        !fleet.log().contains("the tunnel has ended"),
        "the port is the new keeper's: {}",
        fleet.log()
    );
    fleet.down();
    assert_eq!(tunnel(&sshd), None, "nor is the old tunnel left");
    wait_for("no job is left", &fleet, || slurm.jobs().is_empty());
}

#[test]
fn up_returns_soon_and_says_what_is_not_up_and_why() {
    // One worker starts, and another's scheduler is not there.
    let text = format!(
        "{}[[nodes]]\nkind = \"command\"\nstart = \"no-such-scheduler {{command}}\"\nlist = \"true\"\nstop = \"true {{id}}\"\n",
        local(free_port(), 1, REHEARSE)
    );
    let Some(fleet) = Fleet::new(&text) else {
        return;
    };
    let _turn = turn();
    let (status, out, error) = fleet.command("up", &[]);
    assert_eq!(status, 0, "{out}{error}");
    for words in ["1 of 2 nodes", "no-such-scheduler", "Not started: 1 node"] {
        assert!(out.contains(words), "{words}: {out}{error}");
    }
    fleet.down();
}

#[test]
fn up_returns_soon_and_says_that_a_machine_is_not_calm() {
    let text = local(free_port(), 1, "arguments = [\"--rehearse=0.2\"]")
        .replace("calm = 0.0", "calm = 0.5");
    let Some(fleet) = Fleet::new(&text) else {
        return;
    };
    let _turn = turn();
    let (status, out, error) = fleet.command("up", &["--wait", "200"]);
    assert_eq!(status, 3, "no worker is ready: {out}{error}");
    for words in [
        "not quiet: 20 % of probes were calm, and worker.calm asks for 50 %",
        "lower `calm` under [worker]",
    ] {
        // A table wraps between words.
        let plain: Vec<&str> = out.split_whitespace().collect();
        assert!(plain.join(" ").contains(words), "{words}: {out}{error}");
    }
    fleet.down();
}
