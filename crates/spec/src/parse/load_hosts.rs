//! `load_hosts`: how many of the load hosts a case has.

use super::frequency::within;
use super::{Map, axis, share, whole, word};
use crate::app::Density;
use crate::keys::load_hosts as keys;
use crate::keys::rate::{LIMIT, QUANTILE};
use crate::load_hosts::{HostSearch, LoadHosts};
use crate::suite::{StreamSpec, SuiteCase};
use crate::yaml::{Node, Value};
use stend_base::{Result, say};

/// All, some numbers, or a search.
pub(super) fn load_hosts(node: &Node) -> Result<LoadHosts> {
    match &node.value {
        Value::Text(_) => word(node, keys::WORDS),
        Value::Map(_) => {
            let mut map = Map::of(node, &keys::LOAD_HOSTS)?;
            let found = map.required("search", search)?;
            map.finish()?;
            Ok(LoadHosts::Search(found))
        }
        _ => Ok(LoadHosts::Counts(axis(node, |node| whole(node, keys::COUNT))?)),
    }
}

fn search(node: &Node) -> Result<HostSearch> {
    let mut map = Map::of(node, &keys::SEARCH)?;
    let from = map.optional("from", |node| whole(node, keys::COUNT))?.unwrap_or(keys::COUNT.least);
    let to = map.optional("to", |node| whole(node, keys::COUNT))?.unwrap_or(keys::COUNT.most);
    let (quantile, limit) =
        (map.required("quantile", |node| share(node, QUANTILE))?, map.required("limit", |node| within(node, LIMIT))?);
    map.finish()?;
    if to < from {
        return Err(node.error(say!("`to` must not be below `from`", "`to` не может быть меньше `from`")));
    }
    Ok(HostSearch { among: Density { from, to }, quantile, limit })
}

/// Refuses what a case with fewer hosts than the run has cannot have.
pub(super) fn fits(
    case: &Node,
    hosts: &LoadHosts,
    streams: &[StreamSpec],
    (has_events, has_rounds): (bool, bool),
) -> Result<()> {
    if *hosts == LoadHosts::All {
        return Ok(());
    }
    if has_rounds && hosts.search().is_some() {
        return Err(case.error(say!(
            "a search of `load_hosts` cannot be used with `steady`",
            "поиск `load_hosts` нельзя использовать вместе со `steady`"
        )));
    }
    if streams.iter().any(|stream| stream.search.is_some()) {
        return Err(case
            .error(say!(
                "`load_hosts` cannot be used where the rate is searched",
                "`load_hosts` нельзя использовать при поиске частоты"
            ))
            .hint(say!("give the rate that the search found", "задайте найденную поиском частоту")));
    }
    if has_events {
        return Err(case
            .error(say!("`load_hosts` cannot be used with `events`", "`load_hosts` нельзя использовать с `events`"))
            .hint(say!("put the events into a case of their own", "вынесите события в отдельный случай")));
    }
    Ok(())
}

/// Several hosts have no arms, and a search goes its own way in every arm.
pub(super) fn not_with_arms(suite: &Node, cases: &[SuiteCase]) -> Result<()> {
    if cases.iter().all(|case| case.load_hosts == LoadHosts::All) {
        return Ok(());
    }
    Err(suite.error(say!(
        "`load_hosts` cannot be used in a suite with `arms`",
        "в наборе с `arms` нельзя использовать `load_hosts`"
    )))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse::suite;
    use expect_test::expect;
    use stend_base::{Lang, Millionths, Nanos};

    fn text(load_hosts: &str, inside: &str) -> String {
        format!(
            "suite: s\ncases:\n  - name: a\n    load_hosts: {load_hosts}\n    streams: [{{op: read, pattern: random, block_size: 4KiB{inside}}}]\n"
        )
    }

    fn of(load_hosts: &str) -> LoadHosts {
        suite(&text(load_hosts, ""), "s.yaml").unwrap().cases[0].load_hosts.clone()
    }

    fn error(text: &str) -> String {
        suite(text, "s.yaml").unwrap_err().render(Lang::En)
    }

    #[test]
    fn numbers_words_and_a_search_are_read() {
        assert_eq!(of("all"), LoadHosts::All);
        assert_eq!(of("doubling"), LoadHosts::Doubling);
        assert_eq!((of("3"), of("[1, 4]")), (LoadHosts::Counts(vec![3]), LoadHosts::Counts(vec![1, 4])));
        let among = Density { from: 1, to: 256 };
        let (quantile, limit) = (Millionths(999_000), Nanos::millis(20));
        assert_eq!(
            of("{search: {quantile: 99.9%, limit: 20ms}}"),
            LoadHosts::Search(HostSearch { among, quantile, limit })
        );
    }

    #[test]
    fn what_a_case_with_fewer_hosts_cannot_have_is_refused() {
        let search = ", rate: {search: {from: 10/s, to: 100/s, quantile: 99%, limit: 10ms}}";
        let events = text("[1, 2]", "")
            .replace("    streams", "    trial: 4s\n    events: [{at: 1s, for: 1s, do: fill, to: 20%}]\n    streams");
        let arms = text("[1, 2]", "") + "arms: [{name: a}, {name: b}]\n";
        let steady =
            text("{search: {quantile: 99%, limit: 1ms}}", "").replace("    streams", "    steady: {}\n    streams");
        let all = [
            error(&steady),
            error(&text("0", "")),
            error(&text("[2, 2]", "")),
            error(&text("half", "")),
            error(&text("{search: {quantile: 99%, limit: 1ms, from: 5, to: 4}}", "")),
            error(&text("doubling", search)),
            error(&events),
            error(&arms),
        ];
        expect![[r#"
            error: s.yaml:3:5: a search of `load_hosts` cannot be used with `steady`
            hint: docs/formats/suite.md describes every key; `stend suites quick` prints a suite to copy from
            error: s.yaml:4:17: 0 is outside 1 to 256
            hint: docs/formats/suite.md describes every key; `stend suites quick` prints a suite to copy from
            error: s.yaml:4:21: this value stands in the list twice
            hint: name each value once
            error: s.yaml:4:17: `half` is not one of `all`, `doubling`
            hint: did you mean `all`?
            error: s.yaml:4:26: `to` must not be below `from`
            hint: docs/formats/suite.md describes every key; `stend suites quick` prints a suite to copy from
            error: s.yaml:3:5: `load_hosts` cannot be used where the rate is searched
            hint: give the rate that the search found
            error: s.yaml:3:5: `load_hosts` cannot be used with `events`
            hint: put the events into a case of their own
            error: s.yaml:1:1: `load_hosts` cannot be used in a suite with `arms`
            hint: docs/formats/suite.md describes every key; `stend suites quick` prints a suite to copy from"#]]
        .assert_eq(&all.join("\n"));
    }
}
