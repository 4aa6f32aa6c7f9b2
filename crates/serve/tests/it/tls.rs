//! TLS: a good certificate is taken, an expired one refused by the client, plain text by the
//! service.

use std::sync::Arc;

use hotloop_serve::{Factory, Notice, Server, Settings};
use rcgen::{CertificateParams, KeyPair, date_time_ymd};
use ureq::tls::{Certificate, RootCerts, TlsConfig};

use crate::fake::Service;

/// A self-signed certificate for loopback, in PEM files.
fn certificate(
    folder: &std::path::Path,
    expired: bool,
) -> (std::path::PathBuf, std::path::PathBuf, String) {
    let mut params =
        CertificateParams::new(vec!["localhost".to_owned(), "127.0.0.1".to_owned()]).unwrap();
    params.not_before = date_time_ymd(2020, 1, 1);
    params.not_after = if expired {
        date_time_ymd(2021, 1, 1)
    } else {
        date_time_ymd(2090, 1, 1)
    };
    let key = KeyPair::generate().unwrap();
    let certificate = params.self_signed(&key).unwrap();
    let (cert_file, key_file) = (folder.join("cert.pem"), folder.join("key.pem"));
    std::fs::write(&cert_file, certificate.pem()).unwrap();
    std::fs::write(&key_file, key.serialize_pem()).unwrap();
    (cert_file, key_file, certificate.pem())
}

fn start(expired: bool) -> (Service, String) {
    let folder = Arc::new(tempfile::tempdir().unwrap());
    let (cert, key, pem) = certificate(folder.path(), expired);
    (
        Service::start_in(folder, |settings| settings.tls = Some((cert, key))),
        pem,
    )
}

/// What a client that trusts this certificate gets.
fn ask(service: &Service, pem: &str) -> Result<u16, String> {
    let root = Certificate::from_pem(pem.as_bytes()).unwrap();
    let tls = TlsConfig::builder()
        .root_certs(RootCerts::new_with_certs(&[root]))
        .build();
    let agent = ureq::Agent::config_builder()
        .tls_config(tls)
        .build()
        .new_agent();
    let url = format!("https://localhost:{}/health", service.address.port());
    agent
        .get(&url)
        .call()
        .map(|answer| answer.status().as_u16())
        .map_err(|error| error.to_string())
}

#[test]
fn a_good_certificate_is_taken() {
    let (service, pem) = start(false);
    assert_eq!(ask(&service, &pem), Ok(200));
    let (_, other) = start(false);
    assert!(
        ask(&service, &other).is_err(),
        "another root is not trusted"
    );
}

#[test]
fn an_expired_certificate_is_refused_by_clients_and_logged_here() {
    let (service, pem) = start(true);
    let error = ask(&service, &pem).unwrap_err();
    assert!(error.to_lowercase().contains("expired"), "{error}");
    service.wait(|service| {
        service.heard(|notice| matches!(notice, Notice::Dropped { why, .. } if why.contains("TLS")))
    });
    assert_eq!(service.submitted(), 0);
}

#[test]
fn plain_text_is_not_answered() {
    use std::io::{Read, Write};
    let (service, _) = start(false);
    let mut stream = std::net::TcpStream::connect(service.address).unwrap();
    stream
        .write_all(b"GET /health HTTP/1.1\r\nhost: localhost\r\n\r\n")
        .unwrap();
    let mut answer = Vec::new();
    drop(stream.read_to_end(&mut answer));
    assert!(!answer.starts_with(b"HTTP"), "{answer:?}");
    service.wait(|service| {
        service.heard(|notice| matches!(notice, Notice::Dropped { why, .. } if why.contains("TLS")))
    });
}

#[test]
fn files_that_are_no_certificate_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let (cert, key, _) = certificate(folder.path(), false);
    let bind = |cert: &std::path::Path, key: &std::path::Path| {
        let mut settings = Settings::new([], folder.path().to_owned());
        settings.tls = Some((cert.to_owned(), key.to_owned()));
        let never: Factory = Box::new(|| Err(hotloop_flow::BenchError::machine("never")));
        Server::bind(settings, never, Arc::new(|_| {}))
            .err()
            .map(|refusal| refusal.what)
    };
    let said = bind(&folder.path().join("none.pem"), &key).unwrap();
    assert!(said.contains("none.pem"), "{said}");
    let said = bind(&cert, &cert).unwrap();
    assert!(said.contains("cert.pem"), "{said}");
}
