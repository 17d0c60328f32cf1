//! From events of a run file to the sources of a record, and back: a record has them apart from its events, of which there are few. Must not
//! judge.

use crate::event::EventKind;
use crate::source::{SourceReading, SourceRecord};
use stend_base::Nanos;

/// Takes an event that is of a source; any other is given back. One that a session declares again goes on; answers are of the source of that
/// name that was declared last.
pub(crate) fn take(sources: &mut Vec<SourceRecord>, at: Nanos, kind: EventKind) -> Option<EventKind> {
    match kind {
        EventKind::Source(info) => {
            let known = sources.iter().position(|source| source.info == *info);
            let source = known.map(|at| sources.remove(at));
            sources.push(source.unwrap_or(SourceRecord { info: *info, readings: Vec::new() }));
        }
        EventKind::SourceRead { source, took_ns, answer } => {
            if let Some(source) = sources.iter_mut().rfind(|known| known.info.name == source) {
                source.readings.push(SourceReading { asked: at, took_ns, answer });
            }
        }
        other => return Some(other),
    }
    None
}

/// The events of a run file that a source is made of, with their times.
#[cfg(any(test, feature = "store"))]
pub(crate) fn events(source: &SourceRecord) -> impl Iterator<Item = (Nanos, EventKind)> {
    let SourceRecord { info, readings } = source;
    let declared = (readings.first().map_or(Nanos(0), |first| first.asked), EventKind::Source(Box::new(info.clone())));
    let read = |reading: &SourceReading| {
        let SourceReading { asked, took_ns, answer } = reading.clone();
        (asked, EventKind::SourceRead { source: info.name.clone(), took_ns, answer })
    };
    std::iter::once(declared).chain(readings.iter().map(read))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::{SourceAnswer, SourceInfo, SourceValueInfo};

    fn info(unit: &str) -> SourceInfo {
        let value = SourceValueInfo { unit: unit.into(), ..SourceValueInfo::default() };
        SourceInfo { name: "array1".into(), values: vec![value], ..SourceInfo::default() }
    }

    fn read(number: &str) -> EventKind {
        let answer = SourceAnswer::Values(vec![Some(number.into())]);
        EventKind::SourceRead { source: "array1".into(), took_ns: 7, answer }
    }

    #[test]
    fn answers_are_of_the_source_that_was_declared_last_and_what_is_of_none_is_given_back() {
        let mut sources = Vec::new();
        let declared = |unit: &str| EventKind::Source(Box::new(info(unit)));
        for (at, kind) in
            [declared("%"), read("1"), declared("W"), read("2"), declared("%"), read("3")].into_iter().enumerate()
        {
            assert_eq!(take(&mut sources, Nanos(at as u64), kind), None);
        }
        let of = |unit: &str| {
            let source = sources.iter().find(|source| source.info == info(unit)).unwrap();
            source.readings.iter().map(|reading| reading.asked.0).collect::<Vec<_>>()
        };
        assert_eq!((of("%"), of("W")), (vec![1, 5], vec![3]));
        let mut again = Vec::new();
        for (at, kind) in sources.iter().flat_map(events) {
            assert_eq!(take(&mut again, at, kind), None);
        }
        assert_eq!(again, sources);
        assert_eq!(take(&mut again, Nanos(0), EventKind::StopRequested), Some(EventKind::StopRequested));
    }
}
