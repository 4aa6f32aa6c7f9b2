//! `SandboxFusion`'s `/run_code`: code in, what a compiler and a run of it said out.
//!
//! Nothing but a candidate for a task is ever run. `stdin` names the task (as a label does);
//! the run's standard output is the verdict's name, so that verl's comparison with an expected
//! output works with `"correct"`. The whole judgement stands under `hotloop`.
//! Its clients send `cpp`, since they know no `c`. verl waits for both limits and ten seconds
//! more, and tries again after 504 only, so that is what "not yet" is here.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use hotloop_flow::Verdict;
use hotloop_flow::bench::Seconds;
use hotloop_flow::verdict::Phase;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Graded, grade_one};
use crate::app::App;
use crate::asked::{Submission, What};
use crate::body::{Body, Received};
use crate::fault::Fault;

/// What its clients send, as far as it matters.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Asked {
    code: String,
    language: String,
    #[serde(default)]
    stdin: Option<String>,
    #[serde(default = "ten")]
    compile_timeout: f64,
    #[serde(default = "ten")]
    run_timeout: f64,
    /// The bench has limits of its own.
    #[serde(default, rename = "memory_limit_MB")]
    _memory_limit: Option<f64>,
    /// Candidates have no files.
    #[serde(default, rename = "files")]
    _files: Option<Value>,
    #[serde(default, rename = "fetch_files")]
    _fetch_files: Option<Value>,
}

impl Body for Asked {}

fn ten() -> f64 {
    10.0
}

/// What its clients read.
#[derive(Debug, Serialize)]
pub(crate) struct Answered {
    status: &'static str,
    message: String,
    compile_result: Option<Ran>,
    run_result: Option<Ran>,
    executor_pod_name: Option<String>,
    files: BTreeMap<String, String>,
    hotloop: Told,
}

/// What a program said.
#[derive(Debug, Serialize)]
struct Ran {
    status: &'static str,
    execution_time: Option<f64>,
    return_code: Option<i32>,
    stdout: String,
    stderr: String,
}

/// What the protocol has no words for.
#[derive(Debug, Serialize)]
struct Told {
    reward: f64,
    speedup: Option<f64>,
    verdict: Value,
    seconds: Seconds,
}

/// The verdict, without what was measured of a suspect candidate: an implausible speed is no speed.
fn told(verdict: &Verdict) -> Value {
    let mut told = serde_json::to_value(verdict).unwrap_or_default();
    if let (Verdict::Suspect { .. }, Some(keys)) = (verdict, told.as_object_mut()) {
        keys.remove("measured");
    }
    told
}

/// Judges a candidate in `SandboxFusion`'s words.
pub(crate) async fn run_code(
    State(app): State<Arc<App>>,
    asked: Received<Asked>,
) -> Result<Json<Answered>, Fault> {
    let asked = asked.value;
    if !matches!(asked.language.as_str(), "c" | "cpp") {
        return Err(
            Fault::bad("only candidates in C are judged here").hint("language is `c` or `cpp`")
        );
    }
    let what = What::of(&asked.stdin.map_or(Value::Null, Value::String))?;
    let patience = asked.compile_timeout.max(0.0) + asked.run_timeout.max(0.0) + 5.0;
    let judging = &app.judging;
    let deadline = judging.deadline(Some(patience));
    // Clients that cut the code out of an answer send code, others the whole answer.
    let one = Submission::completion(what, asked.code);
    let judged = grade_one(judging, one, None, deadline).await;
    let graded = judged.map_err(|fault| match fault.status {
        StatusCode::SERVICE_UNAVAILABLE => fault.status(StatusCode::GATEWAY_TIMEOUT),
        _ => fault,
    })?;
    let pod = judging.desk.look().bench.ok().map(|facts| facts.class);
    Ok(Json(answer(&graded, pod)))
}

fn answer(graded: &Graded, pod: Option<String>) -> Answered {
    let verdict = graded.verdict();
    let seconds = graded.judgement.seconds;
    let ran = |status, time, return_code, stderr: String| Ran {
        status,
        execution_time: time,
        return_code,
        stdout: String::new(),
        stderr,
    };
    let compiled = || ran("Finished", Some(seconds.compile), Some(0), String::new());
    let detail = verdict.detail();
    let (compile, run) = match verdict {
        Verdict::Malformed { .. } | Verdict::Refused { .. } | Verdict::NotCompiled { .. } => (
            ran("Finished", Some(seconds.compile), Some(1), detail.clone()),
            None,
        ),
        Verdict::TimedOut {
            during: Phase::Compile,
            limit_s,
        } => (
            ran("TimeLimitExceeded", Some(*limit_s), None, detail.clone()),
            None,
        ),
        Verdict::TimedOut {
            during: Phase::Run,
            limit_s,
        } => (
            compiled(),
            Some(ran(
                "TimeLimitExceeded",
                Some(*limit_s),
                None,
                detail.clone(),
            )),
        ),
        Verdict::Crashed { .. } | Verdict::Wrong(_) | Verdict::Suspect { .. } => (
            compiled(),
            Some(ran("Finished", Some(seconds.run), Some(1), detail.clone())),
        ),
        Verdict::Correct(measured) => (
            compiled(),
            Some(ran(
                "Finished",
                Some(measured.seconds),
                Some(0),
                String::new(),
            )),
        ),
    };
    let run = run.map(|run| Ran {
        stdout: format!("{}\n", verdict.label()),
        ..run
    });
    Answered {
        status: if matches!(verdict, Verdict::Correct(_)) {
            "Success"
        } else {
            "Failed"
        },
        message: detail,
        compile_result: Some(compile),
        run_result: run,
        executor_pod_name: pod,
        files: BTreeMap::new(),
        hotloop: Told {
            reward: graded.reward,
            speedup: graded.speedup(),
            verdict: told(verdict),
            seconds,
        },
    }
}
