//! Letters as outlines: Noto Sans, carried in the program, so that figures look the same on a
//! machine that has no fonts.

use tiny_skia::{Path, PathBuilder};
use ttf_parser::{Face, GlyphId, OutlineBuilder};

fn face(bold: bool) -> Face<'static> {
    let bytes = if bold {
        notosans::BOLD_TTF
    } else {
        notosans::REGULAR_TTF
    };
    Face::parse(bytes, 0).expect("the carried font is whole")
}

/// A letter the font lacks is its empty box.
fn glyph(face: &Face, letter: char) -> GlyphId {
    face.glyph_index(letter).unwrap_or_default()
}

fn advance(face: &Face, glyph: GlyphId) -> f32 {
    f32::from(face.glyph_hor_advance(glyph).unwrap_or_default())
}

/// How wide a text is.
pub(super) fn width(text: &str, size: f64, bold: bool) -> f64 {
    let face = face(bold);
    let units: f32 = text
        .chars()
        .map(|letter| advance(&face, glyph(&face, letter)))
        .sum();
    f64::from(units) * size / f64::from(face.units_per_em())
}

/// A text's outline, its first letter at the origin and y downwards; none where nothing is to be seen.
pub(super) fn outline(text: &str, size: f64, bold: bool) -> Option<Path> {
    let face = face(bold);
    let scale = size as f32 / f32::from(face.units_per_em());
    let mut pen = Pen {
        path: PathBuilder::new(),
        x: 0.0,
        scale,
    };
    for letter in text.chars() {
        let glyph = glyph(&face, letter);
        face.outline_glyph(glyph, &mut pen);
        pen.x += advance(&face, glyph);
    }
    pen.path.finish()
}

/// Draws one letter after the other.
struct Pen {
    path: PathBuilder,
    /// Where the letter begins, in the font's units.
    x: f32,
    scale: f32,
}

impl Pen {
    fn at(&self, x: f32, y: f32) -> (f32, f32) {
        ((self.x + x) * self.scale, -y * self.scale)
    }
}

impl OutlineBuilder for Pen {
    fn move_to(&mut self, x: f32, y: f32) {
        let (x, y) = self.at(x, y);
        self.path.move_to(x, y);
    }

    fn line_to(&mut self, x: f32, y: f32) {
        let (x, y) = self.at(x, y);
        self.path.line_to(x, y);
    }

    fn quad_to(&mut self, x1: f32, y1: f32, x: f32, y: f32) {
        let ((x1, y1), (x, y)) = (self.at(x1, y1), self.at(x, y));
        self.path.quad_to(x1, y1, x, y);
    }

    fn curve_to(&mut self, x1: f32, y1: f32, x2: f32, y2: f32, x: f32, y: f32) {
        let ((x1, y1), (x2, y2), (x, y)) = (self.at(x1, y1), self.at(x2, y2), self.at(x, y));
        self.path.cubic_to(x1, y1, x2, y2, x, y);
    }

    fn close(&mut self) {
        self.path.close();
    }
}
