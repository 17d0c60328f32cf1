//! The hosts that make the load of a run: which targets are whose, what several of them cannot do yet, and how they are reached. All of it
//! is said before anything is built or measured. Must not decide what they do.

use crate::frontend::Frontend;
use crate::reaching::{FarHost, Reached, connect};
use crate::worker_host::{WorkerHost, named_twice};
use stend_base::{Error, Result, Say, say};
use stend_record::targets::in_line;
use stend_run::LoadHost;
use stend_spec::hosts::{HostRole, NamedHost};
use stend_spec::keys::order::LOADS;
use stend_spec::order::{LoadOf, NamedText, OnLoss, Order, Work};
use stend_spec::suite::{Suite, SuiteCase};
use stend_wire::Remote;

/// The hosts of an order with their workers, and the targets of the only one, or all of them as the user named them; `place` is where
/// the only one is.
///
/// Errors: `Usage` where the order does not say which targets are whose or names a machine twice, or what keeps a host from being reached.
pub(crate) fn reach(order: &Order, place: &WorkerHost, frontend: &Frontend) -> Result<(Vec<LoadHost>, Vec<String>)> {
    let (far, on) = far(order)?;
    let names: Vec<String> = far.iter().map(|host| host.name.clone()).collect();
    // A stand makes them, on each host under names of its own.
    let targets = if order.stands.is_empty() { shared_out(&names, &on)? } else { vec![Vec::new(); names.len()] };
    if let ([only], Some(_), true) = (far.as_slice(), &order.hosts, on.is_empty()) {
        return Err(no_target(&only.name));
    }
    let of_only = targets.first().filter(|_| order.hosts.is_some()).cloned();
    let mut reached = connect(far, targets, place, frontend)?;
    if reached.len() == 1 {
        return Ok((reached.drain(..).map(|one| LoadHost::only(one.host)).collect(), of_only.unwrap_or(on)));
    }
    let count = reached.len();
    frontend.note(match order.load {
        LoadOf::EachHost => say!(
            "{count} hosts load together; jobs, queue depths, rates and sizes are those of each host",
            "нагружающих машин: {count}; задания, глубина очереди, частота и объёмы — на каждую машину"
        ),
        LoadOf::AllHosts => say!(
            "{count} hosts load together; jobs, queue depths and rates of the suite are divided: each host makes an equal part",
            "нагружающих машин: {count}; задания, глубина очереди и частота из набора разделены между ними поровну"
        ),
    });
    let load = |Reached { name, host, targets }: Reached| LoadHost { name, host, targets };
    Ok((reached.into_iter().map(load).collect(), on))
}

/// The hosts that an order names for a run that goes on, one at least, with the targets that `--on` names for each, which may be none;
/// `place` is where the only one is.
///
/// Errors: as those of [`reach`], but a host needs no target.
pub(crate) fn reach_all(order: &Order, place: &WorkerHost, frontend: &Frontend) -> Result<Vec<Reached>> {
    let (far, targets) = named_again(order)?;
    connect(far, targets, place, frontend)
}

/// The run file has the targets of a run that goes on, those of the file of hosts included, and those that `--on` added to them when it began.
fn named_again(order: &Order) -> Result<(Vec<FarHost>, Vec<Vec<String>>)> {
    let (far, _) = far(order)?;
    let names: Vec<String> = far.iter().map(|host| host.name.clone()).collect();
    let targets = divided(&names, &order.on)?;
    Ok((far, targets))
}

/// What the load hosts of an order are called that are other machines; none where it names none.
///
/// Errors: those of its file of hosts.
pub(crate) fn names(order: &Order) -> Result<Vec<String>> {
    Ok(far(order)?.0.into_iter().map(|host| host.name).collect())
}

/// The hosts of an order that are other machines and make load, and the targets of all, those of one host behind its name.
///
/// Errors: those of its file of hosts, and of names that are none.
fn far(order: &Order) -> Result<(Vec<FarHost>, Vec<String>)> {
    let Some(hosts) = of_file(order, HostRole::Load)? else {
        let named = |host: &String| Ok(FarHost { name: host.clone(), place: WorkerHost::Remote(Remote::new(host)?) });
        return Ok((order.ssh.iter().map(named).collect::<Result<_>>()?, order.on.clone()));
    };
    let own = |host: &NamedHost| host.on.iter().map(|on| format!("{}:{on}", host.name)).collect::<Vec<_>>();
    let on = hosts.iter().flat_map(own).chain(order.on.iter().cloned()).collect();
    let named = |host: &NamedHost| Ok(FarHost { name: host.name.clone(), place: WorkerHost::of(host)? });
    Ok((hosts.iter().map(named).collect::<Result<_>>()?, on))
}

/// The hosts of the file of an order that do this; `None`: it has no file.
///
/// Errors: those of the file, and `Usage` where a group has no host.
pub(crate) fn of_file(order: &Order, role: HostRole) -> Result<Option<Vec<NamedHost>>> {
    let Some(NamedText { file, text }) = &order.hosts else { return Ok(None) };
    let all = stend_spec::parse::hosts(text, file)?;
    let chosen = all.of_groups(&order.groups)?;
    Ok(Some(chosen.into_iter().filter(|host| host.role == role).cloned().collect()))
}

fn no_target(name: &str) -> Box<Error> {
    Error::usage(say!("the load host `{name}` has no target", "у нагружающей машины `{name}` нет объекта")).hint(say!(
        "`on:` in the file of hosts, or `--on PATH`, which is meant on each",
        "`on:` в файле машин или `--on ПУТЬ` — на каждой"
    ))
}

/// Whether several hosts, if the order has them, can do what it asks for.
///
/// Errors: `Usage` with what they cannot do.
pub(crate) fn may(order: &Order) -> Result<()> {
    if !order.storage.is_empty() && order.stands.is_empty() && matches!(order.work, Work::Suite(_)) {
        return Err(no_stand());
    }
    let of_file = of_file(order, HostRole::Load)?;
    let count = of_file.as_ref().map_or(order.ssh.len(), Vec::len);
    if of_file.is_some() && count == 0 {
        let error = Error::usage(say!("the file of hosts has none that makes load", "в файле машин нет нагружающих"));
        return Err(error.hint(say!(
            "one needs `role: load`, which is the default",
            "хотя бы одной нужна `role: load` (по умолчанию)"
        )));
    }
    if order.on_loss != OnLoss::default() && count < 2 {
        return Err(Error::usage(stend_spec::parse::needs_several("--on-loss")));
    }
    if order.load != LoadOf::default() && count < 2 {
        return Err(Error::usage(stend_spec::parse::needs_several("--load")));
    }
    if count < 2 {
        return Ok(());
    }
    if !LOADS.hold(&count) {
        let most = LOADS.most;
        let message =
            say!("{count} hosts are to make load; the limit is {most}", "нагружающих машин: {count}; предел — {most}");
        return Err(Error::usage(message));
    }
    if let Some((_, name)) = order.ssh.iter().enumerate().find(|(at, name)| order.ssh[..*at].contains(name)) {
        return Err(named_twice(name, name));
    }
    let what = match &order.work {
        _ if order.lab.is_some() => Some(Say::same("`--lab`")),
        _ if order.rebuild => Some(Say::same("`--rebuild`")),
        _ if !order.against.is_empty() => Some(Say::same("`--against`")),
        Work::Resume { .. } if order.load != LoadOf::default() => return Err(load_of_resumed()),
        Work::Resume { .. } | Work::Suite(_) => None,
    };
    what.map_or(Ok(()), |what| Err(not_yet(&what)))
}

/// Hosts of a stand where there is none.
pub(crate) fn no_stand() -> Box<Error> {
    Error::usage(say!(
        "`--storage` has no effect without a stand of several hosts",
        "`--storage` не действует без стенда на нескольких машинах"
    ))
    .hint(say!("leave it out, or add `--stand FILE`", "уберите его или добавьте `--stand ФАЙЛ`"))
}

fn load_of_resumed() -> Box<Error> {
    Error::usage(say!(
        "`--load` has no effect on a run that goes on: its load was divided when it began",
        "`--load` не действует при продолжении: нагрузка разделена, когда прогон начался"
    ))
    .hint(say!("leave it out", "уберите его"))
}

/// Whether several hosts can run this suite.
///
/// Errors: `Usage` with what they cannot do.
pub(crate) fn may_run(order: &Order, suite: &Suite) -> Result<()> {
    let count = of_file(order, HostRole::Load)?.map_or(order.ssh.len(), |hosts| hosts.len());
    let found = if count > 1 { beyond_several(suite) } else { None };
    found.map_or(Ok(()), |what| Err(not_yet(&what)))
}

/// The suite as each of several hosts runs it.
///
/// Errors: `Usage` where its load cannot be divided by them.
pub(crate) fn share(order: &Order, suite: &mut Suite) -> Result<()> {
    if order.load == LoadOf::EachHost {
        return Ok(());
    }
    let count = of_file(order, HostRole::Load)?.map_or(order.ssh.len(), |hosts| hosts.len());
    suite.shared_by(count as u32).map_err(|why| {
        Error::usage(why).hint(say!(
            "change these numbers, or leave `--load all-hosts` out: then they are those of each host",
            "измените эти числа или уберите `--load all-hosts`: тогда они будут на каждую машину"
        ))
    })
}

/// What of a suite several hosts cannot do.
fn beyond_several(suite: &Suite) -> Option<Say> {
    if !suite.arms.is_empty() || !suite.observe.is_empty() {
        return Some(say!("the arms of the suite (`arms`, `observe`)", "варианты набора (`arms`, `observe`)"));
    }
    if suite.needs_fio().is_some() {
        return Some(say!("the engine fio", "генератор fio"));
    }
    let streams = |case: &SuiteCase, has: fn(&stend_spec::suite::StreamSpec) -> bool| case.streams.iter().any(has);
    suite.cases.iter().find_map(|case| {
        let key = match () {
            () if case.app.is_some() => "application",
            // The hypervisor makes its events for all of them.
            () if case.faults.iter().any(|fault| fault.act.machine().is_none()) => "events",
            () if streams(case, |stream| stream.trace.is_some()) => "trace",
            () if streams(case, |stream| stream.verify.is_some_and(|verify| verify.crash)) => "verify: {crash: true}",
            () => return None,
        };
        let name = &case.name;
        Some(say!("`{key}` of the case `{name}`", "`{key}` случая `{name}`"))
    })
}

fn not_yet(Say { en, ru }: &Say) -> Box<Error> {
    Error::usage(say!(
        "several load hosts cannot do this yet: {en}",
        "с несколькими нагружающими машинами пока нельзя: {ru}"
    ))
    .hint(say!("name one host with `--ssh`, or leave this out", "укажите в `--ssh` одну машину или уберите это"))
}

/// The targets of each host of a run that begins.
///
/// Errors: `Usage` where a host has no target or another number than the first, or where the name is of no host.
fn shared_out(hosts: &[String], on: &[String]) -> Result<Vec<Vec<String>>> {
    let targets = divided(hosts, on)?;
    let counts: Vec<usize> = targets.iter().map(Vec::len).collect();
    match counts.iter().position(|count| *count != counts[0] || *count == 0) {
        Some(odd) if hosts.len() > 1 => Err(unequal((&hosts[0], counts[0]), (&hosts[odd], counts[odd]))),
        _ => Ok(targets),
    }
}

/// The targets of each host: those with its name in front (`HOST:PATH`), and those with none, which are meant on each.
///
/// Errors: `Usage` where the name is of no host.
fn divided(hosts: &[String], on: &[String]) -> Result<Vec<Vec<String>>> {
    let own = |host: &str, target: &str| target.strip_prefix(host)?.strip_prefix(':').map(String::from);
    let mut targets: Vec<Vec<String>> = vec![Vec::new(); hosts.len()];
    for target in on {
        let of_one = hosts.iter().enumerate().find_map(|(at, host)| Some((at, own(host, target)?)));
        match of_one {
            Some((at, own)) => targets[at].push(own),
            None if hosts.len() > 1 && is_of_a_host(target) => return Err(of_no_host(target, hosts)),
            None => targets.iter_mut().for_each(|targets| targets.push(target.clone())),
        }
    }
    Ok(targets)
}

/// Whether a path stands behind the name of a host.
fn is_of_a_host(target: &str) -> bool {
    target.split_once(":/").is_some_and(|(host, _)| !host.is_empty() && !host.contains('/'))
}

fn of_no_host(target: &str, hosts: &[String]) -> Box<Error> {
    let hosts = in_line(hosts);
    Error::usage(say!(
        "`--on {target}` names none of the load hosts ({hosts})",
        "`--on {target}` не относится ни к одной из нагружающих машин ({hosts})"
    ))
    .hint(say!(
        "write the host as in `--ssh`, or by its name in the file of hosts",
        "пишите машину так же, как в `--ssh`, или по имени из файла машин"
    ))
}

fn unequal((first, count): (&str, usize), (other, odd): (&str, usize)) -> Box<Error> {
    let message = match odd {
        0 => say!("the load host `{other}` has no target", "у нагружающей машины `{other}` нет объекта"),
        _ => say!(
            "load hosts need the same number of targets: `{first}` has {count}, `{other}` has {odd}",
            "у нагружающих машин должно быть поровну объектов: у `{first}` их {count}, у `{other}` — {odd}"
        ),
    };
    Error::usage(message).hint(say!(
        "`--on HOST:PATH` is a target of one host, `--on PATH` one of each",
        "`--on МАШИНА:ПУТЬ` — объект одной машины, `--on ПУТЬ` — по объекту на каждой"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use stend_base::Kind;
    use stend_spec::order::{SuiteWork, VERSION};

    fn words(all: &[&str]) -> Vec<String> {
        all.iter().map(|word| word.to_string()).collect()
    }

    fn order() -> Order {
        let text = format!("{{order: {VERSION}, resume: last, ssh: [a, b]}}");
        let mut order = stend_spec::parse::order(&text, "o").unwrap();
        let suite = NamedText { file: "s.yaml".into(), text: String::new() };
        order.work = Work::Suite(Box::new(SuiteWork {
            suite,
            directory: String::new(),
            traces: Vec::new(),
            seed: 1,
            engine: None,
            repeats: None,
            time_budget: None,
        }));
        order.on = words(&["/x"]);
        order
    }

    /// Gives an order a file of hosts that do this, each reached by the name that it has.
    fn of_hosts(order: &mut Order, role: &str, names: &[&str]) {
        let hosts: String = names.iter().map(|name| format!("  {name}: {{ssh: {name}, role: {role}}}\n")).collect();
        order.ssh.clear();
        order.hosts = Some(NamedText { file: "h.yaml".into(), text: format!("hosts:\n{hosts}") });
    }

    #[test]
    fn hosts_of_a_file_have_targets_of_their_own_and_those_that_are_meant_on_each() {
        let mut order = order();
        of_hosts(&mut order, "load", &["a", "b", "c"]);
        let text = "hosts:\n  a: {ssh: x, on: /dev/sdb, groups: [g]}\n  b: {exec: [sh], on: /data, groups: [g]}\n  c: {ssh: y}\n";
        order.hosts = Some(NamedText { file: "h.yaml".into(), text: text.into() });
        order.groups = words(&["g"]);
        let (hosts, on) = far(&order).unwrap();
        assert_eq!(hosts.iter().map(|host| host.name.as_str()).collect::<Vec<_>>(), ["a", "b"]);
        assert_eq!(on, words(&["a:/dev/sdb", "b:/data", "/x"]));
        order.groups.clear();
        assert_eq!(far(&order).unwrap().0.len(), 3);
        order.groups = words(&["h"]);
        assert!(refused(may(&order))[0].contains("no host is in the group `h`"));
    }

    #[test]
    fn a_run_that_goes_on_takes_no_targets_from_its_file_of_hosts_which_may_lack_some() {
        let mut order = order();
        let text = "hosts:\n  a: {ssh: x, on: /dev/sdb}\n  b: {ssh: y}\n";
        order.hosts = Some(NamedText { file: "h.yaml".into(), text: text.into() });
        let again = |order: &Order| named_again(order).unwrap().1;
        order.on.clear();
        assert_eq!(again(&order), [words(&[]), words(&[])], "--on completed the file when the run began");
        order.on = words(&["b:/dev/sdc"]);
        assert_eq!(again(&order), [words(&[]), words(&["/dev/sdc"])]);
    }

    /// The text of an error in both languages.
    fn refused<T>(result: Result<T>) -> [String; 2] {
        let error = result.err().expect("refused");
        assert_eq!(error.kind, Kind::Usage);
        [error.message.en, error.message.ru]
    }

    #[test]
    fn a_path_is_of_one_host_or_of_each() {
        let of = |hosts: &[&str], on: &[&str]| shared_out(&words(hosts), &words(on));
        let two = of(&["a", "root@b"], &["a:/dev/sdb", "/srv/t", "root@b:wwn:0x5"]).unwrap();
        assert_eq!(two, [words(&["/dev/sdb", "/srv/t"]), words(&["/srv/t", "wwn:0x5"])]);
        assert_eq!(of(&["a", "b"], &["serial:X"]).unwrap(), [words(&["serial:X"]), words(&["serial:X"])]);
        assert_eq!(of(&["a"], &["a:/x", "c:/y"]).unwrap(), [words(&["/x", "c:/y"])], "one host has odd names, too");
        let [en, ru] = refused(of(&["a", "b"], &["a:/x"]));
        assert!(en.contains("`b` has no target") && ru.contains("у нагружающей машины `b` нет объекта"));
        let [en, ru] = refused(of(&["a", "b"], &["a:/x", "/y", "/z", "b:/v", "b:/w"]));
        assert!(en.contains("`a` has 3, `b` has 4") && ru.contains("у `a` их 3, у `b` — 4"), "{en} {ru}");
        let [en, ru] = refused(of(&["a", "b"], &["c:/x"]));
        assert!(en.contains("names none of the load hosts (a, b)") && ru.contains("`--on c:/x`"), "{en}");
    }

    #[test]
    fn what_several_hosts_cannot_do_is_refused_by_its_name() {
        assert!(may(&order()).is_ok());
        let stand = NamedText { file: "a.yaml".into(), text: "stand: a".into() };
        for (change, told) in [
            (Box::new(|o: &mut Order| o.lab = Some("six-nvme".into())) as Box<dyn Fn(&mut Order)>, "--lab"),
            (Box::new(move |o: &mut Order| (o.stands, o.rebuild) = (vec![stand.clone()], true)), "--rebuild"),
            (Box::new(|o: &mut Order| o.against = words(&["/y"])), "--against"),
            (Box::new(|o: &mut Order| o.ssh = words(&["a", "b", "a"])), "names `a` twice"),
            (Box::new(|o: &mut Order| o.ssh = (0..257).map(|n| format!("h{n}")).collect()), "the limit is 256"),
            (Box::new(|o: &mut Order| of_hosts(o, "observe", &["a", "b"])), "has none that makes load"),
            (Box::new(|o: &mut Order| (o.on_loss, o.ssh) = (OnLoss::GoOn, words(&["a"]))), "needs several load hosts"),
        ] {
            let mut order = order();
            change(&mut order);
            let [en, ru] = refused(may(&order));
            assert!(en.contains(told) && en != ru, "{en}");
            order.ssh.truncate(1);
            (order.hosts, order.on_loss) = (None, OnLoss::Stop);
            assert!(may(&order).is_ok(), "one host can");
        }
    }

    #[test]
    fn hosts_of_a_stand_are_refused_where_there_is_none() {
        let order = Order { storage: words(&["x=ssh:y"]), ssh: Vec::new(), ..order() };
        let [en, ru] = refused(may(&order));
        assert!(en.contains("`--storage` has no effect") && ru.contains("без стенда"), "{en} {ru}");
        let stand = NamedText { file: "a.yaml".into(), text: "stand: a".into() };
        assert!(may(&Order { stands: vec![stand], ..order }).is_ok(), "the file of the stand says which hosts it has");
    }

    #[test]
    fn a_run_that_goes_on_keeps_the_load_that_each_host_has() {
        let mut order = order();
        order.work = Work::Resume { resume: "last".into() };
        assert!(may(&order).is_ok());
        order.load = LoadOf::AllHosts;
        let [en, ru] = refused(may(&order));
        assert!(en.contains("its load was divided when it began") && ru.contains("`--load` не действует"), "{en} {ru}");
    }

    #[test]
    fn suites_that_several_hosts_cannot_run_are_refused_by_their_key() {
        let read = "streams: [{op: read, pattern: random, block_size: 4KiB, queue_depth: 1}]";
        let durable = "op: write, pattern: random, block_size: 4KiB, sync: dsync, verify: {crash: true}";
        let open = "op: read, pattern: random, block_size: 4KiB";
        let search = "{search: {from: 50/s, to: 200/s, quantile: 90%, limit: 1ms}}";
        let app = "{run: sysbench-postgresql, instances: {to: 8}, data: 1MiB, clients: 1, rate: 20/s, slo: {quantile: 99%, limit: 100ms, window: 1s}}";
        for (before, case, told) in [
            ("", read.to_string(), None),
            ("", format!("streams: [{{{open}, rate: 100/s}}]"), None),
            ("arms: [{name: a}, {name: b}]\n", read.to_string(), Some("`arms`")),
            ("", format!("engine: fio, {read}"), Some("fio")),
            ("", format!("trial: 4s, events: [{{at: 1s, for: 1s, do: fill, to: 20%}}], {read}"), Some("`events`")),
            ("", format!("application: {app}"), Some("`application`")),
            ("", format!("streams: [{{{open}, rate: {search}}}]"), None),
            ("", "streams: [{trace: {file: a.iolog}}]".to_string(), Some("`trace`")),
            ("", format!("streams: [{{{durable}}}]"), Some("verify: {crash: true}")),
        ] {
            let fill = if case.starts_with("application") { "" } else { "fill: {size: 16MiB}\n" };
            let text = format!("suite: s\n{fill}{before}cases: [{{name: c, {case}}}]\n");
            let suite = stend_spec::parse::suite(&text, "s.yaml").unwrap_or_else(|error| panic!("{text}: {error}"));
            let found = may_run(&order(), &suite);
            match told {
                None => assert!(found.is_ok(), "{text}"),
                Some(told) => assert!(refused(found).iter().all(|found| found.contains(told)), "{text}"),
            }
        }
    }
}
