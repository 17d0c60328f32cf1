//! The words of `stend stand`.

use super::{option, positional, verb};
use clap::Command;
use stend_base::{Lang, Say, say};

pub(super) fn stand(lang: Lang) -> Command {
    let about = say!(
        "build layers of storage from a file: `plan` shows the exact commands, `up` builds the layers, `status` shows their state, `down` removes them. `up` destroys the data of the drives it names (`plan` shows which) and needs root",
        "собрать слои хранилища по файлу: `plan` показывает точные команды, `up` собирает слои, `status` показывает их состояние, `down` убирает. `up` уничтожает данные названных накопителей (каких — покажет `plan`) и требует прав root"
    );
    let examples = "stend stand plan btrfs-raid1\nstend stand up btrfs-raid1\nstend stand status\n\
                    stend stand down btrfs-raid1\nstend run quick --stand btrfs-raid1";
    let action = positional("ACTION", Say::same("plan, up, status, down"), lang)
        .value_parser(["plan", "up", "status", "down"])
        .hide_possible_values(true);
    let what = say!(
        "a stand file, or the name of a built-in one (`stend stands`); for `status` and `down` also the name of a stand (`status` alone shows all)",
        "файл стенда или имя встроенного (`stend stands`); для `status` и `down` также имя стенда (один `status` показывает все)"
    );
    let lab = say!(
        "in a machine of the lab: the name of a running one, or for `plan` a machine file",
        "в машине лаборатории: имя запущенной, а для `plan` — файл машины"
    );
    let storage = say!(
        "the host that has the drives of a stand over several hosts: `NAME=ssh:HOST`, or `NAME=MACHINE` with the name of a running machine of the lab; once for each; `NAME=` may be left out where there is one",
        "машина с накопителями для стенда на нескольких машинах: `ИМЯ=ssh:МАШИНА` или `ИМЯ=ИМЯ` запущенной машины лаборатории; для каждой отдельно; если она одна, `ИМЯ=` не нужно"
    );
    let ssh = say!(
        "on another host that `ssh` knows (root@db1); this program is copied there once; repeat for more load hosts",
        "на другой машине, известной `ssh` (root@db1); программа копируется туда один раз; повторите для других нагружающих машин"
    );
    let arguments = vec![
        action,
        positional("FILE", what, lang).required(false),
        option("lab", "FILE|NAME", lab, lang),
        option("ssh", "HOST", ssh, lang).conflicts_with("lab").action(clap::ArgAction::Append),
        option("storage", "NAME=HOST", storage, lang).action(clap::ArgAction::Append),
    ];
    verb("stand", about, examples, "ACTION [FILE]", arguments, lang)
}

pub(super) fn stands(lang: Lang) -> Command {
    let about = say!(
        "list the built-in stand files, or print one",
        "показать встроенные файлы стендов или текст одного из них"
    );
    let examples = "stend stands\nstend stands soft-raid/md-raid5 > my-stand.yaml\nstend run quick --stand btrfs-raid1";
    let stand = say!(
        "print the file of this stand, to copy it and put your drives in",
        "показать файл этого стенда, чтобы взять его за основу: накопители в нём нужно заменить своими"
    );
    verb("stands", about, examples, "[STAND]", vec![positional("STAND", stand, lang).required(false)], lang)
}
