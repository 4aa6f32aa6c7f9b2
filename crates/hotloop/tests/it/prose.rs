//! Tests that the Markdown pages have lines that diff well and sentences of readable length.

use std::path::{Path, PathBuf};

use crate::root;

/// Maximum number of characters in a line, not counting the targets of links.
const COLUMNS_MAX: usize = 120;
/// Maximum number of words in a sentence. A code span counts as one.
const WORDS_MAX: usize = 40;

/// The pages for readers. The log under `docs/log` is a record and stays unchanged.
pub(crate) fn pages() -> Vec<PathBuf> {
    let mut pages: Vec<PathBuf> = [
        "README.md",
        "ARCHITECTURE.md",
        "CHANGELOG.md",
        "tasks/README.md",
        "experiments/README.md",
        "python/README.md",
        "crates/corpus/README.md",
        "models/nano/README.md",
        "models/qwen2.5-coder-0.5b-matmul/README.md",
    ]
    .into_iter()
    .map(|page| root().join(page))
    .collect();
    pages.extend(markdown(&root().join("docs")));
    pages
}

/// The Markdown files in `folder`, not in its subfolders.
fn markdown(folder: &Path) -> Vec<PathBuf> {
    std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "md"))
        .collect()
}

/// The lines outside code blocks, tables, headings and images. Omitted lines become empty.
fn prose(text: &str) -> Vec<String> {
    let mut is_code = false;
    let mut lines = Vec::new();
    for line in text.lines() {
        let is_fence = line.trim_start().starts_with("```");
        is_code ^= is_fence;
        let is_prose = !is_code && !is_fence && !line.trim_start().starts_with(['|', '#', '!']);
        lines.push(if is_prose {
            without_targets(line)
        } else {
            String::new()
        });
    }
    lines
}

/// `[words](target)` becomes `[words]`.
fn without_targets(line: &str) -> String {
    let mut parts = line.split("](");
    let mut kept = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        kept.push(']');
        kept.push_str(part.split_once(')').map_or("", |(_, rest)| rest));
    }
    kept
}

fn long_lines(text: &str) -> Vec<String> {
    let lines = prose(text).into_iter();
    lines
        .filter(|line| line.chars().count() > COLUMNS_MAX)
        .collect()
}

/// Paragraphs and list items, each on one line, with `X` for every code span.
fn paragraphs(text: &str) -> Vec<String> {
    let mut paragraphs = vec![String::new()];
    for line in prose(text) {
        let line = line.trim();
        let starts_item = line.starts_with("- ")
            || line
                .split_once(". ")
                .is_some_and(|(number, _)| number.parse::<u32>().is_ok());
        if line.is_empty() || starts_item {
            paragraphs.push(String::new());
        }
        let last = paragraphs
            .last_mut()
            .expect("there is at least one paragraph");
        last.push_str(line);
        last.push(' ');
    }
    paragraphs
        .iter()
        .map(|paragraph| without_code(paragraph))
        .collect()
}

fn without_code(paragraph: &str) -> String {
    let parts = paragraph.split('`').enumerate();
    parts
        .map(|(index, part)| if index % 2 == 0 { part } else { "X" })
        .collect()
}

fn long_sentences(text: &str) -> Vec<String> {
    let mut long = Vec::new();
    for paragraph in paragraphs(text) {
        let mut sentence: Vec<&str> = Vec::new();
        for word in paragraph.split_whitespace() {
            sentence.push(word);
            if word
                .trim_end_matches([')', '"', '*', ']'])
                .ends_with(['.', '!', '?'])
            {
                long.extend(too_long(&sentence));
                sentence.clear();
            }
        }
        long.extend(too_long(&sentence));
    }
    long
}

fn too_long(sentence: &[&str]) -> Option<String> {
    let words = sentence
        .iter()
        .filter(|word| word.contains(char::is_alphanumeric));
    (words.count() > WORDS_MAX).then(|| sentence.join(" "))
}

/// The files of this repository that `text` links to.
fn targets(text: &str) -> Vec<String> {
    let outside_code = text.split("```").step_by(2);
    let links = outside_code.flat_map(|part| part.split("](").skip(1));
    links
        .filter_map(|rest| Some(rest.split_once(')')?.0.split('#').next()?.to_owned()))
        .filter(|target| !target.is_empty() && !target.contains("://"))
        .collect()
}

#[test]
fn pages_have_short_lines_and_short_sentences() {
    let mut faults = Vec::new();
    for page in pages() {
        let text = std::fs::read_to_string(&page).unwrap();
        let name = page.strip_prefix(root()).unwrap().display();
        let lines = long_lines(&text)
            .into_iter()
            .map(|line| format!("{name}: over {COLUMNS_MAX} columns: {line}"));
        faults.extend(lines);
        let sentences = long_sentences(&text).into_iter();
        faults.extend(
            sentences.map(|sentence| format!("{name}: over {WORDS_MAX} words: {sentence}")),
        );
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn links_of_pages_lead_to_files() {
    let log = markdown(&root().join("docs/log"));
    for page in pages().into_iter().chain(log) {
        let text = std::fs::read_to_string(&page).unwrap();
        let folder = page.parent().unwrap();
        for target in targets(&text) {
            assert!(
                folder.join(&target).exists(),
                "{}: no file {target}",
                page.display()
            );
        }
    }
}

#[test]
fn long_lines_are_found_outside_of_code_tables_and_links() {
    let long = "word ".repeat(25);
    let text = format!(
        "{long}\n```\n{long}\n```\n| {long} |\n[short]({})\n",
        "x".repeat(130)
    );
    assert_eq!(long_lines(&text), [long]);
}

#[test]
fn long_sentences_are_found_across_lines_and_not_across_items() {
    let half = "word ".repeat(25);
    let across = format!("Fine. {half}\n{half}end. Fine again.");
    assert_eq!(long_sentences(&across).len(), 1, "{across}");
    let items = format!("- {half}\n- {half}\n1. {half}\n2. {half}\n\n{half}");
    assert_eq!(long_sentences(&items), [""; 0], "{items}");
    let stops = format!("{half}stop.) {half}**stop.** {half}`a b. c`? {half}");
    assert_eq!(long_sentences(&stops), [""; 0], "{stops}");
    let code = format!("{half}`{half}` {}", "word ".repeat(14));
    assert_eq!(long_sentences(&code), [""; 0], "{code}");
}

#[test]
fn targets_of_links_are_found_outside_of_code() {
    let text = "See [a](b.md#c), ![d](e/f.svg) and [g](https://h).\n```\n[i](j)\n```\n[k](#l)";
    assert_eq!(targets(text), ["b.md", "e/f.svg"]);
}
