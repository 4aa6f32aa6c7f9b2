//! The page that shows runs: one script and one style for live runs and for reports.
//!
//! A server answers the page's questions while runs go on (`hotloop_serve`). A report is the same
//! page with all answers inside, so that the file needs nothing else.

use std::path::{Path, PathBuf};

use serde::Serialize;

use super::view::Frozen;
use super::{Report, svg, text};
use crate::store::StoreError;

/// The modules of the script. A module stands behind those that it imports.
const MODULES: [&str; 9] = [
    include_str!("page/element.js"),
    include_str!("page/words.js"),
    include_str!("page/source.js"),
    include_str!("page/chart.js"),
    include_str!("page/tree.js"),
    include_str!("page/candidate.js"),
    include_str!("page/candidates.js"),
    include_str!("page/run.js"),
    include_str!("page/main.js"),
];
const STYLE: &str = include_str!("page/page.css");
const SHELL: &str = include_str!("page/page.html");

/// The script in one file: the modules without what connects them.
pub fn script() -> String {
    let lines = MODULES.iter().flat_map(|module| module.lines());
    let kept = lines.filter(|line| !line.starts_with("import "));
    let mut script = String::new();
    for line in kept {
        script.push_str(line.strip_prefix("export ").unwrap_or(line));
        script.push('\n');
    }
    script
}

/// The style, with the colours of figures.
pub fn style() -> String {
    format!("{}{STYLE}", svg::COLOURS)
}

/// The page of a server, which answers `page.js`, `page.css` and what the script asks for.
pub fn live() -> String {
    SHELL
        .replace("<!--style-->", "<link rel=stylesheet href=page.css>")
        .replace("<!--title-->", "hotloop")
        .replace("<!--without-->", "This page needs JavaScript.")
        .replace("<!--script-->", "<script type=module src=page.js></script>")
}

/// Everything that a frozen page knows.
#[derive(Serialize)]
struct Kept<'a> {
    runs: &'a [Frozen],
    pooled: &'a [super::Pooled],
}

/// A report with what its page shows.
#[derive(Debug)]
pub struct Paged {
    pub report: Report,
    runs: Vec<Frozen>,
}

impl Paged {
    /// Reads run directories, finished or not.
    pub fn read(directories: &[PathBuf]) -> Result<Self, StoreError> {
        let (report, states) = Report::with_states(directories)?;
        let all = report.runs.iter().zip(&states).zip(directories);
        let runs = all
            .map(|((run, state), directory)| Frozen::of(run, state, directory as &Path))
            .collect::<Result<_, _>>()?;
        Ok(Self { report, runs })
    }

    /// The page in one file that needs nothing else.
    pub fn html(&self) -> String {
        let kept = Kept {
            runs: &self.runs,
            pooled: &self.report.pooled,
        };
        let data = serde_json::to_string(&kept).expect("views have a JSON form");
        let title = match &self.report.runs[..] {
            [only] => format!("hotloop: {} on {}", only.name, only.task),
            runs => format!("hotloop: {} runs", runs.len()),
        };
        // A script's text ends at `</script`, whatever stands around it.
        let data = data.replace('<', "\\u003c");
        let table = svg::escape(&text::table(&self.report));
        SHELL
            .replace("<!--style-->", &format!("<style>{}</style>", style()))
            .replace("<!--title-->", &svg::escape(&title))
            .replace("<!--without-->", &table)
            .replace(
                "<!--script-->",
                &format!(
                    "<script type=application/json id=kept>{data}</script><script type=module>{}\
                     </script>",
                    script()
                ),
            )
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// The names that a module declares at its top level.
    fn declared(module: &str) -> Vec<&str> {
        let words = ["function ", "async function ", "const ", "let ", "class "];
        module
            .lines()
            .filter_map(|line| {
                let line = line.strip_prefix("export ").unwrap_or(line);
                let rest = words.iter().find_map(|word| line.strip_prefix(word))?;
                rest.split(|c: char| !c.is_alphanumeric() && c != '_' && c != '$')
                    .next()
            })
            .collect()
    }

    #[test]
    fn modules_share_no_name_because_they_become_one_script() {
        let mut seen = BTreeSet::new();
        for name in MODULES.iter().flat_map(|module| declared(module)) {
            assert!(seen.insert(name), "two modules declare {name}");
        }
        assert!(seen.len() > 40, "{seen:?}");
        let script = script();
        assert!(!script.contains("\nimport ") && !script.contains("\nexport "));
        assert!(!script.contains("</script"), "it would end too early");
    }

    #[test]
    fn the_script_makes_elements_only_from_text() {
        for word in [
            "innerHTML",
            "outerHTML",
            "insertAdjacentHTML",
            "document.write",
            "eval(",
            "DOMParser",
            "srcdoc",
        ] {
            assert!(!script().contains(word), "{word} takes text for HTML");
        }
    }
}
