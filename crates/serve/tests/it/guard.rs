//! Refused, logged, nothing executed.

use std::io::{Read, Write};
use std::sync::atomic::Ordering;

use hotloop_serve::Notice;
use serde_json::{Value, json};

use crate::fake::{Service, candidate};

const TOKEN: &str = "a-token-of-some-length";

fn body() -> String {
    json!({"task": "matmul", "reward": "ladder", "candidates": [{"source": candidate("3 GFLOPS", 0)}]}).to_string()
}

fn refused(service: &Service, with: u16) -> bool {
    service.heard(|notice| matches!(notice, Notice::Refused { status, .. } if *status == with))
}

#[test]
fn without_a_right_token_nothing_is_done() {
    let service = Service::start(|settings| settings.tokens = vec![TOKEN.to_owned()]);
    let ask = |header: Option<&str>| {
        let headers: Vec<(&str, &str)> = header
            .into_iter()
            .map(|value| ("authorization", value))
            .collect();
        service.send("POST", "/v1/judge", &headers, Some(body().as_bytes()))
    };
    for header in [None, Some("Bearer wrong"), Some(TOKEN), Some("Basic AAAA")] {
        let (status, head, answer) = ask(header);
        assert_eq!(status, 401, "{header:?}");
        assert!(head.contains("www-authenticate: bearer"), "{head}");
        assert!(!String::from_utf8_lossy(&answer).contains(TOKEN));
    }
    for path in [
        "/v1/tasks",
        "/v1/runs",
        "/metrics",
        "/openapi.json",
        "/state",
        "/ws",
        "/none",
    ] {
        assert_eq!(service.get(path).0, 401, "{path}");
    }
    assert!(refused(&service, 401));
    assert_eq!(service.submitted(), 0);
    assert_eq!(
        service.get("/health").0,
        200,
        "a load balancer has no token"
    );
    assert_eq!(ask(Some(&format!("Bearer {TOKEN}"))).0, 200);
    // any:a-token-of-some-length
    assert_eq!(
        ask(Some("Basic YW55OmEtdG9rZW4tb2Ytc29tZS1sZW5ndGg=")).0,
        200
    );
    assert_eq!(service.submitted(), 1);
}

#[test]
fn a_page_in_a_browser_is_served_only_with_a_token() {
    let service = Service::start(|_| {});
    for header in [
        ("origin", "http://evil.example"),
        ("sec-fetch-site", "cross-site"),
        ("origin", "null"),
    ] {
        assert_eq!(
            service
                .send("POST", "/v1/judge", &[header], Some(body().as_bytes()))
                .0,
            403,
            "{header:?}"
        );
    }
    assert!(refused(&service, 403));
    assert_eq!(service.submitted(), 0);
    // A person who types the address.
    assert_eq!(
        service
            .send("GET", "/v1/tasks", &[("sec-fetch-site", "none")], None)
            .0,
        200
    );
    let guarded = Service::start(|settings| settings.tokens = vec![TOKEN.to_owned()]);
    let headers = [
        ("origin", "http://mine.example"),
        ("authorization", &format!("Bearer {TOKEN}")),
    ];
    assert_eq!(
        guarded
            .send("POST", "/v1/judge", &headers, Some(body().as_bytes()))
            .0,
        200
    );
}

/// A page whose own name points to this machine (DNS rebinding) sends that name.
#[test]
fn without_a_token_only_names_of_this_machine_are_answered() {
    let judged = |service: &Service, host: &str, token: &str| {
        let mut stream = std::net::TcpStream::connect(service.address).unwrap();
        let body = body();
        let head = format!(
            "POST /v1/judge HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n{token}content-length: {}\r\n\r\n",
            body.len()
        );
        stream.write_all(head.as_bytes()).unwrap();
        drop(stream.write_all(body.as_bytes()));
        let mut answer = String::new();
        drop(stream.read_to_string(&mut answer));
        answer.split(' ').nth(1).unwrap().parse::<u16>().unwrap()
    };
    let service = Service::start(|_| {});
    for host in [
        "evil.example",
        "evil.example:8000",
        "localhost.evil.example",
    ] {
        assert_eq!(judged(&service, host, ""), 403, "{host}");
    }
    assert!(refused(&service, 403));
    assert_eq!(service.submitted(), 0);
    let port = service.address.port();
    for host in ["localhost", &format!("127.0.0.1:{port}"), "[::1]:8000"] {
        assert_eq!(judged(&service, host, ""), 200, "{host}");
    }
    let guarded = Service::start(|settings| settings.tokens = vec![TOKEN.to_owned()]);
    let token = format!("authorization: Bearer {TOKEN}\r\n");
    assert_eq!(judged(&guarded, "bench.example", &token), 200);
}

#[test]
fn an_oversized_body_is_refused_by_its_head_and_by_its_length() {
    let service = Service::start(|settings| settings.limits.body = 1000);
    let large = vec![b' '; 2000];
    assert_eq!(service.send("POST", "/v1/judge", &[], Some(&large)).0, 413);
    assert!(refused(&service, 413));
    // Chunked, so that the length is not told.
    let chunk = format!(
        "{:x}\r\n{}\r\n0\r\n\r\n",
        large.len(),
        " ".repeat(large.len())
    );
    let (status, ..) = raw(&service, "transfer-encoding: chunked", &chunk);
    assert_eq!(status, 413);
    assert_eq!(service.submitted(), 0);
}

fn raw(service: &Service, header: &str, body: &str) -> (u16, String) {
    let mut stream = std::net::TcpStream::connect(service.address).unwrap();
    let head = format!(
        "POST /v1/judge HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n{header}\r\n\r\n"
    );
    stream.write_all(head.as_bytes()).unwrap();
    drop(stream.write_all(body.as_bytes()));
    let mut answer = String::new();
    drop(stream.read_to_string(&mut answer));
    (answer.split(' ').nth(1).unwrap().parse().unwrap(), answer)
}

#[test]
fn many_bodies_at_once_do_not_fill_the_memory() {
    let service = Service::start(|settings| {
        settings.limits.body = 1 << 20;
        settings.limits.bodies = 1 << 20;
        settings.limits.patience = std::time::Duration::from_secs(2);
    });
    let holders = std::cell::RefCell::new(Vec::new());
    service.wait(|service| {
        // Sends a megabyte but for its last byte. One that was given up on a busy machine has a
        // successor.
        let mut holder = std::net::TcpStream::connect(service.address).unwrap();
        let head = "POST /v1/judge HTTP/1.1\r\nhost: localhost\r\ncontent-length: 1048576\r\n\r\n";
        holder.write_all(head.as_bytes()).unwrap();
        // It may be refused before it has sent everything.
        drop(holder.write_all(&vec![b' '; (1 << 20) - 1]));
        holders.borrow_mut().push(holder);
        let (status, head, _) = service.send("POST", "/v1/judge", &[], Some(body().as_bytes()));
        status == 503 && head.contains("retry-after")
    });
    // It is not waited for for ever.
    service.wait(|service| refused(service, 408));
    service.wait(|service| {
        service
            .send("POST", "/v1/judge", &[], Some(body().as_bytes()))
            .0
            == 200
    });
}

#[test]
fn bodies_that_are_promised_and_do_not_come_take_nothing_from_others() {
    let service = Service::start(|settings| {
        settings.limits.body = 1 << 20;
        settings.limits.bodies = 1 << 20;
    });
    let silent: Vec<std::net::TcpStream> =
        ["content-length: 1048576", "transfer-encoding: chunked"]
            .into_iter()
            .cycle()
            .take(40)
            .map(|length| {
                let mut stream = std::net::TcpStream::connect(service.address).unwrap();
                let head =
                    format!("POST /v1/judge HTTP/1.1\r\nhost: localhost\r\n{length}\r\n\r\n");
                stream.write_all(head.as_bytes()).unwrap();
                stream
            })
            .collect();
    // They are being read before others ask.
    std::thread::sleep(std::time::Duration::from_millis(300));
    for _ in 0..10 {
        let (status, ..) = service.send("POST", "/v1/judge", &[], Some(body().as_bytes()));
        assert_eq!(status, 200);
    }
    drop(silent);
}

/// So many candidates without code, behind one that the bench is asked about.
fn many(count: usize) -> String {
    let mut candidates = vec![json!({"source": candidate("3 GFLOPS", 0)})];
    candidates.resize(count + 1, json!({"source": ""}));
    json!({"task": "matmul", "reward": "ladder", "wait_s": 20, "candidates": candidates})
        .to_string()
}

#[test]
fn small_bodies_that_become_large_do_not_fill_the_memory() {
    let service = Service::start(|settings| settings.limits.bodies = 1 << 20);
    // Two bytes each, and a hundred once they are read.
    let empty = format!("{{\"candidates\": [{}{{}}]}}", "{},".repeat(100_000));
    let (status, _, told) = service.send("POST", "/v1/judge", &[], Some(empty.as_bytes()));
    assert_eq!(status, 413, "{}", String::from_utf8_lossy(&told));
    service.control.held.store(true, Ordering::SeqCst);
    std::thread::scope(|scope| {
        let first = scope.spawn(|| {
            service
                .send("POST", "/v1/judge", &[], Some(many(800).as_bytes()))
                .0
        });
        service.wait(|service| service.submitted() == 1);
        let (status, head, told) =
            service.send("POST", "/v1/judge", &[], Some(many(801).as_bytes()));
        let told = String::from_utf8_lossy(&told);
        assert!(
            status == 503 && head.contains("retry-after") && told.contains("too many bodies"),
            "{status} {told}"
        );
        service.control.held.store(false, Ordering::SeqCst);
        assert_eq!(first.join().unwrap(), 200);
    });
    assert_eq!(
        service
            .send("POST", "/v1/judge", &[], Some(many(801).as_bytes()))
            .0,
        200,
        "there is room again"
    );
}

#[test]
fn an_address_that_asks_too_often_is_slowed() {
    let service = Service::start(|settings| settings.limits.rate = 0.01);
    let statuses: Vec<u16> = (0..3).map(|_| service.get("/health").0).collect();
    assert_eq!(statuses[0], 200);
    assert!(statuses.contains(&429), "{statuses:?}");
    assert!(refused(&service, 429));
}

#[test]
fn names_lead_nowhere_but_to_what_was_loaded() {
    let service = Service::start(|_| {});
    let secret = service.folder.path().join("secret");
    std::fs::create_dir_all(&secret).unwrap();
    for file in ["task.toml", "run.toml", "events.jsonl"] {
        std::fs::write(secret.join(file), "name = \"secret\"").unwrap();
    }
    let tricks = [
        "../secret",
        "./matmul",
        "/etc",
        "..",
        "matmul/../../secret",
        "secret\0",
        "%2e%2e/secret",
        "",
    ];
    for trick in tricks {
        let body = json!({"task": trick, "candidates": [{"source": "x"}]});
        let (status, answer) = service.post("/v1/judge", &body);
        assert!(
            status == 404 || (trick.is_empty() && status == 400),
            "{trick:?}: {status} {answer}"
        );
        let (status, _) = service.post("/rm", &json!({"response": "x", "label": trick}));
        assert!(
            status == 404 || (trick.is_empty() && status == 400),
            "{trick:?}: {status}"
        );
        let encoded: String = trick
            .bytes()
            .fold(String::new(), |text, byte| text + &format!("%{byte:02x}"));
        if !trick.is_empty() {
            for path in [
                format!("/v1/tasks/{encoded}"),
                format!("/v1/runs/{encoded}"),
            ] {
                assert_eq!(service.get(&path).0, 404, "{path}");
            }
            let asked = json!({"run": trick, "task": "matmul"});
            let (status, answer) = service.post("/v1/prompts", &asked);
            assert_eq!(status, 400, "{trick:?}: {answer}");
        }
        let body = json!({"candidates": [{"source": "x", "prompt_id": format!("{trick}/0/0")}]});
        assert_eq!(service.post("/v1/judge", &body).0, 404, "{trick:?}");
    }
    assert_eq!(service.get("/v1/runs").1, Value::Array(Vec::new()));
    assert_eq!(service.submitted(), 0);
    assert_eq!(
        std::fs::read_dir(service.folder.path()).unwrap().count(),
        1,
        "nothing was made"
    );
}
