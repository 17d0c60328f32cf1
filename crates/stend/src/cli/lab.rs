//! The words of `stend lab`.

use super::{flag, option, positional, verb, with_commands};
use clap::{Arg, Command};
use stend_base::{Lang, Say, say};

/// `stend lab` and what it does.
pub fn lab(lang: Lang) -> Command {
    let about = say!(
        "virtual machines to rehearse on: for one run (`stend run --lab FILE`), or until `stend lab down`",
        "виртуальные машины для репетиций: на один прогон (`stend run --lab ФАЙЛ`) или до `stend lab down`"
    );
    let examples = "stend lab build\n\
                    stend run quick --lab nvme --on /dev/nvme0n1\n\
                    stend lab up six-nvme\n\
                    stend lab shell six-nvme -- lsblk\n\
                    stend run quick --lab six-nvme --on /dev/nvme0n1\n\
                    stend lab fault six-nvme LAB3 unplug\n\
                    stend lab down six-nvme";
    with_commands(verb("lab", about, examples, "COMMAND", Vec::new(), lang), lang)
        .subcommands([
            build(lang),
            up(lang),
            down(lang),
            cut(lang),
            fault(lang),
            list(lang),
            shell(lang),
            machines(lang),
            like(lang),
        ])
        .subcommand(connect(lang))
}

fn build(lang: Lang) -> Command {
    let about = say!("build the guest image, once", "собрать образ гостевых систем, один раз");
    let file = say!(
        "a machine file, or the name of a built-in one: the image gets its packages",
        "файл машины или имя встроенной: в образ войдут её пакеты"
    );
    let offline = say!("take only packages that were downloaded before", "брать только загруженные ранее пакеты");
    let arguments = vec![positional("FILE", file, lang).required(false), flag("offline", None, offline, lang)];
    action("build", about, "stend lab build\nstend lab build soft-raid --offline", "[FILE]", arguments, lang)
}

fn up(lang: Lang) -> Command {
    let about = say!(
        "start a machine that stays up until `down`",
        "запустить машину, которая работает, пока её не завершит `down`"
    );
    let file = say!(
        "a machine file, or the name of a built-in one (`stend lab machines`)",
        "файл машины или имя встроенной (`stend lab machines`)"
    );
    action("up", about, "stend lab up six-nvme", "FILE", vec![positional("FILE", file, lang)], lang)
}

fn down(lang: Lang) -> Command {
    let about =
        say!("stop a machine; the data on its drives are lost", "завершить машину; данные на её накопителях пропадают");
    action("down", about, "stend lab down nvme", "NAME", vec![name(lang)], lang)
}

fn cut(lang: Lang) -> Command {
    let about = say!(
        "cut the power of a machine and wait until its guest answers again",
        "отключить питание машины и дождаться ответа её гостевой системы"
    );
    action("cut", about, "stend lab cut nvme\nstend lab cut nvme --json", "NAME", vec![name(lang)], lang)
}

fn fault(lang: Lang) -> Command {
    let about = say!(
        "break a drive of a running machine, or repair it with `--end`",
        "сломать накопитель запущенной машины или починить его с `--end`"
    );
    let examples = "stend lab fault six-nvme LAB3 unplug\n\
                    stend lab fault six-nvme LAB3 unplug --end\n\
                    stend lab fault six-nvme LAB3 fail-reads --at 40KiB";
    let drive =
        say!("serial number of the drive, as in the machine file", "серийный номер накопителя, как в файле машины");
    let fault = say!(
        "unplug: the drive is gone; fail, fail-reads, fail-writes: I/Os end with EIO; freeze: one I/O per second; \
         warn: its SMART log says that it is unreliable (NVMe)",
        "unplug: накопителя нет; fail, fail-reads, fail-writes: операции завершаются с EIO; freeze: одна операция в секунду; \
         warn: его журнал SMART говорит, что он ненадёжен (NVMe)"
    );
    let at = say!(
        "only I/Os that touch the 512 bytes at this offset fail",
        "ошибка только там, где операция задевает 512 байт с этого смещения"
    );
    let end = say!("end this fault of the drive", "закончить этот сбой накопителя");
    let arguments = vec![
        name(lang),
        positional("DRIVE", drive, lang),
        positional("FAULT", fault, lang)
            .value_parser(["unplug", "fail", "fail-reads", "fail-writes", "freeze", "warn"])
            .hide_possible_values(true),
        option("at", "OFFSET", at, lang),
        flag("end", None, end, lang),
    ];
    action("fault", about, examples, "NAME DRIVE FAULT", arguments, lang)
}

fn list(lang: Lang) -> Command {
    let about = say!(
        "list running machines; remains of dead ones are removed",
        "показать запущенные машины; следы завершившихся удаляются"
    );
    action("list", about, "stend lab list\nstend lab list --json", "", Vec::new(), lang)
}

fn shell(lang: Lang) -> Command {
    let about = say!(
        "execute a command in a running machine; without one, open a shell",
        "выполнить команду в запущенной машине; без команды — оболочка"
    );
    let examples = "stend lab shell nvme\n\
                    stend lab shell nvme -- mdadm --detail /dev/md0\n\
                    stend lab shell nvme -- sh -c 'cat /proc/mdstat; dmesg | tail'";
    let words = say!(
        "the command and its arguments; `stend` exits with its exit code",
        "команда и её аргументы; `stend` завершается с её кодом выхода"
    );
    let words = positional("COMMAND", words, lang).required(false).num_args(0..).last(true);
    action("shell", about, examples, "NAME [-- COMMAND…]", vec![name(lang), words], lang)
}

fn machines(lang: Lang) -> Command {
    let about = say!(
        "list the built-in machine files, or print one",
        "показать встроенные файлы машин или текст одного из них"
    );
    let machine = say!(
        "print the file of this machine, to copy and change it",
        "показать файл этой машины, чтобы взять его за основу"
    );
    let examples = "stend lab machines\nstend lab machines six-nvme > my-machine.yaml";
    action("machines", about, examples, "[MACHINE]", vec![positional("MACHINE", machine, lang).required(false)], lang)
}

fn like(lang: Lang) -> Command {
    let about = say!(
        "print a machine file with the drives and NUMA nodes of a host",
        "напечатать файл машины с накопителями и узлами NUMA как у данной машины"
    );
    let examples = "stend lab like > lab/here.yaml\n\
                    ssh db1 stend inspect --json | stend lab like - > lab/db1.yaml";
    let file = say!(
        "output of `stend inspect --json` on that host (`-`: standard input); without it, this host",
        "вывод `stend inspect --json` на той машине (`-`: стандартный ввод); без него — эта машина"
    );
    let largest = say!(
        "size of the largest drive; the others are smaller in proportion, none is larger than on the host",
        "размер наибольшего накопителя; остальные меньше в той же пропорции, и ни один не больше исходного"
    );
    let size = option("largest", "SIZE", largest, lang).default_value("1GiB");
    let arguments = vec![positional("FILE", file, lang).required(false), size];
    action("like", about, examples, "[FILE]", arguments, lang)
}

fn connect(lang: Lang) -> Command {
    let about = say!(
        "connect the standard streams to the worker of a running machine",
        "соединить стандартные потоки с рабочим процессом запущенной машины"
    );
    action("connect", about, "stend lab connect nvme", "NAME", vec![name(lang)], lang).hide(true)
}

fn name(lang: Lang) -> Arg {
    positional("NAME", say!("name of a running machine", "имя запущенной машины"), lang)
}

/// What runs in a machine of the lab that stays up.
pub fn guest(lang: Lang) -> Command {
    let about = say!("serve the ports of a machine of the lab", "обслуживать порты машины лаборатории");
    verb("guest", about, "stend guest", "", Vec::new(), lang).hide(true)
}

/// A command of the lab, with the help that every verb has.
fn action(name: &'static str, about: Say, examples: &str, usage: &str, arguments: Vec<Arg>, lang: Lang) -> Command {
    super::action(("lab", name), about, examples, usage, arguments, lang)
}
