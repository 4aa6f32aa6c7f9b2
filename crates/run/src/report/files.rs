//! A report as files.

use std::io;
use std::path::{Path, PathBuf};

use super::page::Paged;
use super::{csv, figures};
use crate::store::write_whole;

impl Paged {
    /// Writes `report.html`, `report.json`, `steps.csv` and the figures as SVG files.
    pub fn write(&self, directory: &Path) -> io::Result<Vec<PathBuf>> {
        fs_err::create_dir_all(directory.join("figures"))?;
        let report = &self.report;
        let json = serde_json::to_string_pretty(report).expect("reports have a JSON form");
        let mut files = vec![
            ("report.html".to_owned(), self.html().into_bytes()),
            ("report.json".to_owned(), json.into_bytes()),
            ("steps.csv".to_owned(), csv::steps(report).into_bytes()),
        ];
        files.extend(
            figures::all(report)
                .iter()
                .map(|(name, figure)| figure.file(&format!("figures/{name}"))),
        );
        let mut written = Vec::new();
        for (name, content) in files {
            let path = directory.join(name);
            write_whole(&path, &content)?;
            written.push(path);
        }
        Ok(written)
    }
}
