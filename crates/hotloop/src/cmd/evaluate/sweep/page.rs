//! The tables of a sweep as a page that needs nothing else.

use super::grid::{FOOT, Grid, circumstances, policies, problems, verdicts};
use super::sheet::Sheet;
use crate::cmd::evaluate::suite::page::escaped;

/// In a narrow window each row is a list of its titles and cells.
const STYLE: &str = ":root{color-scheme:light dark}body{font:16px/1.5 system-ui,sans-serif;\
margin:1.5rem auto;max-width:100rem;padding:0 1rem;background:Canvas;color:CanvasText}\
h1{font-size:1.4rem}h2{font-size:1.1rem;margin-top:2rem}div{overflow-x:auto}p{max-width:46rem}\
table{font-size:.9rem;border-collapse:collapse;white-space:nowrap;font-variant-numeric:tabular-nums}\
th,td{padding:.25rem .6rem;text-align:right;border-bottom:1px solid #8884}\
th.w,td.w{text-align:left}\
@media(max-width:48rem){table,tbody,tr{display:block}thead,td:empty{display:none}\
tr{margin-bottom:1rem}td,td.w{display:flex;justify-content:space-between;gap:1rem;\
padding:.1rem 0;white-space:normal;text-align:right}td::before{content:attr(data-of);opacity:.75}\
td:first-child{font-weight:600}}";

/// The page.
pub(super) fn page(sheet: &Sheet) -> String {
    let title = escaped(&sheet.title);
    format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\
         <title>{title}</title><style>{STYLE}</style></head>\n<body><h1>{title}</h1>\n{}\
         <p>{}</p>\n<p>{}</p>\n<h2>Verdicts</h2>\n{}<h2>Problems</h2>\n{}</body></html>\n",
        table(&policies(sheet)),
        escaped(&FOOT.replace('`', "")),
        escaped(&circumstances(sheet)),
        table(&verdicts(sheet)),
        table(&problems(sheet))
    )
}

fn table(grid: &Grid) -> String {
    let line = |tag: &str, cells: &[String]| {
        let cell = |(at, text): (usize, &String)| {
            let class = if at < grid.words { " class=\"w\"" } else { "" };
            let title = match tag {
                "td" => format!(" data-of=\"{}\"", escaped(&grid.titles[at])),
                _ => String::new(),
            };
            format!("<{tag}{class}{title}>{}</{tag}>", escaped(text))
        };
        let cells: String = cells.iter().enumerate().map(cell).collect();
        format!("<tr>{cells}</tr>\n")
    };
    let rows: String = grid.rows.iter().map(|row| line("td", row)).collect();
    format!(
        "<div><table><thead>{}</thead>\n<tbody>{rows}</tbody></table></div>\n",
        line("th", &grid.titles)
    )
}

#[cfg(test)]
mod tests {
    use super::super::sheet::tests::sheet;
    use super::*;

    #[test]
    fn a_page_holds_both_tables_and_shows_names_as_text() {
        let page = page(&sheet());
        assert!(page.contains("<title>a | &lt;b&gt;</title>") && !page.contains("<b>"));
        assert!(page.contains("<td data-of=\"rate\">50 %</td>"));
        assert!(page.contains("<td class=\"w\" data-of=\"policy\">tuned</td>"));
        assert!(page.contains("correct 4.00x"));
        assert!(!page.contains("<script") && !page.contains("http"));
    }
}
