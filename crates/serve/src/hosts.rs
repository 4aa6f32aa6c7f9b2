//! The names that the service answers to where it has no token.
//!
//! A page in a browser can have a name of its own point to this machine (DNS rebinding). The
//! browser then takes the service for the page's own, and only the header `Host` tells.

use std::net::IpAddr;

use axum::extract::Request;
use axum::http::header;
use axum::http::uri::Authority;

/// The names that the service answers to.
pub(crate) struct Hosts {
    bound: IpAddr,
    names: Vec<String>,
}

impl Hosts {
    /// `localhost`, loopback addresses, the address that it listens on, and these names.
    pub(crate) fn new(bound: IpAddr, names: &[String]) -> Self {
        Self {
            bound,
            names: names.to_vec(),
        }
    }

    /// Whether a request names the service by one of its names, wherever it names it.
    pub(crate) fn admit(&self, request: &Request) -> bool {
        let header = request.headers().get(header::HOST);
        let named = header.and_then(|host| host.to_str().ok()?.parse::<Authority>().ok());
        let is_named = named.is_some_and(|host| self.knows(host.host()));
        is_named && request.uri().host().is_none_or(|host| self.knows(host))
    }

    fn knows(&self, host: &str) -> bool {
        let bare = host.trim_start_matches('[').trim_end_matches(']');
        if let Ok(address) = bare.parse::<IpAddr>() {
            return address.to_canonical().is_loopback() || address == self.bound;
        }
        host.eq_ignore_ascii_case("localhost")
            || self
                .names
                .iter()
                .any(|name| host.eq_ignore_ascii_case(name))
    }
}

#[cfg(test)]
mod tests {
    use axum::body::Body;

    use super::*;

    #[test]
    fn only_its_own_names_are_answered() {
        let hosts = Hosts::new([10, 0, 0, 7].into(), &["bench.example".to_owned()]);
        let admitted = |uri: &str, host: &str| {
            let mut request = Request::builder().uri(uri);
            if !host.is_empty() {
                request = request.header(header::HOST, host);
            }
            hosts.admit(&request.body(Body::empty()).unwrap())
        };
        for host in [
            "localhost",
            "LOCALHOST:8000",
            "127.0.0.1:8000",
            "127.9.9.9",
            "[::1]:80",
            "10.0.0.7:8000",
            "bench.example:8000",
        ] {
            assert!(admitted("/", host), "{host}");
        }
        for host in [
            "",
            "evil.example",
            "localhost.evil.example",
            "127.0.0.1.evil.example",
            "10.0.0.8",
            "user@evil.example",
            "localhost@evil.example:80",
        ] {
            assert!(!admitted("/", host), "{host}");
        }
        assert!(!admitted("http://evil.example/", "localhost"));
        assert!(admitted("http://localhost:8000/", "localhost"));
    }
}
