//! Clients for the service under load: honest ones, and ones that hang up, send garbage or never
//! read.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// The speed that the stub reports for every candidate.
pub(crate) const GFLOPS: f64 = 7.0;
/// How long an honest client waits for an answer.
const PATIENCE: Duration = Duration::from_mins(1);
/// Connections that a client which never reads leaves open.
const DEAF: usize = 8;

/// A request for one candidate, which `number` makes different from all others.
fn request(number: usize) -> Vec<u8> {
    let body = format!(
        "{{\"task\":\"matmul\",\"reward\":\"ladder\",\"candidates\":[{{\"source\":\"void matmul_optimized(double *A, \
         double *B, double *C, int M, int N, int K) {{ C[{number}] = A[0]; }}\"}}]}}"
    );
    format!(
        "POST /v1/judge HTTP/1.1\r\nhost: localhost\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    )
    .into_bytes()
}

/// Asks, and reads the answers.
pub(crate) struct Honest {
    address: SocketAddr,
    stream: Option<BufReader<TcpStream>>,
}

impl Honest {
    pub(crate) fn new(address: SocketAddr) -> Self {
        Self {
            address,
            stream: None,
        }
    }

    /// Asks for all these candidates one after another: how long each took, and how many were
    /// wrong.
    pub(crate) fn ask_all(
        mut self,
        numbers: impl Iterator<Item = usize>,
    ) -> (Vec<Duration>, usize) {
        let (mut waits, mut wrong) = (Vec::new(), 0);
        for number in numbers {
            let began = Instant::now();
            match self.ask(number) {
                Ok(answer) if answer.contains(&format!("\"reward\":{GFLOPS:.1}")) => {}
                Ok(_) | Err(_) => {
                    wrong += 1;
                    self.stream = None;
                }
            }
            waits.push(began.elapsed());
        }
        (waits, wrong)
    }

    fn ask(&mut self, number: usize) -> std::io::Result<String> {
        if self.stream.is_none() {
            let stream = TcpStream::connect(self.address)?;
            stream.set_nodelay(true)?;
            stream.set_read_timeout(Some(PATIENCE))?;
            self.stream = Some(BufReader::new(stream));
        }
        let Some(stream) = &mut self.stream else {
            return Err(std::io::ErrorKind::NotConnected.into());
        };
        stream.get_mut().write_all(&request(number))?;
        let mut length = 0;
        loop {
            let mut line = String::new();
            if stream.read_line(&mut line)? == 0 {
                return Err(std::io::ErrorKind::UnexpectedEof.into());
            }
            if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
                length = value.trim().parse().unwrap_or(0);
            }
            if line == "\r\n" {
                break;
            }
        }
        let mut body = vec![0; length];
        stream.read_exact(&mut body)?;
        Ok(String::from_utf8_lossy(&body).into_owned())
    }
}

/// How a client may misbehave.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Hostile {
    /// Hangs up in the middle of a request, or right behind it.
    HangsUp,
    /// Sends bytes that are no HTTP, or no JSON.
    Garbage,
    /// Asks and never reads an answer.
    NeverReads,
}

impl Hostile {
    pub(crate) const ALL: [Self; 3] = [Self::HangsUp, Self::Garbage, Self::NeverReads];

    /// Makes trouble until the others are done. Whether any of it works does not matter.
    pub(crate) fn trouble(self, address: SocketAddr, client: usize, done: &AtomicBool) {
        let mut open: Vec<TcpStream> = Vec::new();
        for turn in 0usize.. {
            if done.load(Ordering::Relaxed) {
                return;
            }
            let Ok(mut stream) = TcpStream::connect(address) else {
                continue;
            };
            drop(stream.set_write_timeout(Some(Duration::from_millis(50))));
            let whole = request(usize::MAX - client * 1000 - turn % 1000);
            match self {
                Self::HangsUp => {
                    let part = if turn.is_multiple_of(2) {
                        whole.len()
                    } else {
                        whole.len() / 2
                    };
                    drop(stream.write_all(&whole[..part]));
                    drop(stream.shutdown(Shutdown::Both));
                }
                Self::Garbage => {
                    let noise: Vec<u8> = (0..512)
                        .map(|at| (at * 31 + turn * 17 + client) as u8)
                        .collect();
                    let head = format!(
                        "POST /v1/judge HTTP/1.1\r\nhost: localhost\r\ncontent-length: {}\r\n\r\n",
                        noise.len()
                    );
                    let head = if turn.is_multiple_of(2) {
                        head.as_bytes()
                    } else {
                        b""
                    };
                    drop(
                        stream
                            .write_all(head)
                            .and_then(|()| stream.write_all(&noise)),
                    );
                }
                Self::NeverReads => {
                    // As much as the service takes before it waits for its answers to be read.
                    while !done.load(Ordering::Relaxed) && stream.write_all(&whole).is_ok() {}
                    open.push(stream);
                    while open.len() >= DEAF && !done.load(Ordering::Relaxed) {
                        std::thread::sleep(Duration::from_millis(10));
                    }
                }
            }
        }
    }
}
