//! What a figure is: lines with spread, or shares stacked over time.
//!
//! `drawing` decides where everything goes; `svg` writes the marks down.

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
    /// The name of its colour in `colours.css`.
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

impl Figure {
    /// The figure as a file of that name.
    pub fn file(&self, name: &str) -> (String, Vec<u8>) {
        (format!("{name}.svg"), self.alone().into_bytes())
    }
}
