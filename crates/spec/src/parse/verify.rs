//! `verify`: a word, or when to compare what is read.

use super::{Map, boolean};
use crate::keys;
use crate::suite::StreamSpec;
use crate::workload::{Data, Verify};
use crate::yaml::{Node, Value};
use stend_base::{Error, Result, Say, say};

/// What is compared of a stream that is `spec` otherwise; `None` for nothing.
pub(super) fn verify(node: &Node, spec: &StreamSpec) -> Result<Option<Verify>> {
    if let Value::Text(word) = &node.value
        && word == "none"
    {
        return Ok(None);
    }
    let mut map = Map::of(node, &keys::verify::VERIFY)?;
    let after = map.optional("after", boolean)?.unwrap_or(false);
    let crash = map.optional("crash", boolean)?.unwrap_or(false);
    map.finish()?;
    match contradiction(after || crash, spec).or_else(|| not_durable(spec).filter(|_| crash)) {
        Some((message, hint)) => {
            let error: Box<Error> = node.error(message);
            Err(error.hint(hint))
        }
        None => Ok(Some(Verify { after, crash })),
    }
}

/// Why nothing could be said of the stream after a crash, and the way out.
fn not_durable(spec: &StreamSpec) -> Option<(Say, Say)> {
    let why = say!(
        "`crash` needs a `sync` that makes each write durable: a crash may take any other write",
        "`crash` требует `sync`, при котором подтверждается сохранность каждой записи: остальные при сбое могут пропасть"
    );
    let way = say!(
        "use `sync: dsync`, `o_dsync`, `{{fdatasync: 1}}` or `{{fsync: 1}}`",
        "укажите `sync: dsync`, `o_dsync`, `{{fdatasync: 1}}` или `{{fsync: 1}}`"
    );
    (!spec.sync.is_durable_each()).then_some((why, way))
}

/// Why the stream cannot be verified, and the way out. `later`: what it wrote is read by somebody else than itself.
fn contradiction(later: bool, spec: &StreamSpec) -> Option<(Say, Say)> {
    if spec.mix.erases() {
        return Some((
            say!(
                "`verify` contradicts `discard` and `write_zeroes`: what was written is taken away again",
                "`verify` противоречит `discard` и `write_zeroes`: записанное снова пропадает"
            ),
            say!(
                "verify a stream of reads and writes with a region of its own",
                "проверяйте отдельный поток чтений и записей со своей областью"
            ),
        ));
    }
    if spec.mix.write == 0 {
        return Some((
            say!(
                "`verify` contradicts `op: read`: only what the stream itself wrote can be compared",
                "`verify` противоречит `op: read`: сравнить можно только то, что записал сам поток"
            ),
            say!("use a mix, or `op: write` with `after: true`", "укажите смесь или `op: write` с `after: true`"),
        ));
    }
    if !spec.mix.reads() && !later {
        return Some((
            say!(
                "nothing would be compared: `op: write` reads nothing",
                "сравнивать нечего: `op: write` ничего не читает"
            ),
            say!("add `after: true`", "добавьте `after: true`"),
        ));
    }
    if !spec.block_mix.is_empty() {
        return Some((
            say!(
                "`verify` needs one block size: with a mixture blocks overlap",
                "`verify` требует одного размера блока: при смеси размеров блоки перекрываются"
            ),
            say!("make a stream for each size", "заведите поток для каждого размера"),
        ));
    }
    if spec.data != Data::default() {
        return Some((
            say!(
                "`verify` contradicts `data`: it writes data of its own",
                "`verify` противоречит `data`: он пишет собственные данные"
            ),
            say!("remove one of the two", "уберите одно из двух"),
        ));
    }
    None
}

#[cfg(test)]
mod tests {
    use crate::parse::suite;
    use crate::workload::Verify;
    use expect_test::expect;
    use stend_base::{Lang, Result};

    fn parse(stream: &str) -> Result<Option<Verify>> {
        let text = format!("suite: x\ncases:\n  - name: a\n    streams:\n      - {{pattern: random, {stream}}}\n");
        suite(&text, "suite.yaml").map(|mut suite| suite.cases.remove(0).streams.remove(0).verify)
    }

    #[test]
    fn what_is_compared_and_when_is_reached_from_a_suite() {
        let mixed = |verify| parse(&format!("op: {{read: 50, write: 50}}, block_size: 4KiB{verify}")).unwrap();
        assert_eq!(mixed(""), None);
        assert_eq!(mixed(", verify: none"), None);
        assert_eq!(mixed(", verify: {}"), Some(Verify { after: false, crash: false }));
        assert_eq!(mixed(", verify: {after: true}"), Some(Verify { after: true, crash: false }));
        assert_eq!(
            parse("op: write, block_size: [4KiB, 1MiB], verify: {after: true}").unwrap(),
            Some(Verify { after: true, crash: false })
        );
        for sync in ["dsync", "o_dsync", "{fdatasync: 1}", "{fsync: 1}"] {
            let stream = format!("op: write, block_size: 4KiB, sync: {sync}, verify: {{crash: true}}");
            assert_eq!(parse(&stream).unwrap(), Some(Verify { after: false, crash: true }), "{sync}");
        }
    }

    #[test]
    fn what_cannot_be_compared_is_refused_with_its_place_and_the_way_out() {
        let refused = |stream| parse(stream).unwrap_err().render(Lang::En);
        let all = [
            "op: read, block_size: 4KiB, verify: {after: true}",
            "op: discard, block_size: 4KiB, verify: {after: true}",
            "op: {read: 50, write: 49, write_zeroes: 1}, block_size: 4KiB, verify: {}",
            "op: write, block_size: 4KiB, verify: {}",
            "op: write, block_size: {4KiB: 60, 64KiB: 40}, verify: {after: true}",
            "op: write, block_size: 4KiB, data: {dedup: 2}, verify: {after: true}",
            "op: write, block_size: 4KiB, verify: {afterwards: true}",
            "op: write, block_size: 4KiB, verify: {after: yes}",
            "op: write, block_size: 4KiB, verify: always",
            "op: write, block_size: 4KiB, verify: {crash: true}",
            "op: write, block_size: 4KiB, sync: {fdatasync: 16}, verify: {crash: true}",
            "op: read, block_size: 4KiB, verify: {crash: true}",
        ];
        expect![[r#"
            error: suite.yaml:5:63: `verify` contradicts `op: read`: only what the stream itself wrote can be compared
            hint: use a mix, or `op: write` with `after: true`
            error: suite.yaml:5:66: `verify` contradicts `discard` and `write_zeroes`: what was written is taken away again
            hint: verify a stream of reads and writes with a region of its own
            error: suite.yaml:5:97: `verify` contradicts `discard` and `write_zeroes`: what was written is taken away again
            hint: verify a stream of reads and writes with a region of its own
            error: suite.yaml:5:64: nothing would be compared: `op: write` reads nothing
            hint: add `after: true`
            error: suite.yaml:5:81: `verify` needs one block size: with a mixture blocks overlap
            hint: make a stream for each size
            error: suite.yaml:5:82: `verify` contradicts `data`: it writes data of its own
            hint: remove one of the two
            error: suite.yaml:5:65: verify: unknown key `afterwards`
            hint: known keys: `after`, `crash`
            error: suite.yaml:5:72: expected `true` or `false`, found text
            hint: docs/formats/suite.md describes every key; `stend suites quick` prints a suite to copy from
            error: suite.yaml:5:64: verify: keys are expected, such as `after: …`, found text
            hint: docs/formats/suite.md describes every key; `stend suites quick` prints a suite to copy from
            error: suite.yaml:5:64: `crash` needs a `sync` that makes each write durable: a crash may take any other write
            hint: use `sync: dsync`, `o_dsync`, `{fdatasync: 1}` or `{fsync: 1}`
            error: suite.yaml:5:87: `crash` needs a `sync` that makes each write durable: a crash may take any other write
            hint: use `sync: dsync`, `o_dsync`, `{fdatasync: 1}` or `{fsync: 1}`
            error: suite.yaml:5:63: `verify` contradicts `op: read`: only what the stream itself wrote can be compared
            hint: use a mix, or `op: write` with `after: true`"#]]
        .assert_eq(&all.map(refused).join("\n"));
    }
}
