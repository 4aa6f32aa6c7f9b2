//! `hotloop watch` in a real browser: what it shows of runs that go on, die, continue and are over.

#[expect(dead_code, reason = "the measurement in benches reads traces")]
pub(crate) mod browser;
pub(crate) mod made;

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Stdio};

use serde_json::Value;

use crate::{ended, hotloop, turn};
use browser::Browser;
use made::Shape;

/// A page that is served until this is dropped.
pub(crate) struct Page {
    child: Child,
    pub(crate) address: String,
}

impl Page {
    pub(crate) fn over(folder: &Path) -> Self {
        Self::with(folder, &[])
    }

    fn with(folder: &Path, more: &[&str]) -> Self {
        let mut child = hotloop(&["watch", "--bind", "127.0.0.1:0", "--json"])
            .arg(folder)
            .args(more)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let first: Value = serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap();
        Self {
            child,
            address: first["address"].as_str().unwrap().to_owned(),
        }
    }

    /// Status, head and body of the answer to a request with this `Host`.
    fn ask(&self, request: &str, host: &str) -> (u16, String, String) {
        let address = self.address.trim_start_matches("http://");
        let mut stream = TcpStream::connect(address).unwrap();
        let head = format!("{request} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n\r\n");
        stream.write_all(head.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        (status, head.to_owned(), body.to_owned())
    }
}

impl Drop for Page {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// The state that the page gives for its run.
const STATE: &str = "document.querySelector('.doing')?.textContent";

#[test]
fn the_page_fills_while_a_run_goes_on_and_survives_its_death() {
    let Some(browser) = Browser::start() else {
        return;
    };
    let _turn = turn();
    let folder = tempfile::tempdir().unwrap();
    let page = Page::over(folder.path());
    browser.go(&page.address);
    browser.until("document.body.innerText.includes('There is no run here yet')");
    let directory = folder.path().join("run");
    let file = folder.path().join("run.toml");
    let text = format!(
        "model = \"nano\"\ndirectory = \"{}\"\n[budget]\nsteps = 9000\n[sampling]\ngroup = 2\n\
         [bench]\ntiming = \"paper\"\n[loop]\nprobe = 0\n",
        directory.display()
    );
    std::fs::write(&file, text).unwrap();
    let mut run = hotloop(&["train"]);
    let mut run = run
        .arg(&file)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    // The list shows the new run by itself, and the run's page fills.
    browser.until("document.querySelector('a[href=\"#/run/run\"]')");
    browser.go(&format!("{}/#/run/run", page.address));
    browser.until(&format!("{STATE} === 'running'"));
    browser.until("/[1-9]\\d* of 9.?000 steps/.test(document.body.innerText)");
    run.kill().unwrap();
    run.wait().unwrap();
    browser.until(&format!("{STATE} === 'killed'"));
    assert!(browser.text().contains("it can be resumed"));
    let done = browser.run("return document.body.innerText.match(/(\\d+) of 9.?000 steps/)[1]");
    let steps = done.as_str().unwrap().parse::<u32>().unwrap() + 5;
    let resumed = ["train", "--resume", directory.to_str().unwrap(), "--set"];
    let mut resumed = hotloop(&resumed);
    let output = resumed.arg(format!("budget.steps={steps}")).output();
    let output = output.unwrap();
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{error}");
    browser.until(&format!("{STATE} === 'over'"));
    browser.until(&format!(
        "document.body.innerText.includes('all {steps} steps are done')"
    ));
    // A reload loses nothing.
    browser.run("location.reload()");
    browser.until(&format!("{STATE} === 'over'"));
    look_at_candidates(&browser);
    assert_eq!(browser.complaints(), [""; 0]);
    let report = format!("file://{}/report.html", directory.display());
    browser.go(&report);
    browser.until(&format!("{STATE} === 'over'"));
    assert!(browser.text().contains("Where the seconds go"));
    assert_eq!(browser.complaints(), [""; 0]);
}

#[test]
fn a_fleet_that_does_not_answer_leaves_the_pages_of_runs_as_they_are() {
    let folder = tempfile::tempdir().unwrap();
    let shape = Shape {
        steps: 2,
        groups: 1,
        members: 2,
        tokens: 1,
        source: &|number| format!("int x{number};"),
        why: "",
    };
    made::run(&folder.path().join("run"), &shape);
    // Nothing listens there.
    let page = Page::with(folder.path(), &["--fleet", "nats://127.0.0.1:1"]);
    let (status, _, told) = page.ask("GET /data/fleet", "localhost");
    let told: Value = serde_json::from_str(&told).unwrap();
    assert_eq!((status, &told["name"]), (200, &"nats://127.0.0.1:1".into()));
    assert!(told["problem"].is_string(), "{told}");
    let Some(browser) = Browser::start() else {
        return;
    };
    browser.go(&format!("{}/#/run/run", page.address));
    browser.until("document.body.innerText.includes('nats://127.0.0.1:1 does not answer')");
    assert!(browser.text().contains("Where the seconds go"));
    browser.until("document.querySelectorAll('.row').length > 1");
    assert_eq!(browser.complaints(), [""; 0]);
}

#[test]
fn a_pipe_for_a_journal_stops_nobody() {
    let folder = tempfile::tempdir().unwrap();
    let (pipe, run) = (folder.path().join("a-pipe"), folder.path().join("run"));
    std::fs::create_dir(&pipe).unwrap();
    let journal = pipe.join("events.jsonl");
    let made = std::process::Command::new("mkfifo").arg(journal).status();
    assert!(made.unwrap().success());
    let shape = Shape {
        steps: 1,
        groups: 1,
        members: 2,
        tokens: 1,
        source: &|number| format!("int x{number};"),
        why: "",
    };
    made::run(&run, &shape);
    let page = Page::over(folder.path());
    let begin = std::time::Instant::now();
    loop {
        let (_, _, told) = page.ask("GET /data/runs", "localhost");
        let heads: Value = serde_json::from_str(&told).unwrap();
        if heads[0]["steps"] == 1 {
            assert_eq!(heads.as_array().unwrap().len(), 1, "{heads}");
            break;
        }
        assert!(begin.elapsed().as_secs() < 60, "{heads}");
        std::thread::sleep(std::time::Duration::from_millis(100));
    }
}

/// Filters the list, and opens a candidate from the keyboard.
fn look_at_candidates(browser: &Browser) {
    browser.until("document.querySelectorAll('.row').length > 2");
    browser.run(
        "const select = document.querySelector('[name=verdict]'); select.value = 'correct';
         select.dispatchEvent(new Event('input', {bubbles: true}))",
    );
    let only = "[...document.querySelectorAll('.row:not(.head) .badge')]";
    browser.until(&format!(
        "{only}.length > 0 && {only}.every(badge => badge.textContent === 'correct')"
    ));
    browser.run("document.querySelector('.rows').focus()");
    browser.press(&["\u{e015}", "\u{e007}"]); // down, return
    browser.until("document.querySelector('dialog[open] pre.diff .add')");
    browser.until(
        "document.querySelector('dialog[open]').innerText.includes('What changed from its parent')",
    );
    let told = browser.run("return document.querySelector('dialog').textContent");
    let told = told.as_str().unwrap();
    assert!(told.contains("seconds a call"), "{told}");
    // The nano policy's tokenizer is in the program, so the prompt can be read.
    assert!(told.contains("<task:matmul>"), "{told}");
    browser.press(&["\u{e00c}"]); // escape
    browser.until("!document.querySelector('dialog[open]') && !location.hash.includes('-')");
}

#[test]
fn what_a_model_writes_is_text() {
    let folder = tempfile::tempdir().unwrap();
    let evil = "<img src=x onerror=\"window.broken = 1\"><script>window.broken = 2</script>";
    let source = |number: usize| {
        format!(
            "// {number} {evil} \u{202e}turned </script>\n// {}\nvoid f(void) {{}}\n",
            "x".repeat(1 << 20)
        )
    };
    let shape = Shape {
        steps: 2,
        groups: 1,
        members: 3,
        tokens: 4,
        source: &source,
        why: evil,
    };
    made::run(&folder.path().join(format!("a{}", "<b>run")), &shape);
    let page = Page::over(folder.path());
    let Some(browser) = Browser::start() else {
        return;
    };
    browser.go(&page.address);
    browser.until("document.querySelector('a[href^=\"#/run/\"]')");
    browser.run("document.querySelector('a[href^=\"#/run/\"]').click()");
    browser.until("document.querySelectorAll('.row').length > 2");
    for candidate in ["1-0-1", "1-0-2"] {
        browser.run(&format!(
            "location.hash = location.hash.split('/').slice(0, 3).join('/') + '/{candidate}'"
        ));
        browser.until("document.querySelector('dialog[open] pre.diff')");
        let told = browser.run("return document.querySelector('dialog').textContent");
        let told = told.as_str().unwrap();
        assert!(told.contains("<script>window.broken = 2</script> ⟨U+202E⟩turned"));
        assert!(told.contains("more characters"), "a long line is cut");
        browser.run("document.querySelector('dialog').close()");
        browser.until("!document.querySelector('dialog[open]')");
    }
    assert_eq!(browser.run("return window.broken ?? null"), Value::Null);
    assert_eq!(browser.complaints(), [""; 0]);
    // The frozen page holds the same text.
    let run = folder.path().join("a<b>run");
    let (status, _, error) = ended(hotloop(&["report"]).arg(&run));
    assert_eq!(status, 0, "{error}");
    browser.go(&format!(
        "file://{}/report.html",
        run.display()
            .to_string()
            .replace('<', "%3C")
            .replace('>', "%3E")
    ));
    browser.until("document.body.innerText.includes('Best code')");
    assert_eq!(browser.run("return window.broken ?? null"), Value::Null);
    assert_eq!(browser.complaints(), [""; 0]);
}

#[test]
fn the_page_answers_only_its_own_names_and_changes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let shape = Shape {
        steps: 1,
        groups: 1,
        members: 2,
        tokens: 1,
        source: &|number| format!("int x{number};\n"),
        why: "wrong",
    };
    made::run(&folder.path().join("run"), &shape);
    let before = std::fs::read_dir(folder.path().join("run"))
        .unwrap()
        .count();
    let page = Page::over(folder.path());
    let (status, head, body) = page.ask("GET /", "localhost");
    assert_eq!(status, 200);
    assert!(
        head.contains("default-src 'none'") && head.contains("nosniff") && body.contains("page.js")
    );
    assert_eq!(page.ask("GET /data/runs", "evil.example").0, 403);
    assert_eq!(page.ask("POST /data/runs", "localhost").0, 405);
    for (path, want) in [
        ("/data/run?run=nobody", 404),
        ("/data/run?run=..%2F..%2Fetc", 404),
        ("/data/candidates?run=run&count=5&verdict=odd", 400),
        ("/data/candidate?run=run&at=9-9-9", 404),
        ("/data/candidate?run=run&at=..%2Frun.toml", 404),
    ] {
        // The folder is searched after the page has its port.
        while !page
            .ask("GET /data/runs", "localhost")
            .2
            .contains("\"over\"")
        {
            std::thread::sleep(std::time::Duration::from_millis(50));
        }
        let (status, _, body) = page.ask(&format!("GET {path}"), "localhost");
        assert_eq!(status, want, "{path}: {body}");
    }
    let (status, _, body) = page.ask(
        "GET /data/candidates?run=run&count=1&order=fastest",
        "localhost",
    );
    let listing: Value = serde_json::from_str(&body).unwrap();
    assert_eq!(
        (
            status,
            listing["total"].as_u64(),
            listing["rows"].as_array().map(Vec::len)
        ),
        (200, Some(2), Some(1))
    );
    assert_eq!(
        std::fs::read_dir(folder.path().join("run"))
            .unwrap()
            .count(),
        before
    );
    let (status, _, error) = ended(hotloop(&["watch", "--bind", "0.0.0.0:0"]).arg(folder.path()));
    assert_eq!(status, 1);
    assert!(
        error.contains("other machines") && error.contains("ssh -L"),
        "{error}"
    );
    let (status, _, error) = ended(&mut hotloop(&["watch", "no-such-folder"]));
    assert!(
        status == 1 && error.contains("no-such-folder: there is no such folder"),
        "{error}"
    );
}
