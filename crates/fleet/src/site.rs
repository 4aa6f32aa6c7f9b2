//! The benchmark side: this machine, or one that ssh can reach.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use hotloop_flow::BenchError;

use crate::config;

/// How often a connection is told to end.
const ENDING: u32 = 50;

/// How to run something on a host through ssh.
#[derive(Debug, Clone)]
pub(crate) struct Ssh {
    pub(crate) host: String,
    pub(crate) config: Option<PathBuf>,
    /// The socket of the shared connection.
    pub(crate) control: Option<PathBuf>,
}

impl Ssh {
    pub(crate) fn command(&self) -> Command {
        let mut command = Command::new("ssh");
        if let Some(config) = &self.config {
            command.arg("-F").arg(config);
        }
        // Nobody can type a password, and a dead peer must be noticed.
        for option in [
            "BatchMode=yes",
            "ConnectTimeout=15",
            "ServerAliveInterval=5",
            "ServerAliveCountMax=3",
        ] {
            command.args(["-o", option]);
        }
        if let Some(control) = &self.control {
            command.arg("-S").arg(control);
        }
        command
    }

    /// The shared connection with a forwarded port. It lives as long as the process.
    pub(crate) fn master(&self, port: u16, target: &str) -> Result<Child, BenchError> {
        if let Some(control) = &self.control {
            // The connection of a killed keeper is still alive and holds the port.
            for _ in 0..ENDING {
                if !self.tell("exit") {
                    break;
                }
                std::thread::sleep(Duration::from_millis(100));
            }
            // A killed connection leaves its socket behind, and the next one would refuse to share.
            drop(std::fs::remove_file(control));
        }
        let mut command = self.command();
        command.args(["-M", "-N", "-o", "ExitOnForwardFailure=yes", "-L"]);
        command
            .arg(format!("127.0.0.1:{port}:{target}"))
            .arg(&self.host);
        command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|error| {
                BenchError::machine(format!("ssh: {error}")).hint("install an OpenSSH client")
            })
    }

    /// Whether the shared connection is up.
    pub(crate) fn is_up(&self) -> bool {
        self.tell("check")
    }

    /// Sends a command to the shared connection, and returns whether it was up.
    fn tell(&self, what: &str) -> bool {
        let mut command = self.command();
        command.args(["-O", what]).arg(&self.host);
        command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()
            .is_ok_and(|s| s.success())
    }
}

/// The machine that runs the server and submits jobs.
#[derive(Debug, Clone)]
pub(crate) enum Side {
    /// This machine.
    Here {
        /// The folder of its files.
        folder: PathBuf,
    },
    /// A host.
    There {
        ssh: Ssh,
        /// The folder of its files, absolute.
        folder: String,
    },
}

impl Side {
    /// The folder of the server's and the workers' files.
    pub(crate) fn folder(&self) -> String {
        match self {
            Self::Here { folder } => folder.display().to_string(),
            Self::There { folder, .. } => folder.clone(),
        }
    }

    /// Runs a shell line, and returns its output or its error.
    pub(crate) fn shell(&self, line: &str) -> Result<String, BenchError> {
        self.shell_with(line, "")
    }

    /// The same, with input.
    pub(crate) fn shell_with(&self, line: &str, input: &str) -> Result<String, BenchError> {
        let command = match self {
            Self::Here { .. } => {
                let mut command = Command::new("sh");
                command.args(["-c", line]);
                command
            }
            Self::There { ssh, .. } => {
                let mut command = ssh.command();
                command.arg(&ssh.host).arg(line);
                command
            }
        };
        run(command, input).map_err(|why| match self {
            Self::Here { .. } => BenchError::machine(format!("`{line}`: {why}")),
            Self::There { ssh, .. } => {
                BenchError::machine(format!("{}: `{line}`: {why}", ssh.host))
                    .hint(format!("try it by hand: ssh {} true", ssh.host))
            }
        })
    }

    /// Writes a file that only its owner may read.
    pub(crate) fn put(&self, name: &str, text: &str) -> Result<(), BenchError> {
        match self {
            Self::Here { folder } => crate::server::write(folder, &[(name, text.to_owned())]),
            Self::There { folder, .. } => {
                let path = quote(&format!("{folder}/{name}"));
                let line = format!(
                    "umask 077; mkdir -p {}; rm -f {path}; cat > {path}",
                    quote(folder)
                );
                self.shell_with(&line, text).map(drop)
            }
        }
    }
}

/// The benchmark side of a fleet over ssh.
pub(crate) fn ssh(site: &config::Site, state: &Path) -> Ssh {
    Ssh {
        host: site.ssh.clone(),
        config: site.ssh_config.clone(),
        control: Some(control(&std::env::temp_dir(), state)),
    }
}

/// The longest path of a shared connection's socket. The kernel allows 107 bytes, and ssh adds 17
/// for a moment.
const SOCKET: usize = 90;

/// The socket of the shared connection, in `folder` unless its path is too long there.
fn control(folder: &Path, state: &Path) -> PathBuf {
    let hash = crate::wire::hash(&[&state.display().to_string()]);
    let name = format!("hotloop-ssh-{}", &hash[..12]);
    let path = folder.join(&name);
    if path.as_os_str().len() <= SOCKET {
        return path;
    }
    Path::new("/tmp").join(name)
}

fn run(mut command: Command, input: &str) -> Result<String, String> {
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| error.to_string())?;
    if let Some(mut stdin) = child.stdin.take() {
        // A program that does not read its input reports the reason itself.
        drop(stdin.write_all(input.as_bytes()));
    }
    let output = child
        .wait_with_output()
        .map_err(|error| error.to_string())?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_owned();
    if output.status.success() {
        return Ok(text(&output.stdout));
    }
    let said = text(&output.stderr);
    Err(if said.is_empty() {
        output.status.to_string()
    } else {
        said
    })
}

/// A word for a shell.
pub(crate) fn quote(word: &str) -> String {
    format!("'{}'", word.replace('\'', "'\\''"))
}

/// Waits for a process up to `patience`, and returns whether it has ended.
pub(crate) fn wait(child: &mut Child, patience: Duration) -> bool {
    let begin = std::time::Instant::now();
    loop {
        match child.try_wait() {
            Ok(Some(_)) | Err(_) => return true,
            Ok(None) if begin.elapsed() >= patience => return false,
            Ok(None) => std::thread::sleep(Duration::from_millis(50)),
        }
    }
}

/// Asks a child process to end, and kills it after a while.
pub(crate) fn end(child: &mut Child, patience: Duration) {
    // The process was not reaped yet, so its number is still valid.
    drop(
        Command::new("kill")
            .arg(child.id().to_string())
            .stderr(Stdio::null())
            .status(),
    );
    if !wait(child, patience) {
        drop(child.kill());
        drop(child.wait());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_socket_has_a_short_path_however_deep_its_folder_is() {
        let state = Path::new("/home/somebody/fleet");
        let short = control(Path::new("/run/user/1000"), state);
        assert!(short.starts_with("/run/user/1000"));
        let deep = control(&Path::new("/scratch").join("deep/".repeat(20)), state);
        assert!(deep.starts_with("/tmp") && deep.as_os_str().len() <= SOCKET);
        assert_eq!(deep.file_name(), short.file_name());
    }

    #[test]
    fn words_reach_the_shell_as_they_are() {
        let here = Side::Here {
            folder: "/tmp".into(),
        };
        for word in ["plain", "it's", "a b;c", "$HOME `id`", "\"quoted\""] {
            assert_eq!(
                here.shell(&format!("printf %s {}", quote(word))).unwrap(),
                word
            );
        }
        assert_eq!(here.shell_with("cat", "in").unwrap(), "in");
        let error = here.shell("echo no >&2; exit 3").unwrap_err();
        assert!(error.what.contains("no"), "{error}");
    }
}
