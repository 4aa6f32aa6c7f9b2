//! `hotloop watch`: a page that shows runs while they go on.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use hotloop_policy::text::Text;
use hotloop_run::Layered;
use hotloop_serve::{Decode, Fleet, Watch, Watched};

use crate::cli::watch::{BesideArgs, WatchArgs};
use crate::cmd::fleet;
use crate::failure::{Failure, Status};
use crate::models;
use crate::output::{say, say_json};
use crate::stop::Stop;

/// Where the page is without another address.
const USUAL: SocketAddr =
    SocketAddr::new(std::net::IpAddr::V4(std::net::Ipv4Addr::LOCALHOST), 8080);

/// Serves the page until stopped.
pub(crate) fn run(arguments: &WatchArgs) -> Result<Status, Failure> {
    // A misspelt folder would stay empty for ever. Only the usual one may be made later.
    if let Some(missing) = arguments.run.iter().find(|run| !run.exists())
        && missing != Path::new("runs")
    {
        return Err(
            Failure::user(format!("{}: there is no such folder", missing.display()))
                .hint("name run directories, or a folder that holds some"),
        );
    }
    let fleet: Option<Fleet> = match &arguments.fleet {
        Some(named) => Some(fleet::looked_at(named)?),
        None => None,
    };
    let stop = Stop::listen()?;
    let page = bind(arguments.run.clone(), arguments.bind, fleet)?;
    let address = address(&page);
    if arguments.json {
        say_json(&serde_json::json!({"notice": "listening", "address": address}));
    } else {
        say(&format!("watching on {address}; Ctrl-C stops"));
    }
    page.run(stop.flag());
    Ok(Status::Interrupted)
}

fn address(page: &Watch) -> String {
    format!("http://{}", page.address())
}

fn bind(
    runs: Vec<PathBuf>,
    wanted: Option<SocketAddr>,
    fleet: Option<Fleet>,
) -> Result<Watch, Failure> {
    let mut watched = Watched {
        runs,
        bind: wanted.unwrap_or(USUAL),
        decode: decode(),
        fleet,
    };
    if wanted.is_none() && std::net::TcpListener::bind(USUAL).is_err() {
        watched.bind.set_port(0);
    }
    Ok(Watch::bind(watched)?)
}

/// Reads tokens with the tokenizer of a run's model. Each is loaded once, and one that is not here
/// is not looked for again.
fn decode() -> Decode {
    let known: Mutex<HashMap<String, Option<Text>>> = Mutex::default();
    Box::new(move |directory, tokens| {
        let text = hotloop_run::store::config(directory).ok()?;
        let model = Layered::read(Some(("run.toml", &text)), &[])
            .ok()?
            .config
            .model;
        let mut known = known.lock().unwrap_or_else(PoisonError::into_inner);
        let load = || {
            let place = models::find(&model).ok()?;
            models::open(&place.path()).ok()?.text().ok()
        };
        let text = known.entry(model.clone()).or_insert_with(load);
        text.as_ref().map(|text| text.spell(tokens))
    })
}

/// A page beside a run. It ends when this is dropped.
pub(crate) struct Beside {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

/// Serves the page for `runs` meanwhile, if it is wanted.
pub(crate) fn beside(
    arguments: &BesideArgs,
    runs: Vec<PathBuf>,
) -> Result<Option<Beside>, Failure> {
    let Some(wanted) = arguments.watch else {
        return Ok(None);
    };
    let page = bind(runs, wanted, None)?;
    say(&format!("watch it on {}", address(&page)));
    let stop = Arc::new(AtomicBool::new(false));
    let asked = Arc::clone(&stop);
    let thread = std::thread::spawn(move || page.run(&asked));
    Ok(Some(Beside {
        stop,
        thread: Some(thread),
    }))
}

impl Drop for Beside {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            drop(thread.join());
        }
    }
}
