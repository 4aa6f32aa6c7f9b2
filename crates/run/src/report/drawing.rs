//! Lays out a figure: where axes, lines, layers and the legend go on the sheet.

use super::figure::{Content, Figure, Layer, Series};
use super::scale::{
    BOTTOM, PLOT, RIGHT, Scale, TOP, WIDTH, number, ticks, x_bounds, y_bounds, y_labels,
};
use super::width::width;

/// How many line colours there are.
const LINE_COLOURS: usize = 8;

/// Room for most labels, so that figures of one page have their axes in one place.
const LEFT: f64 = 64.0;
const BELOW: f64 = 44.0;
const LEGEND_ROW: f64 = 18.0;
/// Widths of a legend entry: the line before a name, and the space around the name.
const KEY_LINE: f64 = 18.0;
const KEY_SQUARE: f64 = 12.0;
const KEY_AIR: f64 = 6.0;
const LEGEND_AIR: f64 = 16.0;
pub(super) const TEXT: f64 = 12.0;
const TITLE: f64 = 14.0;
/// A page's own font may be wider than the estimate.
const WIDER: f64 = 1.1;

/// Something on the sheet. Colours are names in `colours.css`.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Mark {
    /// A stroke through points.
    Line {
        points: Vec<(f64, f64)>,
        colour: String,
        width: f64,
        dashed: bool,
    },
    /// A filled outline. Crisp edges keep the colour beneath from showing through.
    Area {
        points: Vec<(f64, f64)>,
        colour: String,
        opacity: f64,
        crisp: bool,
    },
    /// A filled circle.
    Dot {
        at: (f64, f64),
        radius: f64,
        colour: String,
    },
    Text(Words),
}

/// Words on the sheet.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Words {
    pub(super) text: String,
    /// A place on the baseline.
    pub(super) at: (f64, f64),
    /// Which part of the words is at this place.
    pub(super) anchor: Anchor,
    pub(super) size: f64,
    pub(super) bold: bool,
    /// Read from bottom to top.
    pub(super) upwards: bool,
    pub(super) colour: &'static str,
}

/// The beginning, middle or end of words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Anchor {
    Start,
    Middle,
    End,
}

/// All marks of a figure, first at the bottom.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Drawing {
    pub(super) height: f64,
    pub(super) marks: Vec<Mark>,
}

impl Drawing {
    pub(super) fn of(figure: &Figure) -> Self {
        let y_bounds = y_bounds(&figure.content);
        let (y_ticks, y_labels) = y_labels(&figure.content, y_bounds);
        let widest = y_labels
            .iter()
            .map(|label| width(label, TEXT, false))
            .fold(0.0, f64::max);
        // The axis's name goes left of the labels.
        let left = LEFT.max(widest * WIDER + 26.0);
        let scale = Scale {
            left,
            x: x_bounds(&figure.content),
            y: y_bounds,
        };
        let mut marks = Vec::new();
        let title = Words {
            size: TITLE,
            bold: true,
            ..words(
                shortened(&figure.title, WIDTH - left, TITLE, true),
                (left, 18.0),
                Anchor::Start,
                "ink",
            )
        };
        marks.push(Mark::Text(title));
        for (tick, label) in y_ticks.iter().zip(y_labels) {
            let y = scale.y(*tick);
            marks.push(straight((left, y), (WIDTH - RIGHT, y), "grid"));
            marks.push(Mark::Text(words(
                label,
                (left - 6.0, y + 4.0),
                Anchor::End,
                "dim",
            )));
        }
        match &figure.content {
            Content::Lines(series) => {
                // Bands are drawn first, so that no band covers another series' line.
                marks.extend(series.iter().filter_map(|each| band(each, &scale)));
                marks.extend(series.iter().filter_map(|each| line(each, &scale)));
            }
            Content::Stack { xs, layers } => stack(xs, layers, &scale, &mut marks),
        }
        x_axis(figure, &scale, &mut marks);
        let middle = (15.0, TOP + PLOT / 2.0);
        let y_name = Words {
            upwards: true,
            ..words(figure.y_label.clone(), middle, Anchor::Middle, "ink")
        };
        marks.push(Mark::Text(y_name));
        let legend = legend(&figure.content, left, &mut marks);
        Self {
            height: BOTTOM + BELOW + legend,
            marks,
        }
    }
}

fn x_axis(figure: &Figure, scale: &Scale, marks: &mut Vec<Mark>) {
    let (ticks, step) = ticks(scale.x, 8);
    for tick in ticks
        .into_iter()
        .filter(|tick| (tick - tick.round()).abs() < 1e-9)
    {
        let x = scale.x(tick);
        marks.push(straight((x, BOTTOM), (x, BOTTOM + 4.0), "dim"));
        let label = number(tick, step.max(1.0));
        // The last label may be wider than the margin.
        let middle = x.min(WIDTH - width(&label, TEXT, false) * WIDER / 2.0);
        marks.push(Mark::Text(words(
            label,
            (middle, BOTTOM + 17.0),
            Anchor::Middle,
            "dim",
        )));
    }
    marks.push(straight(
        (scale.left, BOTTOM),
        (WIDTH - RIGHT, BOTTOM),
        "dim",
    ));
    let middle = (f64::midpoint(scale.left, WIDTH - RIGHT), BOTTOM + 34.0);
    marks.push(Mark::Text(words(
        figure.x_label.clone(),
        middle,
        Anchor::Middle,
        "ink",
    )));
}

fn band(series: &Series, scale: &Scale) -> Option<Mark> {
    let high = series.band.iter().map(|(x, _, high)| (*x, *high));
    let low = series.band.iter().rev().map(|(x, low, _)| (*x, *low));
    let points = scale.places(high.chain(low));
    (series.band.len() > 1).then(|| Mark::Area {
        points,
        colour: line_colour(series.colour),
        opacity: 0.16,
        crisp: false,
    })
}

/// A line, or a dot if there is only one place.
fn line(series: &Series, scale: &Scale) -> Option<Mark> {
    let colour = line_colour(series.colour);
    let points = scale.places(series.points.iter().copied());
    match points[..] {
        [] => None,
        [at] => Some(Mark::Dot {
            at,
            radius: 3.0,
            colour,
        }),
        _ => Some(Mark::Line {
            points,
            colour,
            width: 1.8,
            dashed: series.dashed,
        }),
    }
}

/// Draws each layer as one outline of steps down to the axis, upper layers first. Separate adjacent
/// areas could leave visible seams.
fn stack(xs: &[f64], layers: &[Layer], scale: &Scale, marks: &mut Vec<Mark>) {
    let mut tops = vec![0.0; xs.len()];
    let mut areas = Vec::new();
    for layer in layers.iter().filter(|_| !xs.is_empty()) {
        tops.iter_mut()
            .zip(&layer.heights)
            .for_each(|(top, height)| *top += height);
        let steps = xs
            .iter()
            .zip(&tops)
            .flat_map(|(x, y)| [(x - 0.5, *y), (x + 0.5, *y)]);
        let ends = [(xs[xs.len() - 1] + 0.5, 0.0), (xs[0] - 0.5, 0.0)];
        let points = scale.places(steps.chain(ends));
        areas.push(Mark::Area {
            points,
            colour: layer.colour.clone(),
            opacity: 1.0,
            crisp: true,
        });
    }
    marks.extend(areas.into_iter().rev());
}

/// Draws the legend and returns its height.
fn legend(content: &Content, left: f64, marks: &mut Vec<Mark>) -> f64 {
    let (names, key_width): (Vec<&str>, f64) = match content {
        Content::Lines(series) => (
            series.iter().map(|each| each.name.as_str()).collect(),
            KEY_LINE + KEY_AIR,
        ),
        Content::Stack { layers, .. } => (
            layers.iter().map(|layer| layer.name.as_str()).collect(),
            KEY_SQUARE + KEY_AIR,
        ),
    };
    let (mut x, mut row) = (left, 0.0);
    let mut any = false;
    for (at, name) in names
        .into_iter()
        .enumerate()
        .filter(|(_, name)| !name.is_empty())
    {
        let name = shortened(name, WIDTH - left - key_width, TEXT, false);
        let width = key_width + width(&name, TEXT, false) * WIDER;
        if x + width > WIDTH && x > left {
            x = left;
            row += 1.0;
        }
        let y = BOTTOM + BELOW + row * LEGEND_ROW + 6.0;
        marks.push(key(content, at, (x, y)));
        marks.push(Mark::Text(words(
            name,
            (x + key_width, y + 4.0),
            Anchor::Start,
            "ink",
        )));
        x += width + LEGEND_AIR;
        any = true;
    }
    if any {
        (row + 1.0) * LEGEND_ROW + 4.0
    } else {
        0.0
    }
}

/// The mark before a name in the legend.
fn key(content: &Content, at: usize, (x, y): (f64, f64)) -> Mark {
    match content {
        Content::Lines(series) => Mark::Line {
            points: vec![(x, y), (x + KEY_LINE, y)],
            colour: line_colour(series[at].colour),
            width: 2.5,
            dashed: series[at].dashed,
        },
        Content::Stack { layers, .. } => {
            let (left, right, top, bottom) = (
                x,
                x + KEY_SQUARE,
                y - KEY_SQUARE / 2.0,
                y + KEY_SQUARE / 2.0,
            );
            let points = vec![(left, top), (right, top), (right, bottom), (left, bottom)];
            Mark::Area {
                points,
                colour: layers[at].colour.clone(),
                opacity: 1.0,
                crisp: true,
            }
        }
    }
}

fn line_colour(colour: usize) -> String {
    format!("s{}", colour % LINE_COLOURS)
}

fn straight(from: (f64, f64), to: (f64, f64), colour: &str) -> Mark {
    Mark::Line {
        points: vec![from, to],
        colour: colour.to_owned(),
        width: 1.0,
        dashed: false,
    }
}

fn words(text: String, at: (f64, f64), anchor: Anchor, colour: &'static str) -> Words {
    Words {
        text,
        at,
        anchor,
        size: TEXT,
        bold: false,
        upwards: false,
        colour,
    }
}

/// The text, or as much of its beginning as fits, with an ellipsis.
fn shortened(text: &str, room: f64, size: f64, bold: bool) -> String {
    let fits = |text: &str| width(text, size, bold) * WIDER <= room;
    if fits(text) {
        return text.to_owned();
    }
    let mut kept: Vec<char> = text.chars().collect();
    loop {
        kept.pop();
        let shorter: String = kept.iter().collect::<String>() + "…";
        if kept.is_empty() || fits(&shorter) {
            return shorter;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(drawing: &Drawing) -> Vec<&Words> {
        drawing
            .marks
            .iter()
            .filter_map(|mark| {
                if let Mark::Text(words) = mark {
                    Some(words)
                } else {
                    None
                }
            })
            .collect()
    }

    /// The left and right end of words on the sheet.
    fn span(words: &Words) -> (f64, f64) {
        let width = width(&words.text, words.size, words.bold);
        let start = match words.anchor {
            Anchor::Start => words.at.0,
            Anchor::Middle => words.at.0 - width / 2.0,
            Anchor::End => words.at.0 - width,
        };
        (start, start + width)
    }

    fn lines(series: Vec<Series>) -> Figure {
        Figure {
            title: "T".into(),
            x_label: "step".into(),
            y_label: "unit".into(),
            content: Content::Lines(series),
        }
    }

    #[test]
    fn bands_lie_under_all_lines() {
        let series = Series {
            points: vec![(0.0, 1.0), (1.0, 1.0)],
            band: vec![(0.0, 0.0, 2.0), (1.0, 0.0, 2.0)],
            ..Series::default()
        };
        let marks = Drawing::of(&lines(vec![series.clone(), series])).marks;
        let last_band = marks
            .iter()
            .rposition(|mark| matches!(mark, Mark::Area { .. }))
            .unwrap();
        let first_line = marks
            .iter()
            .position(|mark| matches!(mark, Mark::Line { width, .. } if *width > 1.0));
        assert!(first_line.unwrap() > last_band);
    }

    #[test]
    fn no_words_leave_the_sheet_or_meet() {
        let series = |name: &str, high: f64| Series {
            name: name.into(),
            points: vec![(0.0, 0.0), (200_000.0, high)],
            ..Series::default()
        };
        let endless = "a name without an end ".repeat(12);
        let names = [
            "O0, LR=2e-7, β=0",
            "WWWWWWWWWWWW",
            "learns (3 seeds)",
            "iiii",
            endless.as_str(),
        ];
        for high in [1e-9, 1.0, 123_456.0, 1e12] {
            let mut figure = lines(names.iter().map(|name| series(name, high)).collect());
            figure.title = "A title that says far too much ".repeat(5);
            let drawing = Drawing::of(&figure);
            for words in texts(&drawing).iter().filter(|words| !words.upwards) {
                let (left, right) = span(words);
                assert!(
                    left > 20.0 && right <= WIDTH,
                    "{words:?} from {left} to {right}"
                );
                assert!(words.at.1 < drawing.height);
            }
            for (at, one) in texts(&drawing).iter().enumerate() {
                for other in texts(&drawing)[..at]
                    .iter()
                    .filter(|other| (other.at.1 - one.at.1).abs() < 8.0)
                {
                    let ((left, right), (begin, end)) = (span(one), span(other));
                    assert!(
                        one.upwards || other.upwards || right < begin || end < left,
                        "{one:?} meets {other:?}"
                    );
                }
            }
        }
    }
}
