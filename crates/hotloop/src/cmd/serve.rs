//! `hotloop serve`: offers this machine's bench, or a fleet, to trainers that run elsewhere.

use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use hotloop_bench::LocalBench;
use hotloop_bench::torch::{Judge, Judging, ModuleBench};
use hotloop_flow::{Bench, BenchError, Task};
use hotloop_serve::{Benches, Factory, Limits, Listener, Notice, Problems, Server, Settings};

use crate::cli::serve::ServeArgs;
use crate::cmd::{bench::problems, judge, train};
use crate::failure::{Failure, Status};
use crate::fleets;
use crate::output::{complain, count, say, say_json};
use crate::stop::Stop;

/// Seconds that one call of a module may take.
const MODULE_LIMIT_S: f64 = 10.0;
/// The environment variable with a token.
const TOKEN: &str = "HOTLOOP_TOKEN";

/// Serves until stopped.
pub(crate) fn run(arguments: &ServeArgs) -> Result<Status, Failure> {
    let fleet = arguments.fleet.clone();
    let mut bench = judge::settings(&arguments.how, fleet.is_some())?;
    // A name that is no shipped task's is refused below.
    if let Some(name) = &arguments.task
        && hotloop_bench::tasks::shipped().any(|shipped| shipped == name)
    {
        bench.languages = crate::settings::languages([&judge::load(name)?]);
    }
    let scope = scope(arguments.bind);
    let factory: Factory = Box::new(move || match &fleet {
        // Candidates that are submitted together are compared, so one worker judges them.
        Some(fleet) => fleets::open(fleet, bench.clone(), &scope, false).map_err(BenchError::from),
        None => Ok(Box::new(LocalBench::start(bench.clone())?) as Box<dyn Bench>),
    });
    let settings = settings(arguments)?;
    // A set-up that is refused anyway opens no GPU.
    settings.check().map_err(Failure::from)?;
    let modules = settings.problems.is_some().then(|| modules(arguments));
    let benches = Benches {
        tasks: factory,
        modules: modules.transpose()?,
    };
    let tasks = count(settings.tasks.len(), "task");
    let guarded = if settings.tokens.is_empty() {
        "no token"
    } else {
        "with token"
    };
    let offered = format!(
        "({guarded}, reward {}); Ctrl-C stops",
        settings.reward.name()
    );
    let stop = Stop::listen()?;
    let json = arguments.json;
    let listener: Listener = Arc::new(move |notice| {
        if json {
            say_json(notice);
        } else if let Notice::Listening { address } = notice {
            say(&format!("serving {tasks} on {address} {offered}"));
        } else {
            complain(&notice.to_string());
        }
    });
    let server = Server::bind(settings, benches, listener)?;
    server.run(stop.flag());
    Ok(if stop.asked() {
        Status::Interrupted
    } else {
        Status::Fine
    })
}

/// Makes the bench for modules. A machine that cannot judge them is an error now, and not to the
/// first client.
fn modules(arguments: &ServeArgs) -> Result<Factory, Failure> {
    let how = Judging {
        with_compiled: false,
        limit_s: MODULE_LIMIT_S,
        runs: 0,
    };
    let (settings, python) = (crate::settings::own()?, arguments.python.clone());
    let open = move || Judge::open(&settings, python.as_deref(), how).and_then(ModuleBench::start);
    let mut opened = Some(open()?);
    Ok(Box::new(move || {
        let bench = opened.take().map_or_else(&open, Ok)?;
        Ok(Box::new(bench) as Box<dyn Bench>)
    }))
}

/// The problems that modules may be for.
fn problems_of(arguments: &ServeArgs) -> Result<Option<Problems>, Failure> {
    if arguments.problems.is_empty() && !arguments.any_problem {
        return Ok(None);
    }
    let mut texts = Vec::new();
    for path in &arguments.problems {
        let found = problems::within(path)?;
        texts.extend(found.into_iter().map(|problem| problem.source));
    }
    Ok(Some(Problems {
        texts,
        any: arguments.any_problem,
    }))
}

/// The service's scope on a fleet. Services on one host have different addresses, and a restarted
/// service keeps its address.
fn scope(bind: SocketAddr) -> String {
    let who = if bind.port() == 0 {
        fleets::unique()
    } else {
        bind.to_string()
    };
    format!("serve {who}")
}

fn settings(arguments: &ServeArgs) -> Result<Settings, Failure> {
    let named = hotloop_bench::tasks::shipped()
        .map(str::to_owned)
        .chain(arguments.add_task.iter().cloned());
    let tasks: Vec<Task> = named
        .map(|name| judge::load(&name))
        .collect::<Result<_, _>>()?;
    let mut settings = Settings::new(tasks, arguments.run_folder.clone());
    settings.bind = arguments.bind;
    settings.tokens = tokens(std::env::var(TOKEN).ok(), arguments.token_file.as_deref())?;
    settings.hosts.clone_from(&arguments.host);
    settings.tls = arguments.tls_cert.clone().zip(arguments.tls_key.clone());
    settings.task.clone_from(&arguments.task);
    settings.reward = arguments.reward;
    settings.set.clone_from(&arguments.set);
    settings.problems = problems_of(arguments)?;
    settings.limits = Limits {
        wait: Duration::from_secs_f64(arguments.wait),
        rate: f64::from(arguments.rate),
        body: (arguments.body as usize) << 20,
        ..Limits::default()
    };
    // Reports a wrong key or number now, not to the first trainer that asks.
    let layered =
        hotloop_run::Layered::read(None, &settings.set).map_err(|all| train::mistakes(&all))?;
    match hotloop_run::Plan::mistaken_numbers(&layered).as_slice() {
        [] => Ok(settings),
        wrong => Err(train::mistakes(wrong)),
    }
}

/// The tokens of the environment and of the file, each checked where it stands.
fn tokens(variable: Option<String>, file: Option<&Path>) -> Result<Vec<String>, Failure> {
    let sound = |place: &str, token: &str| {
        hotloop_serve::check_token(token).map_err(|refusal| {
            let what = format!("{place}: {refusal}");
            Failure::from(refusal).about(what)
        })
    };
    let mut tokens: Vec<String> = variable.into_iter().collect();
    tokens.iter().try_for_each(|token| sound(TOKEN, token))?;
    if let Some(file) = file {
        let name = format!("--token-file {}", file.display());
        let text = std::fs::read_to_string(file).map_err(|error| {
            Failure::user(format!("{name}: {error}")).hint(format!(
                "write a token into it, one a line, or into {TOKEN}"
            ))
        })?;
        let before = tokens.len();
        for (number, line) in text.lines().map(str::trim).enumerate() {
            if !line.is_empty() && !line.starts_with('#') {
                sound(&format!("{name}, line {}", number + 1), line)?;
                tokens.push(line.to_owned());
            }
        }
        if tokens.len() == before {
            return Err(Failure::user(format!("{name}: there is no token in it"))
                .hint("`openssl rand -hex 24` makes a good one"));
        }
    }
    Ok(tokens)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bad_token_is_named_by_its_place() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("tokens.txt");
        std::fs::write(&file, "# ours\n\n0123456789abcdef\nshort\n").expect("written");
        let why = |variable: Option<&str>, file: Option<&Path>| {
            let refused = tokens(variable.map(str::to_owned), file).expect_err("it is bad");
            refused.what().to_owned()
        };
        assert_eq!(
            why(Some(""), None),
            "HOTLOOP_TOKEN: a token has 0 characters; it needs at least 16"
        );
        assert!(
            why(None, Some(&file))
                .ends_with("tokens.txt, line 4: a token has 5 characters; it needs at least 16")
        );
        std::fs::write(&file, "0123456789abcdef\n").expect("written");
        let both = tokens(Some("another-long-token".to_owned()), Some(&file));
        assert_eq!(both.expect("both are good").len(), 2);
    }

    #[test]
    fn services_of_one_host_have_distinct_scopes_that_survive_a_restart() {
        let of = |text: &str| scope(text.parse().unwrap());
        assert_eq!(of("127.0.0.1:8000"), of("127.0.0.1:8000"));
        assert_ne!(of("127.0.0.1:8000"), of("127.0.0.1:8001"));
        assert_ne!(
            of("127.0.0.1:0"),
            of("127.0.0.1:0"),
            "a free port is not known yet"
        );
    }
}
