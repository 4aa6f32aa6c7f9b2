//! The scale of a figure: the plot's place on the sheet, from values to places in it, and the ticks of an
//! axis.

use super::figure::Content;

pub(super) const WIDTH: f64 = 640.0;
pub(super) const RIGHT: f64 = 14.0;
pub(super) const TOP: f64 = 30.0;
pub(super) const PLOT: f64 = 220.0;
pub(super) const BOTTOM: f64 = TOP + PLOT;

/// From values to places.
pub(super) struct Scale {
    /// Where the plot begins.
    pub(super) left: f64,
    pub(super) x: (f64, f64),
    pub(super) y: (f64, f64),
}

impl Scale {
    pub(super) fn x(&self, value: f64) -> f64 {
        self.left + (value - self.x.0) / (self.x.1 - self.x.0) * (WIDTH - self.left - RIGHT)
    }

    pub(super) fn y(&self, value: f64) -> f64 {
        BOTTOM - (value - self.y.0) / (self.y.1 - self.y.0) * PLOT
    }

    /// The places of all points that have one.
    pub(super) fn places(&self, points: impl Iterator<Item = (f64, f64)>) -> Vec<(f64, f64)> {
        points
            .filter(|(x, y)| x.is_finite() && y.is_finite())
            .map(|(x, y)| (self.x(x), self.y(y)))
            .collect()
    }
}

fn bounds(values: &[f64]) -> (f64, f64) {
    let finite = || values.iter().copied().filter(|value| value.is_finite());
    let (low, high) = (
        finite().fold(f64::INFINITY, f64::min),
        finite().fold(f64::NEG_INFINITY, f64::max),
    );
    if low < high {
        (low, high)
    } else if low.is_finite() {
        (low - 0.5, low + 0.5)
    } else {
        (0.0, 1.0)
    }
}

pub(super) fn x_bounds(content: &Content) -> (f64, f64) {
    let xs: Vec<f64> = match content {
        Content::Lines(series) => series
            .iter()
            .flat_map(|each| each.points.iter().map(|point| point.0))
            .collect(),
        Content::Stack { xs, .. } => xs.iter().flat_map(|x| [x - 0.5, x + 0.5]).collect(),
    };
    bounds(&xs)
}

pub(super) fn y_bounds(content: &Content) -> (f64, f64) {
    let mut ys = vec![0.0];
    match content {
        Content::Lines(series) => {
            for each in series {
                ys.extend(each.points.iter().map(|point| point.1));
                ys.extend(each.band.iter().flat_map(|band| [band.1, band.2]));
            }
            let (low, high) = bounds(&ys);
            let room = (high - low) * 0.05;
            (if low < 0.0 { low - room } else { low }, high + room)
        }
        Content::Stack { xs, layers } => {
            ys.extend(
                (0..xs.len()).map(|at| layers.iter().map(|layer| layer.heights[at]).sum::<f64>()),
            );
            bounds(&ys)
        }
    }
}

/// The ticks of the y axis and their labels.
pub(super) fn y_labels(content: &Content, bounds: (f64, f64)) -> (Vec<f64>, Vec<String>) {
    let (ticks, step) = ticks(bounds, 5);
    let share = matches!(content, Content::Stack { .. }) && bounds.1 <= 1.0 + 1e-9;
    let labels = ticks.iter().map(|tick| {
        if share {
            format!("{:.0} %", tick * 100.0)
        } else {
            number(*tick, step)
        }
    });
    let labels = labels.collect();
    (ticks, labels)
}

/// Round numbers between two bounds, about `count` of them, and the step between them.
pub(super) fn ticks((low, high): (f64, f64), count: usize) -> (Vec<f64>, f64) {
    let rough = (high - low) / count as f64;
    let power = 10f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0]
        .into_iter()
        .map(|nice| nice * power)
        .find(|step| *step >= rough * 0.8)
        .unwrap_or(power);
    let first = (low / step).ceil() as i64;
    let last = (high / step + 1e-9).floor() as i64;
    ((first..=last).map(|at| at as f64 * step).collect(), step)
}

/// A number as an axis shows it, with enough digits to differ from its neighbours one step away.
pub(super) fn number(value: f64, step: f64) -> String {
    let steps = (value / step).abs();
    if steps < 0.5 {
        return "0".to_owned();
    }
    if step < 1e-4 || value.abs() >= 1e6 {
        let digits = steps.log10().floor() as usize + 1;
        let text = format!("{value:.digits$e}");
        let (mantissa, exponent) = text
            .split_once('e')
            .expect("it is written with an exponent");
        return format!(
            "{}e{exponent}",
            mantissa.trim_end_matches('0').trim_end_matches('.')
        );
    }
    let text = format!("{value:.4}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_within() {
        assert_eq!(
            ticks((0.0, 10.0), 5),
            (vec![0.0, 2.0, 4.0, 6.0, 8.0, 10.0], 2.0)
        );
        assert_eq!(ticks((-3.0, 1.0), 4).0, [-3.0, -2.0, -1.0, 0.0, 1.0]);
    }

    #[test]
    fn neighbours_on_an_axis_have_different_labels() {
        assert_eq!(number(0.1 + 0.2, 0.1), "0.3");
        assert_eq!(number(-0.0, 1.0), "0");
        for bounds in [
            (0.0, 3e-7),
            (0.0, 1.1e-5),
            (0.0, 0.0123),
            (-2.0, 1.0),
            (0.0, 950.0),
            (0.0, 1.3e7),
        ] {
            let (ticks, step) = ticks(bounds, 5);
            let labels: Vec<String> = ticks.iter().map(|tick| number(*tick, step)).collect();
            let mut apart = labels.clone();
            apart.dedup();
            assert_eq!(labels, apart);
            for (tick, label) in ticks.iter().zip(&labels) {
                let told: f64 = label.parse().unwrap();
                assert!((told - tick).abs() < step * 1e-6, "{label} is not {tick}");
                assert!(label.len() <= 7, "{label} is long");
            }
        }
    }
}
