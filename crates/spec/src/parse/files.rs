//! `files` and jobs counted by them.

use super::size::mixture;
use super::{Map, axis, bytes, whole};
use crate::files::Files;
use crate::keys::{self, files as known};
use crate::suite::{Fill, JobsOf, StreamSpec};
use crate::workload::BlockShare;
use crate::yaml::{Node, Value};
use stend_base::{Bytes, Result, say};

/// The test files of a suite with this `fill`.
pub(super) fn files(node: &Node, fill: Option<Fill>) -> Result<Files> {
    let mut map = Map::of(node, &known::FILES)?;
    let count = map.required("count", |node| whole(node, known::COUNT))?;
    let sizes = map.optional("size", sizes)?.unwrap_or_default();
    map.finish()?;
    if let (false, Some(Fill::Size(_))) = (sizes.is_empty(), fill) {
        let message =
            say!("`files` and `fill` both say how much there is", "и `files`, и `fill` говорят, каков общий объём");
        return Err(node.error(message).hint(say!(
            "write `fill: {{size: auto}}`, which fills all files, or leave out `size` here",
            "напишите `fill: {{size: auto}}`, тогда заполнятся все файлы, или уберите `size` здесь"
        )));
    }
    Ok(Files { count, sizes })
}

fn sizes(node: &Node) -> Result<Vec<BlockShare>> {
    match &node.value {
        Value::Text(word) if word == "equal" => Ok(Vec::new()),
        Value::Map(pairs) => mixture("size", node, pairs, size),
        _ => Ok(vec![BlockShare { size: size(node)?, percent: 100 }]),
    }
}

fn size(node: &Node) -> Result<Bytes> {
    let size = bytes(node)?;
    if !known::SIZE.hold(&size) || size.0 % known::UNIT != 0 {
        return Err(node.error(say!("a file is a multiple of 4 KiB", "размер файла кратен 4 КиБ")));
    }
    Ok(size)
}

/// Values of `jobs`: of the whole range, of each of `count` files (then multiplied), or of each target.
pub(super) fn jobs(node: &Node, count: u32) -> Result<(Vec<u32>, JobsOf)> {
    let numbers = |node: &Node| axis(node, |n| whole(n, keys::JOBS));
    let Value::Map(_) = &node.value else { return Ok((numbers(node)?, JobsOf::Range)) };
    let mut map = Map::of(node, &known::JOBS_EACH)?;
    let (per_file, per_target) = (map.optional("per_file", numbers)?, map.optional("per_target", numbers)?);
    map.finish()?;
    let each = match (per_file, per_target) {
        (Some(each), None) => each,
        (None, Some(each)) => return Ok((each, JobsOf::Target)),
        _ => {
            let message = say!(
                "`jobs` has either `per_file` or `per_target`",
                "в `jobs` нужно одно из двух: `per_file` или `per_target`"
            );
            return Err(node.error(message).hint(say!(
                "write `jobs: {{per_target: 1}}`, or a plain number for all together",
                "напишите `jobs: {{per_target: 1}}` или просто число на всех"
            )));
        }
    };
    let most = keys::JOBS.most;
    match each.iter().find(|each| u64::from(**each) * u64::from(count) > u64::from(most)) {
        Some(each) => Err(node.error(say!(
            "{each} jobs for each of {count} files are more than {most}",
            "по {each} заданий на каждый из {count} файлов — больше, чем {most}"
        ))),
        None => Ok((each.iter().map(|each| each * count).collect(), JobsOf::Files)),
    }
}

/// Whether all streams of a case count their jobs in the same way: their parts of the range would not be told apart else.
pub(super) fn alike(case: &Node, streams: &[StreamSpec]) -> Result<()> {
    let first = streams.first().map(|stream| stream.jobs_of);
    if streams.iter().all(|stream| Some(stream.jobs_of) == first) {
        return Ok(());
    }
    Err(case
        .error(say!(
            "the streams of a case count their jobs in the same way",
            "все потоки случая считают задания одинаково"
        ))
        .hint(say!(
            "write `per_file` in each of them, or `per_target` in each, or plain numbers",
            "укажите в каждом `per_file`, в каждом `per_target` или везде просто числа"
        )))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse::suite;

    fn parsed(head: &str, jobs: &str) -> Result<crate::Suite> {
        let stream = format!("{{op: read, pattern: random, block_size: 4KiB, jobs: {jobs}}}");
        suite(&format!("suite: x\n{head}\ncases:\n  - name: a\n    streams: [{stream}]\n"), "s.yaml")
    }

    #[test]
    fn files_have_a_number_and_sizes_and_jobs_may_be_counted_by_them() {
        let found = parsed("files: {count: 64, size: 16MiB}", "{per_file: [1, 2]}").unwrap();
        let sizes = vec![BlockShare { size: Bytes::mib(16), percent: 100 }];
        assert_eq!(
            (found.files, found.cases[0].streams[0].jobs.clone()),
            (Some(Files { count: 64, sizes }), vec![64, 128])
        );
        let found = parsed("fill: {size: auto}\nfiles: {count: 9, size: {64KiB: 20, 4KiB: 80}}", "3").unwrap();
        let share = |kib, percent| BlockShare { size: Bytes::kib(kib), percent };
        assert_eq!(found.files.unwrap().sizes, [share(4, 80), share(64, 20)]);
        let equal = parsed("fill: {size: 1GiB}\nfiles: {count: 2, size: equal}", "1").unwrap();
        assert_eq!(equal.files, Some(Files { count: 2, sizes: Vec::new() }));
        assert_eq!(parsed("", "{per_file: 4}").unwrap().cases[0].streams[0].jobs, [4], "one file");
        let found = &parsed("", "{per_target: [1, 4]}").unwrap().cases[0].streams[0];
        assert_eq!((found.jobs.as_slice(), found.jobs_of), (&[1, 4][..], JobsOf::Target));
    }

    #[test]
    fn all_streams_of_a_case_count_their_jobs_in_the_same_way() {
        let of = |jobs: [&str; 2]| {
            let stream = |jobs: &str| format!("{{op: read, pattern: random, block_size: 4KiB{jobs}}}");
            let streams = jobs.map(stream).join(", ");
            suite(&format!("suite: x\nfiles: {{count: 2}}\ncases:\n  - {{name: a, streams: [{streams}]}}\n"), "s.yaml")
        };
        let [file, target] = [", jobs: {per_file: 1}", ", jobs: {per_target: 1}"];
        for mixed in [[file, ""], [", jobs: 2", file], [file, target], [target, ", jobs: 2"]] {
            let error = of(mixed).unwrap_err().message.en;
            assert!(error.starts_with("s.yaml:4:5: the streams of a case count their jobs in the same way"), "{error}");
        }
        for alike in [[file, file], [target, target], ["", ", jobs: 2"]] {
            of(alike).unwrap();
        }
    }

    #[test]
    fn what_cannot_be_is_an_error_with_its_place() {
        for (head, jobs, told) in [
            ("files: {count: 0}", "1", "s.yaml:2:16: 0 is outside 1 to 10000"),
            ("files: {size: 1MiB}", "1", "s.yaml:2:8: files: the key `count` is missing"),
            ("files: {count: 2, size: 1000B}", "1", "s.yaml:2:25: a file is a multiple of 4 KiB"),
            (
                "files: {count: 2, size: {4KiB: 50, 8KiB: 40}}",
                "1",
                "s.yaml:2:25: the shares of `size` are percent and add up to 90",
            ),
            (
                "fill: {size: 1GiB}\nfiles: {count: 2, size: 1MiB}",
                "1",
                "s.yaml:3:8: `files` and `fill` both say how much",
            ),
            ("", "{per_file: 1, per_target: 1}", "s.yaml:5:67: `jobs` has either `per_file` or `per_target`"),
            ("", "{}", "s.yaml:5:67: `jobs` has either `per_file` or `per_target`"),
            ("", "{per_target: 0}", "s.yaml:5:80: 0 is outside 1 to 1024"),
            ("files: {count: 100}", "{per_file: 11}", "s.yaml:5:67: 11 jobs for each of 100 files are more than 1024"),
        ] {
            let error = parsed(head, jobs).unwrap_err().message.en;
            assert!(error.starts_with(told), "{error}");
        }
    }
}
