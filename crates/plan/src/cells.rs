//! The cells of one case of a suite: every combination of the values of its axes. Pure; must not know the range.

use super::label;
use super::per_target;
use super::{CASES_MAX, PlanTarget};
use crate::ladder::{INSTANCES, LOAD_HOSTS};
use crate::replay::Traced;
use stend_base::{Error, Result, say};
use stend_spec::app::{App, AppSpec};
use stend_spec::rate::Rate;
use stend_spec::suite::{StreamSpec, SuiteCase};
use stend_spec::topology::{Affinity, Placement};
use stend_spec::trace::{Pace, TraceFacts};
use stend_spec::workload::Stream;

/// One combination of axis values: the concrete streams and the axes that vary.
pub(super) struct Cell {
    /// The application, if that is the load.
    pub app: Option<App>,
    /// The streams, but for what follows from range and machine.
    pub streams: Vec<Stream>,
    /// Where each of the streams is asked to be.
    pub placements: Vec<Placement>,
    /// Names and values of the axes that vary.
    pub axes: Vec<(String, String)>,
    /// How many load hosts make it; `None`: all.
    pub load_hosts: Option<u32>,
}

/// All combinations of a case's axes, first axis slowest.
pub(super) fn expand(case: &SuiteCase, traces: &[TraceFacts], target: &PlanTarget) -> Result<Vec<Cell>> {
    if let Some(spec) = case.app {
        return Ok(spec.density.counts().into_iter().map(|count| of_instances(spec, count)).collect());
    }
    let targets = target.count;
    let mut cells = on_hosts(case, target.hosts);
    for (index, spec) in case.streams.iter().enumerate() {
        let prefix = if case.streams.len() > 1 { format!("stream {} ", index + 1) } else { String::new() };
        let size = spec.block_size.len() * spec.queue_depth.len() * spec.jobs.len();
        let placements = spec.placement.cells(&target.topology);
        let size = size * spec.rates().len() * spec.paces().len() * placements.len();
        if cells.len().saturating_mul(size) > CASES_MAX {
            let name = &case.name;
            return Err(Error::spec(say!(
                "case `{name}` expands to more than {CASES_MAX} combinations",
                "случай `{name}` разворачивается более чем в {CASES_MAX} сочетаний"
            )));
        }
        let traced = spec.trace.as_ref().map(|trace| Traced::find(trace, traces)).transpose()?;
        let offers = offers(spec, &placements);
        cells = cells.iter().flat_map(|cell| with_stream(cell, spec, &offers, (traced, targets), &prefix)).collect();
    }
    cells.iter().try_for_each(|cell| per_target::must_be_possible(case, &cell.streams, targets))?;
    Ok(cells)
}

/// A cell without streams for each number of load hosts. In a search it is named even where there is but one to try.
fn on_hosts(case: &SuiteCase, hosts: u32) -> Vec<Cell> {
    let counts = case.load_hosts.counts(hosts);
    let named = counts.len() > 1 || case.load_hosts.search().is_some();
    let on = |load_hosts: Option<u32>| {
        let axes = load_hosts.filter(|_| named).map(|count| (LOAD_HOSTS.to_string(), count.to_string()));
        Cell { app: None, streams: Vec::new(), placements: Vec::new(), axes: axes.into_iter().collect(), load_hosts }
    };
    if counts.is_empty() { vec![on(None)] } else { counts.into_iter().map(Some).map(on).collect() }
}

/// So many instances; their number is named even where there is but one to try, because it is the result.
fn of_instances(spec: AppSpec, count: u32) -> Cell {
    let axes = vec![(INSTANCES.to_string(), count.to_string())];
    let app = App { instances: count, ..spec.app };
    Cell { app: Some(app), streams: Vec::new(), placements: Vec::new(), axes, load_hosts: None }
}

/// One combination of the values of the axes that are no plain numbers, with the names of those that vary.
struct Offer<'a> {
    rate: Option<Rate>,
    pace: Option<Pace>,
    placement: &'a Placement,
    axes: Vec<(&'static str, String)>,
}

fn offers<'a>(spec: &StreamSpec, placements: &'a [(String, Placement)]) -> Vec<Offer<'a>> {
    let (rates, paces, mut offers) = (spec.rates(), spec.paces(), Vec::new());
    for rate in &rates {
        for pace in &paces {
            for (place, placement) in placements {
                let mut axes = Vec::new();
                let mut vary = |values: usize, axis, value: String| {
                    if values > 1 {
                        axes.push((axis, value));
                    }
                };
                vary(rates.len(), "rate", rate.as_ref().map(Rate::label).unwrap_or_default());
                vary(paces.len(), "pace", pace.map(Pace::label).unwrap_or_default());
                vary(placements.len(), "numa", place.clone());
                offers.push(Offer { rate: rate.clone(), pace: *pace, placement, axes });
            }
        }
    }
    offers
}

fn with_stream(
    cell: &Cell,
    spec: &StreamSpec,
    offers: &[Offer<'_>],
    (traced, targets): (Option<Traced<'_>>, u32),
    prefix: &str,
) -> Vec<Cell> {
    let mut out = Vec::new();
    for &block_size in &spec.block_size {
        for &queue_depth in &spec.queue_depth {
            for &jobs in &spec.jobs {
                for offer in offers {
                    let mut axes = cell.axes.clone();
                    let mut vary = |values: usize, axis: &str, value: String| {
                        if values > 1 {
                            axes.push((format!("{prefix}{axis}"), value));
                        }
                    };
                    vary(spec.block_size.len(), "block_size", label::size(block_size));
                    vary(spec.queue_depth.len(), "queue_depth", queue_depth.to_string());
                    vary(spec.jobs.len(), label::jobs(spec.jobs_of), jobs.to_string());
                    axes.extend(offer.axes.iter().map(|(axis, value)| (format!("{prefix}{axis}"), value.clone())));
                    let mut placements = cell.placements.clone();
                    placements.push(offer.placement.clone());
                    let mut streams = cell.streams.clone();
                    let mut stream = Stream {
                        mix: spec.mix,
                        pattern: spec.pattern.clone(),
                        block_size,
                        block_mix: spec.block_mix.clone(),
                        queue_depth,
                        jobs: jobs.saturating_mul(per_target::times(spec.jobs_of, targets)),
                        sync: spec.sync,
                        data: spec.data,
                        rate: offer.rate.clone(),
                        verify: spec.verify,
                        region: None,
                        think: spec.think,
                        batch: spec.batch,
                        submit: spec.submit,
                        place: Affinity::default(),
                        replay: None,
                    };
                    if let (Some(traced), Some(pace)) = (traced, offer.pace) {
                        traced.replay(&mut stream, pace);
                    }
                    streams.push(stream);
                    out.push(Cell { app: None, streams, placements, axes, load_hosts: cell.load_hosts });
                }
            }
        }
    }
    out
}
