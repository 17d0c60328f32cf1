//! What a stand with a log of every write can be: one log, and on it only what can be stopped and started as a loss of power would,
//! without being made anew.

use crate::stand::{Dm, Kind, Stand};
use crate::yaml::Node;
use stend_base::{Result, Say, say};

pub(super) fn check(stand: &Stand, root: &Node) -> Result<()> {
    let Some((logged, _)) = stand.log_writes() else { return Ok(()) };
    let is_log = |kind: &Kind| matches!(kind, Kind::Dm(Dm::LogWrites { .. }));
    let above = stand.above(&logged.name);
    let over = |name: &str| name == logged.name || above.iter().any(|layer| layer.name == name);
    let refuse = |what: Say, hint: Say| Err(root.error(what).hint(hint));
    if stand.layers.iter().filter(|layer| is_log(&layer.kind)).count() > 1 {
        return refuse(
            say!("a stand keeps one log of writes at most", "в стенде не больше одного журнала записей (`log_writes`)"),
            say!("its states are those of one device", "состояния в нём — состояния одного устройства"),
        );
    }
    if !stand.hosts.is_empty() {
        return refuse(
            say!(
                "a log of writes and a stand of several hosts do not go together",
                "журнал записей и стенд на нескольких машинах несовместимы"
            ),
            say!(
                "leave `hosts` and `across` out: the log is replayed on the host that is measured",
                "уберите `hosts` и `across`: журнал воспроизводится на измеряемой машине"
            ),
        );
    }
    let restarts = |kind: &Kind| match kind {
        // What has a superblock of its own would have to be asked for it in each state.
        Kind::Dm(dm) => !matches!(dm, Dm::Integrity(_) | Dm::WriteCache { .. } | Dm::LogWrites { .. }),
        Kind::Luns { .. } | Kind::Md(_) | Kind::Lvm(_) | Kind::Zfs(_) | Kind::Fs(_) | Kind::Btrfs(_) => true,
        Kind::Settings(_) => true,
        _ => false,
    };
    if let Some(layer) = above.iter().find(|layer| !restarts(&layer.kind)) {
        let (name, key) = (&layer.name, layer.kind.key());
        return refuse(
            say!(
                "`{name}` lies on a log of writes, and a layer of kind `{key}` cannot be replayed",
                "`{name}` лежит на журнале записей, а слой вида `{key}` при воспроизведении не поднять"
            ),
            say!(
                "on `log_writes` may lie `dm` without superblocks of its own, `luns`, `md`, `lvm`, `zfs`, `fs` and `btrfs`",
                "на `log_writes` могут лежать `dm` без собственных суперблоков, `luns`, `md`, `lvm`, `zfs`, `fs` и `btrfs`"
            ),
        );
    }
    if let Some(layer) = above.iter().find(|layer| !layer.on.iter().all(|of| over(&of.name))) {
        let name = &layer.name;
        return refuse(
            say!(
                "`{name}` lies on a log of writes and on something else, whose writes are in no log",
                "`{name}` лежит и на журнале записей, и на том, записи чего в журнал не идут"
            ),
            say!("put all of it on `log_writes`", "положите его целиком на `log_writes`"),
        );
    }
    match &stand.targets[..] {
        [of] if over(&of.name) && stand.stands_for(of) == 1 => Ok(()),
        _ => refuse(
            say!(
                "with a log of writes one thing is measured, and it lies on the log",
                "со стендом с журналом записей измеряется что-то одно, и лежит оно на этом журнале"
            ),
            say!("name one in `targets`", "назовите его в `targets`"),
        ),
    }
}

#[cfg(test)]
mod tests {
    use crate::parse::stand;
    use crate::stand::Stand;
    use stend_base::Result;

    fn of(rest: &str) -> Result<Stand> {
        let head = "stand: x\nlayers:\n- zram: {size: 64MiB, count: 4}\n";
        stand(&format!("{head}{rest}"), "s.yaml")
    }

    const LOG: &str = "- {on: [zram/1, zram/2], dm: {log_writes: {}}}\n";

    #[test]
    fn a_log_is_kept_of_the_first_of_two_devices_and_file_systems_lie_on_it() {
        let found = of(&format!("{LOG}- fs: {{type: ext4}}\n")).unwrap();
        let (layer, points) = found.log_writes().unwrap();
        assert_eq!((layer.name.as_str(), points, found.makes(layer)), ("dm", 48, 1));
        let above: Vec<&str> = found.above("dm").iter().map(|layer| layer.name.as_str()).collect();
        assert_eq!(above, ["fs"]);
        let more = "- {on: [zram/1, zram/2], name: log, dm: {log_writes: {points: 9}}}\n- dm: {crypt: aes-128-xts}\n- btrfs: {}\n";
        assert_eq!(of(more).unwrap().log_writes().unwrap().1, 9);
        assert!(of(LOG).is_ok(), "the mapping itself can be measured, too");
    }

    #[test]
    fn arrays_volumes_and_pools_lie_on_parts_of_one_logged_device() {
        for above in ["md: {level: 5, consistency: ppl}", "lvm: {type: raid1}", "zfs: {layout: raidz1}"] {
            let found = of(&format!("{LOG}- luns: {{count: 4}}\n- {above}\n")).unwrap();
            assert_eq!(found.above("dm").len(), 2, "{above}");
        }
        let spread = of(&format!("{LOG}- luns: {{count: 2}}\n- btrfs: {{data: raid1}}\n")).unwrap();
        assert_eq!(spread.above("dm").len(), 2);
    }

    #[test]
    fn what_could_not_be_replayed_is_refused() {
        for (rest, told) in [
            ("- {on: [zram/1], dm: {log_writes: {}}}\n".to_string(), "needs 2 to 2 devices and has 1"),
            ("- {on: [zram/1, zram/2], dm: {log_writes: {points: 1}}}\n".into(), "1 is outside 2 to 10000"),
            (
                format!("{LOG}- {{name: b, on: [zram/3, zram/4], dm: {{log_writes: {{}}}}}}\n"),
                "one log of writes at most",
            ),
            (
                format!("{LOG}- partition: {{count: 4}}\n- md: {{level: 5}}\n"),
                "a layer of kind `partition` cannot be replayed",
            ),
            (format!("{LOG}- {{on: [dm, zram/3], md: {{level: 1}}}}\n"), "on a log of writes and on something else"),
            (format!("{LOG}- {{name: sums, dm: {{integrity: journal}}}}\n"), "a layer of kind `dm` cannot be replayed"),
            (
                format!("{LOG}- nvme_of: {{transport: tcp}}\nacross: {{storage: 10.0.0.1, client: 10.0.0.2}}\n"),
                "stand of several hosts do not go together",
            ),
            (
                format!("{LOG}- {{on: [dm, zram/3], btrfs: {{data: raid1}}}}\n"),
                "on a log of writes and on something else",
            ),
            (format!("{LOG}- {{on: [zram/3], fs: {{type: xfs}}}}\n"), "one thing is measured, and it lies on the log"),
            (format!("{LOG}- luns: {{count: 2}}\n"), "one thing is measured"),
        ] {
            let error = of(&rest).unwrap_err();
            assert!(error.message.en.contains(told), "{rest}: {error}");
            assert!(error.message.en.starts_with("s.yaml:") && error.message.ru != error.message.en);
        }
    }
}
