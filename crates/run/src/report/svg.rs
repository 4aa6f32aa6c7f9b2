//! Figures as SVG.
//!
//! Colours are CSS variables, so that one figure serves light and dark pages; a figure on
//! its own brings their values along.

use super::drawing::{Anchor, Drawing, Mark, TEXT, WIDTH, Words};
use super::figure::Figure;
use super::highlight::escape;

/// The colours' values, for light and dark.
pub(super) const COLOURS: &str = include_str!("colours.css");

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
        let drawing = Drawing::of(self);
        let mut svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {}\" role=\"img\" aria-label=\"{}\" font-family=\"system-ui,sans-serif\" font-size=\"{TEXT}\">{style}",
            drawing.height,
            escape(&self.title)
        );
        for mark in &drawing.marks {
            write(mark, &mut svg);
        }
        svg.push_str("</svg>");
        svg
    }
}

fn write(mark: &Mark, svg: &mut String) {
    match mark {
        Mark::Line { points, colour, width, dashed } => {
            let dash = if *dashed { " stroke-dasharray=\"6 4\"" } else { "" };
            put!(
                svg,
                "<path d=\"{}\" fill=\"none\" stroke=\"var(--{colour})\" stroke-width=\"{width}\" stroke-linejoin=\"round\"{dash}/>",
                path(points)
            );
        }
        Mark::Area { points, colour, opacity, crisp } => {
            let opacity = if *opacity < 1.0 { format!(" fill-opacity=\"{opacity}\"") } else { String::new() };
            let edges = if *crisp { " shape-rendering=\"crispEdges\"" } else { "" };
            put!(svg, "<path d=\"{}Z\" fill=\"var(--{colour})\"{opacity}{edges}/>", path(points));
        }
        Mark::Dot { at: (x, y), radius, colour } => {
            put!(svg, "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{radius}\" fill=\"var(--{colour})\"/>");
        }
        Mark::Text(words) => text(words, svg),
    }
}

fn text(words: &Words, svg: &mut String) {
    let (x, y) = words.at;
    svg.push_str("<text ");
    if words.upwards {
        put!(svg, "transform=\"translate({x:.1} {y:.1}) rotate(-90)\"");
    } else {
        put!(svg, "x=\"{x:.1}\" y=\"{y:.1}\"");
    }
    svg.push_str(match words.anchor {
        Anchor::Start => "",
        Anchor::Middle => " text-anchor=\"middle\"",
        Anchor::End => " text-anchor=\"end\"",
    });
    if (words.size - TEXT).abs() > f64::EPSILON {
        put!(svg, " font-size=\"{}\"", words.size);
    }
    if words.bold {
        svg.push_str(" font-weight=\"600\"");
    }
    put!(svg, " fill=\"var(--{})\">{}</text>", words.colour, escape(&words.text));
}

fn path(points: &[(f64, f64)]) -> String {
    let mut path = String::new();
    for (x, y) in points {
        let verb = if path.is_empty() { 'M' } else { 'L' };
        put!(path, "{verb}{x:.1} {y:.1}");
    }
    path
}

#[cfg(test)]
mod tests {
    use super::super::figure::{Content, Layer, Series};
    use super::*;

    fn lines(points: Vec<(f64, f64)>) -> Figure {
        let series = Series { name: "a <b>".into(), points, ..Series::default() };
        let content = Content::Lines(vec![series]);
        Figure { title: "T".into(), x_label: "step".into(), y_label: "GFLOPS".into(), content }
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
