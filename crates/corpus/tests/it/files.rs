use hotloop_corpus::{Manifest, Options, Record, write};

const TINY: Options = Options {
    seed: 2,
    programs: 300,
    records: 400,
    validation_percent: 10,
};

#[test]
fn a_corpus_is_written_atomically_and_never_over_another() {
    let folder = tempfile::tempdir().unwrap();
    let target = folder.path().join("deep/corpus");
    let manifest = write(&TINY, &target).unwrap();
    let read = |name: &str| std::fs::read(target.join(name)).unwrap();
    assert_eq!(
        serde_json::from_slice::<Manifest>(&read("manifest.json")).unwrap(),
        manifest
    );
    let mut records = 0;
    for file in &manifest.files {
        let content = read(&file.name);
        assert_eq!(file.bytes, content.len() as u64);
        assert_eq!(file.blake3, blake3::hash(&content).to_hex().to_string());
        if file.name != "tokenizer.json" {
            let text = String::from_utf8(content).unwrap();
            let read: Vec<Record> = text
                .lines()
                .map(|line| serde_json::from_str(line).unwrap())
                .collect();
            records += read.len();
        }
    }
    assert_eq!(
        (records, manifest.train + manifest.validation),
        (TINY.records, TINY.records)
    );

    let again = write(&TINY, &target).unwrap_err().to_string();
    assert!(again.contains("deep/corpus"), "{again}");
    let left: Vec<_> = std::fs::read_dir(folder.path().join("deep"))
        .unwrap()
        .collect();
    assert_eq!(left.len(), 1, "the draft is gone");

    let copy = write(&TINY, &folder.path().join("copy")).unwrap();
    assert_eq!(copy, manifest);
}
