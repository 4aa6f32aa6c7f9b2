//! The requests of other trainers, as their own code sends them, and answers as it reads them.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::atomic::Ordering;
use std::time::Duration;

use serde_json::{Value, json};

use crate::fake::{Service, candidate};

fn start() -> Service {
    Service::start(|settings| {
        settings.limits.wait = Duration::from_secs(20);
        settings.task = Some("matmul".to_owned());
    })
}

fn fenced(said: &str, number: usize) -> String {
    format!("Here you are:\n```c\n{}```\n", candidate(said, number))
}

/// Bytes as a client put them on the wire; the answer's status and body.
fn replay(service: &Service, bytes: &[u8]) -> (u16, Value) {
    let mut stream = TcpStream::connect(service.address).unwrap();
    stream.write_all(bytes).unwrap();
    let (mut answer, mut buffer) = (Vec::new(), [0; 4096]);
    // The connection is kept alive, so that its end does not tell the answer's.
    let body = loop {
        let count = stream.read(&mut buffer).unwrap();
        assert!(count > 0, "{}", String::from_utf8_lossy(&answer));
        answer.extend_from_slice(&buffer[..count]);
        let text = String::from_utf8_lossy(&answer).into_owned();
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length: usize = head
                .to_lowercase()
                .split("content-length: ")
                .nth(1)
                .unwrap()
                .lines()
                .next()
                .unwrap()
                .parse()
                .unwrap();
            if body.len() == length {
                break serde_json::from_str(body).unwrap();
            }
        }
    };
    (
        String::from_utf8_lossy(&answer)
            .split(' ')
            .nth(1)
            .unwrap()
            .parse()
            .unwrap(),
        body,
    )
}

/// A request as aiohttp 3 writes it.
fn aiohttp(path: &str, payload: &Value) -> Vec<u8> {
    // Python's json.dumps puts a space behind colons and commas.
    let body = payload
        .to_string()
        .replace("\":", "\": ")
        .replace(",\"", ", \"");
    format!(
        "POST {path} HTTP/1.1\r\nHost: 127.0.0.1:8000\r\nAccept: */*\r\nAccept-Encoding: gzip, deflate, br\r\n\
         User-Agent: Python/3.11 aiohttp/3.14.5\r\nContent-Length: {}\r\nContent-Type: application/json\r\n\r\n{body}",
        body.len()
    )
    .into_bytes()
}

#[test]
fn slime_gets_a_number() {
    let service = start();
    let ask = |response: &str, label: Value| {
        let prompt = json!([{"role": "user", "content": "Write it."}]);
        replay(
            &service,
            &aiohttp(
                "/rm",
                &json!({"prompt": prompt, "response": response, "label": label}),
            ),
        )
    };
    assert_eq!(
        ask(&fenced("8 GFLOPS", 0), json!("matmul")),
        (200, json!(3.0))
    );
    assert_eq!(
        ask(&fenced("wrong", 0), Value::Null),
        (200, json!(-1.0)),
        "the service has a task of its own"
    );
    assert_eq!(
        ask("no code", json!({"task": "matmul", "reward": "ladder"})),
        (200, json!(-100.0))
    );
    let (_, object) = ask(&fenced("8 GFLOPS", 0), json!({"object": true}));
    assert_eq!(
        object,
        json!({"reward": 3.0, "verdict": "correct", "gflops": 8.0})
    );
    assert_eq!(
        ask(&fenced("suspect", 0), Value::Null),
        (200, json!(1.0)),
        "worth what the seed is"
    );
    assert_eq!(
        ask(&fenced("suspect", 0), json!({"object": true})).1,
        json!({"reward": 1.0, "verdict": "suspect", "gflops": null}),
        "a speed that nobody believes is not told"
    );
    let (status, answer) = ask(&fenced("machine failure", 0), Value::Null);
    assert_eq!(status, 503, "never a number: {answer}");
}

/// The bytes of a request with the payload, headers and client (aiohttp) of slime's `remote_rm`,
/// rebuilt from its source: slime itself cannot be installed without its GPU stack.
const SLIME: &[u8] = b"POST /rm HTTP/1.1\r\nHost: 127.0.0.1:56299\r\nAccept: */*\r\n\
Accept-Encoding: gzip, deflate, br\r\nUser-Agent: Python/3.11 aiohttp/3.14.5\r\nContent-Length: 86\r\n\
Content-Type: application/json\r\n\r\n\
{\"prompt\": [{\"role\": \"user\", \"content\": \"\\u00e9\"}], \"response\": \"a\\\"b\", \"label\": null}";

#[test]
fn slimes_own_bytes_are_understood() {
    assert_eq!(replay(&start(), SLIME), (200, json!(-4.0)));
}

#[test]
fn openrlhf_gets_rewards_for_what_stands_behind_the_prompt() {
    let service = start();
    let ask = |query: Value, prompts: Value, labels: Value| {
        replay(
            &service,
            &aiohttp(
                "/get_reward",
                &json!({"query": query, "prompts": prompts, "labels": labels}),
            ),
        )
    };
    // The prompt itself holds code, which must not be judged.
    let prompt = format!(
        "<|im_start|>user\n{}<|im_end|>\n<|im_start|>assistant\n",
        fenced("64 GFLOPS", 0)
    );
    let query = format!("{prompt}{}<|im_end|>", fenced("8 GFLOPS", 0));
    let (status, answer) = ask(json!([query]), json!([prompt]), json!(["matmul"]));
    assert_eq!(status, 200, "{answer}");
    assert_eq!(
        (&answer["rewards"], &answer["scores"]),
        (&json!([3.0]), &json!([0.8]))
    );
    assert_eq!(
        answer["extra_logs"],
        json!({"correct": [1.0], "compiled": [1.0], "gflops": [8.0]})
    );
    let only = format!("{prompt}I cannot.");
    assert_eq!(
        ask(json!([only]), json!([prompt]), json!(["matmul"])).1["rewards"],
        json!([-4.0])
    );
    // A second server gets nothing to do, and must say so.
    let (status, answer) = ask(json!([]), json!([]), json!([]));
    assert_eq!(
        (status, &answer["rewards"], &answer["scores"]),
        (200, &json!([]), &json!([]))
    );
    let broken = format!("{prompt}{}", fenced("machine failure", 0));
    assert_eq!(
        ask(json!([broken]), json!([prompt]), json!(["matmul"])).0,
        503
    );
    assert_eq!(
        ask(json!(["something else"]), json!([prompt]), json!([""])).0,
        409
    );
}

#[test]
fn sandbox_fusion_is_told_of_a_compiler_and_a_run() {
    let service = start();
    let ask = |code: &str, stdin: Value| {
        service.post(
            "/run_code",
            // As verl's `call_sandbox_api` writes it.
            &json!({"compile_timeout": 10, "run_timeout": 10, "code": code, "stdin": stdin, "memory_limit_MB": 1024,
                "language": "cpp", "files": {}, "fetch_files": []}),
        )
    };
    let (status, right) = ask(&candidate("8 GFLOPS", 0), json!("matmul"));
    assert_eq!(status, 200, "{right}");
    assert_eq!(
        (&right["status"], &right["run_result"]["stdout"]),
        (&json!("Success"), &json!("correct\n"))
    );
    assert_eq!(
        (
            &right["run_result"]["return_code"],
            &right["hotloop"]["reward"]
        ),
        (&json!(0), &json!(3.0))
    );
    let (_, wrong) = ask(
        &fenced("wrong", 0),
        json!({"task": "matmul"}).to_string().into(),
    );
    assert_eq!(
        (&wrong["status"], &wrong["run_result"]["return_code"]),
        (&json!("Failed"), &json!(1))
    );
    let (_, broken) = ask(&candidate("not compiled", 0), Value::Null);
    assert_eq!(
        (
            &broken["compile_result"]["return_code"],
            &broken["run_result"]
        ),
        (&json!(1), &Value::Null)
    );
    assert_eq!(broken["compile_result"]["stderr"], "line 1: no");
    let (_, suspect) = ask(&candidate("suspect", 0), Value::Null);
    assert_eq!(
        suspect["hotloop"]["verdict"],
        json!({"verdict": "suspect", "why": "too fast"})
    );
    assert_eq!(suspect["hotloop"]["speedup"], Value::Null);
    assert!(
        right["hotloop"]["verdict"]["seconds"].is_number(),
        "{right}"
    );
    // verl tries again at 504 only.
    assert_eq!(ask(&candidate("machine failure", 0), Value::Null).0, 504);
    let python = json!({"code": "import os", "language": "python"});
    assert_eq!(service.post("/run_code", &python).0, 400);
}

#[test]
fn openenv_resets_and_steps_over_http() {
    let service = start();
    assert_eq!(
        service.post("/step", &json!({"action": {"code": ""}})).0,
        404,
        "reset comes first"
    );
    let (status, begun) = service.post(
        "/reset",
        &json!({"seed": 1, "episode_id": "e", "task": "matmul"}),
    );
    assert_eq!(
        (status, &begun["reward"], &begun["done"]),
        (200, &Value::Null, &json!(false))
    );
    assert!(
        begun["observation"]["prompt"]
            .as_str()
            .unwrap()
            .contains("matmul_optimized")
    );
    let step = |code: &str| {
        service.post(
            "/step",
            &json!({"action": {"code": code}, "episode_id": "e"}),
        )
    };
    let (status, seen) = step(&candidate("8 GFLOPS", 0));
    assert_eq!(
        (status, &seen["reward"], &seen["observation"]["turn"]),
        (200, &json!(3.0), &json!(1))
    );
    let suspect = step(&candidate("suspect", 0)).1;
    assert_eq!(
        (&suspect["reward"], &suspect["observation"]["gflops"]),
        (&Value::Null, &Value::Null)
    );
    assert_eq!(step(&candidate("machine failure", 0)).0, 503);
    let (_, state) = service.get("/state?episode_id=e");
    assert_eq!(
        (&state["step_count"], &state["best_reward"]),
        (&json!(2), &json!(3.0)),
        "a failure is no step"
    );
    for number in 2..8 {
        assert_eq!(
            step(&candidate("wrong", number)).1["done"],
            json!(number == 7)
        );
    }
    assert_eq!(step(&candidate("wrong", 9)).0, 409, "the episode is over");
    assert_eq!(
        service.post("/reset", &json!({})).0,
        200,
        "the service has a task of its own"
    );
}

#[test]
fn openenv_counts_steps_that_come_at_once() {
    let service = start();
    service.post("/reset", &json!({"episode_id": "e"}));
    let step = |said: &str| {
        service.post(
            "/step",
            &json!({"action": {"code": candidate(said, 0)}, "episode_id": "e"}),
        )
    };
    let waiting = |count: usize| {
        let line = format!("hotloop_jobs_waiting {count}\n");
        service.wait(|service| service.get("/metrics").1.as_str().unwrap().contains(&line));
    };
    service.control.held.store(true, Ordering::SeqCst);
    std::thread::scope(|scope| {
        let steps = ["4 GFLOPS", "8 GFLOPS"].map(|said| scope.spawn(move || step(said)));
        waiting(2);
        service.control.held.store(false, Ordering::SeqCst);
        let mut turns = steps.map(|step| step.join().unwrap().1["observation"]["turn"].as_u64());
        turns.sort_unstable();
        assert_eq!(turns, [Some(1), Some(2)]);
    });
    let (_, state) = service.get("/state?episode_id=e");
    assert_eq!(
        (&state["step_count"], &state["best_reward"]),
        (&json!(2), &json!(3.0))
    );
    // A step of an episode that is begun anew meanwhile is none of the new one.
    service.control.held.store(true, Ordering::SeqCst);
    std::thread::scope(|scope| {
        let late = scope.spawn(|| step("16 GFLOPS"));
        waiting(1);
        service.post("/reset", &json!({"episode_id": "e"}));
        service.control.held.store(false, Ordering::SeqCst);
        assert_eq!(late.join().unwrap().0, 409);
    });
    let (_, state) = service.get("/state?episode_id=e");
    assert_eq!(
        (&state["step_count"], &state["best_reward"]),
        (&json!(0), &Value::Null)
    );
}

#[test]
fn openenv_talks_over_a_socket() {
    let service = start();
    let mut socket = Socket::open(&service);
    assert_eq!(
        socket.say(&json!({"type": "step", "data": {"code": "x"}}))["data"]["code"],
        "SESSION_ERROR"
    );
    let begun = socket.say(&json!({"type": "reset", "data": {}}));
    assert_eq!(
        (&begun["type"], &begun["data"]["observation"]["task"]),
        (&json!("observation"), &json!("matmul"))
    );
    let seen = socket.say(&json!({"type": "step", "data": {"code": candidate("8 GFLOPS", 0)}}));
    assert_eq!(seen["data"]["reward"], 3.0);
    assert_eq!(
        socket.say(&json!({"type": "state"}))["data"]["step_count"],
        1
    );
    let failed =
        socket.say(&json!({"type": "step", "data": {"code": candidate("machine failure", 0)}}));
    assert_eq!(failed["data"]["code"], "EXECUTION_ERROR");
    assert_eq!(
        socket.say(&json!({"type": "dance"}))["data"]["code"],
        "UNKNOWN_TYPE"
    );
    assert_eq!(
        socket.say(&json!("nonsense"))["data"]["code"],
        "INVALID_JSON"
    );
    let other = Socket::open(&service).say(&json!({"type": "state"}));
    assert_eq!(
        other["data"],
        Value::Null,
        "another connection is another episode"
    );
    assert_eq!(service.control.started.load(Ordering::SeqCst), 1);
}

#[test]
fn messages_on_sockets_share_the_memory_of_bodies() {
    let service = Service::start(|settings| {
        settings.task = Some("matmul".to_owned());
        (settings.limits.body, settings.limits.bodies) = (64 << 10, 64 << 10);
    });
    let mut socket = Socket::open(&service);
    socket.say(&json!({"type": "reset", "data": {}}));
    // A second one from this address could fill the memory together with the first.
    let (status, told) = replay(&service, UPGRADE.as_bytes());
    assert_eq!(status, 503, "{told}");
    assert!(told["error"].as_str().unwrap().contains("too many sockets"));
    let long = format!("{}{}", candidate("8 GFLOPS", 0), " ".repeat(40_000));
    let asked = json!({"response": long, "label": "matmul"});
    service.control.held.store(true, Ordering::SeqCst);
    std::thread::scope(|scope| {
        let step = json!({"type": "step", "data": {"code": long}});
        let first = scope.spawn(move || (socket.say(&step), socket));
        service.wait(|service| service.submitted() > 0);
        let (status, told) = service.post("/rm", &asked);
        assert_eq!(status, 503, "{told}");
        assert!(told["error"].as_str().unwrap().contains("too many bodies"));
        service.control.held.store(false, Ordering::SeqCst);
        let (seen, socket) = first.join().unwrap();
        assert_eq!(seen["data"]["reward"], 3.0);
        drop(socket);
    });
    assert_eq!(service.post("/rm", &asked).0, 200, "there is room again");
}

/// A request for a socket.
const UPGRADE: &str = "GET /ws HTTP/1.1\r\nhost: localhost\r\nconnection: upgrade\r\nupgrade: websocket\r\n\
    sec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n";

/// As much of a WebSocket client as text needs.
struct Socket(TcpStream);

impl Socket {
    fn open(service: &Service) -> Self {
        let mut stream = TcpStream::connect(service.address).unwrap();
        stream.write_all(UPGRADE.as_bytes()).unwrap();
        let mut answer = Vec::new();
        while !answer.ends_with(b"\r\n\r\n") {
            let mut byte = [0];
            stream.read_exact(&mut byte).unwrap();
            answer.push(byte[0]);
        }
        assert!(
            answer.starts_with(b"HTTP/1.1 101"),
            "{}",
            String::from_utf8_lossy(&answer)
        );
        Self(stream)
    }

    fn say(&mut self, message: &Value) -> Value {
        let text = message.to_string();
        let mut frame = vec![0x81, 0xfe];
        frame.extend((text.len() as u16).to_be_bytes());
        frame.extend([0; 4]);
        frame.extend(text.as_bytes());
        self.0.write_all(&frame).unwrap();
        let mut head = [0; 2];
        self.0.read_exact(&mut head).unwrap();
        let length = match head[1] {
            126 => {
                let mut long = [0; 2];
                self.0.read_exact(&mut long).unwrap();
                usize::from(u16::from_be_bytes(long))
            }
            short => usize::from(short),
        };
        let mut text = vec![0; length];
        self.0.read_exact(&mut text).unwrap();
        serde_json::from_slice(&text).unwrap()
    }
}
