//! A tunnel that can be cut. Every byte passes through it.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

/// A forwarded port.
pub(crate) struct Tunnel {
    pub(crate) port: u16,
    is_cut: Arc<AtomicBool>,
    streams: Arc<Mutex<Vec<TcpStream>>>,
}

impl Tunnel {
    /// Forwards a free port to `target`.
    pub(crate) fn open(target: u16) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let tunnel = Self {
            port,
            is_cut: Arc::default(),
            streams: Arc::default(),
        };
        let (is_cut, streams) = (Arc::clone(&tunnel.is_cut), Arc::clone(&tunnel.streams));
        std::thread::spawn(move || {
            for here in listener.incoming().map_while(Result::ok) {
                if is_cut.load(Ordering::Relaxed) {
                    continue;
                }
                let Ok(there) = TcpStream::connect(("127.0.0.1", target)) else {
                    continue;
                };
                let copies = [(&here, &there), (&there, &here)]
                    .map(|(a, b)| (a.try_clone().unwrap(), b.try_clone().unwrap()));
                streams.lock().unwrap().extend([here, there]);
                for (from, to) in copies {
                    std::thread::spawn(move || carry(from, to));
                }
            }
        });
        tunnel
    }

    /// Cuts all connections and accepts no new ones.
    pub(crate) fn cut(&mut self) {
        self.is_cut.store(true, Ordering::Relaxed);
        for stream in self.streams.lock().unwrap().drain(..) {
            drop(stream.shutdown(Shutdown::Both));
        }
    }

    pub(crate) fn mend(&mut self) {
        self.is_cut.store(false, Ordering::Relaxed);
    }
}

fn carry(mut from: TcpStream, mut to: TcpStream) {
    let mut buffer = vec![0; 64 << 10];
    while let Ok(count) = from.read(&mut buffer) {
        if count == 0 || to.write_all(&buffer[..count]).is_err() {
            break;
        }
    }
    drop(to.shutdown(Shutdown::Both));
}
