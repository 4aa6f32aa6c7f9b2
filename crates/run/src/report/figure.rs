//! A figure: lines with a spread, or shares stacked over time.
//!
//! `drawing` decides where everything goes; `svg` writes the marks down.

/// A line with its spread.
#[derive(Debug, Clone, Default)]
pub struct Series {
    /// Its name in the legend; an empty name has no entry.
    pub name: String,
    /// Which of the line colours.
    pub colour: usize,
    /// Drawn dashed.
    pub dashed: bool,
    /// The points, by ascending x.
    pub points: Vec<(f64, f64)>,
    /// The spread around the points: x, low and high.
    pub band: Vec<(f64, f64, f64)>,
}

/// One layer of a stack.
#[derive(Debug, Clone)]
pub struct Layer {
    /// Its name in the legend.
    pub name: String,
    /// The name of its colour in `colours.css`.
    pub colour: String,
    /// Its height at each x of the stack.
    pub heights: Vec<f64>,
}

/// What is drawn.
#[derive(Debug, Clone)]
pub enum Content {
    Lines(Vec<Series>),
    /// Layers on top of each other, first at the bottom, one bar for each x.
    Stack {
        /// Where the bars stand, one unit wide.
        xs: Vec<f64>,
        layers: Vec<Layer>,
    },
}

#[derive(Debug, Clone)]
pub struct Figure {
    /// The text above the figure.
    pub title: String,
    /// The text under the x axis, with the unit.
    pub x_label: String,
    /// The text at the y axis, with the unit.
    pub y_label: String,
    /// What is drawn.
    pub content: Content,
}

impl Figure {
    /// The figure as a file with this name.
    pub fn file(&self, name: &str) -> (String, Vec<u8>) {
        (format!("{name}.svg"), self.alone().into_bytes())
    }
}
