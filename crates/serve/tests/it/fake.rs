//! A bench whose verdicts stand in the candidates, the service before it, and a client.

use std::collections::VecDeque;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

use hotloop_flow::bench::Seconds;
use hotloop_flow::measured::Baseline;
use hotloop_flow::task::TaskFiles;
use hotloop_flow::verdict::{Measured, Mismatch};
use hotloop_flow::{
    Bench, BenchError, Device, Job, JobId, Judgement, MachineFacts, Reply, Roof, Task, Verdict,
};
use hotloop_serve::{Benches, Factory, Listener, Notice, Server, Settings};
use serde_json::Value;

/// What the tests know of the bench and tell it.
#[derive(Default)]
pub(crate) struct Control {
    /// Jobs that the bench was given.
    pub(crate) submitted: AtomicUsize,
    /// The sizes of the groups that they came in.
    pub(crate) groups: Mutex<Vec<usize>>,
    /// While set, no verdict comes.
    pub(crate) held: AtomicBool,
    /// The bench as a whole is broken.
    pub(crate) broken: AtomicBool,
    /// Benches that were started.
    pub(crate) started: AtomicUsize,
    /// While set, no bench gets ready.
    pub(crate) slow: AtomicBool,
    /// The bench that is started next is on another class of machine, on which everything is twice
    /// as fast.
    pub(crate) moved: AtomicBool,
    /// While set, seeds are too fast to be believed.
    pub(crate) doubtful: AtomicBool,
}

struct FakeBench {
    control: Arc<Control>,
    moved: bool,
    jobs: VecDeque<Job>,
}

impl Bench for FakeBench {
    fn submit(&mut self, jobs: Vec<Job>) -> Result<(), BenchError> {
        self.control
            .submitted
            .fetch_add(jobs.len(), Ordering::SeqCst);
        self.control.groups.lock().unwrap().push(jobs.len());
        self.jobs.extend(jobs);
        Ok(())
    }

    fn next(&mut self, timeout: Duration) -> Result<Option<Reply>, BenchError> {
        if self.control.broken.load(Ordering::SeqCst) {
            return Err(BenchError::machine("the bench is broken"));
        }
        if self.control.held.load(Ordering::SeqCst) || self.jobs.is_empty() {
            std::thread::sleep(timeout.min(Duration::from_millis(2)));
            return Ok(None);
        }
        let times = if self.moved { 2.0 } else { 1.0 };
        let is_doubtful = self.control.doubtful.load(Ordering::SeqCst);
        let of_seed = if is_doubtful { "suspect" } else { "2 GFLOPS" };
        Ok(self.jobs.pop_front().map(|job| Reply {
            id: job.id,
            judged: judged(job.candidate.source(), of_seed, times),
        }))
    }

    fn cancel(&mut self, ids: &[JobId]) {
        self.jobs.retain(|job| !ids.contains(&job.id));
    }

    fn facts(&self) -> MachineFacts {
        MachineFacts {
            class: if self.moved { "another fake" } else { "fake" }.to_owned(),
            device: Device::Cpu {
                name: "a fake".to_owned(),
                simd: "avx2".to_owned(),
                cores: 1,
            },
            kernel: "0".to_owned(),
            compiler: "none".to_owned(),
            ..MachineFacts::default()
        }
    }
}

/// The verdict that stands in a candidate, as in `/* wrong */` or `/* 12.5 GFLOPS */`; the seed has
/// 2. A module says `/* 3 times torch */`.
fn judged(source: &str, of_seed: &str, times: f64) -> Result<Judgement, BenchError> {
    let said = source
        .split("/*")
        .nth(1)
        .and_then(|rest| rest.split("*/").next())
        .unwrap_or(of_seed)
        .trim();
    let verdict = match said {
        "wrong" => Verdict::Wrong(Mismatch {
            why: "element 3 is wrong".to_owned(),
            error: f64::INFINITY,
            paper: false,
        }),
        "crashed" => Verdict::Crashed {
            how: "SIGSEGV".to_owned(),
        },
        "not compiled" => Verdict::NotCompiled {
            diagnostics: "line 1: no".to_owned(),
        },
        "suspect" => Verdict::Suspect {
            why: "too fast".to_owned(),
            measured: measured(1e6),
        },
        "bug" => panic!("a bug of the bench"),
        "machine failure" => return Err(BenchError::machine("the machine tripped")),
        "NaN" => Verdict::Correct(measured(f64::NAN)),
        faster if faster.ends_with(" times torch") => {
            let times: f64 = faster.split(' ').next().unwrap().parse().unwrap();
            let mut measured = Measured::steady(None, 2e-3);
            measured.baseline = Some(Baseline {
                name: "torch, eager".to_owned(),
                seconds: times * measured.seconds,
            });
            Verdict::Correct(measured)
        }
        speed => Verdict::Correct(measured(
            times * speed.trim_end_matches(" GFLOPS").parse::<f64>().unwrap(),
        )),
    };
    Ok(Judgement {
        verdict,
        seconds: Seconds {
            compile: 0.1,
            run: 0.2,
            total: 0.3,
        },
    })
}

fn measured(gflops: f64) -> Measured {
    Measured {
        roof: Some(Roof {
            seconds: 1e-3,
            peak_flops: gflops * 1e10,
        }),
        ..Measured::steady(gflops, 1.0 / gflops)
    }
}

/// C that the bench will say this of; `number` makes it another candidate.
pub(crate) fn candidate(said: &str, number: usize) -> String {
    format!(
        "void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {{ /* {said} */ C[{number}] = 0; }}\n"
    )
}

/// A shipped task.
pub(crate) fn task(name: &str) -> Task {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../tasks")
        .join(name);
    let file = |name: &str| std::fs::read_to_string(folder.join(name)).unwrap();
    let files = TaskFiles {
        toml: file("task.toml"),
        reference: file("reference.c"),
        prompt: file("prompt.md"),
        seed: file("seed.c"),
        baseline: std::fs::read_to_string(folder.join("baseline.c")).ok(),
    };
    Task::parse(files).unwrap()
}

/// A service that runs until it is dropped.
pub(crate) struct Service {
    pub(crate) address: SocketAddr,
    pub(crate) control: Arc<Control>,
    pub(crate) folder: Arc<tempfile::TempDir>,
    notices: Arc<Mutex<Vec<Notice>>>,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Service {
    /// Starts one with settings of the test's.
    pub(crate) fn start(change: impl FnOnce(&mut Settings)) -> Self {
        Self::start_in(Arc::new(tempfile::tempdir().unwrap()), change)
    }

    /// The same, with its runs in `folder`.
    pub(crate) fn start_in(
        folder: Arc<tempfile::TempDir>,
        change: impl FnOnce(&mut Settings),
    ) -> Self {
        let mut settings = Settings::new(["matmul", "fft"].map(task), folder.path().join("runs"));
        change(&mut settings);
        let control = Arc::new(Control::default());
        let factory = || -> Factory {
            let own = Arc::clone(&control);
            Box::new(move || {
                own.started.fetch_add(1, Ordering::SeqCst);
                while own.slow.load(Ordering::SeqCst) {
                    std::thread::sleep(Duration::from_millis(2));
                }
                let (control, moved) = (Arc::clone(&own), own.moved.load(Ordering::SeqCst));
                Ok(Box::new(FakeBench {
                    control,
                    moved,
                    jobs: VecDeque::new(),
                }) as Box<dyn Bench>)
            })
        };
        let benches = Benches {
            tasks: factory(),
            modules: settings.problems.is_some().then(factory),
        };
        let notices = Arc::new(Mutex::new(Vec::new()));
        let heard = Arc::clone(&notices);
        let listener: Listener = Arc::new(move |notice| heard.lock().unwrap().push(notice.clone()));
        let server = Server::bind(settings, benches, listener).unwrap();
        let address = server.address();
        let stop = Arc::new(AtomicBool::new(false));
        let asked = Arc::clone(&stop);
        let thread = Some(std::thread::spawn(move || server.run(&asked)));
        let service = Self {
            address,
            control,
            folder,
            notices,
            stop,
            thread,
        };
        service.wait(|service| service.heard(|notice| matches!(notice, Notice::BenchReady { .. })));
        service
    }

    /// Waits until something holds; the test's own limit ends what never does.
    pub(crate) fn wait(&self, holds: impl Fn(&Self) -> bool) {
        for _ in 0..6000 {
            if holds(self) {
                return;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        panic!(
            "waited for a minute; heard {:?}",
            self.notices.lock().unwrap()
        );
    }

    /// Whether there was such a notice.
    pub(crate) fn heard(&self, is: impl Fn(&Notice) -> bool) -> bool {
        self.notices.lock().unwrap().iter().any(is)
    }

    /// The notice that came first.
    pub(crate) fn first(&self) -> Notice {
        self.notices.lock().unwrap()[0].clone()
    }

    pub(crate) fn submitted(&self) -> usize {
        self.control.submitted.load(Ordering::SeqCst)
    }

    /// Sends JSON; status and JSON come back.
    pub(crate) fn post(&self, path: &str, body: &Value) -> (u16, Value) {
        let (status, _, body) = self.send("POST", path, &[], Some(body.to_string().as_bytes()));
        (status, serde_json::from_slice(&body).unwrap_or(Value::Null))
    }

    pub(crate) fn get(&self, path: &str) -> (u16, Value) {
        let (status, _, body) = self.send("GET", path, &[], None);
        (
            status,
            serde_json::from_slice(&body)
                .unwrap_or_else(|_| String::from_utf8_lossy(&body).into_owned().into()),
        )
    }

    /// One request on a connection of its own: status, head and body.
    pub(crate) fn send(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: Option<&[u8]>,
    ) -> (u16, String, Vec<u8>) {
        let mut stream = TcpStream::connect(self.address).unwrap();
        let mut head =
            format!("{method} {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n");
        for (name, value) in headers {
            head.extend([name, ": ", value, "\r\n"]);
        }
        if let Some(body) = body {
            head.extend([
                "content-type: application/json\r\ncontent-length: ",
                &body.len().to_string(),
                "\r\n",
            ]);
        }
        stream.write_all(format!("{head}\r\n").as_bytes()).unwrap();
        // A server that refuses by the head need not read the body.
        drop(stream.write_all(body.unwrap_or_default()));
        let mut answer = Vec::new();
        drop(stream.read_to_end(&mut answer));
        let split = answer
            .windows(4)
            .position(|four| four == b"\r\n\r\n")
            .expect("an answer has a head");
        let head = String::from_utf8_lossy(&answer[..split]).to_lowercase();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        let mut body = answer[split + 4..].to_vec();
        if head.contains("transfer-encoding: chunked") {
            body = unchunked(&body);
        }
        (status, head, body)
    }
}

fn unchunked(mut body: &[u8]) -> Vec<u8> {
    let mut whole = Vec::new();
    while let Some(end) = body.windows(2).position(|two| two == b"\r\n") {
        let size = usize::from_str_radix(&String::from_utf8_lossy(&body[..end]), 16).unwrap();
        whole.extend_from_slice(&body[end + 2..end + 2 + size]);
        body = &body[(end + 4 + size).min(body.len())..];
    }
    whole
}

impl Drop for Service {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            drop(thread.join());
        }
    }
}
