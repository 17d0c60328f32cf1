//! The words of `stend stand`.

use super::{option, positional, verb};
use clap::Command;
use stend_base::{Lang, Say, say};

pub(super) fn stand(lang: Lang) -> Command {
    let about = say!(
        "layers of storage by a file: `plan` shows the exact commands, `up` builds them, `status` shows how they are, `down` takes away what was made",
        "слои хранилища по файлу: `plan` показывает точные команды, `up` собирает, `status` показывает состояние, `down` убирает созданное"
    );
    let examples = "stend stand plan stands/btrfs-raid1.yaml\nstend stand up stands/btrfs-raid1.yaml\nstend stand status\n\
                    stend stand down btrfs-raid1\nstend run quick --stand stands/btrfs-raid1.yaml";
    let action = positional("ACTION", Say::same("plan, up, status, down"), lang)
        .value_parser(["plan", "up", "status", "down"])
        .hide_possible_values(true);
    let what = say!(
        "a stand file; for `status` and `down` also the name of a stand (`status` alone shows all)",
        "файл стенда; для `status` и `down` также имя стенда (один `status` показывает все)"
    );
    let lab = say!(
        "in a machine of the lab: the name of one that is up, or for `plan` a machine file",
        "в машине лаборатории: имя запущенной, а для `plan` — файл машины"
    );
    let storage = say!(
        "for a stand with `across`: the host that has its drives: `ssh:HOST`, or the name of a machine of the lab that is up",
        "для стенда с `across`: машина с его накопителями: `ssh:HOST` или имя запущенной машины лаборатории"
    );
    let ssh = say!(
        "on another host, as `ssh` knows it (root@db1); this program is copied there once",
        "на другой машине, известной `ssh` (root@db1); программа копируется туда один раз"
    );
    let arguments = vec![
        action,
        positional("FILE", what, lang).required(false),
        option("lab", "FILE|NAME", lab, lang),
        option("ssh", "HOST", ssh, lang).conflicts_with("lab"),
        option("storage", "NAME", storage, lang),
    ];
    verb("stand", about, examples, "ACTION FILE", arguments, lang)
}
