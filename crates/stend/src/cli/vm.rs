//! The words of `stend vm`.

use super::{positional, verb, with_commands};
use clap::{Arg, Command};
use stend_base::{Lang, Say, say};

/// `stend vm` and what it does.
pub fn vm(lang: Lang) -> Command {
    let about = say!(
        "virtual machines of libvirt that load together (`stend run --vm NAME`)",
        "виртуальные машины libvirt, которые нагружают одновременно (`stend run --vm ИМЯ`)"
    );
    let examples = "stend vm plan machines.yaml\n\
                    stend vm up machines.yaml\n\
                    stend run quick --vm web\n\
                    stend vm status web\n\
                    stend vm down web";
    with_commands(verb("vm", about, examples, "COMMAND", Vec::new(), lang), lang)
        .subcommands([plan(lang), up(lang), status(lang), console(lang), down(lang)])
        .subcommand(connect(lang))
}

fn plan(lang: Lang) -> Command {
    let about = say!(
        "show each step, how it is undone, and the XML of each machine; changes nothing",
        "показать каждый шаг, его отмену и XML каждой машины; ничего не меняет"
    );
    action("plan", about, "stend vm plan machines.yaml", "FILE", vec![file(lang)], lang)
}

fn up(lang: Lang) -> Command {
    let about = say!(
        "make the machines of a file, start them and wait until all guests answer",
        "создать машины из файла, запустить и дождаться ответа всех гостей"
    );
    action("up", about, "stend vm up machines.yaml", "FILE", vec![file(lang)], lang)
}

fn status(lang: Lang) -> Command {
    let about = say!("show what machines do", "показать, что делают машины");
    let arguments = vec![name(lang).required(false)];
    action("status", about, "stend vm status\nstend vm status web --json", "[NAME]", arguments, lang)
}

fn console(lang: Lang) -> Command {
    let about = say!("show what a guest printed last", "показать последнее, что напечатал гость");
    let machine = say!("a machine with its number, such as `web-1`", "машина с номером, например `web-1`");
    action("console", about, "stend vm console web-1", "MACHINE", vec![positional("MACHINE", machine, lang)], lang)
}

fn down(lang: Lang) -> Command {
    let about = say!(
        "stop the machines and remove them with their disks; devices stay, with what is on them",
        "остановить машины и удалить вместе с дисками; устройства остаются вместе с данными"
    );
    action("down", about, "stend vm down web", "NAME", vec![name(lang)], lang)
}

fn connect(lang: Lang) -> Command {
    let about = say!(
        "connect the standard streams to the worker of a virtual machine",
        "соединить стандартные потоки с рабочим процессом виртуальной машины"
    );
    let machine = say!("a machine with its number, such as `web-1`", "машина с номером, например `web-1`");
    action("connect", about, "stend vm connect web-1", "MACHINE", vec![positional("MACHINE", machine, lang)], lang)
        .hide(true)
}

fn file(lang: Lang) -> Arg {
    positional("FILE", say!("file of virtual machines", "файл виртуальных машин"), lang)
}

fn name(lang: Lang) -> Arg {
    positional("NAME", say!("name of the machines, as in their file", "имя машин, как в их файле"), lang)
}

fn action(name: &'static str, about: Say, examples: &str, usage: &str, arguments: Vec<Arg>, lang: Lang) -> Command {
    super::action(("vm", name), about, examples, usage, arguments, lang)
}
