//! An output as a matrix: the points of the paper's check, and the names of elements.

use hotloop_flow::formula;
use hotloop_flow::interface::Arg;

use crate::cpu::layout::Set;
use crate::inputs::Fresh;

const PAPER_POINTS: usize = 105;

/// An output as a matrix, in which all dimensions but the last are rows.
#[derive(Debug, Clone, Copy)]
pub(super) struct Matrix {
    rows: usize,
    columns: usize,
}

impl Matrix {
    /// The shape of `arg` in one call.
    pub(super) fn of(arg: &Arg, set: &Set) -> Self {
        let dims: Vec<usize> = arg
            .shape
            .iter()
            .map(|dim| formula::count(dim, &set.sizes).expect("checked"))
            .collect();
        match dims.split_last() {
            Some((columns, rows)) => Self {
                rows: rows.iter().product(),
                columns: *columns,
            },
            None => Self {
                rows: 1,
                columns: 1,
            },
        }
    }

    /// The paper's points: four corners, the centre, 100 random ones.
    pub(super) fn paper_points(self, fresh: &mut Fresh) -> Vec<usize> {
        let Self { rows, columns } = self;
        let at = |row: usize, column: usize| row * columns + column;
        let (last_row, last_column) = (rows - 1, columns - 1);
        let mut points = vec![
            at(0, 0),
            at(0, last_column),
            at(last_row, 0),
            at(last_row, last_column),
            at(rows / 2, columns / 2),
        ];
        points.extend(
            (points.len()..PAPER_POINTS).map(|_| at(fresh.index(rows), fresh.index(columns))),
        );
        points
    }
}

pub(super) fn element_name(arg: &Arg, set: &Set, index: usize) -> String {
    let Matrix { columns, .. } = Matrix::of(arg, set);
    match arg.shape.len() {
        0 => "the return value".to_owned(),
        1 => format!("{}[{index}]", arg.name),
        _ => format!(
            "{}[{}][{}]",
            arg.name,
            index / columns.max(1),
            index % columns.max(1)
        ),
    }
}

pub(super) fn size_names(set: &Set) -> String {
    set.sizes
        .iter()
        .map(|(name, value)| format!("{name}={value}"))
        .collect::<Vec<_>>()
        .join(" ")
}
