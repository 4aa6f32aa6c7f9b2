//! Which files of a repository make a model.

use super::listing::{Entry, Listing};

/// The files that the engine reads besides weights: shapes, the tokenizer, the chat template. Most
/// models have only some of them.
const SMALL: [&str; 10] = [
    "config.json",
    "generation_config.json",
    "tokenizer.json",
    "tokenizer_config.json",
    "special_tokens_map.json",
    "added_tokens.json",
    "vocab.json",
    "merges.txt",
    "chat_template.jinja",
    "chat_template.json",
];
const INDEX: &str = "model.safetensors.index.json";

/// Why no files were chosen.
#[derive(Debug, PartialEq, Eq)]
pub enum Unfit {
    /// There is no such file. These exist.
    NoSuchFile(Vec<String>),
    /// There are only GGUF files, and the user must choose one.
    OnlyGguf(Vec<String>),
    /// This is missing.
    Lacks(&'static str),
}

/// The files of a model, or the named ones.
pub fn select(listing: &Listing, named: &[String]) -> Result<Vec<Entry>, Unfit> {
    let find = |name: &str| {
        listing
            .files
            .iter()
            .find(|entry| entry.name == name)
            .cloned()
    };
    let all = || listing.files.iter().map(|entry| entry.name.clone());
    if !named.is_empty() {
        let found: Option<Vec<Entry>> = named.iter().map(|name| find(name)).collect();
        return found.ok_or_else(|| Unfit::NoSuchFile(all().collect()));
    }
    let sharded = find(INDEX).is_some();
    let is_weights = |name: &str| match name.strip_suffix(".safetensors") {
        Some(stem) => stem == "model" && !sharded || sharded && stem.starts_with("model-"),
        None => name == INDEX,
    };
    let wanted = |entry: &&Entry| SMALL.contains(&entry.name.as_str()) || is_weights(&entry.name);
    let chosen: Vec<Entry> = listing.files.iter().filter(wanted).cloned().collect();
    if !chosen
        .iter()
        .any(|entry| entry.name.ends_with(".safetensors"))
    {
        let gguf: Vec<String> = all()
            .filter(|name| name.strip_suffix(".gguf").is_some())
            .collect();
        return Err(if gguf.is_empty() {
            Unfit::Lacks("model.safetensors")
        } else {
            Unfit::OnlyGguf(gguf)
        });
    }
    if !chosen.iter().any(|entry| entry.name == "config.json") {
        return Err(Unfit::Lacks("config.json"));
    }
    Ok(chosen)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listing(names: &[&str]) -> Listing {
        let entry = |name: &&str| Entry {
            name: (*name).to_owned(),
            size: 1,
            id: "a".to_owned(),
            sha256: None,
        };
        Listing {
            commit: "c".to_owned(),
            files: names.iter().map(entry).collect(),
        }
    }

    fn chosen(names: &[&str]) -> Result<Vec<String>, Unfit> {
        select(&listing(names), &[])
            .map(|found| found.into_iter().map(|entry| entry.name).collect())
    }

    #[test]
    fn a_model_consists_of_its_weights_and_the_files_to_read_them() {
        let names = [
            "README.md",
            "config.json",
            "model.safetensors",
            "onnx/model.onnx",
            "tokenizer.json",
            "x.bin",
        ];
        assert_eq!(
            chosen(&names).unwrap(),
            ["config.json", "model.safetensors", "tokenizer.json"]
        );
    }

    #[test]
    fn if_weights_are_stored_twice_the_indexed_ones_are_taken() {
        let shards = [
            "model-00001-of-00002.safetensors",
            "model-00002-of-00002.safetensors",
            INDEX,
        ];
        let names = [
            &[
                "config.json",
                "consolidated.safetensors",
                "model.safetensors",
            ][..],
            &shards,
        ]
        .concat();
        assert_eq!(
            chosen(&names).unwrap(),
            [&["config.json"][..], &shards].concat()
        );
    }

    #[test]
    fn a_repository_without_a_model_is_reported() {
        assert_eq!(
            chosen(&["README.md", "config.json"]),
            Err(Unfit::Lacks("model.safetensors"))
        );
        assert_eq!(
            chosen(&["model.safetensors"]),
            Err(Unfit::Lacks("config.json"))
        );
        let gguf = vec!["a.gguf".to_owned(), "b.gguf".to_owned()];
        assert_eq!(
            chosen(&["README.md", "a.gguf", "b.gguf"]),
            Err(Unfit::OnlyGguf(gguf))
        );
    }

    #[test]
    fn files_can_be_named() {
        let both = listing(&["a.gguf", "b.gguf"]);
        assert_eq!(
            select(&both, &["b.gguf".to_owned()]).unwrap(),
            [both.files[1].clone()]
        );
        let there = vec!["a.gguf".to_owned(), "b.gguf".to_owned()];
        assert_eq!(
            select(&both, &["c.gguf".to_owned()]),
            Err(Unfit::NoSuchFile(there))
        );
    }
}
