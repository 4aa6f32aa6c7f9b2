//! The API policy with a small test server: its requests, retries and refusals.

mod retries;

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, channel};
use std::time::Instant;

use hotloop_flow::policy::{Ending, Message};

use super::*;

/// A request that the server received: head and body.
type Asked = (String, Value);

/// Reads a request.
fn receive(stream: &TcpStream) -> Asked {
    let mut reader = BufReader::new(stream);
    let mut request = String::new();
    while !request.ends_with("\r\n\r\n") {
        assert!(
            reader.read_line(&mut request).unwrap() > 0,
            "the request ended early"
        );
    }
    let length = request.lines().find_map(|line| {
        line.to_lowercase()
            .strip_prefix("content-length:")
            .map(|n| n.trim().parse().unwrap())
    });
    let mut bytes = vec![0; length.unwrap()];
    reader.read_exact(&mut bytes).unwrap();
    (request, serde_json::from_slice(&bytes).unwrap())
}

fn reply(stream: &mut TcpStream, head: &str, body: &str) {
    let reply = format!(
        "HTTP/1.1 {head}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(reply.as_bytes()).unwrap();
}

/// A server that sends these replies (status line and headers, body), one per connection.
fn server(replies: Vec<(&'static str, String)>) -> (String, Receiver<Asked>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/v1", listener.local_addr().unwrap());
    let (sender, asked) = channel();
    std::thread::spawn(move || {
        for (head, body) in replies {
            let (stream, _) = listener.accept().unwrap();
            sender.send(receive(&stream)).unwrap();
            if head.is_empty() {
                continue;
            }
            let mut stream = stream;
            reply(&mut stream, head, &body);
        }
    });
    (url, asked)
}

fn said(texts: &[&str]) -> String {
    let choice = |text: &&str| json!({"message": {"role": "assistant", "content": text}, "finish_reason": "stop"});
    json!({"choices": texts.iter().map(choice).collect::<Vec<_>>()}).to_string()
}

fn config(url: String) -> ApiConfig {
    ApiConfig {
        url,
        model: "m".into(),
        protocol: Protocol::Chat,
        key_variable: None,
        continues: false,
        timeout: Duration::from_secs(5),
        tries: 3,
        pause: Duration::from_millis(1),
        parallel: 1,
        per_minute: None,
        context: 4096,
    }
}

fn chat(text: &str) -> Chat {
    Chat {
        messages: vec![Message {
            role: Speaker::User,
            content: text.into(),
        }],
        begun: String::new(),
    }
}

fn sampling() -> Sampling {
    Sampling {
        temperature: 0.5,
        top_k: 0,
        top_p: 0.9,
        min_p: 0.0,
        max_tokens: 7,
        stop: vec!["x".into()],
        seed: 5,
    }
}

#[test]
fn a_chat_is_asked_and_answered() {
    let (url, asked) = server(vec![("200 OK", said(&["one", "two"]))]);
    let mut policy = ApiPolicy::with_key(config(url), Some("secret".into()));
    let answers = policy.sample(&[chat("hi")], 2, &sampling()).unwrap();
    assert_eq!(
        answers
            .iter()
            .map(|answer| answer.text.as_str())
            .collect::<Vec<_>>(),
        ["one", "two"]
    );
    let (head, body) = asked.recv().unwrap();
    assert!(head.starts_with("POST /v1/chat/completions "), "{head}");
    assert!(
        head.to_lowercase().contains("authorization: bearer secret"),
        "{head}"
    );
    let wanted = json!({
        "model": "m", "n": 2, "temperature": 0.5, "top_p": 0.9, "max_tokens": 7, "seed": 5, "stop": ["x"],
        "logprobs": true,
        "messages": [{"role": "user", "content": "hi"}],
    });
    assert_eq!(body, wanted);
}

#[test]
fn a_server_that_returns_one_answer_at_a_time_is_asked_again_with_another_seed() {
    let (url, asked) = server(vec![("200 OK", said(&["one"])), ("200 OK", said(&["two"]))]);
    let answers = ApiPolicy::with_key(config(url), None)
        .sample(&[chat("hi")], 2, &sampling())
        .unwrap();
    assert_eq!(answers.len(), 2);
    let seeds: Vec<Value> = asked.iter().map(|(_, body)| body["seed"].clone()).collect();
    assert_eq!(seeds, [5, 6]);
}

#[test]
fn an_address_names_its_protocol() {
    for (address, wanted) in [
        ("http://h/v1", ("http://h/v1", Protocol::Chat)),
        ("http://h/v1/", ("http://h/v1", Protocol::Chat)),
        (
            "http://h/v1/chat/completions",
            ("http://h/v1", Protocol::Chat),
        ),
        (
            "http://h/v1/completions/",
            ("http://h/v1", Protocol::Completions),
        ),
    ] {
        assert_eq!(Protocol::of(address), wanted, "{address}");
    }
}

#[test]
fn a_server_without_logprobs_is_asked_without_them_from_then_on() {
    let long = format!(
        "{}logprobs: extra fields are not permitted",
        " ".repeat(400)
    );
    let refusals = [
        ("422 Unprocessable Entity", long),
        ("403 Forbidden", "no logprobs of this model".to_owned()),
    ];
    for refusal in refusals {
        let (url, asked) = server(vec![
            refusal,
            ("200 OK", said(&["one"])),
            ("200 OK", said(&["two"])),
        ]);
        let once = ApiConfig {
            tries: 1,
            ..config(url)
        };
        let answers = ApiPolicy::with_key(once, None)
            .sample(&[chat("a"), chat("b")], 1, &sampling())
            .unwrap();
        assert_eq!(
            answers
                .iter()
                .map(|answer| answer.text.as_str())
                .collect::<Vec<_>>(),
            ["one", "two"]
        );
        let wished: Vec<bool> = asked
            .iter()
            .map(|(_, body)| body.get("logprobs").is_some())
            .collect();
        assert_eq!(wished, [true, false, false]);
    }
    // Other faults are reported.
    let refusal = || {
        (
            "400 Bad Request",
            "neither logprobs nor a model m".to_owned(),
        )
    };
    let (url, _asked) = server(vec![refusal(), refusal()]);
    let error = ApiPolicy::with_key(config(url), None)
        .sample(&[chat("hi")], 1, &sampling())
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("400: neither logprobs nor a model m"),
        "{error}"
    );
}

#[test]
fn an_invalid_address_is_refused_at_once() {
    let slow = |url: &str| ApiConfig {
        pause: Duration::from_mins(1),
        ..config(url.into())
    };
    for url in ["localhost:8000/v1", "ftp://x y/v1", "ftp://localhost"] {
        let error = ApiPolicy::with_key(slow(url), None)
            .sample(&[chat("hi")], 1, &sampling())
            .unwrap_err()
            .to_string();
        assert!(error.contains(url) && !error.contains("tries"), "{error}");
    }
    let mut policy = ApiPolicy::with_key(
        slow("http://127.0.0.1:9"),
        Some("a key\nwith a line".into()),
    );
    let error = policy
        .sample(&[chat("hi")], 1, &sampling())
        .unwrap_err()
        .to_string();
    assert!(
        !error.contains("tries") && !error.contains("with a line"),
        "{error}"
    );
}

#[test]
fn after_a_refusal_nothing_more_is_asked() {
    let mut replies = vec![("200 OK", said(&["same"])); 40];
    replies[0] = ("400 Bad Request", "too long".to_owned());
    let (url, asked) = server(replies);
    let chats: Vec<Chat> = (0..40).map(|nth| chat(&nth.to_string())).collect();
    let wide = ApiConfig {
        parallel: 2,
        ..config(url)
    };
    ApiPolicy::with_key(wide, None)
        .sample(&chats, 1, &sampling())
        .unwrap_err();
    // Except for the request that the other thread was sending.
    let asked = asked.try_iter().count();
    assert!(asked < 40, "{asked}");
}

#[test]
fn a_silent_server_times_out() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/v1", listener.local_addr().unwrap());
    let quick = ApiConfig {
        timeout: Duration::from_millis(200),
        tries: 1,
        ..config(url)
    };
    let start = Instant::now();
    let error = ApiPolicy::with_key(quick, None)
        .sample(&[chat("hi")], 1, &sampling())
        .unwrap_err()
        .to_string();
    assert!(error.contains("timeout"), "{error}");
    assert!(start.elapsed() < Duration::from_secs(3));
}

#[test]
fn plain_completions_join_the_texts_and_report_length_and_logprobs() {
    let reply = json!({"choices": [{"text": "c", "finish_reason": "length", "logprobs": {"token_logprobs": [-0.5, -1.5]}}]});
    let (url, asked) = server(vec![("200 OK", reply.to_string())]);
    let plain = ApiConfig {
        protocol: Protocol::Completions,
        ..config(url)
    };
    let begun = Chat {
        begun: "b".into(),
        ..chat("a")
    };
    let answers = ApiPolicy::with_key(plain, None)
        .sample(&[begun], 1, &sampling())
        .unwrap();
    assert_eq!(
        (answers[0].text.as_str(), answers[0].ending),
        ("c", Ending::Length)
    );
    assert_eq!(answers[0].logprobs, [-0.5, -1.5]);
    let (head, body) = asked.recv().unwrap();
    assert!(head.starts_with("POST /v1/completions "), "{head}");
    assert_eq!(
        (&body["prompt"], &body["logprobs"]),
        (&json!("a\nb"), &json!(1))
    );
}

#[test]
fn a_begun_answer_needs_a_server_that_continues_it() {
    let begun = Chat {
        begun: "```c".into(),
        ..chat("a")
    };
    let refused = ApiPolicy::with_key(config("http://127.0.0.1:9".into()), None).sample(
        std::slice::from_ref(&begun),
        1,
        &sampling(),
    );
    assert!(matches!(
        refused.unwrap_err(),
        PolicyError::Unsupported("a begun answer")
    ));
    let (url, asked) = server(vec![("200 OK", said(&["int"]))]);
    let able = ApiConfig {
        continues: true,
        ..config(url)
    };
    ApiPolicy::with_key(able, None)
        .sample(&[begun], 1, &sampling())
        .unwrap();
    let (_, body) = asked.recv().unwrap();
    assert_eq!(
        body["messages"][1],
        json!({"role": "assistant", "content": "```c"})
    );
    assert_eq!(body["continue_final_message"], true);
}

#[test]
fn a_missing_key_names_its_variable() {
    let closed = ApiConfig {
        key_variable: Some("HOTLOOP_TEST_NO_SUCH_KEY".into()),
        ..config("http://h/v1".into())
    };
    let Err(error) = ApiPolicy::new(closed) else {
        panic!("there is no key")
    };
    assert!(
        error
            .to_string()
            .contains("HOTLOOP_TEST_NO_SUCH_KEY holds no key"),
        "{error}"
    );
}

#[test]
fn chats_keep_their_order_over_parallel_requests() {
    let (url, _asked) = server((0..4).map(|_| ("200 OK", said(&["same"]))).collect());
    let wide = ApiConfig {
        parallel: 3,
        ..config(url)
    };
    let chats: Vec<Chat> = (0..4).map(|nth| chat(&nth.to_string())).collect();
    let mut policy = ApiPolicy::with_key(wide, None);
    assert_eq!(policy.sample(&chats, 1, &sampling()).unwrap().len(), 4);
    assert!(matches!(
        policy.update(&[]).unwrap_err(),
        PolicyError::Unsupported("update")
    ));
    assert!(!policy.capabilities().learns);
}

fn ended(text: &str, reason: &str) -> Value {
    json!({"message": {"role": "assistant", "content": text}, "finish_reason": reason})
}

#[test]
fn an_answer_that_the_server_aborted_does_not_count() {
    let mixed =
        json!({"choices": [ended("one", "stop"), ended("", "error"), ended("thr", "length")]})
            .to_string();
    let rest = json!({"choices": [ended("", "tool_calls")]}).to_string();
    let (url, asked) = server(vec![("200 OK", mixed), ("200 OK", rest)]);
    let answers = ApiPolicy::with_key(config(url), None)
        .sample(&[chat("hi")], 3, &sampling())
        .unwrap();
    let found: Vec<_> = answers
        .iter()
        .map(|answer| (answer.text.as_str(), answer.ending))
        .collect();
    assert_eq!(
        found,
        [
            ("one", Ending::Stop),
            ("thr", Ending::Length),
            ("", Ending::Stop)
        ]
    );
    let numbers: Vec<Value> = asked.iter().map(|(_, body)| body["n"].clone()).collect();
    assert_eq!(numbers, [3, 1]);
    let filtered = || {
        (
            "200 OK",
            json!({"choices": [ended("", "content_filter")]}).to_string(),
        )
    };
    let (url, _asked) = server(vec![filtered(), filtered(), filtered()]);
    let error = ApiPolicy::with_key(config(url), None)
        .sample(&[chat("hi")], 1, &sampling())
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("3 tries") && error.contains("content_filter"),
        "{error}"
    );
}

#[test]
fn a_long_reply_is_read_whole() {
    let long = "x".repeat(11 << 20);
    let (url, _asked) = server(vec![("200 OK", said(&[&long]))]);
    let patient = ApiConfig {
        timeout: Duration::from_mins(1),
        tries: 1,
        ..config(url)
    };
    let answers = ApiPolicy::with_key(patient, None)
        .sample(&[chat("hi")], 1, &sampling())
        .unwrap();
    assert_eq!(answers[0].text.len(), long.len());
}

#[test]
fn an_unexpected_reply_fails_at_once_with_its_text() {
    for (body, wanted) in [
        ("<html>", "not a reply as expected"),
        ("{\"id\": 7}", "without choices: {\"id\": 7}"),
    ] {
        let (url, asked) = server(vec![("200 OK", body.to_owned())]);
        let mut policy = ApiPolicy::with_key(config(url), None);
        let error = policy
            .sample(&[chat("hi")], 1, &sampling())
            .unwrap_err()
            .to_string();
        assert!(error.contains(wanted), "{error}");
        assert_eq!(asked.iter().count(), 1);
    }
}
