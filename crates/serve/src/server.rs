//! A service that listens on a port.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use hotloop_flow::Remedy;
use tokio::net::TcpListener;
use tokio::runtime::{Builder, Runtime};

use crate::app::App;
use crate::desk::Benches;
use crate::guard::Guard;
use crate::hosts::Hosts;
use crate::notice::{Listener, Notice, patient};
use crate::router::router;
use crate::settings::{Refusal, Settings};
use crate::wire::{self, Door};

/// Threads that answer requests; the bench has its own.
const THREADS: usize = 2;

/// A service that has its port; [`Server::run`] answers requests.
pub struct Server {
    runtime: Runtime,
    door: Arc<Door>,
    port: TcpListener,
    address: SocketAddr,
}

impl Server {
    /// Checks the settings, takes the port and starts the benches.
    pub fn bind(
        settings: Settings,
        benches: impl Into<Benches>,
        listener: Listener,
    ) -> Result<Self, Refusal> {
        settings.check()?;
        let tls = settings
            .tls
            .as_ref()
            .map(|(certificate, key)| wire::acceptor(certificate, key))
            .transpose()?;
        let cannot = |error: std::io::Error| {
            Refusal::new(
                format!("cannot listen on {}: {error}", settings.bind),
                "choose another address or port",
            )
            .remedy(Remedy::Bind)
        };
        let runtime = Builder::new_multi_thread()
            .worker_threads(THREADS)
            .enable_all()
            .build()
            .map_err(cannot)?;
        let port = runtime
            .block_on(TcpListener::bind(settings.bind))
            .map_err(cannot)?;
        let address = port.local_addr().map_err(cannot)?;
        let listener = patient(listener);
        let scheme = if tls.is_some() { "https" } else { "http" };
        listener(&Notice::Listening {
            address: format!("{scheme}://{address}"),
        });
        let app = Arc::new(App::new(&settings, benches.into(), Arc::clone(&listener)));
        let metrics = Arc::clone(&app.metrics);
        let guard = Arc::new(Guard::new(
            &settings.tokens,
            Hosts::new(address.ip(), &settings.hosts),
            settings.limits.rate,
            Arc::clone(&metrics),
            Arc::clone(&listener),
        ));
        let router = router(app, settings.runs, guard);
        let door = Door::new(router, tls, &settings.limits, metrics, listener);
        Ok(Self {
            runtime,
            door: Arc::new(door),
            port,
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
            door,
            port,
            ..
        } = self;
        runtime.block_on(door.accept(port, stop));
        stop.store(true, Ordering::Relaxed);
        // A hanging file system must not keep the program from ending.
        runtime.shutdown_timeout(Duration::from_secs(1));
    }
}
