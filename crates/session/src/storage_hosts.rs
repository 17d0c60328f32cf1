//! The hosts of a stand beside the one that is measured: each is built there before the hosts that take in what it hands out, and taken
//! down after they have let go.

mod raised;

pub(crate) use raised::StorageHosts;

use crate::control::Control;
use crate::frontend::Frontend;
use crate::worker_host::{Hosts, WorkerHost};
use stend_base::{Error, Kind, Result, say};
use stend_record::{EventKind, StandText};
use stend_spec::stand::{self, Layer, Stand};
use stend_wire::{StandAnswer, StandFile, StandOrder, StandOwner};

/// A host of a stand.
#[derive(Debug, Clone)]
pub(crate) struct StandHost {
    /// Name in the file.
    pub name: String,
    /// The machine.
    pub host: WorkerHost,
    /// It is the only one beside the measured one: its name may be left out.
    only: bool,
}

impl StandHost {
    /// The words of a command that name it, with a space before them.
    pub(crate) fn words(&self) -> String {
        let machine = self.host.word_of_storage();
        match self.only {
            true => format!(" --storage {machine}"),
            false => format!(" --storage {}={machine}", self.name),
        }
    }
}

/// The hosts of a stand beside the measured one, in the order in which they are built; none: the stand has one host.
///
/// Errors: `Usage` where the file of the stand and the command line do not agree on which hosts there are.
pub(crate) fn hosts_of(text: &StandText, given: &Hosts) -> Result<Vec<StandHost>> {
    let stand = stend_spec::parse::stand(&text.text, &text.file)?;
    let names = beside(&stand);
    if names.is_empty() {
        return match given.storage.is_empty() {
            true if given.ssh.len() > 1 => Err(not_for_several(&text.file)),
            true => Ok(Vec::new()),
            false => Err(one_host(&text.file)),
        };
    }
    let measured = WorkerHost::all_measured(given, Some(text))?;
    may_be_loaded_by(measured.len(), &stand, &text.file)?;
    let named = given.storage.iter().map(|word| of_word(word, &names, &stand)).collect::<Result<Vec<_>>>()?;
    let mut found: Vec<StandHost> = Vec::with_capacity(names.len());
    for name in &names {
        let mut machines = named.iter().filter(|(known, _)| known == name);
        let Some((_, host)) = machines.next() else { return Err(not_named(&text.file, &names, name)) };
        if machines.next().is_some() {
            return Err(Error::usage(say!(
                "`--storage {name}=…` is given twice",
                "`--storage {name}=…` указан дважды"
            )));
        }
        measured.iter().try_for_each(|measured| may_be(host, measured))?;
        if let Some(other) = found.iter().find(|other| other.host == *host) {
            let other = &other.name;
            return Err(Error::usage(say!(
                "`{other}` and `{name}` are the same machine",
                "`{other}` и `{name}` — одна и та же машина"
            )));
        }
        found.push(StandHost { name: name.clone(), host: host.clone(), only: names.len() == 1 });
    }
    Ok(found)
}

/// Names of the hosts beside the measured one, in the order in which they are built.
fn beside(stand: &Stand) -> Vec<String> {
    let measured = stand.measured();
    let all = stand.hosts_from_below().unwrap_or_default();
    all.into_iter().filter(|name| Some(*name) != measured).map(str::to_string).collect()
}

/// Which host of the stand a word of `--storage` names, and which machine that is.
fn of_word(word: &str, names: &[String], stand: &Stand) -> Result<(String, WorkerHost)> {
    let (name, machine) = match (word.split_once('='), names) {
        (Some((name, machine)), _) => (name, machine),
        (None, [only]) => (only.as_str(), word),
        (None, _) => {
            let first = names.first().map(String::as_str).unwrap_or_default();
            let all = names.join("`, `");
            return Err(Error::usage(say!(
                "which host of the stand is `--storage {word}`? It has `{all}`",
                "какая машина стенда `--storage {word}`? В нём есть `{all}`"
            ))
            .hint(say!("write `--storage {first}={word}`", "напишите `--storage {first}={word}`")));
        }
    };
    if stand.measured() == Some(name) {
        return Err(Error::usage(say!(
            "`{name}` is the host of the stand that is measured",
            "`{name}` — измеряемая машина стенда"
        ))
        .hint(say!(
            "`--lab NAME` or `--ssh HOST` names it, else it is this host",
            "её задают `--lab ИМЯ` или `--ssh МАШИНА`, иначе это эта машина"
        )));
    }
    if !names.iter().any(|known| known == name) {
        let all = names.join("`, `");
        return Err(Error::usage(say!("the stand has no host `{name}`", "машины `{name}` в стенде нет"))
            .hint(say!("beside the measured one it has: `{all}`", "кроме измеряемой, в нём есть: `{all}`")));
    }
    Ok((name.to_string(), WorkerHost::beside(machine)?))
}

/// Whether so many load hosts can take in what a stand hands out to the measured one.
///
/// Errors: `Usage` where it lets fewer in, or something would be built on the same device by each.
fn may_be_loaded_by(loads: usize, stand: &Stand, file: &str) -> Result<()> {
    if loads < 2 {
        return Ok(());
    }
    let measured = stand.measured().unwrap_or_default();
    let addresses = stand.addresses_of(measured).len();
    if addresses < loads {
        return Err(Error::usage(say!(
            "{loads} hosts are to make load, and the stand in `{file}` has {addresses} addresses of `{measured}`",
            "нагружающих машин: {loads}, а адресов у `{measured}` в стенде из `{file}`: {addresses}"
        ))
        .hint(say!(
            "write the address of each load host: `{measured}: [10.77.0.2, 10.77.0.3]`",
            "укажите адрес каждой нагружающей машины: `{measured}: [10.77.0.2, 10.77.0.3]`"
        )));
    }
    let emulates = |layer: &&Layer| match &layer.kind {
        stand::Kind::NvmeOf(settings) => settings.soft_roce,
        stand::Kind::Iscsi(settings) => settings.soft_roce,
        _ => false,
    };
    if let Some(Layer { name, .. }) = stand.layers.iter().find(emulates) {
        return Err(Error::usage(say!(
            "`{name}` of the stand in `{file}` emulates cards (`soft_roce`), which works with one load host",
            "`{name}` из стенда `{file}` имитирует карты (`soft_roce`), а это возможно с одной нагружающей машиной"
        ))
        .hint(say!("use TCP, or name one `--ssh`", "используйте TCP или укажите один `--ssh`")));
    }
    let there = |layer: &&Layer| match layer.kind {
        stand::Kind::Settings(_) => false,
        stand::Kind::Drbd(_) => layer.to.as_deref() == Some(measured),
        _ => layer.host.as_deref() == Some(measured),
    };
    let Some(layer) = stand.layers.iter().find(there) else { return Ok(()) };
    let name = &layer.name;
    Err(Error::usage(say!(
        "`{name}` of the stand in `{file}` is built on `{measured}`: {loads} load hosts would each build it on the same devices",
        "`{name}` из стенда `{file}` строится на `{measured}`: {loads} нагружающих машин строили бы его на одних и тех же устройствах"
    ))
    .hint(say!(
        "several load hosts use what they take in as it is; build below the export",
        "несколько машин нагружают принятое как есть; стройте ниже экспорта"
    )))
}

fn not_for_several(file: &str) -> Box<Error> {
    Error::usage(say!(
        "the stand in `{file}` is of one host, and several are to make load",
        "стенд из `{file}` — на одной машине, а нагружающих машин несколько"
    ))
    .hint(say!(
        "a stand with `across` or `hosts` hands its devices out to all load hosts: `--storage` has the drives",
        "стенд с `across` или `hosts` отдаёт устройства всем нагружающим машинам; накопители — у `--storage`"
    ))
}

fn one_host(file: &str) -> Box<Error> {
    Error::usage(say!(
        "the stand in `{file}` uses one host: `--storage` has no effect",
        "стенд из `{file}` — на одной машине: `--storage` не нужен"
    ))
    .hint(say!(
        "`hosts` or `across` in the file make a stand of several hosts",
        "стендом на нескольких машинах его делают `hosts` или `across` в файле"
    ))
}

fn not_named(file: &str, names: &[String], name: &str) -> Box<Error> {
    let count = names.len() + 1;
    let error = match names {
        [_] => Error::usage(say!(
            "the stand in `{file}` needs two hosts, but only one is given",
            "стенду из `{file}` нужны две машины, а указана одна"
        )),
        _ => Error::usage(say!(
            "the stand in `{file}` has {count} hosts, and no machine is given for `{name}`",
            "у стенда из `{file}` машин: {count}, и для `{name}` машина не указана"
        )),
    };
    let word = if names.len() == 1 { String::new() } else { format!("{name}=") };
    error.hint(say!(
        "`--lab NAME` or `--ssh HOST` (else this host) is measured; `--storage {word}NAME` or `--storage {word}ssh:HOST` has the drives",
        "измеряется `--lab ИМЯ`, `--ssh МАШИНА` или эта машина; накопители — у `--storage {word}ИМЯ` или `--storage {word}ssh:МАШИНА`"
    ))
}

/// Whether a machine can hand something out to the measured one.
fn may_be(host: &WorkerHost, measured: &WorkerHost) -> Result<()> {
    match host {
        host if measured == host => Err(Error::usage(say!(
            "the measured host and `--storage` are the same machine",
            "измеряемая машина и `--storage` — одна и та же машина"
        ))),
        WorkerHost::Lab(lab) if !matches!(measured, WorkerHost::Lab(_)) => Err(Error::usage(say!(
            "only machines of the lab can reach `{lab}`",
            "машина лаборатории `{lab}` доступна только машинам лаборатории"
        ))
        .hint(say!(
            "measure a machine of the lab too (`--lab NAME`), or use a host outside the lab for storage (`--storage ssh:HOST`)",
            "измеряйте тоже машину лаборатории (`--lab ИМЯ`) или возьмите накопители машины вне её (`--storage ssh:МАШИНА`)"
        ))),
        _ => Ok(()),
    }
}

/// Has a host do something about its part of a stand; everything that it does goes to `tell`.
pub(crate) fn order(
    host: &WorkerHost,
    what: StandOrder,
    control: &Control,
    frontend: &Frontend,
    tell: &mut dyn FnMut(&EventKind),
) -> Result<StandAnswer> {
    let (channel, stopper) = stend_run::channel();
    control.aim(Some(stopper));
    let answer = stend_run::order(host.reach(frontend)?, what, channel, tell);
    control.aim(None);
    answer
}

/// Who has put up the stand of this name on a host, in whole or in part, and its number; `None`: it is not up there.
pub(crate) fn owner_on(
    host: &WorkerHost,
    stand: &str,
    control: &Control,
    frontend: &Frontend,
) -> Result<Option<StandOwner>> {
    match order(host, StandOrder::Owner(stand.to_string()), control, frontend, &mut |_| {})? {
        StandAnswer::Owner(owner) => Ok(owner),
        _ => Err(Error::bug(say!("a host answers another question", "машина отвечает на другой вопрос"))),
    }
}

/// The same of each of these hosts.
pub(crate) fn owners_on(
    hosts: &[StandHost],
    stand: &str,
    control: &Control,
    frontend: &Frontend,
) -> Result<Vec<Option<StandOwner>>> {
    hosts.iter().map(|host| owner_on(&host.host, stand, control, frontend)).collect()
}

/// The number of a stand that is up in part, by what its hosts say.
pub(crate) fn number_of(known: &[Option<StandOwner>]) -> Option<u64> {
    known.iter().flatten().map(|known| known.nonce).next()
}

/// Takes a stand down on these of its hosts, which stand in the order from above; `done` hears of each host whether anything of it was there.
/// A host that is away, or fails, keeps those from which it has taken something in; the others go on.
///
/// Gives the hosts on which it is left, with the reason. Errors: a stop of the user, which goes no further, and those of `done`.
pub(crate) fn take_down(
    stand: &Stand,
    hosts: &[(&WorkerHost, &str)],
    (control, frontend): (&Control, &Frontend),
    tell: &mut dyn FnMut(&EventKind),
    done: &mut dyn FnMut(&WorkerHost, bool) -> Result<()>,
) -> Result<Vec<(String, Box<Error>)>> {
    let mut left: Vec<(String, Box<Error>)> = Vec::new();
    for (host, name) in hosts {
        let ended = match user_of(stand, name, &left) {
            Some(user) => Err(Error::preflight(say!(
                "`{user}` still uses what it hands out",
                "`{user}` ещё пользуется тем, что она отдаёт"
            ))),
            None => owner_on(host, &stand.name, control, frontend).and_then(|owner| match owner {
                Some(_) => order(host, StandOrder::Down(stand.name.clone()), control, frontend, tell).map(|_| true),
                None => Ok(false),
            }),
        };
        match ended {
            Ok(was_there) => done(host, was_there)?,
            Err(error) if matches!(error.kind, Kind::Interrupted | Kind::Terminated) => return Err(error),
            Err(error) => left.push((name.to_string(), error)),
        }
    }
    Ok(left)
}

/// Which of the hosts where a stand is left takes in what this one hands out.
fn user_of<'a>(stand: &Stand, host: &str, left: &'a [(String, Box<Error>)]) -> Option<&'a str> {
    let goes_to = |name: &str| {
        stand.layers.iter().any(|layer| layer.host.as_deref() == Some(host) && layer.to.as_deref() == Some(name))
    };
    left.iter().map(|(name, _)| name.as_str()).find(|name| goes_to(name))
}

/// The part of a stand file for one host; `None`: the measured one.
///
/// Errors: those of the file.
pub(crate) fn part(text: &StandText, host: Option<&str>) -> Result<StandFile> {
    let StandText { file, text, nonce, .. } = text.clone();
    let stand = stend_spec::parse::stand(&text, &file)?;
    let host = host.or(stand.measured()).map(str::to_string);
    Ok(StandFile { text, file, nonce, host })
}

#[cfg(test)]
mod tests {
    use super::*;

    const TWO: &str =
        "stand: two\nacross: {storage: 10.0.0.1, client: 10.0.0.2}\ndrives: [{id: A}]\nlayers: [{nbd: {}}]\n";
    const THREE: &str = "stand: three\nhosts: {client: 10.0.0.3, n1: 10.0.0.1, n2: 10.0.0.2}\n\
        drives: [{id: A, host: n1}, {id: B, host: n2}]\nlayers:\n\
        - {nbd: {}, name: a, on: [d1], to: client}\n- {nbd: {}, name: b, on: [d2], to: client}\n\
        - {md: {level: 0}, on: [a, b]}\n";

    fn found(text: &str, storage: &[&str]) -> Result<Vec<StandHost>> {
        let [file, name] = ["s.yaml", "s"].map(str::to_string);
        let text = StandText { file, name, text: text.to_string(), nonce: 7 };
        let storage = storage.iter().map(|word| word.to_string()).collect();
        hosts_of(&text, &Hosts { ssh: vec!["root@client".into()], storage, ..Hosts::default() })
    }

    #[test]
    fn each_host_beside_the_measured_one_is_a_machine_that_the_user_names() {
        let words = |text, storage: &[&str]| {
            found(text, storage)
                .unwrap()
                .iter()
                .map(|host| format!("{}{}", host.name, host.words()))
                .collect::<Vec<_>>()
        };
        assert_eq!(words(TWO, &["ssh:nas"]), ["storage --storage ssh:nas"]);
        assert_eq!(words(TWO, &["storage=ssh:nas"]), ["storage --storage ssh:nas"]);
        let named = ["n2=ssh:two", "n1=ssh:one"];
        assert_eq!(
            words(THREE, &named),
            ["n1 --storage n1=ssh:one", "n2 --storage n2=ssh:two"],
            "in the order of the build"
        );
        assert!(words("stand: one\ndrives: [{id: A}]\n", &[]).is_empty());
    }

    #[test]
    fn a_host_whose_user_is_left_stays_and_others_do_not() {
        let chain = "stand: chain\nhosts: {low: 10.0.0.1, middle: 10.0.0.2, alone: 10.0.0.4, client: 10.0.0.3}\n\
            drives: [{id: A, host: low}, {id: B, host: alone}]\nlayers:\n\
            - {nbd: {}, name: a, on: [d1], to: middle}\n- {dm: {linear: whole}, on: [a]}\n- {nbd: {}, name: b, on: [dm], to: client}\n\
            - {nbd: {}, name: c, on: [d2], to: client}\n- {md: {level: 0}, on: [b, c]}\n";
        let stand = stend_spec::parse::stand(chain, "s.yaml").unwrap();
        let left = |name: &str| vec![(name.to_string(), Error::preflight(stend_base::Say::same("busy")))];
        let users = |left: &[(String, Box<Error>)]| {
            ["middle", "low", "alone"].map(|host| user_of(&stand, host, left).map(str::to_string))
        };
        assert_eq!(users(&left("client")), [Some("client".into()), None, Some("client".into())]);
        assert_eq!(users(&left("middle")), [None, Some("middle".into()), None]);
        assert_eq!(users(&[]), [None, None, None]);
    }

    #[test]
    fn a_file_and_a_command_line_that_do_not_agree_are_refused() {
        for (text, storage, told) in [
            (TWO, &[][..], "needs two hosts, but only one is given"),
            (THREE, &["n1=ssh:one"], "has 3 hosts, and no machine is given for `n2`"),
            (THREE, &["ssh:one", "n2=ssh:two"], "which host of the stand is `--storage ssh:one`? It has `n1`, `n2`"),
            (THREE, &["n1=ssh:one", "n1=ssh:two", "n2=ssh:three"], "`--storage n1=…` is given twice"),
            (THREE, &["n1=ssh:one", "n2=ssh:one"], "`n1` and `n2` are the same machine"),
            (THREE, &["n1=ssh:one", "n3=ssh:two"], "the stand has no host `n3`"),
            (THREE, &["n1=ssh:one", "client=ssh:two"], "`client` is the host of the stand that is measured"),
            (THREE, &["n1=ssh:one", "n2=ssh:root@client"], "the measured host and `--storage` are the same machine"),
            (THREE, &["n1=one", "n2=ssh:two"], "only machines of the lab can reach `one`"),
            ("stand: one\ndrives: [{id: A}]\n", &["ssh:one"], "uses one host: `--storage` has no effect"),
        ] {
            let error = found(text, storage).unwrap_err();
            assert!(error.message.en.contains(told), "{told}: {error}");
        }
    }

    #[test]
    fn several_load_hosts_use_what_a_stand_hands_out_as_it_is_and_are_all_let_in() {
        let found = |text: &str, loads: &[&str]| {
            let [file, name] = ["s.yaml", "s"].map(str::to_string);
            let text = StandText { file, name, text: text.to_string(), nonce: 7 };
            let ssh = loads.iter().map(|load| load.to_string()).collect();
            let storage = if text.text.contains("across") { vec!["ssh:nas".to_string()] } else { Vec::new() };
            hosts_of(&text, &Hosts { ssh, storage, ..Hosts::default() }).map(|found| found.len())
        };
        let of = |clients: &str, layers: &str| {
            format!(
                "stand: s\nacross: {{storage: 10.0.0.1, client: {clients}}}\ndrives: [{{id: A}}]\nlayers: [{layers}]\n"
            )
        };
        let both = of("[10.0.0.2, 10.0.0.3]", "{nbd: {}}");
        assert_eq!(found(&both, &["a", "b"]).unwrap(), 1);
        assert_eq!(found(&both, &["a"]).unwrap(), 1, "one with two addresses");
        for (text, loads, told) in [
            (
                both,
                &["a", "b", "c"][..],
                "3 hosts are to make load, and the stand in `s.yaml` has 2 addresses of `client`",
            ),
            (
                of("[10.0.0.2, 10.0.0.3]", "{nbd: {}}, {fs: {type: xfs}}"),
                &["a", "b"],
                "`fs` of the stand in `s.yaml` is built on",
            ),
            (
                of("[10.0.0.2, 10.0.0.3]", "{nvme_of: {transport: rdma, soft_roce: true}}"),
                &["a", "b"],
                "emulates cards",
            ),
            (of("[10.0.0.2, 10.0.0.3]", "{nbd: {}}"), &["a", "a"], "`--ssh` names `a` twice"),
            (
                of("[10.0.0.2, 10.0.0.3]", "{nbd: {}}"),
                &["a", "nas"],
                "the measured host and `--storage` are the same machine",
            ),
            ("stand: one\ndrives: [{id: A}]\n".into(), &["a", "b"], "is of one host, and several are to make load"),
            (
                "stand: m\nhosts: {a: [10.0.0.2, 10.0.0.3], b: 10.0.0.1}\ndrives: [{id: A, host: a}, {id: B, host: b}]\n\
                 layers: [{drbd: {protocol: C}, to: a}]\n"
                    .into(),
                &["one", "two"],
                "`drbd` of the stand in `s.yaml` is built on `a`",
            ),
        ] {
            let error = found(&text, loads).unwrap_err();
            assert!(error.message.en.contains(told) && error.message.ru != error.message.en, "{told}: {error}");
        }
        assert!(found(&of("[10.0.0.2, 10.0.0.3]", "{nbd: {}}, {fs: {type: xfs}}"), &["a"]).is_ok());
    }
}
