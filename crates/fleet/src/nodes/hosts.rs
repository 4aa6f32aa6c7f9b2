//! Workers that are processes of the keeper: on this machine, or on hosts through ssh.
//!
//! Each reads from the keeper and stops when its input ends. So whatever ends the keeper or the
//! connection also ends the worker, after it has finished its jobs.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use hotloop_flow::BenchError;

use super::launch::{Launcher, command, line};
use crate::config::{Config, Nodes};
use crate::site::{Side, Ssh, quote, wait};

/// What a worker on a host reads: how to reach the server, and whom to believe.
const FILES: [&str; 2] = ["worker.toml", "ca.pem"];

fn ssh(host: &str, config: Option<&PathBuf>) -> Ssh {
    Ssh {
        host: host.to_owned(),
        config: config.cloned(),
        control: None,
    }
}

fn there(host: &str, config: Option<&PathBuf>, folder: &str) -> Side {
    Side::There {
        ssh: ssh(host, config),
        folder: folder.to_owned(),
    }
}

/// Processes that are workers.
pub(super) struct Hosts {
    config: Config,
    program: String,
    way: Way,
    children: BTreeMap<String, Child>,
    ending: Vec<Child>,
}

enum Way {
    Local {
        access: String,
        cores: Vec<String>,
    },
    Ssh {
        hosts: Vec<String>,
        ssh_config: Option<PathBuf>,
        port: u16,
        folder: String,
    },
}

impl Hosts {
    pub(super) fn local(config: &Config, side: &Side, program: &str, cores: &[String]) -> Self {
        let access = format!("{}/worker.toml", side.folder());
        Self::new(
            config,
            program,
            Way::Local {
                access,
                cores: cores.to_vec(),
            },
        )
    }

    pub(super) fn ssh(config: &Config, nodes: &Nodes, program: &str) -> Self {
        let Nodes::Ssh {
            hosts,
            ssh_config,
            port,
            folder,
            hotloop,
        } = nodes
        else {
            return Self::new(
                config,
                program,
                Way::Local {
                    access: String::new(),
                    cores: Vec::new(),
                },
            );
        };
        let way = Way::Ssh {
            hosts: hosts.clone(),
            ssh_config: ssh_config.clone(),
            port: *port,
            folder: format!("{folder}/{}", config.name),
        };
        Self::new(config, hotloop.as_deref().unwrap_or(program), way)
    }

    fn new(config: &Config, program: &str, way: Way) -> Self {
        Self {
            config: config.clone(),
            program: program.to_owned(),
            way,
            children: BTreeMap::new(),
            ending: Vec::new(),
        }
    }

    fn words(&self, access: &str) -> Vec<String> {
        let mut words = command(&self.config, &self.program, access);
        words.push("--until-eof".to_owned());
        words
    }

    fn spawn(&mut self, id: String, mut command: Command) -> Result<String, BenchError> {
        let log = self.config.state.join("workers.log");
        let out = std::fs::File::options()
            .create(true)
            .append(true)
            .open(&log)
            .map_err(|error| BenchError::machine(format!("{}: {error}", log.display())))?;
        let copy = out
            .try_clone()
            .map_err(|error| BenchError::machine(error.to_string()))?;
        let child = command
            .stdin(Stdio::piped())
            .stdout(copy)
            .stderr(out)
            .spawn();
        let child = child.map_err(|error| BenchError::machine(format!("{id}: {error}")))?;
        let id = if id.is_empty() {
            child.id().to_string()
        } else {
            id
        };
        self.children.insert(id.clone(), child);
        Ok(id)
    }
}

impl Launcher for Hosts {
    fn start(&mut self, place: usize) -> Result<String, BenchError> {
        match &self.way {
            Way::Local { access, cores } => {
                let mut words = self.words(access);
                if let Some(cores) = cores.get(place) {
                    words.extend(["--cores".to_owned(), cores.clone()]);
                }
                let mut command = Command::new(&words[0]);
                command.args(&words[1..]);
                self.spawn(String::new(), command)
            }
            Way::Ssh {
                hosts,
                ssh_config,
                port,
                folder,
            } => {
                let host = hosts[place].clone();
                let side = there(&host, ssh_config.as_ref(), folder);
                let read = |name: &str| {
                    fs_err::read_to_string(self.config.state.join(name))
                        .map_err(|error| BenchError::machine(error.to_string()))
                };
                let [access_file, authority] = FILES;
                side.put(authority, &read(authority)?)?;
                let mut access: crate::Access = crate::Access::read(&self.config.access_file())?;
                access.url = format!("tls://127.0.0.1:{port}");
                access.ca = Some(authority.into());
                side.put(access_file, &access.text())?;
                let target = self.config.url().trim_start_matches("tls://").to_owned();
                let mut command = ssh(&host, ssh_config.as_ref()).command();
                command.args([
                    "-o",
                    "ExitOnForwardFailure=yes",
                    "-R",
                    &format!("127.0.0.1:{port}:{target}"),
                ]);
                command.arg(&host).arg(format!(
                    "exec {}",
                    line(&self.words(&format!("{folder}/worker.toml")))
                ));
                self.spawn(host, command)
            }
        }
    }

    fn living(&mut self, ids: &[String]) -> Result<Vec<String>, BenchError> {
        self.children
            .retain(|_, child| matches!(child.try_wait(), Ok(None)));
        Ok(ids
            .iter()
            .filter(|id| self.children.contains_key(*id))
            .cloned()
            .collect())
    }

    fn stop(&mut self, id: &str) -> Result<(), BenchError> {
        if let Some(mut child) = self.children.remove(id) {
            drop(child.stdin.take());
            self.ending.push(child);
        }
        Ok(())
    }

    fn clean(&mut self) -> Vec<String> {
        let Way::Ssh {
            hosts,
            ssh_config,
            folder,
            ..
        } = &self.way
        else {
            return Vec::new();
        };
        let files = FILES.map(|name| quote(&format!("{folder}/{name}")));
        // The folder may hold what others put there.
        let line = format!(
            "rm -f {}; rmdir {} 2>/dev/null || true",
            files.join(" "),
            quote(folder)
        );
        let remove = |host: &String| {
            let side = there(host, ssh_config.as_ref(), folder);
            let error = side.shell(&line).err()?;
            Some(format!(
                "token and certificate are left on {host}: {}",
                error.what
            ))
        };
        hosts.iter().filter_map(remove).collect()
    }

    fn finish(&mut self, patience: Duration) {
        for mut child in self.ending.drain(..) {
            if !wait(&mut child, patience) {
                drop(child.kill());
                drop(child.wait());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_worker_on_this_machine_ends_with_its_keeper() {
        let folder = tempfile::tempdir().unwrap();
        let config: Config = toml::from_str(&format!("state = {:?}", folder.path())).unwrap();
        let side = Side::Here {
            folder: folder.path().to_owned(),
        };
        // A program that behaves like a worker: it reads until its input ends.
        let program = folder.path().join("worker");
        std::fs::write(&program, "#!/bin/sh\necho \"$@\"\nexec cat\n").unwrap();
        std::fs::set_permissions(
            &program,
            std::os::unix::fs::PermissionsExt::from_mode(0o755),
        )
        .unwrap();
        let mut hosts = Hosts::local(&config, &side, program.to_str().unwrap(), &["3".to_owned()]);
        let id = hosts.start(0).unwrap();
        assert!(
            hosts
                .living(std::slice::from_ref(&id))
                .unwrap()
                .contains(&id)
        );
        hosts.stop(&id).unwrap();
        hosts.finish(Duration::from_secs(30));
        assert!(hosts.living(&[id]).unwrap().is_empty());
        let said = std::fs::read_to_string(folder.path().join("workers.log")).unwrap();
        for word in ["--until-eof", "--cores 3", "--lease 30", "worker.toml"] {
            assert!(said.contains(word), "{word}: {said}");
        }
    }
}
