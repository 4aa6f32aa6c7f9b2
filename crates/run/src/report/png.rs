//! Figures as PNG: the marks of the SVG in the light colours, twice as large.

use tiny_skia::{
    Color, FillRule, LineJoin, Paint, Path, PathBuilder, Pixmap, Shader, Stroke, StrokeDash,
    Transform,
};

use super::drawing::{Anchor, Drawing, Mark, WIDTH, Words};
use super::figure::Figure;
use super::font;
use super::svg::COLOURS;

/// Pixels for each unit of the drawing.
const SCALE: f32 = 2.0;

impl Figure {
    /// The figure as a PNG file.
    pub fn png(&self) -> Vec<u8> {
        let drawing = Drawing::of(self);
        let pixels = |length: f64| (length as f32 * SCALE).ceil() as u32;
        let mut sheet =
            Pixmap::new(pixels(WIDTH), pixels(drawing.height)).expect("a figure has a size");
        sheet.fill(colour("paper"));
        for mark in &drawing.marks {
            paint(mark, &mut sheet);
        }
        sheet.encode_png().expect("memory takes every pixel")
    }
}

fn paint(mark: &Mark, sheet: &mut Pixmap) {
    match mark {
        Mark::Line {
            points,
            colour: name,
            width,
            dashed,
        } => {
            let dash = if *dashed {
                StrokeDash::new(vec![6.0, 4.0], 0.0)
            } else {
                None
            };
            let stroke = Stroke {
                width: *width as f32,
                line_join: LineJoin::Round,
                dash,
                ..Stroke::default()
            };
            if let Some(path) = through(points, false) {
                sheet.stroke_path(
                    &path,
                    &ink(name, 1.0),
                    &stroke,
                    Transform::from_scale(SCALE, SCALE),
                    None,
                );
            }
        }
        Mark::Area {
            points,
            colour,
            opacity,
            crisp,
        } => {
            let ink = Paint {
                anti_alias: !crisp,
                ..ink(colour, *opacity)
            };
            fill(through(points, true), &ink, sheet);
        }
        Mark::Dot {
            at: (x, y),
            radius,
            colour,
        } => {
            fill(
                PathBuilder::from_circle(*x as f32, *y as f32, *radius as f32),
                &ink(colour, 1.0),
                sheet,
            );
        }
        Mark::Text(words) => fill(letters(words), &ink(words.colour, 1.0), sheet),
    }
}

/// Fills what there is to fill: an outline without an inside has no path.
fn fill(path: Option<Path>, ink: &Paint, sheet: &mut Pixmap) {
    if let Some(path) = path {
        sheet.fill_path(
            &path,
            ink,
            FillRule::Winding,
            Transform::from_scale(SCALE, SCALE),
            None,
        );
    }
}

fn through(points: &[(f64, f64)], closed: bool) -> Option<Path> {
    let mut path = PathBuilder::new();
    for (at, (x, y)) in points.iter().enumerate() {
        let (x, y) = (*x as f32, *y as f32);
        if at == 0 {
            path.move_to(x, y);
        } else {
            path.line_to(x, y);
        }
    }
    if closed {
        path.close();
    }
    path.finish()
}

fn letters(words: &Words) -> Option<Path> {
    let back = match words.anchor {
        Anchor::Start => 0.0,
        Anchor::Middle => 0.5,
        Anchor::End => 1.0,
    };
    let shift = -back * font::width(&words.text, words.size, words.bold);
    let (x, y) = (words.at.0 as f32, words.at.1 as f32);
    let turn = if words.upwards {
        Transform::from_rotate(-90.0)
    } else {
        Transform::identity()
    };
    let place = Transform::from_translate(shift as f32, 0.0)
        .post_concat(turn)
        .post_translate(x, y);
    font::outline(&words.text, words.size, words.bold)?.transform(place)
}

fn ink(name: &str, opacity: f64) -> Paint<'static> {
    let mut colour = colour(name);
    colour.apply_opacity(opacity as f32);
    Paint {
        shader: Shader::SolidColor(colour),
        ..Paint::default()
    }
}

/// The light value of a colour.
fn colour(name: &str) -> Color {
    let light = COLOURS.split("@media").next().unwrap_or_default();
    let hex = light
        .split_once(&format!("--{name}:#"))
        .map(|(_, rest)| rest.split([';', '}']).next().unwrap_or_default());
    let hex = hex.unwrap_or_else(|| panic!("colours.css has no {name}"));
    let digit =
        |at: usize| u8::from_str_radix(&hex[at..=at], 16).expect("a colour has hexadecimal digits");
    let [red, green, blue] = if hex.len() == 3 {
        [0, 1, 2].map(|at| digit(at) * 17)
    } else {
        [0, 2, 4].map(|at| digit(at) * 16 + digit(at + 1))
    };
    Color::from_rgba8(red, green, blue, 255)
}

#[cfg(test)]
mod tests {
    use tiny_skia::PremultipliedColorU8;

    use super::super::figure::{Content, Layer, Series};
    use super::*;

    /// In the drawing's units: without a legend, and a legend of one row.
    const HEIGHT: u32 = 30 + 220 + 44;
    const LEGEND: u32 = 18 + 4;

    fn lines(title: &str, series: Vec<Series>) -> Figure {
        let content = Content::Lines(series);
        Figure {
            title: title.into(),
            x_label: "step".into(),
            y_label: "GFLOPS".into(),
            content,
        }
    }

    fn rising(name: &str, colour: usize) -> Series {
        Series {
            name: name.into(),
            colour,
            points: vec![(0.0, 0.0), (10.0, 5.0)],
            ..Series::default()
        }
    }

    fn decoded(figure: &Figure) -> Pixmap {
        Pixmap::decode_png(&figure.png()).unwrap()
    }

    /// How many pixels of a part of the sheet have a colour, in the drawing's units.
    fn count(
        sheet: &Pixmap,
        name: &str,
        (left, right): (u32, u32),
        (top, bottom): (u32, u32),
    ) -> usize {
        let wanted: PremultipliedColorU8 = colour(name).premultiply().to_color_u8();
        let pixels = (top * 2..bottom * 2).flat_map(|y| (left * 2..right * 2).map(move |x| (x, y)));
        pixels
            .filter(|(x, y)| sheet.pixel(*x, *y) == Some(wanted))
            .count()
    }

    #[test]
    fn a_line_its_title_its_axes_and_its_legend_are_to_be_seen() {
        let sheet = decoded(&lines("Speed", vec![rising("learns", 1)]));
        assert_eq!(
            (sheet.width(), sheet.height()),
            (1280, 2 * (HEIGHT + LEGEND))
        );
        let everywhere = ((0, 640), (0, HEIGHT + LEGEND));
        assert!(
            count(&sheet, "paper", everywhere.0, everywhere.1) > 500_000,
            "most of the sheet is empty"
        );
        assert!(count(&sheet, "s1", (66, 626), (30, 250)) > 1500, "the line");
        assert_eq!(
            count(&sheet, "s0", everywhere.0, everywhere.1),
            0,
            "no other line"
        );
        assert!(
            count(&sheet, "grid", (66, 626), (30, 250)) > 4 * 560,
            "the grid"
        );
        assert!(count(&sheet, "ink", (64, 108), (6, 22)) > 80, "the title");
        assert_eq!(
            count(&sheet, "ink", (112, 640), (0, 28)),
            0,
            "nothing behind the title"
        );
        assert!(
            count(&sheet, "ink", (4, 20), (100, 180)) > 80,
            "the name of the y axis, upright"
        );
        assert!(
            count(&sheet, "ink", (325, 360), (272, 290)) > 20,
            "the name of the x axis"
        );
        assert!(
            count(&sheet, "dim", (40, 60), (30, 256)) > 40,
            "numbers beside the y axis"
        );
        assert!(
            count(&sheet, "dim", (50, 640), (255, 270)) > 40,
            "numbers under the x axis"
        );
        assert!(
            count(&sheet, "s1", (64, 83), (294, 306)) > 60,
            "the legend's line"
        );
        assert!(
            count(&sheet, "ink", (86, 130), (294, 310)) > 60,
            "the legend's name"
        );
    }

    #[test]
    fn letters_are_drawn_from_the_carried_font() {
        let ink = |title: &str| count(&decoded(&lines(title, vec![])), "ink", (0, 640), (0, 28));
        assert_eq!((ink(""), ink(" ")), (0, 0));
        assert!(ink("Speed") > 0 && ink("Speed of the fastest") > 2 * ink("Speed"));
        let empty_box = ink("\u{10fffd}");
        for letter in ["β", "µ", "…", "é"] {
            assert!(ink(letter) > 0 && ink(letter) != empty_box, "no {letter}");
        }
    }

    #[test]
    fn a_band_is_fainter_than_its_line_and_a_dash_has_gaps() {
        let mut series = rising("", 0);
        let whole = count(
            &decoded(&lines("", vec![series.clone()])),
            "s0",
            (66, 626),
            (30, 250),
        );
        series.dashed = true;
        let dashed = count(
            &decoded(&lines("", vec![series.clone()])),
            "s0",
            (66, 626),
            (30, 250),
        );
        assert!(
            dashed * 10 > whole * 4 && dashed * 10 < whole * 8,
            "{dashed} of {whole}"
        );
        series.band = vec![(0.0, 0.0, 5.0), (10.0, 0.0, 5.0)];
        let sheet = decoded(&lines("", vec![series]));
        let inside = sheet.pixel(300, 200).unwrap();
        // 16 percent of #0b6fb8 on white.
        let wanted = [0x0b, 0x6f, 0xb8].map(|part: u8| 255.0 - (255.0 - f64::from(part)) * 0.16);
        for (got, wanted) in [inside.red(), inside.green(), inside.blue()]
            .into_iter()
            .zip(wanted)
        {
            assert!(
                (f64::from(got) - wanted).abs() < 2.0,
                "{inside:?} is not {wanted}"
            );
        }
    }

    #[test]
    fn layers_stand_on_each_other() {
        let layer = |name: &str, height| Layer {
            name: name.into(),
            colour: name.into(),
            heights: vec![height; 4],
        };
        let layers = vec![layer("correct", 0.25), layer("wrong", 0.75)];
        let content = Content::Stack {
            xs: vec![0.0, 1.0, 2.0, 3.0],
            layers,
        };
        let sheet = decoded(&Figure {
            content,
            ..lines("Verdicts", vec![])
        });
        let (correct, wrong) = (
            count(&sheet, "correct", (60, 620), (30, 250)),
            count(&sheet, "wrong", (60, 620), (30, 250)),
        );
        assert!(
            (wrong as f64 / correct as f64 - 3.0).abs() < 0.05,
            "{wrong} and {correct}"
        );
        assert!(
            count(&sheet, "wrong", (60, 620), (32, 190)) > 170_000,
            "the last is on top"
        );
    }

    #[test]
    fn a_layer_without_height_leaves_no_trace() {
        let layer = |name: &str, height| Layer {
            name: String::new(),
            colour: name.into(),
            heights: vec![height; 3],
        };
        let layers = vec![
            layer("correct", 0.87),
            layer("wrong", 0.0),
            layer("crashed", 0.13),
        ];
        let content = Content::Stack {
            xs: vec![0.0, 1.0, 2.0],
            layers,
        };
        let sheet = decoded(&Figure {
            content,
            ..lines("", vec![])
        });
        let count = |name| count(&sheet, name, (66, 626), (30, 249));
        assert_eq!(
            count("correct") + count("crashed"),
            2 * 560 * 2 * 219,
            "two colours and nothing between"
        );
    }

    #[test]
    fn a_figure_without_data_is_a_frame() {
        for content in [
            Content::Lines(vec![]),
            Content::Lines(vec![Series::default()]),
            Content::Lines(vec![Series {
                points: vec![(0.0, f64::NAN)],
                ..Series::default()
            }]),
            Content::Stack {
                xs: vec![],
                layers: vec![],
            },
            Content::Stack {
                xs: vec![],
                layers: vec![Layer {
                    name: String::new(),
                    colour: "correct".into(),
                    heights: vec![],
                }],
            },
        ] {
            let sheet = decoded(&Figure {
                content,
                ..lines("Nothing yet", vec![])
            });
            assert_eq!((sheet.width(), sheet.height()), (1280, 2 * HEIGHT));
            assert!(count(&sheet, "ink", (64, 160), (6, 22)) > 80, "the title");
            assert!(
                count(&sheet, "dim", (64, 626), (249, 251)) > 1000,
                "the axis"
            );
        }
        let point = Series {
            points: vec![(0.0, 1.0)],
            ..Series::default()
        };
        assert!(
            count(
                &decoded(&lines("", vec![point])),
                "s0",
                (66, 626),
                (30, 250)
            ) > 60,
            "one point is a dot"
        );
    }

    #[test]
    fn every_verdict_has_a_colour_in_both_lights() {
        let (light, dark) = COLOURS.split_once("@media").unwrap();
        for name in hotloop_flow::Label::ALL.map(hotloop_flow::Label::name) {
            colour(name);
            assert!(
                light.contains(&format!("--{name}:")) && dark.contains(&format!("--{name}:")),
                "{name}"
            );
        }
    }
}
