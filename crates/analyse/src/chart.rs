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
}

/// One pane.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Pane {
    /// Its y axis.
    pub y: Axis,
    /// At most six.
    pub series: Vec<Series>,
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
