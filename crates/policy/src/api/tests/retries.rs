//! What the policy retries, how long it waits, and when it gives up.

use super::*;

#[test]
fn temporary_failures_are_retried_after_the_servers_pause() {
    for (limited, pause_ms) in [
        ("429 Too Many Requests\r\nRetry-After: 0.3", 300),
        (
            "429 Too Many Requests\r\nRetry-After-Ms: 300\r\nRetry-After: 9",
            300,
        ),
        (
            "503 Service Unavailable\r\nX-RateLimit-Remaining-Requests: \
             0\r\nX-RateLimit-Reset-Requests: 300ms",
            300,
        ),
        (
            "429 Too Many Requests\r\nDate: Sun, 06 Nov 1994 08:49:36 GMT\r\nRetry-After: Sun, 06 \
             Nov 1994 08:49:37 GMT",
            1000,
        ),
    ] {
        let replies = vec![
            (limited, "slow down".into()),
            ("", String::new()),
            ("200 OK", said(&["at last"])),
        ];
        let (url, _asked) = server(replies);
        let start = Instant::now();
        let answers = ApiPolicy::with_key(config(url), None)
            .sample(&[chat("hi")], 1, &sampling())
            .unwrap();
        assert_eq!(answers[0].text, "at last");
        assert!(
            start.elapsed() >= Duration::from_millis(pause_ms),
            "{limited}: {:?}",
            start.elapsed()
        );
    }
}

#[test]
fn a_pause_that_is_too_long_is_reported() {
    let (url, _asked) = server(vec![(
        "429 Too Many Requests\r\nRetry-After: 3600",
        "come back".into(),
    )]);
    let once = ApiConfig {
        tries: 1,
        ..config(url)
    };
    let error = ApiPolicy::with_key(once, None)
        .sample(&[chat("hi")], 1, &sampling())
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("429: come back (try again in 3600 s)"),
        "{error}"
    );
}

#[test]
fn no_more_requests_go_out_than_the_user_allows_and_retries_count() {
    let busy = ("503 Service Unavailable", "loading model".to_owned());
    let replies = [vec![busy], vec![("200 OK", said(&["same"])); 3]].concat();
    let (url, _asked) = server(replies);
    let limited = ApiConfig {
        parallel: 3,
        per_minute: NonZeroU32::new(600),
        ..config(url)
    };
    let start = Instant::now();
    let answers = ApiPolicy::with_key(limited, None).sample(
        &[chat("a"), chat("b"), chat("c")],
        1,
        &sampling(),
    );
    assert_eq!(answers.unwrap().len(), 3);
    // The first of four goes out at once. Each other one follows a tenth of a second after the one
    // before.
    assert!(
        start.elapsed() >= Duration::from_millis(300),
        "{:?}",
        start.elapsed()
    );
}

/// A server that answers one request and then none for a while, like a small quota.
fn rationed() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/v1", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        let mut last: Option<Instant> = None;
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            receive(&stream);
            let is_free = last.is_none_or(|last| last.elapsed() >= Duration::from_millis(40));
            let (head, body) = if is_free {
                last = Some(Instant::now());
                ("200 OK", said(&["same"]))
            } else {
                (
                    "429 Too Many Requests\r\nRetry-After-Ms: 50",
                    "slow down".to_owned(),
                )
            };
            reply(&mut stream, head, &body);
        }
    });
    url
}

#[test]
fn a_small_quota_lets_all_through_in_time() {
    let wide = ApiConfig {
        parallel: 8,
        ..config(rationed())
    };
    let chats: Vec<Chat> = (0..8).map(|nth| chat(&nth.to_string())).collect();
    assert_eq!(
        ApiPolicy::with_key(wide, None)
            .sample(&chats, 1, &sampling())
            .unwrap()
            .len(),
        8
    );
}

#[test]
fn a_wait_for_the_next_request_can_be_stopped() {
    let (url, asked) = server(vec![("200 OK", said(&["same"]))]);
    let slow = ApiConfig {
        per_minute: NonZeroU32::new(1),
        ..config(url)
    };
    let mut policy = ApiPolicy::with_key(slow, None);
    let halt = Arc::new(AtomicBool::new(false));
    policy.stop_on(halt.clone());
    let signal = std::thread::spawn(move || {
        let first = asked.recv();
        halt.store(true, Ordering::Relaxed);
        first.is_ok()
    });
    let stopped = policy.sample(&[chat("a"), chat("b")], 1, &sampling());
    assert!(matches!(stopped, Err(PolicyError::Stopped)), "{stopped:?}");
    assert!(signal.join().unwrap());
}

#[test]
fn after_the_last_attempt_the_servers_message_is_reported() {
    let broken = || ("503 Service Unavailable", "loading model".to_owned());
    let (url, _asked) = server(vec![broken(), broken(), broken()]);
    let error = ApiPolicy::with_key(config(url), None)
        .sample(&[chat("hi")], 1, &sampling())
        .unwrap_err();
    let error = error.to_string();
    assert!(
        error.contains("3 tries") && error.contains("503: loading model"),
        "{error}"
    );
}

#[test]
fn permanent_failures_are_not_retried() {
    let (url, asked) = server(vec![("401 Unauthorized", "no such key".into())]);
    let mut policy = ApiPolicy::with_key(config(url), Some("secret".into()));
    let error = policy
        .sample(&[chat("hi")], 1, &sampling())
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("401: no such key") && !error.contains("secret"),
        "{error}"
    );
    assert_eq!(asked.iter().count(), 1);
}

#[test]
fn a_failure_reported_with_a_success_status_is_retried() {
    let failed = || {
        (
            "200 OK",
            json!({"choices": null, "error": {"code": 502, "message": "no worker"}}).to_string(),
        )
    };
    let (url, _asked) = server(vec![failed(), ("200 OK", said(&["at last"]))]);
    let answers = ApiPolicy::with_key(config(url), None)
        .sample(&[chat("hi")], 1, &sampling())
        .unwrap();
    assert_eq!(answers[0].text, "at last");
    let (url, _asked) = server(vec![failed(), failed(), failed()]);
    let error = ApiPolicy::with_key(config(url), None)
        .sample(&[chat("hi")], 1, &sampling())
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("3 tries") && error.contains("no worker"),
        "{error}"
    );
}
