//! Chart documents: what to draw, with every number already computed. The renderer only places ink.

use serde::{Deserialize, Serialize};
use stend_base::Say;

/// One chart: stacked panes over a shared x axis.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Chart {
    /// Unique in its report, usable as an anchor.
    pub id: String,
    /// Title with unit.
    pub title: Say,
    /// The chart in one sentence, for those who cannot see it.
    pub summary: Say,
    /// Shared horizontal axis.
    pub x: Axis,
    /// Panes from top to bottom; one y axis each.
    pub panes: Vec<Pane>,
    /// Shaded ranges of x behind all panes.
    pub bands: Vec<Band>,
    /// Moments at which something happened, across all panes.
    pub events: Vec<Mark>,
}

/// An axis.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Axis {
    /// Quantity with unit.
    pub label: Say,
    /// How values map to length.
    pub scale: Scale,
    /// How values are written at ticks.
    pub unit: Unit,
    /// Range; data outside is clipped.
    pub from: f64,
    /// End of the range, above `from`.
    pub to: f64,
    /// Places with names instead of round numbers: the values of a swept parameter, the cases of a
    /// run. Empty for an axis of numbers.
    pub names: Vec<Mark>,
}

impl Axis {
    /// An axis of numbers.
    pub fn new(label: Say, scale: Scale, unit: Unit, from: f64, to: f64) -> Axis {
        Axis { label, scale, unit, from, to, names: Vec::new() }
    }
}

/// A place on an axis with a name.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Mark {
    /// Where.
    pub at: f64,
    /// What is there, in few words.
    pub name: Say,
    /// More about it, shown where there is room; may be empty.
    pub detail: Say,
}

/// How values map to length.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Scale {
    /// Proportional.
    Linear,
    /// Decades; the range must be positive.
    Log,
    /// Quantiles by nines: x is a share in [0, 1), drawn at -log10(1 - x).
    Nines,
}

/// How a value is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Unit {
    /// Plain number.
    Plain,
    /// Seconds.
    Seconds,
    /// Nanoseconds, written as latency.
    LatencyNs,
    /// Bytes per second, written as MB/s.
    BytesPerSecond,
    /// Share, written as percent.
    Share,
    /// Bytes, written as KiB, MiB, GiB.
    Bytes,
}

/// One pane.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Pane {
    /// Its y axis.
    pub y: Axis,
    /// At most six.
    pub series: Vec<Series>,
    /// What lies under the lines.
    pub field: Option<Field>,
}

impl Pane {
    /// A pane of lines.
    pub fn lines(y: Axis, series: Vec<Series>) -> Pane {
        Pane { y, series, field: None }
    }
}

/// A value for each cell of a grid, drawn as its tint: a heat map, or with numbers a matrix.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Field {
    /// What a value is: name of the scale of tints.
    pub name: Say,
    /// Decides the hue.
    pub quantity: Quantity,
    /// How values are written.
    pub unit: Unit,
    /// Start and end of each column on the horizontal axis, ascending.
    pub columns: Vec<(f64, f64)>,
    /// Lower and upper edge of each row on the vertical axis, ascending.
    pub rows: Vec<(f64, f64)>,
    /// The cells that have a value.
    pub cells: Vec<Cell>,
    /// Smallest value of each tint, ascending, at most eight; the legend is drawn from these.
    pub steps: Vec<f64>,
    /// Largest value of the last tint.
    pub largest: f64,
    /// Write the value into each cell.
    pub numbers: bool,
    /// Sum of each row, drawn as bars beside the pane; empty if there is nothing to sum.
    pub margin: Vec<f64>,
}

impl Field {
    /// Which tint a value has; `None` below the first.
    pub fn tint(&self, value: f64) -> Option<usize> {
        self.steps.iter().rposition(|step| value >= *step)
    }
}

/// A cell of a grid.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Cell {
    /// Index of its column.
    pub column: u16,
    /// Index of its row.
    pub row: u16,
    /// Its value.
    pub value: f64,
}

/// One line.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Series {
    /// Name for the legend and direct label.
    pub name: Say,
    /// What it shows; decides the colour, the same on every page.
    pub quantity: Quantity,
    /// Which of several lines of the same quantity: decides dash and marker (0 to 5).
    pub variant: u8,
    /// Points in ascending x; `y` = `None` is a gap.
    pub points: Vec<Point>,
    /// Draw dots, not a line (few points).
    pub dots: bool,
    /// Join the dots by a thin line: they are values of a parameter in their order.
    pub joined: bool,
    /// A name for each point, written beside it; empty if points have none.
    pub labels: Vec<Say>,
}

impl Series {
    /// A line without dots and labels, the first of its quantity.
    pub fn line(name: Say, quantity: Quantity, points: Vec<Point>) -> Series {
        Series { name, quantity, variant: 0, points, dots: false, joined: false, labels: Vec::new() }
    }
}

/// One point; several raw values may stand behind it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Point {
    /// Position.
    pub x: f64,
    /// Value; `None` is a gap.
    pub y: Option<f64>,
    /// Smallest and largest raw value behind the point, kept when down-sampled.
    pub envelope: Option<(f64, f64)>,
}

/// What a line shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Quantity {
    /// I/Os per second.
    Iops,
    /// Bytes per second.
    Throughput,
    /// Latency.
    Latency,
    /// CPU.
    Cpu,
    /// Memory.
    Memory,
    /// Temperature.
    Temperature,
}

/// A shaded range of x.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Band {
    /// Start.
    pub from: f64,
    /// End.
    pub to: f64,
    /// What it marks.
    pub label: Say,
}
