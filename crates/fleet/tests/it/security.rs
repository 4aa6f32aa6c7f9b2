//! Who is refused, and what is not executed.

use std::time::Duration;

use async_nats::jetstream;
use futures_util::StreamExt;
use hotloop_fleet::{Access, FleetBench};
use hotloop_flow::Bench;

use crate::parts::{LONG, Notices, Server, Worker, job, opening, replies};

fn refused(access: Access) -> String {
    let mut opening = opening(access, "refused");
    opening.patience = Duration::from_secs(5);
    let error = FleetBench::open(opening).err().expect("it is refused");
    match &error.hint {
        Some(hint) => format!("{error}\nhint: {hint}"),
        None => error.to_string(),
    }
}

#[test]
fn who_does_not_know_the_token_is_refused() {
    let Some(server) = Server::start() else {
        return;
    };
    let _worker = Worker::start(&server.access_file(), "rehearse");
    for token in ["", "wrong", "0123456789abcdef0123456789abcdef"] {
        let said = refused(Access {
            token: token.to_owned(),
            ..server.access()
        });
        assert!(
            said.contains("refuses the token") && said.contains("hint:"),
            "{token}: {said}"
        );
    }
}

#[test]
fn a_worker_with_a_wrong_token_ends_and_says_why() {
    let Some(server) = Server::start() else {
        return;
    };
    let text = std::fs::read_to_string(server.access_file())
        .unwrap()
        .replace(&server.access().token, "wrong");
    let path = server.folder.path().join("wrong.toml");
    std::fs::write(&path, text).unwrap();
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_fleet-worker"))
        .arg(&path)
        .output()
        .unwrap();
    assert!(!output.status.success());
    assert!(
        String::from_utf8_lossy(&output.stderr).contains("refuses the token"),
        "{output:?}"
    );
}

#[test]
fn an_expired_certificate_is_refused() {
    let Some(server) = Server::with_days(-2) else {
        return;
    };
    let said = refused(server.access());
    assert!(
        said.contains("certificate") && said.contains("xpired"),
        "{said}"
    );
}

#[test]
fn another_authoritys_server_and_a_server_without_encryption_are_refused() {
    let (Some(server), Some(other)) = (Server::start(), Server::start()) else {
        return;
    };
    let said = refused(Access {
        ca: other.access().ca,
        ..server.access()
    });
    assert!(said.contains("certificate"), "{said}");
    // A client that asks for no encryption still gets it, or no connection.
    let plain = server.access().url.replace("tls://", "nats://");
    let said = refused(Access {
        url: plain,
        ca: None,
        ..server.access()
    });
    assert!(said.contains("certificate"), "{said}");
}

/// A hostile worker that sends any answer. It has the token and nothing else.
struct Hostile {
    runtime: tokio::runtime::Runtime,
    context: jetstream::Context,
}

impl Hostile {
    fn new(access: &Access) -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .unwrap();
        let context = runtime.block_on(async {
            let options = async_nats::ConnectOptions::with_token(access.token.clone());
            let client = options
                .add_root_certificates(access.ca.clone().unwrap())
                .connect(&access.url)
                .await
                .unwrap();
            jetstream::new(client)
        });
        Self { runtime, context }
    }

    /// Takes the next group and answers with the result of `answer` for its sequence and text.
    fn answer(&self, answer: impl Fn(u64, &serde_json::Value) -> Vec<u8>) {
        self.runtime.block_on(async {
            let stream = self.context.get_stream("HOTLOOP_JOBS").await.unwrap();
            let name = stream.consumer_names().next().await.unwrap().unwrap();
            let consumer: jetstream::consumer::PullConsumer =
                stream.get_consumer(&name).await.unwrap();
            let mut batch = consumer
                .batch()
                .max_messages(1)
                .expires(LONG)
                .messages()
                .await
                .unwrap();
            let message = batch.next().await.unwrap().unwrap();
            let sequence = message.info().unwrap().stream_sequence;
            let group: serde_json::Value = serde_json::from_slice(&message.payload).unwrap();
            let subject = format!("hotloop.verdicts.{}", group["scope"].as_str().unwrap());
            let bytes = answer(sequence, &group);
            self.context
                .publish(subject, bytes.into())
                .await
                .unwrap()
                .await
                .unwrap();
            message.double_ack().await.unwrap();
        });
    }
}

fn reply(sequence: u64, ids: &[&str], verdict: &str) -> Vec<u8> {
    let replies: Vec<serde_json::Value> = ids
        .iter()
        .map(|id| {
            let judgement = serde_json::json!({
                "verdict": {"verdict": verdict, "why": "x"},
                "seconds": {"compile": 0.0, "run": 0.0, "total": 0.0},
            });
            serde_json::json!({"id": id, "judged": {"judgement": judgement}})
        })
        .collect();
    serde_json::to_vec(&serde_json::json!({
        "version": 3, "sequence": sequence, "delivery": 1, "worker": "evil", "noise": null, "replies": replies,
    }))
    .unwrap()
}

#[test]
fn hostile_replies_are_refused_and_the_job_is_judged_by_another() {
    let Some(server) = Server::start() else {
        return;
    };
    let honest = Worker::start(&server.access_file(), "rehearse");
    let notices = Notices::default();
    let mut opening = opening(server.access(), "hostile");
    opening.log = notices.log();
    let mut bench = FleetBench::open(opening).unwrap();
    honest.signal("-STOP");
    let hostile = Hostile::new(&server.access());
    bench.submit(vec![job(0, "0", 0)]).unwrap();
    // A large answer that is not JSON.
    hostile.answer(|_, _| vec![b'['; 7 << 20]);
    wait(&mut bench, &notices, "bytes are more than");
    // Answers a job that nobody submitted.
    hostile.answer(|sequence, _| reply(sequence, &["0123"], "refused"));
    wait(&mut bench, &notices, "answers other jobs");
    honest.signal("-CONT");
    let came = replies(&mut bench, 1);
    assert!(
        came[0].judged.is_ok(),
        "the third try is an honest worker's: {:?}",
        came[0].judged
    );
}

#[test]
fn malformed_replies_are_refused_whatever_they_hold() {
    let Some(server) = Server::start() else {
        return;
    };
    let honest = Worker::start(&server.access_file(), "rehearse");
    let notices = Notices::default();
    let mut opening = opening(server.access(), "malformed");
    opening.log = notices.log();
    let mut bench = FleetBench::open(opening).unwrap();
    honest.signal("-STOP");
    let hostile = Hostile::new(&server.access());
    let first = |group: &serde_json::Value| group["jobs"][0]["id"].as_str().unwrap().to_owned();
    bench.submit(vec![job(0, "0", 0)]).unwrap();
    // The same job twice, then an unknown verdict, then a text of a megabyte. After three times it
    // is an error.
    hostile.answer(|sequence, group| reply(sequence, &[&first(group), &first(group)], "refused"));
    wait(&mut bench, &notices, "answers other jobs");
    hostile.answer(|sequence, group| reply(sequence, &[&first(group)], "excellent"));
    wait(&mut bench, &notices, "unknown variant");
    hostile.answer(|sequence, group| {
        let text = String::from_utf8(reply(sequence, &[&first(group)], "refused")).unwrap();
        text.replace(
            "\"why\":\"x\"",
            &format!("\"why\":\"{}\"", "x".repeat(1 << 20)),
        )
        .into_bytes()
    });
    let came = replies(&mut bench, 1);
    let error = came[0].judged.as_ref().unwrap_err();
    assert!(
        error.what.contains("gave no verdict"),
        "an error, not a verdict: {error}"
    );
}

/// Runs the bench until a notice contains `word` and the job was sent again.
fn wait(bench: &mut FleetBench, notices: &Notices, word: &str) {
    let sent = notices.count("sent again");
    crate::parts::wait_until(word, || {
        assert!(
            bench.next(Duration::from_millis(50)).unwrap().is_none(),
            "nothing of it is believed"
        );
        notices.hold(word) && notices.count("sent again") > sent
    });
}
