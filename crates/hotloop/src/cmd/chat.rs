//! `hotloop chat`: a line in, an answer out.

use std::io::{BufRead, IsTerminal, Write};

use hotloop_flow::policy::{Chat, Message, PolicyError, Speaker};

use crate::cli::learn::ChatArgs;
use crate::cmd::sample::{open, sampling};
use crate::failure::{Failure, Status};
use crate::models;
use crate::output::{complain, say};
use crate::progress::Progress;
use crate::stop::Stop;

/// Talks until the input ends.
pub(crate) fn run(arguments: &ChatArgs) -> Result<Status, Failure> {
    let stop = Stop::listen()?;
    let mut policy = open(&arguments.who, true, &stop)?;
    let mut sampling = sampling(&arguments.draw);
    let mut chat = Chat {
        messages: Vec::new(),
        begun: String::new(),
    };
    if let Some(system) = &arguments.system {
        chat.messages.push(Message {
            role: Speaker::System,
            content: system.clone(),
        });
    }
    if std::io::stdin().is_terminal() {
        complain(&format!(
            "{}. Ctrl-D ends, Ctrl-C ends an answer.",
            policy.capabilities().model
        ));
    }
    while let Some(question) = ask(&stop)? {
        if question.trim().is_empty() {
            continue;
        }
        chat.messages.push(Message {
            role: Speaker::User,
            content: question,
        });
        let progress = Progress::spinner("thinking", true);
        let answers = policy.sample(std::slice::from_ref(&chat), 1, &sampling);
        drop(progress);
        if matches!(answers, Err(PolicyError::Stopped)) && std::io::stdin().is_terminal() {
            // The question is dropped, as if nobody had asked it.
            chat.messages.pop();
            continue;
        }
        let answer = answers
            .map_err(|error| models::policy_failure(&error))?
            .swap_remove(0);
        if !say(answer.text.trim_end()) {
            break;
        }
        chat.messages.push(Message {
            role: Speaker::Assistant,
            content: answer.text,
        });
        sampling.seed = sampling.seed.wrapping_add(1);
    }
    Ok(Status::Fine)
}

/// The next line; `None` at the end of the input. While no answer is in progress, one signal ends
/// the program.
fn ask(stop: &Stop) -> Result<Option<String>, Failure> {
    stop.ask();
    if std::io::stdin().is_terminal() {
        let mut out = std::io::stderr().lock();
        drop(out.write_all(b"> ").and_then(|()| out.flush()));
    }
    let mut line = String::new();
    let read = std::io::stdin().lock().read_line(&mut line);
    let read = read.map_err(|error| Failure::user(format!("standard input: {error}")))?;
    stop.forget();
    Ok((read > 0).then(|| line.trim_end().to_owned()))
}
