//! The reward and search service for trainers that live elsewhere.
//!
//! ```text
//! many requests -> guard -> api | adapters -> desk -> one bench
//!                                  |
//!                                  searches -> run directories
//! ```
//!
//! [`settings`] says what is allowed and refuses what is dangerous; `guard` lets requests pass by
//! token and rate; `api` is hotloop's own interface and `adapters` are those of other trainers;
//! `desk` joins requests for one candidate to one job of one bench, which a single thread owns;
//! `searches` keeps the prompts and answers of foreign trainers in run directories. A machine's failure
//! is `null` or 5xx here, and never a number.

mod adapters;
mod api;
mod app;
mod asked;
mod board;
mod body;
mod desk;
mod fault;
mod guard;
mod metrics;
pub mod notice;
mod searches;
pub mod settings;
mod wire;
mod worth;

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use hotloop_flow::Remedy;
use tokio::net::TcpListener;
use tokio::runtime::{Builder, Runtime};

use app::{App, router};
pub use desk::Factory;
pub use notice::{Listener, Notice};
pub use settings::{Limits, Refusal, Settings};

/// Threads that answer requests; judging is not theirs.
const THREADS: usize = 2;

/// A service that listens, and answers when it is told to.
pub struct Server {
    runtime: Runtime,
    app: Arc<App>,
    listener: TcpListener,
    tls: Option<tokio_rustls::TlsAcceptor>,
    address: SocketAddr,
}

impl Server {
    /// Checks the settings, takes the port and starts the bench.
    pub fn bind(settings: Settings, factory: Factory, listener: Listener) -> Result<Self, Refusal> {
        settings.check()?;
        let tls = settings
            .tls
            .as_ref()
            .map(|(certificate, key)| wire::acceptor(certificate, key))
            .transpose()?;
        let cannot = |error: std::io::Error| {
            Refusal::new(
                format!("{} cannot be listened on: {error}", settings.bind),
                "name another address",
            )
            .remedy(Remedy::Bind)
        };
        let runtime = Builder::new_multi_thread()
            .worker_threads(THREADS)
            .enable_all()
            .build()
            .map_err(cannot)?;
        let listening = runtime
            .block_on(TcpListener::bind(settings.bind))
            .map_err(cannot)?;
        let address = listening.local_addr().map_err(cannot)?;
        let app = Arc::new(App::new(settings, factory, listener));
        Ok(Self {
            runtime,
            app,
            listener: listening,
            tls,
            address,
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
            app,
            listener,
            tls,
            ..
        } = self;
        runtime.block_on(wire::accept(
            &app,
            &router(Arc::clone(&app)),
            listener,
            tls,
            stop,
        ));
        stop.store(true, Ordering::Relaxed);
        // What hangs in a file system must not keep the program from ending.
        runtime.shutdown_timeout(std::time::Duration::from_secs(1));
    }
}
