//! Keeps the forwarded port open, over the connection that everything shares.

use std::io::Read;
use std::process::Child;
use std::time::{Duration, Instant};

use hotloop_flow::BenchError;

use crate::site::{Ssh, end};

/// The pause before it is opened again.
const PAUSE: Duration = Duration::from_secs(1);

pub(super) struct Tunnel {
    ssh: Ssh,
    port: u16,
    target: String,
    child: Option<Child>,
    again: Instant,
}

impl Tunnel {
    pub(super) fn new(ssh: Ssh, port: u16, target: String) -> Self {
        Self {
            ssh,
            port,
            target,
            child: None,
            again: Instant::now(),
        }
    }

    /// Opens it, and waits until it is up.
    pub(super) fn open(&mut self, patience: Duration) -> Result<(), BenchError> {
        let begin = Instant::now();
        self.child = Some(self.ssh.master(self.port, &self.target)?);
        loop {
            if self.ssh.is_up() {
                return Ok(());
            }
            let ended = self.ended();
            if ended.is_some() || begin.elapsed() >= patience {
                let why = ended.unwrap_or_else(|| "no connection in time".to_owned());
                return Err(
                    BenchError::machine(format!("ssh {}: {why}", self.ssh.host)).hint(format!(
                        "`ssh {}` must work without a password, and the port {} must be free here",
                        self.ssh.host, self.port
                    )),
                );
            }
            std::thread::sleep(Duration::from_millis(100));
        }
    }

    pub(super) fn is_up(&self) -> bool {
        self.child.is_some()
    }

    /// Reopens it if it has ended, and returns what happened.
    pub(super) fn tend(&mut self) -> Vec<String> {
        let mut said = Vec::new();
        if let Some(why) = self.ended() {
            said.push(format!("the tunnel has ended: {why}"));
            self.again = Instant::now() + PAUSE;
        }
        if self.child.is_none() && Instant::now() >= self.again {
            match self.open(Duration::from_secs(15)) {
                Ok(()) => said.push("the tunnel stands again".to_owned()),
                Err(error) => {
                    self.close();
                    self.again = Instant::now() + PAUSE;
                    said.push(error.what);
                }
            }
        }
        said
    }

    /// Why it has ended, if it just has.
    fn ended(&mut self) -> Option<String> {
        let child = self.child.as_mut()?;
        let status = child.try_wait().ok()??;
        let mut said = String::new();
        if let Some(stderr) = &mut child.stderr {
            // Reads whatever it printed.
            drop(stderr.read_to_string(&mut said));
        }
        self.child = None;
        let said = said.trim();
        Some(if said.is_empty() {
            status.to_string()
        } else {
            said.to_owned()
        })
    }

    pub(super) fn close(&mut self) {
        if let Some(mut child) = self.child.take() {
            end(&mut child, Duration::from_secs(5));
        }
    }
}

impl Drop for Tunnel {
    fn drop(&mut self) {
        self.close();
    }
}
