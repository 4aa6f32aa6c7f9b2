//! Follows the journals of runs that other processes write.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock, RwLockReadGuard};
use std::time::{Duration, Instant};

use hotloop_run::report::RunReport;
use hotloop_run::report::view::{Doing, Head, View};
use hotloop_run::store::{self, StoreError};
use hotloop_run::{Config, Followed, Layered};
use tokio::sync::watch;

/// How often journals are looked at, and how often folders are searched for new runs.
const GLANCE: Duration = Duration::from_millis(200);
const SEARCH: Duration = Duration::from_secs(1);
/// How deep below a folder its runs may lie: `quickstart/learns`, `plan/job/run`.
const DEPTH: usize = 3;
/// Maximum number of runs on one page.
const MOST: usize = 500;

/// A run that is followed.
pub(super) struct Run {
    directory: PathBuf,
    name: String,
    followed: RwLock<Followed>,
    head: RwLock<Head>,
    config: Mutex<Option<Config>>,
    /// Grows with everything that is taken in.
    version: AtomicU64,
    /// The last view with its version, because several pages may ask for it.
    view: Mutex<Option<(u64, Arc<str>)>>,
}

fn sound<T>(lock: &RwLock<T>) -> RwLockReadGuard<'_, T> {
    lock.read().unwrap_or_else(PoisonError::into_inner)
}

impl Run {
    fn new(directory: PathBuf, name: String) -> Self {
        Self {
            followed: RwLock::new(Followed::new(&directory)),
            head: RwLock::new(Head::blank(
                &name,
                Doing::Reading,
                "not read yet".to_owned(),
            )),
            config: Mutex::default(),
            version: AtomicU64::new(0),
            view: Mutex::default(),
            directory,
            name,
        }
    }

    pub(super) fn directory(&self) -> &Path {
        &self.directory
    }

    pub(super) fn head(&self) -> Head {
        sound(&self.head).clone()
    }

    /// Everything that was read so far. The follower waits while the lock is held.
    pub(super) fn followed(&self) -> RwLockReadGuard<'_, Followed> {
        sound(&self.followed)
    }

    /// Everything that the page shows of the run, as JSON.
    pub(super) fn view(&self) -> Result<Arc<str>, StoreError> {
        let version = self.version.load(Ordering::Acquire);
        let mut kept = self.view.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((of, view)) = &*kept
            && *of == version
        {
            return Ok(Arc::clone(view));
        }
        let followed = self.followed();
        let report = RunReport::of(&self.directory, self.name.clone(), followed.state())?;
        let view = View::of(&report, self.head(), followed.state(), &self.directory)?;
        let text: Arc<str> = serde_json::to_string(&view)
            .expect("views have a JSON form")
            .into();
        *kept = Some((version, Arc::clone(&text)));
        Ok(text)
    }

    /// Takes in the next part of the journal, and returns whether there may be more.
    fn advance(&self) -> bool {
        let next = self.followed().next();
        let (problem, changed) = match next {
            Ok(part) => {
                let mut followed = self
                    .followed
                    .write()
                    .unwrap_or_else(PoisonError::into_inner);
                (None, followed.take(&part))
            }
            Err(error) => (Some(error.to_string()), false),
        };
        let head = match problem {
            Some(why) => Head::blank(&self.name, Doing::Unreadable, why),
            None => self.now(),
        };
        let mut last = self.head.write().unwrap_or_else(PoisonError::into_inner);
        if changed || *last != head {
            *last = head;
            self.version.fetch_add(1, Ordering::Release);
        }
        changed
    }

    fn now(&self) -> Head {
        let followed = self.followed();
        let length =
            std::fs::metadata(store::journal_path(&self.directory)).map_or(0, |facts| facts.len());
        // A line that is being written is not a part that is not read yet.
        let behind = length.saturating_sub(followed.read());
        if behind > 8 << 20 {
            let share = 100.0 * followed.read() as f64 / length as f64;
            return Head::blank(&self.name, Doing::Reading, format!("{share:.0} % read"));
        }
        let mut config = self.config.lock().unwrap_or_else(PoisonError::into_inner);
        // The run file of a resumed run may have another budget.
        let text = store::config(&self.directory);
        match text.map(|text| Layered::read(Some(("run.toml", &text)), &[])) {
            Ok(Ok(layered)) => *config = Some(layered.config),
            Ok(Err(mistakes)) => {
                let why: Vec<String> = mistakes.iter().map(ToString::to_string).collect();
                return Head::blank(&self.name, Doing::Unreadable, why.join("; "));
            }
            Err(_) => {}
        }
        let Some(config) = &*config else {
            return Head::blank(&self.name, Doing::Reading, "not begun yet".to_owned());
        };
        Head::of(
            &self.name,
            followed.state(),
            config,
            store::is_held(&self.directory),
            followed.last_s(),
        )
    }
}

/// The runs that are followed.
pub(super) struct Follower {
    roots: Vec<PathBuf>,
    runs: RwLock<BTreeMap<String, Arc<Run>>>,
    /// Counts changes; closed when the page ends.
    changes: Mutex<Option<watch::Sender<u64>>>,
    heard: watch::Receiver<u64>,
}

impl Follower {
    pub(super) fn new(roots: Vec<PathBuf>) -> Self {
        let (changes, heard) = watch::channel(0);
        Self {
            roots,
            runs: RwLock::default(),
            changes: Mutex::new(Some(changes)),
            heard,
        }
    }

    pub(super) fn run_named(&self, name: &str) -> Option<Arc<Run>> {
        sound(&self.runs).get(name).cloned()
    }

    /// All runs in a line each, the latest first.
    pub(super) fn heads(&self) -> Vec<Head> {
        let mut heads: Vec<Head> = sound(&self.runs).values().map(|run| run.head()).collect();
        heads.sort_by(|a, b| b.began_s.total_cmp(&a.began_s).then(a.name.cmp(&b.name)));
        heads
    }

    /// Hears of changes. It ends when the page does.
    pub(super) fn changes(&self) -> watch::Receiver<u64> {
        self.heard.clone()
    }

    pub(super) fn close(&self) {
        drop(
            self.changes
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .take(),
        );
    }

    fn changed(&self) {
        if let Some(changes) = &*self.changes.lock().unwrap_or_else(PoisonError::into_inner) {
            changes.send_modify(|count| *count += 1);
        }
    }

    /// Follows until `stop` is set.
    pub(super) fn run(&self, stop: &AtomicBool) {
        let mut searched: Option<Instant> = None;
        while !stop.load(Ordering::Relaxed) {
            if searched.is_none_or(|then| then.elapsed() >= SEARCH) {
                self.search();
                searched = Some(Instant::now());
            }
            let runs: Vec<Arc<Run>> = sound(&self.runs).values().cloned().collect();
            let before = self.versions();
            // Runs take turns, so that a long journal keeps no other one waiting.
            let mut more = false;
            for run in &runs {
                more |= run.advance();
                if stop.load(Ordering::Relaxed) {
                    return;
                }
            }
            if self.versions() != before {
                self.changed();
            }
            if !more {
                std::thread::sleep(GLANCE);
            }
        }
    }

    fn versions(&self) -> u64 {
        let runs = sound(&self.runs);
        runs.values()
            .map(|run| run.version.load(Ordering::Relaxed))
            .sum::<u64>()
            + runs.len() as u64
    }

    fn search(&self) {
        for root in &self.roots {
            let mut found = Vec::new();
            find(root, DEPTH, &mut found);
            found.sort();
            for directory in found {
                self.add(root, directory);
            }
        }
    }

    fn add(&self, root: &Path, directory: PathBuf) {
        let mut runs = self.runs.write().unwrap_or_else(PoisonError::into_inner);
        let is_known = runs.values().any(|run| run.directory == directory);
        if is_known || runs.len() >= MOST {
            return;
        }
        let below = directory.strip_prefix(root).unwrap_or(Path::new(""));
        let own = std::path::absolute(&directory).unwrap_or_else(|_| directory.clone());
        let name = if below.as_os_str().is_empty() {
            own.file_name()
                .unwrap_or_default()
                .to_string_lossy()
                .into_owned()
        } else {
            below.display().to_string()
        };
        let mut names =
            std::iter::once(name.clone()).chain((2..).map(|at| format!("{name} ({at})")));
        let name = names
            .find(|name| !runs.contains_key(name))
            .expect("numbers do not end");
        runs.insert(name.clone(), Arc::new(Run::new(directory, name)));
    }
}

/// The run directories in a folder.
fn find(folder: &Path, depth: usize, found: &mut Vec<PathBuf>) {
    // Opening a pipe would wait for its writer.
    if store::journal_path(folder).is_file() {
        found.push(folder.to_owned());
        return;
    }
    let Some(deeper) = depth.checked_sub(1) else {
        return;
    };
    let Ok(entries) = std::fs::read_dir(folder) else {
        return;
    };
    for entry in entries.filter_map(Result::ok) {
        // A link may lead back up.
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            find(&entry.path(), deeper, found);
        }
    }
}
