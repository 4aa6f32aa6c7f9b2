//! Plain text in aligned columns.

/// A table. Columns without content are left out.
#[derive(Debug, Default)]
pub(crate) struct Table {
    columns: Vec<Column>,
    rows: Vec<Row>,
}

#[derive(Debug)]
struct Column {
    title: String,
    right: bool,
}

#[derive(Debug, Default)]
struct Row {
    cells: Vec<String>,
    /// Lines below the row, indented.
    below: Vec<String>,
}

impl Table {
    /// A table without columns.
    pub(crate) fn new() -> Self {
        Self::default()
    }

    /// One more column, for words.
    #[must_use]
    pub(crate) fn left(mut self, title: impl Into<String>) -> Self {
        self.columns.push(Column {
            title: title.into(),
            right: false,
        });
        self
    }

    /// One more column, for numbers.
    #[must_use]
    pub(crate) fn right(mut self, title: impl Into<String>) -> Self {
        self.columns.push(Column {
            title: title.into(),
            right: true,
        });
        self
    }

    /// Adds a row.
    pub(crate) fn row<T: Into<String>>(&mut self, cells: impl IntoIterator<Item = T>) {
        self.rows.push(Row {
            cells: cells.into_iter().map(|cell| shown(&cell.into())).collect(),
            below: Vec::new(),
        });
    }

    /// Adds a line below the last row.
    pub(crate) fn below(&mut self, line: impl Into<String>) {
        if let Some(row) = self.rows.last_mut() {
            row.below.push(line.into());
        }
    }

    /// The whole text, without a newline at its end.
    pub(crate) fn render(&self) -> String {
        let cell = |row: &Row, index: usize| row.cells.get(index).cloned().unwrap_or_default();
        let used: Vec<usize> = (0..self.columns.len())
            .filter(|index| self.rows.iter().any(|row| !cell(row, *index).is_empty()))
            .collect();
        let width = |index: usize| {
            let longest = self
                .rows
                .iter()
                .map(|row| cell(row, index).chars().count())
                .max()
                .unwrap_or(0);
            longest.max(self.columns[index].title.chars().count())
        };
        let widths: Vec<usize> = used.iter().map(|index| width(*index)).collect();
        let line = |cells: Vec<String>| {
            let padded: Vec<String> = cells
                .iter()
                .zip(&used)
                .zip(&widths)
                .map(|((cell, index), width)| {
                    if self.columns[*index].right {
                        format!("{cell:>width$}")
                    } else {
                        format!("{cell:<width$}")
                    }
                })
                .collect();
            padded.join("  ").trim_end().to_owned()
        };
        let mut lines = Vec::new();
        if self.columns.iter().any(|column| !column.title.is_empty()) {
            lines.push(line(
                used.iter()
                    .map(|index| self.columns[*index].title.clone())
                    .collect(),
            ));
        }
        for row in &self.rows {
            lines.push(line(used.iter().map(|index| cell(row, *index)).collect()));
            lines.extend(
                row.below
                    .iter()
                    .map(|text| format!("    {text}").trim_end().to_owned()),
            );
        }
        lines.join("\n")
    }
}

/// A cell without control characters, because the name of a file may contain anything.
fn shown(cell: &str) -> String {
    cell.replace(char::is_control, "\u{fffd}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_cell_contains_control_characters() {
        let mut table = Table::new().left("file");
        table.row(["a\u{1b}[31m\n.c"]);
        assert_eq!(table.render(), "file\na\u{fffd}[31m\u{fffd}.c");
    }

    #[test]
    fn columns_align_and_empty_ones_vanish() {
        let mut table = Table::new().left("file").left("nothing").right("GFLOPS");
        table.row(["a.c", "", "1.5"]);
        table.below("why");
        table.row(["longer.c", "", "120.0"]);
        assert_eq!(
            table.render(),
            "file      GFLOPS\na.c          1.5\n    why\nlonger.c   120.0"
        );
    }
}
