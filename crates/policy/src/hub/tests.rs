//! Downloads from a small server on this machine that behaves as badly as real connections.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::json;
use sha2::{Digest, Sha256};

use super::fetch::spelled;
use super::listing::Listed;
use super::*;

const COMMIT: &str = "0123456789abcdef0123456789abcdef01234567";

/// How the server misbehaves.
#[derive(Clone, Default)]
struct Manners {
    /// Closes the connection after this many bytes of every answer.
    cut: Option<usize>,
    /// Answers the first requests for files with this status.
    fails: (usize, u16),
    /// Does not support ranges.
    rangeless: bool,
    /// Sends other bytes than announced, of the same size.
    lies: bool,
    /// Sends this many bytes more than announced.
    extra: usize,
    /// Requires this token.
    token: Option<&'static str>,
}

struct Server {
    hub: Hub,
    /// The first line of every request, and its lines about range and authorization.
    asked: Arc<Mutex<Vec<String>>>,
}

/// Serves a repository `a/b` with these files. Those that end in `.safetensors` count as large and
/// have a hash.
fn serve(files: &[(&str, &[u8])], manners: Manners) -> Server {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let endpoint = format!("http://{}", listener.local_addr().unwrap());
    let asked = Arc::new(Mutex::new(Vec::new()));
    let kept: BTreeMap<String, Vec<u8>> = files
        .iter()
        .map(|(name, bytes)| ((*name).to_owned(), bytes.to_vec()))
        .collect();
    let token = manners.token.map(str::to_owned);
    let record = Arc::clone(&asked);
    // The thread ends with the test's process.
    std::thread::spawn(move || {
        let mut manners = manners;
        for stream in listener.incoming().filter_map(Result::ok) {
            drop(answer(&stream, &kept, &mut manners, &record));
        }
    });
    Server {
        hub: Hub::new(&endpoint, token, 3, Duration::from_millis(1)),
        asked,
    }
}

fn listing_of(files: &BTreeMap<String, Vec<u8>>) -> String {
    let siblings: Vec<_> = files
        .iter()
        .map(|(name, bytes)| {
            let mut entry =
                json!({"rfilename": name, "size": bytes.len(), "blobId": "ab".repeat(20)});
            if name.ends_with(".safetensors") {
                let hash = spelled(Sha256::new_with_prefix(bytes));
                entry["lfs"] = json!({"sha256": hash, "size": bytes.len(), "pointerSize": 130});
            }
            entry
        })
        .collect();
    json!({"sha": COMMIT, "siblings": siblings}).to_string()
}

fn answer(
    stream: &TcpStream,
    files: &BTreeMap<String, Vec<u8>>,
    manners: &mut Manners,
    record: &Mutex<Vec<String>>,
) -> std::io::Result<()> {
    let mut lines = Vec::new();
    for line in BufReader::new(stream).lines() {
        match line? {
            end if end.is_empty() => break,
            line => lines.push(line),
        }
    }
    let path = lines[0].split(' ').nth(1).unwrap_or_default().to_owned();
    let header = |name: &str| {
        let found = lines.iter().find_map(|line| {
            line.split_once(": ")
                .filter(|(key, _)| key.eq_ignore_ascii_case(name))
        });
        found.map(|(_, value)| value.to_owned())
    };
    let range = header("range");
    record
        .lock()
        .unwrap()
        .push(format!("{path} {}", range.clone().unwrap_or_default()));
    let mut out = stream;
    if manners
        .token
        .is_some_and(|token| header("authorization") != Some(format!("Bearer {token}")))
    {
        return write!(
            out,
            "HTTP/1.1 401 No\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
        );
    }
    if path.starts_with("/api/") {
        let (status, body) = if path == "/api/models/a/b/revision/main?blobs=true" {
            (200, listing_of(files))
        } else {
            (404, String::new())
        };
        let length = body.len();
        return write!(
            out,
            "HTTP/1.1 {status} Yes\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}"
        );
    }
    if manners.fails.0 > 0 {
        manners.fails.0 -= 1;
        return write!(
            out,
            "HTTP/1.1 {} No\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
            manners.fails.1
        );
    }
    let name = path
        .strip_prefix(&format!("/a/b/resolve/{COMMIT}/"))
        .unwrap_or_default();
    let mut bytes = files[name].clone();
    if manners.lies {
        bytes[0] ^= 1;
    }
    bytes.extend(vec![0; manners.extra]);
    let from = range.and_then(|range| {
        range
            .strip_prefix("bytes=")?
            .strip_suffix('-')?
            .parse::<usize>()
            .ok()
    });
    let (total, from) = (bytes.len(), from.filter(|_| !manners.rangeless));
    let body = &bytes[from.unwrap_or(0)..];
    let length = body.len();
    match from {
        Some(from) => write!(
            out,
            "HTTP/1.1 206 Part\r\nContent-Range: bytes {from}-{}/{total}\r\n",
            total - 1
        )?,
        None => write!(out, "HTTP/1.1 200 All\r\n")?,
    }
    write!(out, "Content-Length: {length}\r\nConnection: close\r\n\r\n")?;
    out.write_all(&body[..manners.cut.unwrap_or(length).min(length)])
}

fn weights() -> Vec<u8> {
    (0..100_000_u32).flat_map(u32::to_le_bytes).collect()
}

/// Fetches the only file into a folder.
fn fetch(server: &Server, to: &Path) -> Result<(), HubError> {
    let listing = server.hub.list("a/b", "main")?;
    let wanted = Wanted {
        name: "a/b",
        commit: &listing.commit,
        entry: &listing.files[0],
    };
    server
        .hub
        .fetch(wanted, &Place::Folder(to.to_owned()), &mut |_| true)
}

#[test]
fn a_connection_that_breaks_repeatedly_still_delivers_the_whole_file() {
    let (folder, bytes) = (tempfile::tempdir().unwrap(), weights());
    let manners = Manners {
        cut: Some(150_000),
        ..Manners::default()
    };
    let server = serve(&[("model.safetensors", &bytes)], manners);
    fetch(&server, folder.path()).unwrap();
    assert_eq!(
        std::fs::read(folder.path().join("model.safetensors")).unwrap(),
        bytes
    );
    let asked = server.asked.lock().unwrap();
    let ranges: Vec<&str> = asked[1..]
        .iter()
        .map(|line| line.split_once(' ').unwrap().1)
        .collect();
    assert_eq!(
        ranges,
        ["", "bytes=150000-", "bytes=300000-"],
        "each goes on where the last stopped"
    );
    assert_eq!(
        std::fs::read_dir(folder.path()).unwrap().count(),
        1,
        "nothing is left beside it"
    );
}

#[test]
fn partial_downloads_are_kept_and_complete_files_are_not_requested_again() {
    let (folder, bytes) = (tempfile::tempdir().unwrap(), weights());
    let server = serve(&[("model.safetensors", &bytes)], Manners::default());
    std::fs::write(
        folder.path().join("model.safetensors.incomplete"),
        &bytes[..1000],
    )
    .unwrap();
    fetch(&server, folder.path()).unwrap();
    assert_eq!(
        std::fs::read(folder.path().join("model.safetensors")).unwrap(),
        bytes
    );
    assert!(
        server
            .asked
            .lock()
            .unwrap()
            .last()
            .unwrap()
            .ends_with("bytes=1000-")
    );
    let before = server.asked.lock().unwrap().len();
    fetch(&server, folder.path()).unwrap();
    assert_eq!(
        server.asked.lock().unwrap().len(),
        before + 1,
        "only the list"
    );
}

#[test]
fn a_stopped_download_keeps_its_part() {
    let (folder, bytes) = (tempfile::tempdir().unwrap(), weights());
    let server = serve(&[("model.safetensors", &bytes)], Manners::default());
    let listing = server.hub.list("a/b", "main").unwrap();
    let wanted = Wanted {
        name: "a/b",
        commit: &listing.commit,
        entry: &listing.files[0],
    };
    let place = Place::Folder(folder.path().to_owned());
    let stopped = server.hub.fetch(wanted, &place, &mut |here| here < 10_000);
    assert!(matches!(stopped, Err(HubError::Stopped)), "{stopped:?}");
    let part = std::fs::read(folder.path().join("model.safetensors.incomplete")).unwrap();
    assert!(part.len() >= 10_000 && bytes.starts_with(&part));
    fetch(&server, folder.path()).unwrap();
    assert_eq!(
        std::fs::read(folder.path().join("model.safetensors")).unwrap(),
        bytes
    );
}

#[test]
fn a_server_without_ranges_starts_from_the_beginning() {
    let (folder, bytes) = (tempfile::tempdir().unwrap(), weights());
    let manners = Manners {
        rangeless: true,
        ..Manners::default()
    };
    let server = serve(&[("model.safetensors", &bytes)], manners);
    std::fs::write(
        folder.path().join("model.safetensors.incomplete"),
        [7; 1000],
    )
    .unwrap();
    fetch(&server, folder.path()).unwrap();
    assert_eq!(
        std::fs::read(folder.path().join("model.safetensors")).unwrap(),
        bytes
    );
}

#[test]
fn wrong_bytes_and_wrong_sizes_never_become_a_model() {
    let bytes = weights();
    let lies = Manners {
        lies: true,
        ..Manners::default()
    };
    let extra = Manners {
        extra: 5,
        ..Manners::default()
    };
    let cut = Manners {
        cut: Some(0),
        ..Manners::default()
    };
    for (manners, word) in [(lies, "SHA-256"), (extra, "more than"), (cut, "3 times")] {
        let folder = tempfile::tempdir().unwrap();
        let server = serve(&[("model.safetensors", &bytes)], manners);
        match fetch(&server, folder.path()) {
            Err(HubError::Broken(why)) => assert!(why.contains(word), "{why}"),
            other => panic!("{word}: {other:?}"),
        }
        assert!(!folder.path().join("model.safetensors").exists(), "{word}");
        let left = std::fs::metadata(folder.path().join("model.safetensors.incomplete"))
            .unwrap()
            .len();
        assert_eq!(left, 0, "{word}: the next call begins anew");
    }
}

#[test]
fn temporary_failures_pass_and_lasting_ones_are_reported() {
    let bytes = weights();
    let folder = tempfile::tempdir().unwrap();
    let busy = Manners {
        fails: (2, 503),
        ..Manners::default()
    };
    fetch(
        &serve(&[("model.safetensors", &bytes)], busy),
        folder.path(),
    )
    .unwrap();
    for (status, times) in [(404, 1), (403, 1), (503, 3)] {
        let folder = tempfile::tempdir().unwrap();
        let manners = Manners {
            fails: (usize::MAX, status),
            ..Manners::default()
        };
        let server = serve(&[("model.safetensors", &bytes)], manners);
        let error = fetch(&server, folder.path()).unwrap_err();
        match (status, &error) {
            (404, HubError::Missing(_))
            | (403, HubError::Forbidden(_))
            | (503, HubError::Broken(_)) => {}
            _ => panic!("{status}: {error:?}"),
        }
        assert_eq!(server.asked.lock().unwrap().len(), 1 + times, "{status}");
    }
}

#[test]
fn missing_and_forbidden_models_are_distinguished() {
    let server = serve(
        &[("config.json", b"{}")],
        Manners {
            token: Some("secret"),
            ..Manners::default()
        },
    );
    assert!(server.hub.list("a/b", "main").is_ok());
    assert!(matches!(
        server.hub.list("a/none", "main"),
        Err(HubError::Missing(_))
    ));
    let stranger = Hub::new(server.hub.endpoint(), None, 3, Duration::ZERO);
    assert!(matches!(
        stranger.list("a/b", "main"),
        Err(HubError::Forbidden(_))
    ));
    for nowhere in ["http://127.0.0.1:1", "http://no-such-host.invalid"] {
        let hub = Hub::new(nowhere, None, 3, Duration::ZERO);
        let told = hub.list("a/b", "main");
        assert!(
            matches!(told, Err(HubError::Unreachable(_))),
            "{nowhere}: {told:?}"
        );
    }
}

#[test]
fn names_with_path_separators_are_left_out() {
    let text = json!({"sha": COMMIT, "siblings": [
        {"rfilename": "../evil", "size": 1, "blobId": "aa"},
        {"rfilename": "/etc/evil", "size": 1, "blobId": "aa"},
        {"rfilename": "fine.json", "size": 1, "blobId": "../../aa"},
        {"rfilename": "config.json", "size": 1, "blobId": "aa"},
    ]});
    let listed: Listed = serde_json::from_value(text).unwrap();
    let names: Vec<String> = listed
        .into_listing("a/b")
        .unwrap()
        .files
        .into_iter()
        .map(|file| file.name)
        .collect();
    assert_eq!(names, ["config.json"]);
    let odd: Listed = serde_json::from_value(json!({"sha": "../x", "siblings": []})).unwrap();
    assert!(odd.into_listing("a/b").is_err());
}

#[test]
fn the_cache_is_laid_out_as_other_tools_expect() {
    let (folder, bytes) = (tempfile::tempdir().unwrap(), weights());
    let server = serve(
        &[("config.json", b"{}"), ("model.safetensors", &bytes)],
        Manners::default(),
    );
    let place = Place::Cache(folder.path().join("models--a--b"));
    let listing = server.hub.list("a/b", "main").unwrap();
    for entry in &listing.files {
        let wanted = Wanted {
            name: "a/b",
            commit: &listing.commit,
            entry,
        };
        server.hub.fetch(wanted, &place, &mut |_| true).unwrap();
    }
    assert!(
        !place.folder(COMMIT).exists(),
        "nothing appears before all is there"
    );
    place.publish(&listing, "main", &listing.files).unwrap();
    place.publish(&listing, "main", &listing.files).unwrap();
    let model = place.folder(COMMIT).join("model.safetensors");
    let link = std::fs::read_link(&model).unwrap();
    assert_eq!(link, Path::new("../../blobs").join(&listing.files[1].id));
    assert_eq!(std::fs::read(model).unwrap(), bytes);
    assert_eq!(
        std::fs::read_to_string(folder.path().join("models--a--b/refs/main")).unwrap(),
        COMMIT
    );
}
