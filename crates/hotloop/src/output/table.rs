//! Plain text in aligned columns.

/// No column gets narrower than this.
const LEAST: usize = 16;
/// What stands before a line below a row.
const BELOW: &str = "    ";

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

    /// The whole text, without a newline at its end, as wide as the terminal.
    pub(crate) fn render(&self) -> String {
        let terminal = terminal_size::terminal_size_of(std::io::stdout());
        self.within(terminal.map_or(usize::MAX, |(width, _)| usize::from(width.0)))
    }

    /// The text in `room` columns. The widest column of words is wrapped where the table is wider.
    fn within(&self, room: usize) -> String {
        let used: Vec<usize> = (0..self.columns.len())
            .filter(|index| self.rows.iter().any(|row| !row.cell(*index).is_empty()))
            .collect();
        let mut widths: Vec<usize> = used.iter().map(|index| self.width(*index)).collect();
        let whole = widths.iter().sum::<usize>() + 2 * widths.len().saturating_sub(1);
        let words = |at: &usize| !self.columns[used[*at]].right;
        let widest = (0..used.len()).filter(words).max_by_key(|at| widths[*at]);
        if let Some(widest) = widest {
            let narrower = widths[widest].saturating_sub(whole.saturating_sub(room));
            widths[widest] = narrower.max(widths[widest].min(LEAST));
        }
        let mut lines = Vec::new();
        if self.columns.iter().any(|column| !column.title.is_empty()) {
            let titles = used.iter().map(|index| self.columns[*index].title.as_str());
            lines.extend(self.lines(&used, &widths, titles));
        }
        for row in &self.rows {
            lines.extend(self.lines(&used, &widths, used.iter().map(|index| row.cell(*index))));
            let below = |text: &String| wrapped(text, room.saturating_sub(BELOW.len()).max(LEAST));
            let below = row.below.iter().flat_map(below);
            lines.extend(below.map(|text| format!("{BELOW}{text}").trim_end().to_owned()));
        }
        lines.join("\n")
    }

    fn width(&self, index: usize) -> usize {
        let cells = self.rows.iter().map(|row| row.cell(index).chars().count());
        let title = self.columns[index].title.chars().count();
        cells.max().unwrap_or(0).max(title)
    }

    /// One row as lines: as many as its longest cell needs.
    fn lines<'a>(
        &self,
        used: &[usize],
        widths: &[usize],
        cells: impl Iterator<Item = &'a str>,
    ) -> Vec<String> {
        let cells: Vec<Vec<String>> = cells
            .zip(widths)
            .map(|(cell, width)| wrapped(cell, *width))
            .collect();
        let height = cells.iter().map(Vec::len).max().unwrap_or(0);
        let line = |at: usize| {
            let padded = cells
                .iter()
                .zip(used)
                .zip(widths)
                .map(|((cell, index), width)| {
                    let part = cell.get(at).map_or("", String::as_str);
                    if self.columns[*index].right {
                        format!("{part:>width$}")
                    } else {
                        format!("{part:<width$}")
                    }
                });
            padded.collect::<Vec<_>>().join("  ").trim_end().to_owned()
        };
        (0..height).map(line).collect()
    }
}

impl Row {
    fn cell(&self, index: usize) -> &str {
        self.cells.get(index).map_or("", String::as_str)
    }
}

/// Breaks a text between words, so that no line is wider than `width` unless one word is.
fn wrapped(text: &str, width: usize) -> Vec<String> {
    if text.chars().count() <= width {
        return vec![text.to_owned()];
    }
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= width => {
                line.extend([" ", word]);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
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
    fn a_narrow_terminal_breaks_lines_between_words() {
        let mut table = Table::new().left("task").left("summary").right("s");
        table.row(["fft", "a fast Fourier transform of complex numbers", "1.5"]);
        table.below("void fft(double *in, double *out, int n)");
        let narrow = table.within(32);
        assert!(
            narrow.lines().all(|line| line.chars().count() <= 32),
            "{narrow}"
        );
        assert_eq!(
            narrow,
            "task  summary                  s\n\
             fft   a fast Fourier         1.5\n      transform of complex\n      numbers\n    \
             void fft(double *in, double\n    *out, int n)"
        );
        assert_eq!(table.within(usize::MAX), table.render());
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
