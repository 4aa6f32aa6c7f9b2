//! The table of a suite as a page that needs nothing else.

use super::rows::{FOOT, Sheet};

const STYLE: &str = "body{font:16px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:80rem;\
padding:0 1rem;color-scheme:light dark}div{overflow-x:auto}table{border-collapse:collapse;\
white-space:nowrap}th,td{padding:.25rem .75rem;text-align:right;border-bottom:1px solid #8884}\
th:nth-child(-n+3),td:nth-child(-n+3){text-align:left}tr.sum{font-weight:600}";

/// The page.
pub(super) fn page(sheet: &Sheet) -> String {
    let title = escaped(&sheet.title);
    let cells = |tag: &str, cells: &[String]| -> String {
        let cell = |text: &String| format!("<{tag}>{}</{tag}>", escaped(text));
        cells.iter().map(cell).collect::<Vec<_>>().concat()
    };
    let head: Vec<String> = Sheet::columns()
        .iter()
        .map(|text| (*text).to_owned())
        .collect();
    let rows: Vec<String> = sheet
        .rows()
        .iter()
        .map(|row| {
            let class = if row.is_summary { " class=\"sum\"" } else { "" };
            format!("<tr{class}>{}</tr>", cells("td", &row.cells))
        })
        .collect();
    format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width\"><title>{title}</title>\
         <style>{STYLE}</style></head>\n<body><h1>{title}</h1>\n<div><table>\
         <thead><tr>{}</tr></thead>\n<tbody>{}</tbody></table></div>\n\
         <p>{}</p><p>Judged on: {}.</p></body></html>\n",
        cells("th", &head),
        rows.join("\n"),
        escaped(FOOT),
        escaped(&sheet.machine)
    )
}

/// Text as it stands in a page.
pub(in crate::cmd::evaluate) fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            other => safe.push(other),
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::super::rows::tests::cell;
    use super::*;

    #[test]
    fn names_are_shown_as_text() {
        let mut sheet = Sheet::new("<script>".to_owned());
        sheet.add(cell("<img src=x>", "fft", 0.5));
        let page = page(&sheet);
        assert!(!page.contains("<script>") && !page.contains("<img"));
        assert!(page.contains("&lt;img src=x&gt;") && page.contains("50 %"));
    }
}
