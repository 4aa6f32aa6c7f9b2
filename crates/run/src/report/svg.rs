//! Figures as SVG.
//!
//! Colours are CSS variables, so that one figure serves light and dark pages. A standalone figure
//! has plain colours, because few programs besides browsers support variables, and rules for dark
//! pages.

use super::drawing::{Anchor, Drawing, Mark, TEXT, Words};
use super::figure::Figure;
use super::scale::WIDTH;

/// The colours' values, for light and dark.
pub(super) const COLOURS: &str = include_str!("colours.css");

impl Figure {
    /// The figure for a page that contains `colours.css`.
    pub fn inline(&self) -> String {
        let drawing = Drawing::of(self);
        let mut svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {}\" role=\"img\" \
             aria-label=\"{}\" font-family=\"system-ui,sans-serif\" font-size=\"{TEXT}\">",
            drawing.height,
            escape(&self.title)
        );
        for mark in &drawing.marks {
            write(mark, &mut svg);
        }
        svg.push_str("</svg>");
        svg
    }

    /// The figure as a standalone file.
    pub fn alone(&self) -> String {
        let (light, dark) = COLOURS
            .split_once("@media")
            .expect("colours.css has both lights");
        let mut svg = self.inline();
        let mut rules = String::new();
        for ((name, plain), (_, darker)) in values(light).zip(values(dark)) {
            for property in ["fill", "stroke"] {
                let named = format!("{property}=\"var(--{name})\"");
                if svg.contains(&named) {
                    svg = svg.replace(
                        &named,
                        &format!("class=\"{property}-{name}\" {property}=\"{plain}\""),
                    );
                    put!(rules, ".{property}-{name}{{{property}:{darker}}}");
                }
            }
            if name == "paper" {
                put!(rules, "svg{{background:{darker}!important}}");
                svg = svg.replacen("<svg ", &format!("<svg style=\"background:{plain}\" "), 1);
            }
        }
        svg.replacen(
            '>',
            &format!("><style>@media (prefers-color-scheme:dark){{{rules}}}</style>"),
            1,
        )
    }
}

/// Names and values of the variables for light or dark pages.
fn values(light: &str) -> impl Iterator<Item = (&str, &str)> {
    light
        .split("--")
        .skip(1)
        .filter_map(|variable| variable.split([';', '}']).next()?.split_once(':'))
}

fn write(mark: &Mark, svg: &mut String) {
    match mark {
        Mark::Line {
            points,
            colour,
            width,
            dashed,
        } => {
            let dash = if *dashed {
                " stroke-dasharray=\"6 4\""
            } else {
                ""
            };
            put!(
                svg,
                "<path d=\"{}\" fill=\"none\" stroke=\"var(--{colour})\" stroke-width=\"{width}\" \
                 stroke-linejoin=\"round\"{dash}/>",
                path(points)
            );
        }
        Mark::Area {
            points,
            colour,
            opacity,
            crisp,
        } => {
            let opacity = if *opacity < 1.0 {
                format!(" fill-opacity=\"{opacity}\"")
            } else {
                String::new()
            };
            let edges = if *crisp {
                " shape-rendering=\"crispEdges\""
            } else {
                ""
            };
            put!(
                svg,
                "<path d=\"{}Z\" fill=\"var(--{colour})\"{opacity}{edges}/>",
                path(points)
            );
        }
        Mark::Dot {
            at: (x, y),
            radius,
            colour,
        } => {
            put!(
                svg,
                "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{radius}\" fill=\"var(--{colour})\"/>"
            );
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
    put!(
        svg,
        " fill=\"var(--{})\">{}</text>",
        words.colour,
        escape(&words.text)
    );
}

fn path(points: &[(f64, f64)]) -> String {
    let mut path = String::new();
    for (x, y) in points {
        let verb = if path.is_empty() { 'M' } else { 'L' };
        put!(path, "{verb}{x:.1} {y:.1}");
    }
    path
}

/// Text with HTML's special characters escaped.
pub(super) fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            other => escaped.push(other),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::super::figure::{Content, Layer, Series};
    use super::*;

    fn lines(points: Vec<(f64, f64)>) -> Figure {
        let series = Series {
            name: "a <b>".into(),
            points,
            ..Series::default()
        };
        let content = Content::Lines(vec![series]);
        Figure {
            title: "T".into(),
            x_label: "step".into(),
            y_label: "GFLOPS".into(),
            content,
        }
    }

    #[test]
    fn any_points_make_a_figure_without_nan() {
        for points in [
            vec![],
            vec![(0.0, 0.0)],
            vec![(0.0, f64::NAN), (1.0, 2.0)],
            vec![(0.0, -1.0), (5.0, 1e6)],
        ] {
            let svg = lines(points).alone();
            assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
            assert!(svg.contains("a &lt;b&gt;"));
        }
        let stack = Content::Stack {
            xs: vec![0.0],
            layers: vec![Layer {
                name: "all".into(),
                colour: "correct".into(),
                heights: vec![1.0],
            }],
        };
        let figure = Figure {
            content: stack,
            ..lines(vec![])
        };
        assert!(figure.inline().contains("100 %"));
    }

    #[test]
    fn a_standalone_figure_shows_its_colours_without_a_browser() {
        let (light, dark) = COLOURS.split_once("@media").unwrap();
        assert!(
            values(light)
                .map(|(name, _)| name)
                .eq(values(dark).map(|(name, _)| name)),
            "both lights in one order"
        );
        let figure = lines(vec![(0.0, 1.0), (1.0, 2.0)]);
        assert!(figure.inline().contains("stroke=\"var(--s0)\""));
        let alone = figure.alone();
        assert!(!alone.contains("var("), "{alone}");
        assert!(
            alone.contains("class=\"stroke-s0\" stroke=\"#0b6fb8\"")
                && alone.contains(".stroke-s0{stroke:#5aaef0}")
        );
    }
}
