//! Clients that hang up, send garbage or never read: others are served as before.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::atomic::Ordering;
use std::time::Duration;

use serde_json::json;

use crate::fake::{Service, candidate};

fn request(number: usize) -> Vec<u8> {
    let body = json!({"task": "matmul", "reward": "ladder",
        "candidates": [{"source": candidate("3 GFLOPS", number)}]})
    .to_string();
    format!(
        "POST /v1/judge HTTP/1.1\r\nhost: localhost\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    )
    .into_bytes()
}

fn is_served(service: &Service, number: usize) {
    let body = json!({"task": "matmul", "reward": "ladder", "candidates": [{"source": candidate("7 GFLOPS", number)}]});
    let (status, answer) = service.post("/v1/judge", &body);
    assert_eq!((status, &answer["judged"][0]["reward"]), (200, &json!(7.0)));
}

fn connections(service: &Service) -> i64 {
    let metrics = service.get("/metrics").1;
    let text = metrics.as_str().unwrap();
    text.lines()
        .find_map(|line| line.strip_prefix("hotloop_connections "))
        .unwrap()
        .parse()
        .unwrap()
}

#[test]
fn clients_that_hang_up_leave_nothing_behind() {
    let service = Service::start(|settings| settings.limits.abandon = Duration::ZERO);
    service.control.held.store(true, Ordering::SeqCst);
    for number in 0..50 {
        let mut stream = TcpStream::connect(service.address).unwrap();
        stream.write_all(&request(number)).unwrap();
        if number % 2 == 0 {
            drop(stream.shutdown(Shutdown::Both));
        }
    }
    // Nobody waits any more, so that the jobs are given up.
    service.wait(|service| connections(service) == 1);
    service.wait(|service| {
        service
            .get("/metrics")
            .1
            .as_str()
            .unwrap()
            .contains("hotloop_jobs_waiting 0\n")
    });
    service.control.held.store(false, Ordering::SeqCst);
    is_served(&service, 1000);
}

#[test]
fn many_clients_at_once_get_every_answer() {
    let service = Service::start(|_| {});
    std::thread::scope(|scope| {
        for client in 0..16 {
            let service = &service;
            scope.spawn(move || (0..20).for_each(|turn| is_served(service, client * 100 + turn)));
        }
    });
    assert_eq!(service.submitted(), 320);
}

#[test]
fn garbage_is_answered_by_an_error_or_by_nothing() {
    let service = Service::start(|_| {});
    let garbage: [&[u8]; 8] = [
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
        b"GET / HTTP/9.9\r\n\r\n",
        b"\0\0\0\0\0\0\0\0\r\n\r\n",
        b"POST /v1/judge HTTP/1.1\r\ncontent-length: -1\r\n\r\n",
        b"POST /v1/judge HTTP/1.1\r\nhost: localhost\r\ncontent-length: 5\r\nconnection: close\r\n\r\n{\"a\":",
        b"POST /v1/judge HTTP/1.1\r\nhost: localhost\r\ncontent-length: 4\r\nconnection: close\r\n\r\n\xff\xfe\xfd\xfc",
        b"POST /v1/judge HTTP/1.1\r\nhost: localhost\r\ncontent-length: 99\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n",
        b"GET /v1/tasks/\xff\xff HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n",
    ];
    for bytes in garbage {
        let mut stream = TcpStream::connect(service.address).unwrap();
        stream.write_all(bytes).unwrap();
        drop(stream.shutdown(Shutdown::Write));
        let mut answer = Vec::new();
        drop(stream.read_to_end(&mut answer));
        let answer = String::from_utf8_lossy(&answer);
        let status = answer.split(' ').nth(1).unwrap_or("400");
        assert!(
            status.starts_with('4'),
            "{}: {answer}",
            String::from_utf8_lossy(bytes)
        );
    }
    // A body nested beyond all reason.
    let deep = format!("{}1{}", "[".repeat(100_000), "]".repeat(100_000));
    assert_eq!(
        service
            .send("POST", "/v1/judge", &[], Some(deep.as_bytes()))
            .0,
        400
    );
    is_served(&service, 0);
    assert_eq!(service.submitted(), 1);
}

#[test]
fn clients_that_never_read_or_never_write_keep_no_one_else_out() {
    let service = Service::start(|settings| {
        settings.limits.connections = 40;
        settings.limits.patience = Duration::from_millis(500);
    });
    let silent: Vec<TcpStream> = (0..20)
        .map(|_| TcpStream::connect(service.address).unwrap())
        .collect();
    let deaf: Vec<TcpStream> = (0..10)
        .map(|number| {
            let mut stream = TcpStream::connect(service.address).unwrap();
            for _ in 0..20 {
                stream.write_all(&request(number)).unwrap();
            }
            stream
        })
        .collect();
    is_served(&service, 1000);
    // Those who say nothing lose their place; so do those who had their answers and ask no more.
    service.wait(|service| connections(service) == 1);
    drop((silent, deaf));
    is_served(&service, 1001);
}

/// Whether a client at `address` is served.
fn is_served_at(service: &Service, address: [u8; 4]) -> bool {
    let socket = socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::STREAM, None).unwrap();
    let from = std::net::SocketAddr::from((address, 0));
    socket.bind(&from.into()).unwrap();
    socket.connect(&service.address.into()).unwrap();
    let mut stream = TcpStream::from(socket);
    let request = b"GET /v1/tasks HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n";
    let mut answer = String::new();
    stream.write_all(request).is_ok()
        && stream.read_to_string(&mut answer).is_ok()
        && answer.starts_with("HTTP/1.1 200")
}

#[test]
fn idle_connections_from_one_address_keep_no_other_out() {
    let service = Service::start(|_| {});
    let idle: Vec<TcpStream> = (0..1100)
        .map(|_| TcpStream::connect(service.address).unwrap())
        .collect();
    assert!(is_served_at(&service, [127, 0, 0, 2]));
    // Those without a request lose their places long before those that had one.
    service.wait(|service| is_served_at(service, [127, 0, 0, 1]));
    drop(idle);
}

#[test]
fn more_connections_than_allowed_are_closed() {
    let service = Service::start(|settings| settings.limits.connections = 4);
    let mut held: Vec<TcpStream> = (0..4)
        .map(|_| TcpStream::connect(service.address).unwrap())
        .collect();
    let mut extra = TcpStream::connect(service.address).unwrap();
    let mut nothing = Vec::new();
    drop(extra.read_to_end(&mut nothing));
    assert!(nothing.is_empty());
    drop(held.pop());
    service.wait(|service| {
        let mut stream = TcpStream::connect(service.address).unwrap();
        let asked = stream
            .write_all(b"GET /health HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n");
        let mut answer = String::new();
        asked.is_ok()
            && stream.read_to_string(&mut answer).is_ok()
            && answer.starts_with("HTTP/1.1 200")
    });
}
