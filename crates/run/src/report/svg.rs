//! Small figures as SVG: lines with spread, and shares stacked over time.
//!
//! Colours are CSS variables, so that one figure serves light and dark pages; a figure on
//! its own brings their values along.

use super::highlight::escape;

/// The colours' values, for light and dark.
pub(super) const COLOURS: &str = include_str!("colours.css");
/// How many line colours there are.
pub(super) const LINE_COLOURS: usize = 8;

const WIDTH: f64 = 640.0;
const LEFT: f64 = 58.0;
const RIGHT: f64 = 14.0;
const TOP: f64 = 30.0;
const PLOT: f64 = 220.0;
const BELOW: f64 = 44.0;
const LEGEND_ROW: f64 = 18.0;
/// The mean width of a character of the legend.
const CHARACTER: f64 = 6.7;

/// A line with its spread.
#[derive(Debug, Clone, Default)]
pub struct Series {
    /// What the legend calls it; nothing when empty.
    pub name: String,
    /// Which of the line colours.
    pub colour: usize,
    /// Drawn dashed.
    pub dashed: bool,
    /// The points, by ascending x.
    pub points: Vec<(f64, f64)>,
    /// Around them: x, low and high.
    pub band: Vec<(f64, f64, f64)>,
}

/// One layer of a stack.
#[derive(Debug, Clone)]
pub struct Layer {
    /// What the legend calls it.
    pub name: String,
    /// The name of its colour's variable.
    pub colour: String,
    /// Its height at each x of the stack.
    pub heights: Vec<f64>,
}

/// What is drawn.
#[derive(Debug, Clone)]
pub enum Content {
    /// Lines.
    Lines(Vec<Series>),
    /// Layers on top of each other, first at the bottom, one bar for each x.
    Stack {
        /// Where the bars stand, one unit wide.
        xs: Vec<f64>,
        /// The layers.
        layers: Vec<Layer>,
    },
}

/// A figure.
#[derive(Debug, Clone)]
pub struct Figure {
    /// Above it.
    pub title: String,
    /// Under the x axis, with its unit.
    pub x_label: String,
    /// Beside the y axis, with its unit.
    pub y_label: String,
    /// What is drawn.
    pub content: Content,
}

/// From values to places.
struct Scale {
    x: (f64, f64),
    y: (f64, f64),
}

impl Scale {
    fn of(content: &Content) -> Self {
        let (mut xs, mut ys) = (Vec::new(), vec![0.0]);
        match content {
            Content::Lines(series) => {
                for each in series {
                    xs.extend(each.points.iter().map(|point| point.0));
                    ys.extend(each.points.iter().map(|point| point.1));
                    ys.extend(each.band.iter().flat_map(|band| [band.1, band.2]));
                }
            }
            Content::Stack { xs: places, layers } => {
                xs.extend(places.iter().flat_map(|x| [x - 0.5, x + 0.5]));
                ys.extend((0..places.len()).map(|at| layers.iter().map(|layer| layer.heights[at]).sum::<f64>()));
            }
        }
        let bounds = |values: &[f64]| {
            let finite = || values.iter().copied().filter(|value| value.is_finite());
            let (low, high) = (finite().fold(f64::INFINITY, f64::min), finite().fold(f64::NEG_INFINITY, f64::max));
            if low < high {
                (low, high)
            } else if low.is_finite() {
                (low - 0.5, low + 0.5)
            } else {
                (0.0, 1.0)
            }
        };
        let (low, high) = bounds(&ys);
        let room = if matches!(content, Content::Stack { .. }) { 0.0 } else { (high - low) * 0.05 };
        let low = if low < 0.0 { low - room } else { low };
        Self { x: bounds(&xs), y: (low, high + room) }
    }

    fn x(&self, value: f64) -> f64 {
        LEFT + (value - self.x.0) / (self.x.1 - self.x.0) * (WIDTH - LEFT - RIGHT)
    }

    fn y(&self, value: f64) -> f64 {
        TOP + PLOT - (value - self.y.0) / (self.y.1 - self.y.0) * PLOT
    }
}

impl Figure {
    /// The figure for a page that has `colours.css`.
    pub fn inline(&self) -> String {
        self.draw("")
    }

    /// The figure as a file of its own.
    pub fn alone(&self) -> String {
        self.draw(&format!("<style>{COLOURS}svg{{background:var(--paper)}}</style>"))
    }

    fn draw(&self, style: &str) -> String {
        let scale = Scale::of(&self.content);
        let legend = self.legend();
        let height = TOP + PLOT + BELOW + legend.1;
        let mut svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" role=\"img\" aria-label=\"{0}\" font-family=\"system-ui,sans-serif\" font-size=\"12\">{style}<text x=\"{LEFT}\" y=\"18\" font-size=\"14\" font-weight=\"600\" fill=\"var(--ink)\">{0}</text>",
            escape(&self.title)
        );
        self.axes(&scale, &mut svg);
        match &self.content {
            Content::Lines(series) => series.iter().for_each(|each| line(each, &scale, &mut svg)),
            Content::Stack { xs, layers } => stack(xs, layers, &scale, &mut svg),
        }
        svg.push_str(&legend.0);
        svg.push_str("</svg>");
        svg
    }

    fn axes(&self, scale: &Scale, svg: &mut String) {
        let (right, bottom) = (WIDTH - RIGHT, TOP + PLOT);
        let share = matches!(self.content, Content::Stack { .. }) && scale.y.1 <= 1.0 + 1e-9;
        for tick in ticks(scale.y, 5) {
            let y = scale.y(tick);
            let label = if share { format!("{:.0} %", tick * 100.0) } else { number(tick) };
            put!(
                svg,
                "<line x1=\"{LEFT}\" x2=\"{right}\" y1=\"{y:.1}\" y2=\"{y:.1}\" stroke=\"var(--grid)\"/><text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\" fill=\"var(--dim)\">{label}</text>",
                LEFT - 6.0,
                y + 4.0
            );
        }
        for tick in ticks(scale.x, 8).into_iter().filter(|tick| (tick - tick.round()).abs() < 1e-9) {
            let x = scale.x(tick);
            put!(
                svg,
                "<line x1=\"{x:.1}\" x2=\"{x:.1}\" y1=\"{bottom}\" y2=\"{:.1}\" stroke=\"var(--dim)\"/><text x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"middle\" fill=\"var(--dim)\">{}</text>",
                bottom + 4.0,
                bottom + 17.0,
                number(tick)
            );
        }
        put!(
            svg,
            "<line x1=\"{LEFT}\" x2=\"{right}\" y1=\"{bottom}\" y2=\"{bottom}\" stroke=\"var(--dim)\"/><text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\" fill=\"var(--ink)\">{}</text><text transform=\"translate(13 {:.1}) rotate(-90)\" text-anchor=\"middle\" fill=\"var(--ink)\">{}</text>",
            f64::midpoint(LEFT, right),
            bottom + 34.0,
            escape(&self.x_label),
            TOP + PLOT / 2.0,
            escape(&self.y_label)
        );
    }

    /// The legend and its height.
    fn legend(&self) -> (String, f64) {
        let entries: Vec<(&str, String)> = match &self.content {
            Content::Lines(series) => series
                .iter()
                .filter(|each| !each.name.is_empty())
                .map(|each| {
                    let dash = if each.dashed { " stroke-dasharray=\"6 4\"" } else { "" };
                    let stroke = format!(
                        "<line x1=\"0\" x2=\"18\" y1=\"0\" y2=\"0\" stroke=\"{}\" stroke-width=\"2.5\"{dash}/>",
                        line_colour(each.colour)
                    );
                    (each.name.as_str(), stroke)
                })
                .collect(),
            Content::Stack { layers, .. } => layers
                .iter()
                .map(|layer| {
                    let square =
                        format!("<rect x=\"2\" y=\"-6\" width=\"12\" height=\"12\" fill=\"var(--{})\"/>", layer.colour);
                    (layer.name.as_str(), square)
                })
                .collect(),
        };
        let mut svg = String::new();
        let (mut x, mut row) = (LEFT, 0.0);
        for (name, mark) in entries {
            let width = 36.0 + name.chars().count() as f64 * CHARACTER;
            if x + width > WIDTH && x > LEFT {
                x = LEFT;
                row += 1.0;
            }
            let y = TOP + PLOT + BELOW + row * LEGEND_ROW + 6.0;
            put!(
                svg,
                "<g transform=\"translate({x:.1} {y:.1})\">{mark}<text x=\"23\" y=\"4\" fill=\"var(--ink)\">{}</text></g>",
                escape(name)
            );
            x += width;
        }
        let height = if svg.is_empty() { 0.0 } else { (row + 1.0) * LEGEND_ROW + 4.0 };
        (svg, height)
    }
}

fn line_colour(colour: usize) -> String {
    format!("var(--s{})", colour % LINE_COLOURS)
}

fn line(series: &Series, scale: &Scale, svg: &mut String) {
    let colour = line_colour(series.colour);
    if series.band.len() > 1 {
        let high = series.band.iter().map(|(x, _, high)| (*x, *high));
        let low = series.band.iter().rev().map(|(x, low, _)| (*x, *low));
        let outline = path(high.chain(low), scale);
        put!(svg, "<path d=\"{outline}Z\" fill=\"{colour}\" fill-opacity=\"0.16\"/>");
    }
    if let [(x, y)] = series.points[..] {
        put!(svg, "<circle cx=\"{:.1}\" cy=\"{:.1}\" r=\"3\" fill=\"{colour}\"/>", scale.x(x), scale.y(y));
    }
    let dash = if series.dashed { " stroke-dasharray=\"6 4\"" } else { "" };
    put!(
        svg,
        "<path d=\"{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"1.8\" stroke-linejoin=\"round\"{dash}/>",
        path(series.points.iter().copied(), scale)
    );
}

fn path(points: impl Iterator<Item = (f64, f64)>, scale: &Scale) -> String {
    let mut path = String::new();
    for (x, y) in points.filter(|(x, y)| x.is_finite() && y.is_finite()) {
        let verb = if path.is_empty() { 'M' } else { 'L' };
        put!(path, "{verb}{:.1} {:.1}", scale.x(x), scale.y(y));
    }
    path
}

/// Each layer as one outline of steps.
fn stack(xs: &[f64], layers: &[Layer], scale: &Scale, svg: &mut String) {
    let mut floor = vec![0.0; xs.len()];
    for layer in layers {
        let top: Vec<f64> = floor.iter().zip(&layer.heights).map(|(floor, height)| floor + height).collect();
        let upper = xs.iter().zip(&top).flat_map(|(x, y)| [(x - 0.5, *y), (x + 0.5, *y)]);
        let lower = xs.iter().zip(&floor).rev().flat_map(|(x, y)| [(x + 0.5, *y), (x - 0.5, *y)]);
        let outline = path(upper.chain(lower), scale);
        put!(svg, "<path d=\"{outline}Z\" fill=\"var(--{})\"/>", layer.colour);
        floor = top;
    }
}

/// Round numbers between two bounds, about `count` of them.
fn ticks((low, high): (f64, f64), count: usize) -> Vec<f64> {
    let rough = (high - low) / count as f64;
    let power = 10f64.powf(rough.log10().floor());
    let step =
        [1.0, 2.0, 5.0, 10.0].into_iter().map(|nice| nice * power).find(|step| *step >= rough * 0.8).unwrap_or(power);
    let first = (low / step).ceil() as i64;
    let last = (high / step + 1e-9).floor() as i64;
    (first..=last).map(|at| at as f64 * step).collect()
}

/// A number as an axis shows it.
fn number(value: f64) -> String {
    let text = format!("{value:.3}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" { "0".to_owned() } else { text.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(points: Vec<(f64, f64)>) -> Figure {
        let series = Series { name: "a <b>".into(), points, ..Series::default() };
        let content = Content::Lines(vec![series]);
        Figure { title: "T".into(), x_label: "step".into(), y_label: "GFLOPS".into(), content }
    }

    #[test]
    fn ticks_are_round_and_within() {
        assert_eq!(ticks((0.0, 10.0), 5), [0.0, 2.0, 4.0, 6.0, 8.0, 10.0]);
        assert_eq!(ticks((-3.0, 1.0), 4), [-3.0, -2.0, -1.0, 0.0, 1.0]);
        assert_eq!(number(0.1 + 0.2), "0.3");
    }

    #[test]
    fn any_points_make_a_figure_without_nan() {
        for points in [vec![], vec![(0.0, 0.0)], vec![(0.0, f64::NAN), (1.0, 2.0)], vec![(0.0, -1.0), (5.0, 1e6)]] {
            let svg = lines(points).alone();
            assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
            assert!(svg.contains("a &lt;b&gt;"));
        }
        let stack = Content::Stack {
            xs: vec![0.0],
            layers: vec![Layer { name: "all".into(), colour: "correct".into(), heights: vec![1.0] }],
        };
        let figure = Figure { content: stack, ..lines(vec![]) };
        assert!(figure.inline().contains("100 %"));
    }
}
