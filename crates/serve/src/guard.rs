//! Checks tokens, names and rates before anything is done for a request.

use std::collections::HashMap;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use axum::extract::{MatchedPath, Request, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;

use crate::fault::Fault;
use crate::hosts::Hosts;
use crate::metrics::Metrics;
use crate::notice::{Listener, Notice, tame};
use crate::places::counted;

/// Whose connection a request came on.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Peer(pub(crate) SocketAddr);

/// The most addresses whose rates are kept.
const ADDRESSES: usize = 10_000;

/// The hashes of the tokens: comparing them takes the same time whatever is sent.
struct Tokens(Vec<blake3::Hash>);

impl Tokens {
    fn new(tokens: &[String]) -> Self {
        Self(
            tokens
                .iter()
                .map(|token| blake3::hash(token.as_bytes()))
                .collect(),
        )
    }

    /// Whether the headers carry a token, or none is needed.
    fn admit(&self, headers: &HeaderMap) -> bool {
        if self.0.is_empty() {
            return true;
        }
        let Some(sent) = headers
            .get(header::AUTHORIZATION)
            .and_then(|value| sent(value.to_str().ok()?))
        else {
            return false;
        };
        let sent = blake3::hash(&sent);
        // `blake3::Hash` compares in constant time, and all are compared.
        self.0.iter().filter(|token| **token == sent).count() > 0
    }
}

/// The token in a header: `Bearer TOKEN`, or the password of `Basic`, which HTTP clients make of
/// `http://any:TOKEN@host/` where a trainer lets its user set nothing but a URL.
fn sent(value: &str) -> Option<Vec<u8>> {
    let (scheme, rest) = value.split_once(' ')?;
    if scheme.eq_ignore_ascii_case("bearer") {
        return Some(rest.trim().as_bytes().to_owned());
    }
    if !scheme.eq_ignore_ascii_case("basic") {
        return None;
    }
    let pair = BASE64_STANDARD.decode(rest.trim()).ok()?;
    let colon = pair.iter().position(|byte| *byte == b':')?;
    Some(pair[colon + 1..].to_owned())
}

/// A bucket for each address, filled at the allowed rate.
#[derive(Default)]
struct Rates(Mutex<HashMap<IpAddr, (f64, Instant)>>);

impl Rates {
    /// Takes one from an address's bucket; when it is empty, how long until there is one.
    fn take(&self, address: IpAddr, rate: f64, now: Instant) -> Result<(), Duration> {
        let address = counted(address);
        let most = (rate * 2.0).max(1.0);
        let filled = |(left, since): (f64, Instant)| {
            (left + now.saturating_duration_since(since).as_secs_f64() * rate).min(most)
        };
        let mut buckets = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if buckets.len() >= ADDRESSES && !buckets.contains_key(&address) {
            buckets.retain(|_, bucket| filled(*bucket) < most);
            if buckets.len() >= ADDRESSES {
                return Err(Duration::from_secs(1));
            }
        }
        let bucket = buckets.entry(address).or_insert((most, now));
        let left = filled(*bucket);
        *bucket = (if left >= 1.0 { left - 1.0 } else { left }, now);
        if left >= 1.0 {
            Ok(())
        } else {
            Err(Duration::from_secs_f64((1.0 - left) / rate))
        }
    }
}

/// What decides whether a request passes.
pub(crate) struct Guard {
    tokens: Tokens,
    hosts: Hosts,
    rates: Rates,
    /// Requests a second from one address.
    rate: f64,
    metrics: Arc<Metrics>,
    listener: Listener,
}

impl Guard {
    pub(crate) fn new(
        tokens: &[String],
        hosts: Hosts,
        rate: f64,
        metrics: Arc<Metrics>,
        listener: Listener,
    ) -> Self {
        Self {
            tokens: Tokens::new(tokens),
            hosts,
            rates: Rates::default(),
            rate,
            metrics,
            listener,
        }
    }

    fn refusal(&self, request: &Request, peer: Option<Peer>, route: &str) -> Option<Fault> {
        let rate = self.rate;
        if let Some(Peer(peer)) = peer
            && let Err(after) = self.rates.take(peer.ip(), rate, Instant::now())
        {
            let fault = Fault::later(
                format!("more than {rate} requests a second from {}", peer.ip()),
                after,
            );
            return Some(fault.status(StatusCode::TOO_MANY_REQUESTS));
        }
        if route != "/health" && !self.tokens.admit(request.headers()) {
            let what = if request.headers().contains_key(header::AUTHORIZATION) {
                "this service does not accept the token that was sent"
            } else {
                "this service wants a token, and none was sent"
            };
            let fault = Fault::new(StatusCode::UNAUTHORIZED, what);
            return Some(fault.hint(
                "send the header `Authorization: Bearer TOKEN`, or use http://any:TOKEN@host/, \
                 with a token that this service was started with",
            ));
        }
        if self.tokens.0.is_empty() && !self.hosts.admit(request) {
            let fault = Fault::new(
                StatusCode::FORBIDDEN,
                "without a token, only requests to a name of this machine are served",
            );
            return Some(fault.hint(
                "ask for localhost, start the service with a token, or start it with this name allowed",
            ));
        }
        if self.tokens.0.is_empty() && is_from_a_page(request.headers()) {
            // Without a token, any page that a browser on this machine shows could have code run
            // here.
            let fault = Fault::new(
                StatusCode::FORBIDDEN,
                "pages in a browser are served only with a token",
            );
            return Some(fault.hint("start the service with a token"));
        }
        None
    }
}

/// Lets a request pass or refuses it, and counts the answer.
pub(crate) async fn guard(
    State(guard): State<Arc<Guard>>,
    request: Request,
    next: Next,
) -> Response {
    let peer = request.extensions().get::<Peer>().copied();
    let path = request.uri().path().to_owned();
    let route = request
        .extensions()
        .get::<MatchedPath>()
        .map_or("other", MatchedPath::as_str)
        .to_owned();
    let fault = guard.refusal(&request, peer, &route);
    let response = match fault {
        Some(fault) => fault.into_response(),
        None => next.run(request).await,
    };
    let status = response.status();
    guard.metrics.answered(&route, status.as_u16());
    let refused = matches!(
        status,
        StatusCode::UNAUTHORIZED
            | StatusCode::FORBIDDEN
            | StatusCode::TOO_MANY_REQUESTS
            | StatusCode::PAYLOAD_TOO_LARGE
            | StatusCode::REQUEST_TIMEOUT
    );
    if let Some(Peer(peer)) = peer.filter(|_| refused) {
        guard.metrics.refused();
        let why = status
            .canonical_reason()
            .unwrap_or("refused")
            .to_lowercase();
        (guard.listener)(&Notice::Refused {
            peer,
            path: tame(&path),
            status: status.as_u16(),
            why,
        });
    }
    response
}

/// Whether a browser sends this request on behalf of a page.
fn is_from_a_page(headers: &HeaderMap) -> bool {
    let asked_for = headers
        .get("sec-fetch-site")
        .is_some_and(|site| site != "none");
    asked_for || headers.contains_key(header::ORIGIN)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn admitted(tokens: &[&str], header: Option<&str>) -> bool {
        let tokens: Vec<String> = tokens.iter().map(|token| (*token).to_owned()).collect();
        let mut headers = HeaderMap::new();
        if let Some(value) = header {
            headers.insert(header::AUTHORIZATION, value.parse().unwrap());
        }
        Tokens::new(&tokens).admit(&headers)
    }

    #[test]
    fn only_a_right_token_passes() {
        assert!(admitted(&[], None));
        let tokens = ["0123456789abcdef", "another-long-token"];
        assert!(admitted(&tokens, Some("Bearer 0123456789abcdef")));
        assert!(admitted(&tokens, Some("bearer another-long-token")));
        // any:0123456789abcdef
        assert!(admitted(
            &tokens,
            Some("Basic YW55OjAxMjM0NTY3ODlhYmNkZWY=")
        ));
        for wrong in [
            "Bearer 0123456789abcde",
            "Bearer ",
            "Bearer",
            "Basic !!!",
            "Basic YW55",
            "0123456789abcdef",
        ] {
            assert!(!admitted(&tokens, Some(wrong)), "{wrong}");
        }
        assert!(!admitted(&tokens, None));
    }

    #[test]
    fn an_address_may_burst_and_is_then_slowed() {
        let rates = Rates::default();
        let (one, other) = (IpAddr::from([127, 0, 0, 1]), IpAddr::from([127, 0, 0, 2]));
        let start = Instant::now();
        for _ in 0..20 {
            assert_eq!(rates.take(one, 10.0, start), Ok(()));
        }
        let after = rates.take(one, 10.0, start).unwrap_err();
        assert!((after.as_secs_f64() - 0.1).abs() < 1e-6, "{after:?}");
        assert_eq!(
            rates.take(other, 10.0, start),
            Ok(()),
            "others are not slowed"
        );
        assert_eq!(
            rates.take(one, 10.0, start + Duration::from_millis(150)),
            Ok(())
        );
        assert!(
            rates
                .take(one, 10.0, start + Duration::from_millis(160))
                .is_err()
        );
    }

    #[test]
    fn a_network_of_version_6_has_one_rate() {
        let rates = Rates::default();
        let now = Instant::now();
        let take = |address: &str| rates.take(address.parse().unwrap(), 1.0, now);
        assert_eq!((take("2001:db8::1"), take("2001:db8::2")), (Ok(()), Ok(())));
        assert!(take("2001:db8::ffff:1").is_err());
        assert_eq!(take("2001:db8:0:1::1"), Ok(()), "another network");
    }

    #[test]
    fn many_addresses_do_not_fill_the_memory() {
        let rates = Rates::default();
        let now = Instant::now();
        for number in 0..=ADDRESSES as u32 {
            let _ = rates.take(IpAddr::from(number.to_be_bytes()), 1.0, now);
        }
        assert!(rates.0.lock().unwrap().len() <= ADDRESSES);
        let later = now + Duration::from_secs(10);
        assert_eq!(
            rates.take(IpAddr::from([9, 9, 9, 9]), 1.0, later),
            Ok(()),
            "old ones make room"
        );
    }
}
