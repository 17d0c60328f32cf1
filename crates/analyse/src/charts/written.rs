//! The rate of a case against what it has written: how a drive falls from fresh to full, whatever its speed.

use super::thin::{self, Join};
use super::{few, from_zero};
use crate::chart::{Axis, Chart, Mark, Pane, Point, Quantity, Scale, Series, Unit};
use crate::findings::Headline;
use crate::phrase::op as op_name;
use crate::series::{self, INTERVAL};
use crate::trials::CaseTrials;
use stend_base::{Bytes, Say, format, say};
use stend_spec::workload::Op;

/// Most marks of whole ranges; more would only be stripes.
const MARKS_MAX: u64 = 8;

/// The rate of the writes of a case against the bytes that it has written, all its trials one after the other. `None` where it
/// has not written its range once: then there is nothing to fall.
pub fn chart(case: &CaseTrials<'_>, headline: Headline) -> Option<Chart> {
    let range = case.asked.region.len.0 as f64;
    let mut trials = case.all.clone();
    trials.sort_by_key(|trial| series::load_start(trial));
    let (mut written, mut stretches) = (0.0, Vec::new());
    for trial in trials {
        let cells = series::cells(&trial.slices, |slice| slice.op == Op::Write);
        let mut points = Vec::with_capacity(cells.len());
        for cell in &cells {
            let rate = match headline {
                Headline::Iops => cell.ops / INTERVAL.as_secs(),
                Headline::Throughput => cell.bytes / INTERVAL.as_secs(),
            };
            points.push(Point { x: written + cell.bytes / 2.0, y: Some(rate), envelope: None });
            written += cell.bytes;
        }
        stretches.push(points);
    }
    if range <= 0.0 || written < range {
        return None;
    }
    let points = thin::line(stretches, Join::Mean);
    let quantity = if headline == Headline::Iops { Quantity::Iops } else { Quantity::Throughput };
    let line = Series { dots: few(&points), ..Series::line(op_name(Op::Write), quantity, points) };
    let (title, label, unit) = match headline {
        Headline::Iops => (say!("IOPS by bytes written", "IOPS по записанным байтам"), Say::same("IOPS"), Unit::Plain),
        Headline::Throughput => (
            say!("Throughput by bytes written", "Пропускная способность по записанным байтам"),
            say!("throughput, MB/s", "пропускная способность, МБ/с"),
            Unit::BytesPerSecond,
        ),
    };
    let lines = vec![line];
    Some(Chart {
        id: format!("case-{}-written", case.case),
        title,
        summary: summary(written, written / range),
        x: Axis::new(say!("written by this case", "записано этим случаем"), Scale::Linear, Unit::Bytes, 0.0, written),
        panes: vec![Pane::lines(from_zero(label, unit, &lines), lines)],
        bands: Vec::new(),
        events: marks(range, written),
    })
}

/// Where the range has been written once, twice, four times, and so on.
fn marks(range: f64, written: f64) -> Vec<Mark> {
    let times = (0..MARKS_MAX).map(|power| 1u64 << power).take_while(|times| *times as f64 * range <= written);
    let mark = |times: u64| Mark {
        at: times as f64 * range,
        name: say!("range × {times}", "область × {times}"),
        detail: Say::same(""),
    };
    times.map(mark).collect()
}

fn summary(written: f64, times: f64) -> Say {
    say!(
        |l| "The rate against what the case has written, {bytes} in all: {times} times its range.",
        "Скорость в зависимости от записанного случаем: всего {bytes}, размеров области — {times}.",
        bytes = format::bytes(Bytes(written as u64), l),
        times = format::fixed(times, 1, l)
    )
}
