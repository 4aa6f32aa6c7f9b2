//! Connections: accepted up to a number, with or without TLS, none of them for ever.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tower_service::Service;

use crate::guard::Peer;
use crate::metrics::Metrics;
use crate::notice::{Listener, Notice};
use crate::places::{Place, Places};
use crate::settings::{Limits, Refusal};

/// How often the service checks whether it should stop.
const GLANCE: Duration = Duration::from_millis(100);
/// How long a request under way may take when the service stops.
const LEAVE: Duration = Duration::from_secs(2);
/// What a connection may have in its buffers.
const BUFFER: usize = 64 << 10;
/// How long sent bytes may wait for a client that does not read.
const UNREAD: Duration = Duration::from_mins(1);

/// The TLS side of the connections, from PEM files.
pub(crate) fn acceptor(certificate: &Path, key: &Path) -> Result<TlsAcceptor, Refusal> {
    let refuse = |path: &Path, what: String| {
        Refusal::new(
            format!("{}: {what}", path.display()),
            "TLS needs a certificate chain and its key as PEM files",
        )
    };
    let chain: Vec<CertificateDer<'static>> = CertificateDer::pem_file_iter(certificate)
        .and_then(Iterator::collect)
        .map_err(|error| refuse(certificate, error.to_string()))?;
    if chain.is_empty() {
        return Err(refuse(
            certificate,
            "there is no certificate in it".to_owned(),
        ));
    }
    let private =
        PrivateKeyDer::from_pem_file(key).map_err(|error| refuse(key, error.to_string()))?;
    let provider = Arc::new(tokio_rustls::rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .and_then(|builder| {
            builder
                .with_no_client_auth()
                .with_single_cert(chain, private)
        })
        .map_err(|error| refuse(certificate, error.to_string()))?;
    Ok(TlsAcceptor::from(Arc::new(config)))
}

/// Accepts connections and hands their requests to a router.
pub(crate) struct Door {
    router: Router,
    tls: Option<TlsAcceptor>,
    places: Arc<Places>,
    patience: Duration,
    /// How long a new connection may stay without a request.
    silence: Duration,
    metrics: Arc<Metrics>,
    listener: Listener,
}

impl Door {
    pub(crate) fn new(
        router: Router,
        tls: Option<TlsAcceptor>,
        limits: &Limits,
        metrics: Arc<Metrics>,
        listener: Listener,
    ) -> Self {
        Self {
            router,
            tls,
            places: Places::new(limits.connections, limits.connections_each),
            patience: limits.patience,
            silence: limits.silence,
            metrics,
            listener,
        }
    }

    /// Accepts connections until `stop` is set.
    pub(crate) async fn accept(self: Arc<Self>, port: TcpListener, stop: &AtomicBool) {
        let mut open = tokio::task::JoinSet::new();
        while !stop.load(Ordering::Relaxed) {
            while open.try_join_next().is_some() {}
            let Ok(accepted) = tokio::time::timeout(GLANCE, port.accept()).await else {
                continue;
            };
            // Out of file descriptors, or a client that is gone already: neither is a reason to
            // stop.
            let Ok((stream, peer)) = accepted else {
                tokio::time::sleep(GLANCE).await;
                continue;
            };
            let place = match self.places.take(peer.ip()) {
                Ok(place) => Arc::new(place),
                Err(why) => {
                    self.dropped(Peer(peer), why.to_owned());
                    continue;
                }
            };
            let door = Arc::clone(&self);
            open.spawn(async move {
                door.metrics.connected(1);
                door.serve(stream, Peer(peer), place).await;
                door.metrics.connected(-1);
            });
        }
        drop(port);
        let leaving = async { while open.join_next().await.is_some() {} };
        // Clients that still wait then may send their requests again.
        drop(tokio::time::timeout(LEAVE, leaving).await);
    }

    async fn serve(&self, stream: TcpStream, peer: Peer, place: Arc<Place>) {
        let socket = socket2::SockRef::from(&stream);
        // A connection works without these options, too.
        drop(socket.set_tcp_nodelay(true));
        drop(socket.set_tcp_user_timeout(Some(UNREAD)));
        drop(socket.set_keepalive(true));
        let Some(tls) = &self.tls else {
            return self.converse(stream, peer, place).await;
        };
        match tokio::time::timeout(self.silence, tls.accept(stream)).await {
            Ok(Ok(stream)) => self.converse(stream, peer, place).await,
            Ok(Err(error)) => self.dropped(peer, format!("TLS: {error}")),
            Err(_) => self.dropped(peer, "TLS: too slow".to_owned()),
        }
    }

    async fn converse(
        &self,
        stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
        peer: Peer,
        place: Arc<Place>,
    ) {
        let router = self.router.clone();
        let asked = Arc::new(AtomicBool::new(false));
        let has_asked = Arc::clone(&asked);
        let service = hyper::service::service_fn(move |request: hyper::Request<Incoming>| {
            has_asked.store(true, Ordering::Relaxed);
            let mut request = request.map(Body::new);
            request.extensions_mut().insert(peer);
            // A connection that stays open, such as a socket, keeps its place.
            request.extensions_mut().insert(Arc::clone(&place));
            // A router is always ready.
            router.clone().call(request)
        });
        let conversation = http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(self.patience)
            .max_buf_size(BUFFER)
            .serve_connection(TokioIo::new(stream), service)
            .with_upgrades();
        let mut conversation = std::pin::pin!(conversation);
        let opening = tokio::time::timeout(self.silence, &mut conversation).await;
        let ended = match opening {
            Ok(ended) => ended,
            Err(_) if asked.load(Ordering::Relaxed) => conversation.await,
            Err(_) => return self.dropped(peer, "no request came".to_owned()),
        };
        if let Err(error) = ended {
            self.dropped(peer, error.to_string());
        }
    }

    fn dropped(&self, Peer(peer): Peer, why: String) {
        (self.listener)(&Notice::Dropped { peer, why });
    }
}
