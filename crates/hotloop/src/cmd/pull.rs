//! `hotloop model pull`: downloads a model from the hub.

use std::path::{Path, PathBuf};

use hotloop_policy::hub::{Entry, Hub, HubError, Listing, Place, Unfit, Wanted, select};
use serde::Serialize;

use crate::cli::learn::PullArgs;
use crate::failure::{Failure, Status};
use crate::models;
use crate::output::{bytes, complain, count, say, say_json};
use crate::progress::Progress;
use crate::stop::Stop;

/// What was downloaded.
#[derive(Debug, Serialize)]
struct Pulled {
    /// The value for `--model`: a folder, or the one requested file.
    path: PathBuf,
    /// `null` if the hub was unreachable and the path is an older copy.
    commit: Option<String>,
    files: Vec<String>,
    bytes: u64,
}

pub(crate) fn run(arguments: &PullArgs) -> Result<Status, Failure> {
    let PullArgs {
        name,
        to,
        file,
        revision,
        json,
    } = arguments;
    if !models::is_hub_name(name) {
        return Err(Failure::user(format!("{name} is not a name on the hub"))
            .hint("names are OWNER/NAME, such as Qwen/Qwen2.5-Coder-0.5B-Instruct"));
    }
    let place = Place::new(name, to.as_deref()).ok_or_else(|| {
        Failure::user("there is no known folder for models")
            .hint("name one with --to DIR, or set HF_HOME or HOME")
    })?;
    let hub = Hub::from_environment();
    let stop = Stop::listen()?;
    let listing = match hub.list(name, revision) {
        Err(HubError::Unreachable(why)) => {
            match models::downloaded(name).filter(|_| to.is_none() && file.is_empty()) {
                Some(path) => {
                    complain(&format!(
                        "hotloop: {} cannot be reached ({why}); using the copy on this machine",
                        hub.endpoint()
                    ));
                    tell(
                        &Pulled {
                            path,
                            commit: None,
                            files: Vec::new(),
                            bytes: 0,
                        },
                        *json,
                    );
                    return Ok(Status::Fine);
                }
                None => return Err(failure(&hub, name, HubError::Unreachable(why))),
            }
        }
        listed => listed.map_err(|error| failure(&hub, name, error))?,
    };
    let files = select(&listing, file).map_err(|why| unfit(name, why))?;
    fetch_all(&hub, name, &listing, &files, &place, &stop)?;
    place
        .publish(&listing, revision, &files)
        .map_err(|error| Failure::machine(error.to_string()))?;
    let folder = place.folder(&listing.commit);
    let path = if file.len() == 1 {
        folder.join(&file[0])
    } else {
        folder
    };
    let is_model = file.is_empty()
        || path
            .extension()
            .is_some_and(|extension| extension == "gguf");
    if is_model {
        readable(&path)?;
    }
    let total = files.iter().map(|entry| entry.size).sum();
    let files = files.into_iter().map(|entry| entry.name).collect();
    tell(
        &Pulled {
            path,
            commit: Some(listing.commit),
            files,
            bytes: total,
        },
        *json,
    );
    Ok(Status::Fine)
}

fn tell(pulled: &Pulled, json: bool) {
    if json {
        say_json(pulled);
        return;
    }
    if pulled.commit.is_some() {
        complain(&format!(
            "{}, {}",
            count(pulled.files.len(), "file"),
            bytes(pulled.bytes)
        ));
    }
    say(&pulled.path.display().to_string());
}

/// Downloads small files first, so that a problem with the model shows before its weights arrive.
fn fetch_all(
    hub: &Hub,
    name: &str,
    listing: &Listing,
    files: &[Entry],
    place: &Place,
    stop: &Stop,
) -> Result<(), Failure> {
    let progress = Progress::bytes(files.iter().map(|entry| entry.size).sum(), true);
    let mut order: Vec<&Entry> = files.iter().collect();
    order.sort_by_key(|entry| entry.size);
    let mut done = 0;
    for entry in order {
        progress.message(entry.name.clone());
        let wanted = Wanted {
            name,
            commit: &listing.commit,
            entry,
        };
        let mut watch = |here: u64| {
            progress.at(done + here);
            !stop.asked()
        };
        hub.fetch(wanted, place, &mut watch)
            .map_err(|error| failure(hub, name, error))?;
        done += entry.size;
        progress.at(done);
    }
    Ok(())
}

/// Reports a model that hotloop cannot load now, not when a run starts.
fn readable(path: &Path) -> Result<(), Failure> {
    models::open(path).map(drop).map_err(|failure| {
        let what = format!(
            "it was downloaded, but hotloop cannot load it: {}",
            failure.what()
        );
        failure.about(what)
    })
}

fn failure(hub: &Hub, name: &str, error: HubError) -> Failure {
    let again = format!("`hotloop model pull {name}` continues where it stopped");
    match error {
        HubError::Unreachable(why) => {
            Failure::machine(format!("{} cannot be reached: {why}", hub.endpoint())).hint(format!(
                "without network, do `hotloop model pull {name} --to DIR` elsewhere, copy DIR here \
                 and name it; HF_ENDPOINT names another hub"
            ))
        }
        HubError::Forbidden(what) if hub.has_token() => Failure::user(what).hint(format!(
            "the token in HF_TOKEN must be valid, and its owner must have access: see {}/{name}",
            hub.endpoint()
        )),
        HubError::Forbidden(what) => Failure::user(what).hint(format!(
            "there is no public model of that name: check the name, or set HF_TOKEN and ask for \
             access at {}/{name}",
            hub.endpoint()
        )),
        HubError::Missing(what) => {
            Failure::user(what).hint(format!("see {}/{name}", hub.endpoint()))
        }
        HubError::Broken(what) => Failure::machine(what).hint(again),
        HubError::Disk(error) => Failure::machine(error.to_string())
            .hint(again)
            .of_file(error.kind()),
        HubError::Stopped => Failure::interrupted().about("stopped").hint(again),
    }
}

fn unfit(name: &str, why: Unfit) -> Failure {
    match why {
        Unfit::NoSuchFile(there) => Failure::user(format!("{name} has no such file"))
            .hint(format!("it has {}", there.join(", "))),
        Unfit::OnlyGguf(names) => Failure::user(format!(
            "{name} contains several GGUF files, and \
            one is enough"
        ))
        .hint(format!("choose one with --file: {}", names.join(", "))),
        Unfit::Lacks(what) => {
            Failure::user(format!("{name} has no {what}: hotloop cannot load it")).hint(
                "it needs config.json and model.safetensors (or shards with their index), or a \
                GGUF file",
            )
        }
    }
}
