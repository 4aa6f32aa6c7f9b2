//! How quick the live page is with a long journal: a run of 100,000 candidates is made, served and
//! shown in Chromium, scrolled and filtered.
//!
//! ```text
//! cargo build --release -p hotloop && cargo bench -p hotloop --bench watch -- target/release/hotloop
//! ```

#![expect(clippy::print_stdout, reason = "a program that reports")]
#![expect(clippy::unwrap_used, reason = "a measurement that cannot go on panics")]

#[path = "../tests/it/watch/browser.rs"]
#[expect(dead_code, reason = "the tests use all of it")]
mod browser;
#[path = "../tests/it/watch/made.rs"]
mod made;

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use browser::{Browser, Task};
use made::Shape;

const STEPS: u64 = 1042;
const GROUPS: u32 = 6;
const MEMBERS: u32 = 16;
/// Tokens of an answer of the nano policy.
const TOKENS: usize = 200;
/// Milliseconds that no task of the main thread may take.
const LONG: f64 = 50.0;

fn main() {
    let program = std::env::args()
        .skip(1)
        .find(|word| word != "--bench")
        .unwrap_or_else(|| env!("CARGO_BIN_EXE_hotloop").to_owned());
    let folder = tempfile::tempdir().unwrap();
    let run = folder.path().join("long");
    let shape = Shape {
        steps: STEPS,
        groups: GROUPS,
        members: MEMBERS,
        tokens: TOKENS,
        source: &|number| format!("void f(double *a) {{\n    a[{number}] = {number};\n}}\n"),
        why: "C[3] is 1, wanted 2",
    };
    made::run(&run, &shape);
    let bytes = std::fs::metadata(run.join("events.jsonl")).unwrap().len();
    println!(
        "{} candidates, a journal of {} MB",
        STEPS * u64::from(GROUPS * MEMBERS),
        bytes / 1_000_000
    );
    let Some(browser) = Browser::start() else {
        return;
    };
    let began = Instant::now();
    let mut page = Command::new(&program)
        .args(["watch", "--bind", "127.0.0.1:0", "--json"])
        .arg(folder.path())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let first = BufReader::new(page.stdout.take().unwrap()).lines().next();
    let told: serde_json::Value = serde_json::from_str(&first.unwrap().unwrap()).unwrap();
    let address = told["address"].as_str().unwrap();
    browser.go(address);
    paint(&browser, "first paint while the journal is being read");
    browser.until("document.querySelector('.doing')?.textContent === 'over'");
    println!("journal read after {:.1} s", began.elapsed().as_secs_f64());
    // A fresh tab, as somebody who opens the page now.
    browser.go("about:blank");
    // Without this a trace that misses tasks would look like a quick page.
    browser.run("const began = performance.now(); while (performance.now() - began < 2 * 50);");
    let control = browser.tasks();
    assert!(control.iter().any(|task| task.processor_ms > LONG));
    browser.go(&format!("{address}/#/run/long"));
    browser.until("document.querySelectorAll('.row').length > 5");
    paint(&browser, "first paint of the run's page");
    tasks(&browser, "while it loads");
    browser.until("document.querySelectorAll('.canvas svg').length > 5");
    scroll(&browser);
    tasks(
        &browser,
        "while the list scrolls through 100,000 rows and the page from end to end",
    );
    for (name, value) in [
        ("verdict", "wrong"),
        ("order", "fastest"),
        ("words", "ab"),
        ("words", ""),
    ] {
        browser.run(&format!(
            "const input = document.querySelector('[name={name}]'); input.value = '{value}';
             input.dispatchEvent(new Event('input', {{bubbles: true}}))"
        ));
        std::thread::sleep(Duration::from_millis(1500));
    }
    tasks(&browser, "while it filters and sorts");
    drop(page.kill());
    drop(page.wait());
}

fn paint(browser: &Browser, what: &str) {
    browser.until("performance.getEntriesByName('first-contentful-paint').length");
    let at =
        browser.run("return performance.getEntriesByName('first-contentful-paint')[0].startTime");
    browser.until("performance.getEntriesByName('filled').length");
    let filled = browser.run("return performance.getEntriesByName('filled')[0].startTime");
    println!(
        "{what}: {:.0} ms, filled after {:.0} ms",
        at.as_f64().unwrap(),
        filled.as_f64().unwrap()
    );
}

fn scroll(browser: &Browser) {
    browser.run(
        // Heights are read once: to read one forces a layout, and nobody who scrolls does that.
        "window.done = false; const rows = document.querySelector('.rows'); let at = 0;
         const list = rows.scrollHeight, page = document.body.scrollHeight;
         const step = () => {
           at += 1;
           rows.scrollTop = at < 150 ? at * 400 : list * (at - 150) / 150;
           window.scrollTo(0, page * at / 300);
           if (at < 300) requestAnimationFrame(step); else window.done = true;
         };
         requestAnimationFrame(step)",
    );
    browser.until("window.done");
}

fn tasks(browser: &Browser, what: &str) {
    let tasks = browser.tasks();
    let shown = |by: fn(&Task) -> f64| {
        let longest = tasks.iter().map(by).fold(0.0, f64::max);
        let long = tasks.iter().filter(|task| by(task) > LONG).count();
        format!("the longest {longest:.1} ms, {long} above {LONG} ms")
    };
    println!(
        "{what}: {} tasks; by the clock {}; by the processor {}",
        tasks.len(),
        shown(|task| task.wall_ms),
        shown(|task| task.processor_ms)
    );
}
