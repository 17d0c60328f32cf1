//! What a stream that appends cannot have.

use crate::pattern::Pattern;
use crate::suite::{JobsOf, StreamSpec};
use crate::workload::{Mix, Op};
use crate::yaml::Node;
use stend_base::{Result, say};

/// An error at the stream if it appends and contradicts itself.
pub(super) fn check(node: &Node, stream: &StreamSpec) -> Result<()> {
    if stream.pattern != Pattern::Append {
        return Ok(());
    }
    let what = if stream.mix != Mix::only(Op::Write) {
        say!("`pattern: append` is for `op: write` alone", "`pattern: append` годится только для `op: write`")
    } else if stream.queue_depth != [1] {
        say!(
            "`pattern: append` has a queue depth of 1: writes that make one file longer wait for one another",
            "у `pattern: append` глубина очереди 1: записи, удлиняющие один файл, ждут друг друга"
        )
    } else if stream.verify.is_some() || stream.region.is_some() || stream.jobs_of == JobsOf::Files {
        say!(
            "`pattern: append` writes to files of its own and contradicts `verify`, `region` and `jobs: {{per_file}}`",
            "`pattern: append` пишет в собственные файлы и противоречит `verify`, `region` и `jobs: {{per_file}}`"
        )
    } else {
        return Ok(());
    };
    Err(node.error(what).hint(say!(
        "for several appends at a time ask for more `jobs`",
        "чтобы дописывать одновременно, увеличьте число заданий (`jobs`)"
    )))
}

#[cfg(test)]
mod tests {
    use crate::parse::suite;

    fn told(stream: &str) -> Result<String, String> {
        let stream = format!("{{pattern: append, block_size: 4KiB, {stream}}}");
        let read = suite(&format!("suite: x\ncases:\n  - {{name: a, streams: [{stream}]}}\n"), "s.yaml");
        read.map(|suite| format!("{:?}", suite.cases[0].streams[0].queue_depth)).map_err(|error| error.to_string())
    }

    #[test]
    fn what_appends_writes_one_at_a_time_to_files_of_its_own() {
        assert_eq!(told("op: write, jobs: 4, sync: {fdatasync: 1}"), Ok("[1]".into()));
        assert_eq!(told("op: write, rate: 100/s"), Ok("[1]".into()), "an open loop, too");
        let refused = |stream: &str, why: &str| {
            let error = told(stream).unwrap_err();
            assert!(error.starts_with("error: s.yaml:3:") && error.contains(why), "{error}");
        };
        refused("op: read", "is for `op: write` alone");
        refused("op: {read: 50, write: 50}", "is for `op: write` alone");
        refused("op: write, queue_depth: 2", "a queue depth of 1");
        refused("op: write, verify: {after: true}", "contradicts `verify`");
        refused("op: write, region: {start: 0%, size: 50%}", "contradicts `verify`, `region`");
        refused("op: write, jobs: {per_file: 1}", "contradicts `verify`, `region` and `jobs: {per_file}`");
    }
}
