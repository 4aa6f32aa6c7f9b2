//! The data card: what the set holds, where it is from, under which terms, and what is not in it.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::build::Built;
use super::ran::{Mark, RunCounts};

/// The card as Markdown.
pub(super) fn of(built: &Built) -> String {
    let summary = &built.summary;
    let mut card = String::from("# Pairs of slow and fast CUDA\n\n");
    let compiled =
        |count: Option<usize>| count.map_or("not tried".to_owned(), |count| count.to_string());
    let rows = [
        ("records", summary.records.to_string()),
        ("to learn", summary.train.to_string()),
        ("held out, by benchmark", summary.held_out.to_string()),
        (
            "chats over the limit of tokens",
            summary.too_long.to_string(),
        ),
        ("tokens of all records", summary.tokens.to_string()),
        ("natural pairs", summary.kept.to_string()),
        (
            "both sides of a natural pair compile",
            compiled(summary.compiled),
        ),
        (
            "pairs with a derived slow side",
            summary
                .rodinia
                .as_ref()
                .map_or(0, |suite| suite.kept)
                .to_string(),
        ),
    ];
    card.push_str("| what | count |\n|---|---|\n");
    for (what, count) in rows {
        let _ = writeln!(card, "| {what} | {count} |");
    }
    let rule = if summary.paper {
        "The rule of the paper chose the natural pairs: files of the same name with a kernel body on both sides, and \
         of each file its device code alone."
    } else {
        "Kernels were cut out of the file that includes them, with everything that they name. Pairs that are equal \
         after normalising, or differ only in a constant, were dropped."
    };
    let _ = write!(
        card,
        "\n{rule}\n\nTokens were counted by {}. Held out: {}.\n",
        summary.tokens_by,
        or_none(&summary.held_out_benchmarks.join(", "))
    );
    if let Some(compiler) = &summary.compiler {
        let _ = writeln!(
            card,
            "{compiler} compiled {} of {} units.",
            summary.units.compiled.unwrap_or(0),
            summary.units.of
        );
    }
    card.push_str(&runs(summary.runs.as_ref()));
    card.push_str("\n## Sources\n\n");
    for source in &summary.sources {
        let _ = writeln!(card, "- {source}");
    }
    card.push_str("\n## Licences\n\nGuessed from the head of each file; read them before you pass anything on.\n\n");
    let mut licences: BTreeMap<(&str, bool), usize> = BTreeMap::new();
    for record in &built.records {
        let licence = &record.licence;
        *licences
            .entry((&licence.name, licence.may_be_shared))
            .or_default() += 1;
    }
    card.push_str("| licence | records | may be shared |\n|---|---|---|\n");
    for ((name, shared), count) in licences {
        let shared = if shared { "yes, with its notice" } else { "no" };
        let _ = writeln!(card, "| {name} | {count} | {shared} |");
    }
    card.push_str(&left_out(built));
    card
}

/// How many files were left out, by reason.
fn left_out(built: &Built) -> String {
    let mut text = String::from(
        "\n## Left out\n\n`left-out.jsonl` names every file and its reason.\n\n| reason | files |\n|---|---|\n",
    );
    let mut reasons: BTreeMap<&str, usize> = BTreeMap::new();
    for left in &built.left_out {
        *reasons
            .entry(left.why.split(':').next().unwrap_or(""))
            .or_default() += 1;
    }
    for (why, count) in reasons {
        let _ = writeln!(text, "| {why} | {count} |");
    }
    text
}

/// What running pairs showed.
fn runs(counts: Option<&RunCounts>) -> String {
    let mut text = String::from("\n## Runs\n\n");
    let Some(counts) = counts else {
        text.push_str("No pair was run: whether fast sides are right and faster is open.\n");
        return text;
    };
    let machines: Vec<&str> = counts.machines.values().map(String::as_str).collect();
    let _ = writeln!(
        text,
        "On {}, {} of {} pairs. The others have no harness, so nothing is known of them.\n",
        or_none(&machines.join(", ")),
        counts.run,
        counts.run + counts.without_harness,
    );
    text.push_str("| what | pairs |\n|---|---|\n");
    let _ = writeln!(text, "| both sides are right | {} |", counts.equal);
    for mark in Mark::ALL {
        let count = counts.marks.get(&mark).copied().unwrap_or(0);
        let _ = writeln!(text, "| {} | {count} |", mark.name());
    }
    let _ = writeln!(text, "| in no chat for that | {} |", counts.dropped);
    text
}

fn or_none(text: &str) -> &str {
    if text.is_empty() { "nothing" } else { text }
}
