//! Writes a small corpus and what our encoder makes of its prompts, one `{text, ids}` a line:
//! `tokens FOLDER`. Another implementation of `tokenizer.json` must agree.

use std::io::Write;
use std::path::PathBuf;

use hotloop_corpus::{Options, synth, tokenizer, write};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = PathBuf::from(
        std::env::args()
            .nth(1)
            .unwrap_or_else(|| "tokens".to_owned()),
    );
    let options = Options {
        programs: 60_000,
        records: 5_000,
        ..Options::STANDARD
    };
    write(&options, &folder)?;
    let records = synth(&options);
    let bpe = tokenizer(records.pool());
    let encoder = bpe.encoder();
    let mut file = std::io::BufWriter::new(fs_err::File::create(folder.join("encoded.jsonl"))?);
    for record in records {
        let text = record.prompt + &record.answer;
        let line = serde_json::json!({ "ids": encoder.encode(&text), "text": text });
        writeln!(file, "{line}")?;
    }
    file.flush()?;
    Ok(())
}
