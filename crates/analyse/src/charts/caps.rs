//! What a chart cannot hold it says: nothing is left out or merged in silence.

use crate::chart::{Chart, Series};
use stend_base::{Say, say};

/// Cuts a list and returns how many went.
pub fn cut<T>(items: &mut Vec<T>, most: usize) -> usize {
    let over = items.len().saturating_sub(most);
    items.truncate(most);
    over
}

/// The sentence of a chart with how many things it leaves out, if any: `what` are they, in the plural.
pub fn left_out(summary: Say, what: &Say, count: usize) -> Say {
    if count == 0 {
        return summary;
    }
    let (en, ru, what_en, what_ru) = (summary.en, summary.ru, &what.en, &what.ru);
    say!(
        "{en} {what_en} left out for lack of room: {count}.",
        "{ru} {what_ru}, не показанные за нехваткой места: {count}."
    )
}

/// Adds that points were merged, if they were: a merged point has an envelope.
pub fn merged(mut chart: Chart) -> Chart {
    let has_envelope = |series: &Series| series.points.iter().any(|point| point.envelope.is_some());
    if chart.panes.iter().flat_map(|pane| &pane.series).any(has_envelope) {
        let (en, ru) = (chart.summary.en, chart.summary.ru);
        chart.summary = say!(
            "{en} Neighbouring points are drawn as one; the pale band spans the smallest and the largest of them.",
            "{ru} Соседние точки слиты в одну; бледная полоса — от меньшей из них до большей."
        );
    }
    chart
}
