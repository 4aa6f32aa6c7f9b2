//! The live page over run directories: a server that only reads.
//!
//! ```text
//! journals -> follower -> heads, states -> routes -> the page of `hotloop_run::report::page`
//! ```
//!
//! A thread folds what other processes write into the same state that reports use. The page hears
//! of changes as server-sent events and asks for what it shows. Nothing that a request says changes
//! anything.

mod follower;
mod hooks;
mod routes;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use hotloop_flow::Remedy;
use tokio::net::TcpListener;
use tokio::runtime::{Builder, Runtime};

use crate::hosts::Hosts;
use crate::metrics::Metrics;
use crate::settings::{Limits, Refusal};
use crate::wire::Door;
use follower::Follower;

pub use hooks::{Decode, Fleet};

/// Threads that answer requests. One of them may be building a large answer.
const THREADS: usize = 2;

/// What is watched.
pub struct Watched {
    /// Run directories, and folders that hold some. They may not exist yet.
    pub runs: Vec<PathBuf>,
    /// Where to listen; only loopback addresses are allowed, because nobody is asked for a token.
    pub bind: SocketAddr,
    pub decode: Decode,
    pub fleet: Option<Fleet>,
}

/// A page that has its port; [`Watch::run`] answers requests.
pub struct Watch {
    runtime: Runtime,
    door: Arc<Door>,
    port: TcpListener,
    address: SocketAddr,
    follower: Arc<Follower>,
}

impl Watch {
    /// Takes the port. Reading the runs begins with [`Watch::run`].
    pub fn bind(watched: Watched) -> Result<Self, Refusal> {
        let bind = watched.bind;
        if !bind.ip().is_loopback() {
            return Err(Refusal::new(
                format!(
                    "{bind} can be reached from other machines, and the page asks for no token"
                ),
                "listen on a loopback address, and forward the port with `ssh -L` from elsewhere",
            ));
        }
        let cannot = |error: std::io::Error| {
            Refusal::new(
                format!("cannot listen on {bind}: {error}"),
                "choose another address or port",
            )
            .remedy(Remedy::Bind)
        };
        let runtime = Builder::new_multi_thread()
            .worker_threads(THREADS)
            .enable_all()
            .build()
            .map_err(cannot)?;
        let port = runtime.block_on(TcpListener::bind(bind)).map_err(cannot)?;
        let address = port.local_addr().map_err(cannot)?;
        let follower = Arc::new(Follower::new(watched.runs));
        let router = routes::router(
            Arc::clone(&follower),
            Hosts::new(address.ip(), &[]),
            watched.decode,
            watched.fleet,
        );
        // Nobody reads the numbers and the notices of a page for one person.
        let door = Door::new(
            router,
            None,
            &Limits::default(),
            Arc::new(Metrics::default()),
            Arc::new(|_| {}),
        );
        Ok(Self {
            runtime,
            door: Arc::new(door),
            port,
            address,
            follower,
        })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Answers requests until `stop` is set.
    pub fn run(self, stop: &AtomicBool) {
        let Self {
            runtime,
            door,
            port,
            follower,
            ..
        } = self;
        std::thread::scope(|scope| {
            let reader = Arc::clone(&follower);
            scope.spawn(move || reader.run(stop));
            let close = async {
                while !stop.load(Ordering::Relaxed) {
                    tokio::time::sleep(Duration::from_millis(50)).await;
                }
                follower.close();
            };
            runtime.block_on(async { tokio::join!(door.accept(port, stop), close) });
        });
        runtime.shutdown_timeout(Duration::from_secs(1));
    }
}
