//! The report as one page that needs nothing else: styles, figures and code are inside.

use hotloop_flow::{Device, count};

use super::diff::{Change, diff};
use super::figure::Figure;
use super::highlight::{self, escape};
use super::{BestCode, Report, RunReport, figures, practised, svg, text};
use crate::probe::{Estimate, ProbeSummary};

const STYLE: &str = include_str!("page.css");

pub fn page(report: &Report) -> String {
    let title = match &report.runs[..] {
        [only] => format!("{} on {}", only.name, only.task),
        runs => format!("{} runs", runs.len()),
    };
    let mut html = format!(
        "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" \
         content=\"width=device-width\"><meta name=\"color-scheme\" content=\"light \
         dark\"><title>hotloop: \
         {0}</title><style>{1}{STYLE}</style></head><body><main><h1>{0}</h1>",
        escape(&title),
        svg::COLOURS
    );
    lead(report, &mut html);
    if let [only] = &report.runs[..] {
        cards(only, &mut html);
    }
    probes(report, &mut html);
    practice(report, &mut html);
    html.push_str("<h2>Curves</h2>");
    grid(figures::compared(report), &mut html);
    for run in &report.runs {
        one(run, report.runs.len() > 1, &mut html);
    }
    html.push_str("<h2>Summary</h2>");
    summary(report, &mut html);
    machines(report, &mut html);
    html.push_str("</main></body></html>\n");
    html
}

fn lead(report: &Report, html: &mut String) {
    let says = |run: &RunReport| {
        let practised: Vec<&str> = run
            .practised
            .iter()
            .map(|practised| practised.task.as_str())
            .collect();
        let beside = if practised.is_empty() {
            String::new()
        } else {
            format!(", practising {}", practised.join(", "))
        };
        escape(&format!(
            "{}: {} on task {}{beside}, {}",
            run.name, run.model, run.task, run.status
        ))
    };
    let runs: Vec<String> = report.runs.iter().map(says).collect();
    put!(html, "<p class=lead>{}</p>", runs.join("<br>"));
}

fn cards(run: &RunReport, html: &mut String) {
    html.push_str("<div class=cards>");
    let mut card = |value: String, what: &str| {
        put!(
            html,
            "<div class=card><b>{value}</b><span>{what}</span></div>"
        );
    };
    if let Some(best) = &run.best {
        card(
            format!("{:.1}", best.speed),
            &format!("{}, best code", run.unit),
        );
        if let (Some(ratio), Some(name)) = (best.baseline_ratio, &best.baseline) {
            card(format!("{ratio:.2}"), &format!("of {}", escape(name)));
        }
        if let Some(share) = best.peak_fraction {
            card(format!("{:.0} %", share * 100.0), "of the machine's peak");
        }
        if let Some(seed) = run.seed_speed {
            card(format!("{:.1} x", best.speed / seed), "the task's seed");
        }
    }
    card(run.totals.steps.to_string(), "steps");
    card(run.totals.answers.to_string(), "candidates asked for");
    html.push_str("</div>");
}

/// The probe comes first, because claims rest on it.
fn probes(report: &Report, html: &mut String) {
    if report.runs.iter().all(|run| run.before.is_none()) {
        return;
    }
    html.push_str(
        "<h2>Probe</h2><p class=lead>Six stage prompts, answered with the same seeds \
        before and after the run at the training temperature; failures count as 0. In brackets: 95 \
        % bootstrap intervals.</p><div class=scroll><table><thead><tr><th>run</th><th>learning \
        rate</th><th>when</th><th>answers</th><th>correct</th><th>mean speed</th><th>best of each \
        stage, mean speed</th></tr></thead><tbody>",
    );
    let pooled = report.pooled.iter().map(|pooled| Probed {
        name: &pooled.name,
        rate: pooled.rate,
        unit: pooled.unit,
        before: pooled.before,
        after: pooled.after,
    });
    let runs = report.runs.iter().map(|run| Probed {
        name: &run.name,
        rate: run.config.learning.rate,
        unit: run.unit,
        before: run.before,
        after: run.after,
    });
    for probed in pooled.chain(runs) {
        for (when, probe) in [("before", probed.before), ("after", probed.after)] {
            if let Some(probe) = probe {
                probe_row(&probed, when, &probe, html);
            }
        }
    }
    html.push_str("</tbody></table></div>");
}

/// A run, or the seeds of one setting, with the numbers of the probes.
struct Probed<'a> {
    name: &'a str,
    rate: f64,
    unit: &'static str,
    before: Option<ProbeSummary>,
    after: Option<ProbeSummary>,
}

fn probe_row(probed: &Probed<'_>, when: &str, probe: &ProbeSummary, html: &mut String) {
    let Probed {
        name, rate, unit, ..
    } = probed;
    let unit = format!(" {unit}");
    let cell = |estimate: Estimate, scale: f64, unit: &str| {
        let digits = if scale > 1.0 { 0 } else { 2 };
        format!(
            "<td><b>{:.digits$}{unit}</b> [{:.digits$}, {:.digits$}]</td>",
            estimate.value * scale,
            estimate.low * scale,
            estimate.high * scale
        )
    };
    put!(
        html,
        "<tr><td>{}</td><td>{rate}</td><td>{when}</td><td>{}</td>{}{}{}</tr>",
        escape(name),
        probe.answers,
        cell(probe.correct, 100.0, " %"),
        cell(probe.speed, 1.0, &unit),
        cell(probe.best, 1.0, &unit)
    );
}

fn practice(report: &Report, html: &mut String) {
    let rows = practised::rows(report.practised());
    if rows.is_empty() {
        return;
    }
    let cells = |row: &[String], kind: &str| {
        let cells: Vec<String> = row
            .iter()
            .map(|cell| format!("<{kind}>{}</{kind}>", escape(cell)))
            .collect();
        cells.concat()
    };
    put!(
        html,
        "<h2>Practised tasks</h2><p class=lead>Asked and learned from beside the run's own task, a \
         group a step, in turns over tasks and stages. Quarters are of the steps that asked the \
         task; speed-ups are over its seed, of the correct answers.</p><div \
         class=scroll><table><thead><tr>{}</tr></thead><tbody>",
        cells(&practised::HEAD.map(str::to_owned), "th")
    );
    for row in &rows {
        put!(html, "<tr>{}</tr>", cells(row, "td"));
    }
    html.push_str("</tbody></table></div>");
}

fn grid(figures: Vec<(&'static str, Figure)>, html: &mut String) {
    html.push_str("<div class=grid>");
    for (_, figure) in figures {
        put!(html, "<figure>{}</figure>", figure.inline());
    }
    html.push_str("</div>");
}

fn one(run: &RunReport, several: bool, html: &mut String) {
    if several {
        put!(html, "<h2>{}</h2>", escape(&run.name));
    } else {
        html.push_str("<h2>Verdicts and time</h2>");
    }
    grid(figures::own(run), html);
    if !run.warnings.is_empty() {
        html.push_str("<h3>Warnings</h3><ul class=warn>");
        for (step, warning) in &run.warnings {
            put!(html, "<li>step {}: {}</li>", step + 1, escape(warning));
        }
        html.push_str("</ul>");
    }
    if let Some(best) = &run.best {
        if several {
            put!(
                html,
                "<details><summary>Best code: {:.2} {}</summary>",
                best.speed,
                run.unit
            );
            code(best, run.unit, html);
            html.push_str("</details>");
        } else {
            html.push_str("<h2>Best code</h2>");
            code(best, run.unit, html);
        }
    }
}

fn code(best: &BestCode, unit: &str, html: &mut String) {
    let features = &best.features;
    let tile = features
        .register_tile
        .map_or("none".to_owned(), |(rows, columns)| {
            format!("{rows} x {columns}")
        });
    let simd = features
        .simd_bits
        .map_or("none".to_owned(), |bits| format!("{bits} bits"));
    put!(
        html,
        "<p>{:.2} {unit}{}, found in step {}. Blocking {}; threads: {}; prefetch: {}; {}; register \
         tile {tile}; explicit vectors: {simd}; {} the output.</p>",
        best.speed,
        match best.confirmed {
            0 => String::new(),
            fresh => format!(" (median of {})", count(fresh, "fresh timing")),
        },
        best.step + 1,
        features.blocking_text(),
        features.threads,
        escape(&features.prefetch.to_string()),
        count(features.accumulators as usize, "accumulator"),
        if features.read_modify_write {
            "reads back"
        } else {
            "only writes"
        }
    );
    html.push_str("<h3>From the seed to the best</h3>");
    lineage(best, unit, html);
    put!(
        html,
        "<h3>Source</h3><pre>{}</pre>",
        highlight::c(&best.source)
    );
    for (what, from) in [
        ("its parent", best.parent()),
        ("the seed", best.seed.as_str()),
    ] {
        put!(html, "<details><summary>Difference from {what}</summary>");
        difference(from, &best.source, html);
        html.push_str("</details>");
    }
}

fn lineage(best: &BestCode, unit: &str, html: &mut String) {
    html.push_str(
        "<div class=path><div class=node style=\"border-left-color:var(--correct)\"><b>seed</b>the \
         task's own</div>",
    );
    for ancestor in &best.lineage {
        let colour = ancestor.label.map_or("masked", hotloop_flow::Label::name);
        let speed = ancestor
            .speed
            .map_or_else(|| colour.to_owned(), |speed| format!("{speed:.2} {unit}"));
        let stage = ancestor
            .stage
            .map(|stage| format!(", {stage}"))
            .unwrap_or_default();
        put!(
            html,
            "<span class=arrow>&rarr;</span><div class=node \
             style=\"border-left-color:var(--{colour})\" title=\"{}\"><b>{speed}</b>{}{stage}, \
             step {}</div>",
            escape(&ancestor.hash),
            ancestor.role.name(),
            ancestor.step + 1
        );
    }
    html.push_str("</div>");
}

fn difference(from: &str, to: &str, html: &mut String) {
    html.push_str("<pre class=diff>");
    for change in diff(from, to) {
        let (class, text) = match change {
            Change::Kept(line) => ("", format!("  {line}")),
            Change::Removed(line) => (" class=del", format!("- {line}")),
            Change::Added(line) => (" class=add", format!("+ {line}")),
            Change::Skipped(1) => (" class=skip", "  ... 1 line is the same".to_owned()),
            Change::Skipped(lines) => (" class=skip", format!("  ... {lines} lines are the same")),
        };
        put!(html, "<div{class}>{}</div>", escape(&text));
    }
    html.push_str("</pre>");
}

fn summary(report: &Report, html: &mut String) {
    let columns: Vec<Vec<(&str, String)>> = report.runs.iter().map(text::facts).collect();
    let Some(first) = columns.first() else { return };
    html.push_str("<div class=scroll><table><thead><tr><th></th>");
    for run in &report.runs {
        put!(html, "<th>{}</th>", escape(&run.name));
    }
    html.push_str("</tr></thead><tbody>");
    for (at, (name, _)) in first.iter().enumerate() {
        put!(html, "<tr><th>{name}</th>");
        for column in &columns {
            put!(html, "<td>{}</td>", escape(&column[at].1));
        }
        html.push_str("</tr>");
    }
    html.push_str("</tbody></table></div>");
}

fn machines(report: &Report, html: &mut String) {
    html.push_str("<h2>Machine</h2><div \
        class=scroll><table><thead><tr><th>run</th><th>device</th><th>vectors</th><th>cores</th><th>compiler</th><th>libraries</th><th>kernel</th><th>sandbox</th><th>class</th></tr></thead><tbody>");
    for run in &report.runs {
        let Some(machine) = &run.machine else {
            continue;
        };
        let (vectors, cores) = match &machine.device {
            Device::Cpu { simd, cores, .. } => (simd.clone(), cores.to_string()),
            Device::Gpu { .. } => ("-".to_owned(), "-".to_owned()),
        };
        let names = machine.libraries.iter();
        let libraries: Vec<String> = names
            .map(|(name, version)| format!("{name} {version}"))
            .collect();
        let libraries = if libraries.is_empty() {
            "none".to_owned()
        } else {
            libraries.join(", ")
        };
        let cells = [
            run.name.clone(),
            machine.device.name().to_owned(),
            vectors,
            cores,
            format!("{}, {}", machine.compiler, run.config.bench.how.opt.flag()),
            libraries,
            machine.kernel.clone(),
            machine.sandbox.join(", "),
            machine.class.clone(),
        ];
        let cells: Vec<String> = cells
            .iter()
            .map(|cell| format!("<td>{}</td>", escape(cell)))
            .collect();
        put!(html, "<tr>{}</tr>", cells.concat());
    }
    html.push_str("</tbody></table></div>");
}
