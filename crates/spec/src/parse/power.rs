//! What a case must be like whose power is cut: afterwards it can be told what was lost, and nothing else is asked of it.

use crate::fault::Fault;
use crate::suite::{StreamSpec, SuiteCase};
use crate::yaml::Node;
use stend_base::{Result, say};

/// Refuses a cut of power after which nothing could be told, or that something else counts on not to come.
pub(super) fn fits(case: &Node, faults: &[Fault], streams: &[StreamSpec], steady: bool) -> Result<()> {
    let Some(cut) = faults.iter().find(|fault| fault.is_cut()) else { return Ok(()) };
    if faults.len() > 1 || cut.lasts.is_some() {
        let message = say!(
            "`power.cut` is the only event of its case, and has no `for`: the trial ends with it",
            "`power.cut` — единственное событие случая и без `for`: испытание им заканчивается"
        );
        return Err(case.error(message));
    }
    let kept = |stream: &StreamSpec| stream.verify.is_some_and(|verify| verify.crash);
    let writes = || streams.iter().filter(|stream| stream.mix.writes());
    if writes().next().is_none() || !writes().all(kept) {
        return Err(case
            .error(say!(
                "`power.cut` needs `verify: {{crash: true}}` in every stream that writes, and a stream that does: nothing else could be judged afterwards",
                "для `power.cut` нужен `verify: {{crash: true}}` в каждом пишущем потоке и хотя бы один такой поток: иначе потом нечего оценивать"
            ))
            .hint(say!(
                "with `sync: dsync`, `o_dsync`, `{{fdatasync: 1}}` or `{{fsync: 1}}`, by which each write is durable",
                "вместе с `sync: dsync`, `o_dsync`, `{{fdatasync: 1}}` или `{{fsync: 1}}`, при которых подтверждается сохранность каждой записи"
            )));
    }
    if steady {
        let message = say!(
            "`power.cut` cannot be used with `steady`: a load whose power is cut begins anew",
            "`power.cut` нельзя использовать вместе с `steady`: после отключения питания нагрузка начинается заново"
        );
        return Err(case.error(message));
    }
    Ok(())
}

/// How precise a rate is that is not measured cannot be told.
pub(super) fn not_until(suite: &Node, cases: &[SuiteCase], until: bool) -> Result<()> {
    if !until || !cases.iter().any(|case| case.faults.iter().any(Fault::is_cut)) {
        return Ok(());
    }
    let message = say!(
        "`power.cut` cannot be used with `until`: a trial whose power is cut has no rate",
        "`power.cut` нельзя использовать вместе с `until`: у испытания с отключением питания нет скорости"
    );
    Err(suite.error(message).hint(say!(
        "`repeats: {{blocks: 60}}` cuts the power 60 times",
        "`repeats: {{blocks: 60}}` отключит питание 60 раз"
    )))
}

#[cfg(test)]
mod tests {
    use crate::fault::Act;
    use crate::parse::suite;
    use stend_base::Result;

    const KEPT: &str = "{op: write, pattern: random, block_size: 4KiB, sync: dsync, verify: {crash: true}}";
    const READS: &str = "{op: read, pattern: random, block_size: 4KiB}";
    const PLAIN: &str = "{op: write, pattern: random, block_size: 4KiB, sync: dsync}";

    fn parse(more: &str, events: &str, streams: &[&str]) -> Result<Act> {
        let streams = streams.join(", ");
        let text = format!(
            "suite: x\n{more}cases:\n  - name: a\n    trial: 30s\n    events: [{events}]\n    streams: [{streams}]\n"
        );
        suite(&text, "s.yaml").map(|mut suite| suite.cases.remove(0).faults.remove(0).act)
    }

    #[test]
    fn power_is_cut_only_where_it_can_be_told_what_that_took() {
        let cut = "{at: 5s, do: power.cut}";
        for streams in [&[KEPT][..], &[KEPT, READS]] {
            assert_eq!(parse("", cut, streams).unwrap(), Act::PowerCut);
        }
        let refused = [
            ("", cut, &[KEPT, PLAIN][..], "in every stream that writes"),
            ("", cut, &[READS], "in every stream that writes"),
            ("", "{at: 5s, for: 1s, do: power.cut}", &[KEPT], "the only event"),
            ("", "{at: 5s, do: power.cut}, {at: 6s, do: scrub}", &[KEPT], "the only event"),
            ("", "{at: 5s, do: power.cut}, {at: 6s, do: power.cut}", &[KEPT], "the only event"),
            ("", "{at: 5s, do: power.cut, drive: 1}", &[KEPT], "takes no other keys"),
            ("", "{at: 31s, do: power.cut}", &[KEPT], "after the window"),
            ("defaults: {steady: {}}\n", cut, &[KEPT], "`steady`"),
            ("repeats: {blocks: 9, until: {}}\n", cut, &[KEPT], "`until`"),
        ];
        for (more, events, streams, words) in refused {
            let error = parse(more, events, streams).unwrap_err();
            assert!(error.message.en.contains(words), "{events} {streams:?}: {error}");
        }
    }
}
