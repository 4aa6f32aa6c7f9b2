//! Debian's Chromium, driven by the protocol `WebDriver`.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// How long the page may take for anything. Machines of tests are busy.
const PATIENCE: Duration = Duration::from_secs(90);

/// A browser with one page.
pub(crate) struct Browser {
    driver: Child,
    address: String,
    session: String,
    /// The browser's own process.
    process: u64,
    profile: tempfile::TempDir,
}

/// A program among the folders of `PATH`.
fn found(name: &str) -> Option<PathBuf> {
    let paths = std::env::var_os("PATH")?;
    std::env::split_paths(&paths)
        .map(|folder| folder.join(name))
        .find(|path| path.is_file())
}

impl Browser {
    /// Starts a browser; `None`, with a printed reason, where there is none.
    #[expect(clippy::print_stderr, reason = "a test that is skipped says so")]
    pub(crate) fn start() -> Option<Self> {
        let (Some(chromium), Some(driver)) = (found("chromium"), found("chromedriver")) else {
            eprintln!("skipped: chromium and chromedriver are not installed");
            return None;
        };
        let mut driver = Command::new(driver)
            .arg("--port=0")
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(driver.stdout.take().unwrap()).lines();
        let port = lines.find_map(|line| {
            let line = line.ok()?;
            let rest = line.split("successfully on port ").nth(1)?;
            Some(rest.trim_end_matches('.').to_owned())
        });
        std::thread::spawn(move || lines.for_each(drop));
        let profile = tempfile::tempdir().unwrap();
        let mut browser = Self {
            driver,
            address: format!("127.0.0.1:{}", port.unwrap()),
            session: String::new(),
            process: 0,
            profile,
        };
        browser.open(&chromium);
        Some(browser)
    }

    fn open(&mut self, chromium: &Path) {
        let profile = format!("--user-data-dir={}", self.profile.path().display());
        let flags = [
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-quic",
            "--disable-dev-shm-usage",
            "--no-first-run",
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
            "--window-size=1000,900",
            &profile,
        ];
        let wanted = json!({"capabilities": {"alwaysMatch": {
            "goog:chromeOptions": {
                "binary": chromium, "args": flags,
                "perfLoggingPrefs": {"traceCategories": "toplevel,devtools.timeline"},
            },
            "goog:loggingPrefs": {"browser": "ALL", "performance": "ALL"},
        }}});
        let told = self.ask("POST", "/session", &wanted);
        told["sessionId"]
            .as_str()
            .unwrap()
            .clone_into(&mut self.session);
        self.process = told["capabilities"]["goog:processID"].as_u64().unwrap();
    }

    /// Sends a command to the driver, and returns its value.
    fn ask(&self, method: &str, path: &str, body: &Value) -> Value {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        let body = if method == "GET" {
            String::new()
        } else {
            body.to_string()
        };
        let head = format!(
            "{method} {path} HTTP/1.1\r\nhost: {}\r\nconnection: close\r\ncontent-type: \
             application/json\r\ncontent-length: {}\r\n\r\n",
            self.address,
            body.len()
        );
        stream
            .write_all(format!("{head}{body}").as_bytes())
            .unwrap();
        // The driver keeps the connection, so its answer ends where its head says.
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let mut reader = BufReader::new(stream);
        let mut length = 0;
        loop {
            let mut line = String::new();
            reader.read_line(&mut line).unwrap();
            let line = line.trim_end().to_ascii_lowercase();
            if line.is_empty() {
                break;
            }
            if let Some(bytes) = line.strip_prefix("content-length:") {
                length = bytes.trim().parse().unwrap();
            }
        }
        let mut answer = vec![0; length];
        reader.read_exact(&mut answer).unwrap();
        let told: Value = serde_json::from_slice(&answer).unwrap();
        let value = told["value"].clone();
        assert!(value["error"].is_null(), "{path}: {value}");
        value
    }

    fn of_session(&self, method: &str, path: &str, body: &Value) -> Value {
        self.ask(method, &format!("/session/{}{path}", self.session), body)
    }

    /// Shows a page.
    pub(crate) fn go(&self, url: &str) {
        self.of_session("POST", "/url", &json!({ "url": url }));
    }

    /// Runs the body of a function in the page.
    pub(crate) fn run(&self, script: &str) -> Value {
        self.of_session(
            "POST",
            "/execute/sync",
            &json!({"script": script, "args": []}),
        )
    }

    /// Waits until an expression holds in the page.
    pub(crate) fn until(&self, expression: &str) {
        let began = Instant::now();
        while self.run(&format!("return !!({expression})")) != json!(true) {
            assert!(
                began.elapsed() < PATIENCE,
                "{expression} never held in\n{}",
                self.text()
            );
            std::thread::sleep(Duration::from_millis(100));
        }
    }

    /// The text that the page shows.
    pub(crate) fn text(&self) -> String {
        let text = self.run("return document.body.innerText");
        text.as_str().unwrap_or_default().to_owned()
    }

    /// Types into whatever has the focus.
    pub(crate) fn press(&self, keys: &[&str]) {
        let deeds: Vec<Value> = keys
            .iter()
            .flat_map(|key| {
                [
                    json!({"type": "keyDown", "value": key}),
                    json!({"type": "keyUp", "value": key}),
                ]
            })
            .collect();
        let keyboard = json!({"actions": [{"type": "key", "id": "keys", "actions": deeds}]});
        self.of_session("POST", "/actions", &keyboard);
    }

    /// What went wrong in the page since the last call: errors and warnings of its console.
    pub(crate) fn complaints(&self) -> Vec<String> {
        let log = self.of_session("POST", "/se/log", &json!({"type": "browser"}));
        let lines = log.as_array().cloned().unwrap_or_default();
        lines
            .iter()
            .filter(|line| line["level"] != "INFO" && line["level"] != "DEBUG")
            .map(|line| line["message"].as_str().unwrap_or_default().to_owned())
            .collect()
    }

    /// Every task of a page's main thread since the last call, from the browser's own trace.
    pub(crate) fn tasks(&self) -> Vec<Task> {
        let is_main = |event: &Value| {
            event["name"] == "thread_name" && event["args"]["name"] == "CrRendererMain"
        };
        // The driver may hand a trace over one call late. Its last event is ours.
        let last = format!("{:?}", Instant::now());
        self.run(&format!("console.timeStamp('{last}')"));
        let is_last = |event: &Value| event["args"]["data"]["message"] == last.as_str();
        let mut events: Vec<Value> = Vec::new();
        let began = Instant::now();
        while !events.iter().any(is_last) {
            assert!(began.elapsed() < PATIENCE, "the browser traced nothing");
            std::thread::sleep(Duration::from_millis(200));
            events.extend(self.traced());
        }
        let thread = |event: &Value| (event["pid"].as_u64(), event["tid"].as_u64());
        let main: BTreeSet<_> = events
            .iter()
            .filter(|event| is_main(event))
            .map(thread)
            .collect();
        let is_task = |event: &&Value| {
            let name = event["name"].as_str().unwrap_or_default();
            name.ends_with("::RunTask") && main.contains(&thread(event))
        };
        let tasks = events.iter().filter(is_task);
        let ms = |time: &Value| time.as_f64().map(|time| time / 1000.0);
        tasks
            .filter_map(|event| {
                Some(Task {
                    wall_ms: ms(&event["dur"])?,
                    processor_ms: ms(&event["tdur"])?,
                })
            })
            .collect()
    }

    fn traced(&self) -> Vec<Value> {
        let log = self.of_session("POST", "/se/log", &json!({"type": "performance"}));
        let lines = log.as_array().cloned().unwrap_or_default();
        let events = lines.iter().filter_map(|line| {
            let told: Value = serde_json::from_str(line["message"].as_str()?).ok()?;
            let message = &told["message"];
            (message["method"] == "Tracing.dataCollected").then(|| message["params"].clone())
        });
        events.collect()
    }
}

/// How long a task of a page took. On a busy machine it also waits for a processor.
#[derive(Debug)]
pub(crate) struct Task {
    pub(crate) wall_ms: f64,
    pub(crate) processor_ms: f64,
}

impl Drop for Browser {
    fn drop(&mut self) {
        // Asking the driver to close the session could fail, and a browser must not outlive its
        // test.
        if self.process != 0 {
            let pid = self.process.to_string();
            drop(Command::new("kill").args(["-KILL", &pid]).status());
        }
        drop(self.driver.kill());
        drop(self.driver.wait());
    }
}
