//! Where a worker runs: on this machine, in a machine of the lab or of libvirt, or on another host. Must not decide what it does there.

use crate::embedded::MACHINES;
use crate::frontend::Frontend;
use crate::machine::{announcement, answers, read_machine, unreadable};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;
use std::time::Duration;
use stend_base::{Error, Result, Say, say};
use stend_lab::{Contents, Image, Standing};
use stend_record::StandText;
use stend_run::Power;
use stend_spec::hosts::{NamedHost, Via};
use stend_spec::order::Order;
use stend_wire::{Host, Remote, StartBy, WorkerCommand};

/// How long a worker of this machine may take until it speaks; milliseconds are usual.
const HELLO_LIMIT: Duration = Duration::from_secs(60);
/// The same of a machine that is up, whose last worker may still be undoing what it made.
const STANDING_LIMIT: Duration = Duration::from_secs(90);
/// Before a host that is no machine of the lab, where both can be named.
const SSH: &str = "ssh:";

/// Hosts as the user names them.
#[derive(Debug, Clone, Default)]
pub struct Hosts {
    /// A machine of the lab: one that is up, or its file.
    pub lab: Option<String>,
    /// Hosts that `ssh` reaches; several make the load together.
    pub ssh: Vec<String>,
    /// The hosts of a stand beside those that are measured: `NAME=HOST`, or `HOST` where there is one.
    pub storage: Vec<String>,
}

impl Hosts {
    /// Those of an order.
    pub(crate) fn of(order: &Order) -> Hosts {
        Hosts { lab: order.lab.clone(), ssh: order.ssh.clone(), storage: order.storage.clone() }
    }
}

/// Where a worker runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum WorkerHost {
    Local,
    /// A machine of the lab: one that is up, or a file.
    Lab(String),
    Remote(Remote),
    /// A virtual machine of libvirt that is up.
    Vm(String),
}

impl WorkerHost {
    /// A host of a file.
    ///
    /// Errors: `Usage` where it is named by what could be an option.
    pub(crate) fn of(host: &NamedHost) -> Result<WorkerHost> {
        match &host.via {
            Via::Vm(machine) => Ok(WorkerHost::Vm(machine.clone())),
            Via::Ssh(_) | Via::Exec { .. } => Remote::of(host).map(WorkerHost::Remote),
        }
    }

    /// All that are measured, one at least: the first as [`measured`](Self::measured) says, behind it the other load hosts.
    pub(crate) fn all_measured(given: &Hosts, stand: Option<&StandText>) -> Result<Vec<WorkerHost>> {
        let first = WorkerHost::measured(given, stand)?;
        if let Some((_, name)) = given.ssh.iter().enumerate().find(|(at, name)| given.ssh[..*at].contains(name)) {
            return Err(named_twice(name, name));
        }
        let others = given.ssh.iter().skip(1).map(|host| Remote::new(host).map(WorkerHost::Remote));
        [Ok(first)].into_iter().chain(others).collect()
    }

    /// What is measured, of several load hosts the first, by `--lab` and `--ssh`, or what the stand makes: then the machine of that name that is up, else its file.
    pub(crate) fn measured(given: &Hosts, stand: Option<&StandText>) -> Result<WorkerHost> {
        let place = match (&given.lab, given.ssh.first()) {
            (Some(lab), _) => WorkerHost::Lab(lab.clone()),
            (None, Some(host)) => WorkerHost::Remote(Remote::new(host)?),
            (None, None) => WorkerHost::Local,
        };
        let file = stand.map(machine_of).transpose()?.flatten();
        let Some((file, stand)) = file.zip(stand) else { return Ok(place) };
        if place != WorkerHost::Local {
            let name = &stand.file;
            return Err(Error::usage(say!(
                "the stand in `{name}` starts its own machine, but another one is named",
                "стенд из `{name}` запускает свою машину, а указана другая"
            ))
            .hint(say!(
                "leave out `--lab` and `--ssh`, or `machine` in the file",
                "уберите `--lab` и `--ssh` или `machine` в файле"
            )));
        }
        let (machine, _) = read_machine(&file)?;
        match stend_lab::find(&machine.name, &stend_lab::runtime_directory()?) {
            Ok(standing) => Ok(WorkerHost::Lab(standing.name)),
            Err(_) => Ok(WorkerHost::Lab(file)),
        }
    }

    /// A host beside the one that is measured: `ssh:HOST`, or a machine of the lab by its name.
    pub(crate) fn beside(name: &str) -> Result<WorkerHost> {
        match name.strip_prefix(SSH) {
            Some(host) => Remote::new(host).map(WorkerHost::Remote),
            None => Ok(WorkerHost::Lab(name.to_string())),
        }
    }

    /// What people call it.
    pub(crate) fn name(&self) -> Say {
        match self {
            WorkerHost::Local => say!("this machine", "эта машина"),
            WorkerHost::Lab(name) | WorkerHost::Vm(name) => Say::same(name),
            WorkerHost::Remote(remote) => Say::same(remote.name()),
        }
    }

    /// The words of a command that is to be carried out there, with a space before them.
    pub(crate) fn words(&self) -> String {
        match self {
            // Machines of libvirt make load, and no command is about one of them alone.
            WorkerHost::Local | WorkerHost::Vm(_) => String::new(),
            WorkerHost::Lab(name) => format!(" --lab {name}"),
            WorkerHost::Remote(remote) => format!(" --ssh {}", remote.name()),
        }
    }

    /// The same where it is a host beside the measured one, as `--storage` takes it.
    pub(crate) fn word_of_storage(&self) -> String {
        match self {
            WorkerHost::Local | WorkerHost::Vm(_) => String::new(),
            WorkerHost::Lab(name) => name.clone(),
            WorkerHost::Remote(remote) => format!("{SSH}{}", remote.name()),
        }
    }

    /// Starts a worker there.
    ///
    /// A machine that is started for it ends with the calling thread, so that must be the one that lives as long as the process.
    pub(crate) fn reach(&self, frontend: &Frontend) -> Result<Host> {
        self.reach_by(&mut |told| frontend.note(told), &mut WorkerCommand::start)
    }

    /// The same, but `start` starts the worker, perhaps on another thread, with which it ends; `tell` hears of what takes a while. A machine
    /// that must be booted ends with the calling thread all the same.
    pub(crate) fn reach_by(&self, tell: &mut dyn FnMut(Say), start: &mut StartBy<'_>) -> Result<Host> {
        match self {
            WorkerHost::Local => start(WorkerCommand::new(own("worker", None)))?.meet(HELLO_LIMIT),
            WorkerHost::Remote(remote) => remote.reach_by(tell, start),
            WorkerHost::Lab(wanted) => in_lab(wanted, tell, start),
            WorkerHost::Vm(name) => {
                let mut command = own("vm", Some(["connect", name]));
                stend_sys::process::die_with_parent(&mut command);
                start(WorkerCommand::new(command))?.meet(STANDING_LIMIT)
            }
        }
    }

    /// The machine of the lab that stays up, if it is one.
    pub(crate) fn standing(&self) -> Option<Standing> {
        let WorkerHost::Lab(wanted) = self else { return None };
        stend_lab::runtime_directory().and_then(|runtime| stend_lab::find(wanted, &runtime)).ok()
    }

    /// Power over that machine.
    pub(crate) fn power(&self) -> Option<Power> {
        let standing = self.standing()?;
        Some(Power { keeps: stend_lab::KEEP.to_string(), cut: Box::new(move || standing.cut()) })
    }

    /// Waits until that machine, whose power a run has cut, answers again.
    pub(crate) fn wait_until_it_answers(&self, frontend: &Frontend) -> Result<()> {
        let Some(standing) = self.standing() else { return Ok(()) };
        let took = standing.back(&|| false)?;
        frontend.note(answers(&standing.name, took));
        Ok(())
    }
}

/// Why one machine is no two load hosts.
pub(crate) fn named_twice(one: &str, other: &str) -> Box<Error> {
    let message = match one == other {
        true => say!("`--ssh` names `{one}` twice", "`--ssh` называет `{one}` дважды"),
        false => say!("`{one}` and `{other}` are the same machine", "`{one}` и `{other}` — одна и та же машина"),
    };
    Error::usage(message).hint(say!(
        "several targets of one host are named with several `--on`",
        "несколько объектов одной машины указываются несколькими `--on`"
    ))
}

/// The machine file of a stand that makes its host, from where this program stands.
pub(crate) fn machine_of(stand: &StandText) -> Result<Option<String>> {
    let machine = stend_spec::parse::stand(&stand.text, &stand.file)?.machine;
    let beside = Path::new(&stand.file).parent().unwrap_or(Path::new(""));
    // Never a name: those have neither a slash nor a dot.
    Ok(machine.map(|machine| Path::new(".").join(beside).join(machine).to_string_lossy().into_owned()))
}

/// The worker of a machine of the lab that is up, or that is started.
fn in_lab(wanted: &str, tell: &mut dyn FnMut(Say), start: &mut StartBy<'_>) -> Result<Host> {
    // A machine that is up comes first, then a file, then what is embedded.
    let up = stend_lab::runtime_directory().and_then(|place| stend_lab::find(wanted, &place));
    match up {
        Ok(standing) => {
            standing.free()?;
            let mut command = own("lab", Some(["connect", wanted]));
            stend_sys::process::die_with_parent(&mut command);
            start(WorkerCommand::new(command))?.meet(STANDING_LIMIT)
        }
        Err(not_up) if !Path::new(wanted).exists() && MACHINES.find(wanted).is_none() => Err(unknown(wanted, &not_up)),
        Err(_) => {
            let (machine, _) = read_machine(wanted)?;
            let cache = stend_lab::cache_directory()?;
            let image = Image::find(&cache, &Contents::of(&machine))?;
            tell(announcement(&machine));
            Ok(stend_lab::boot(&machine, &image, &cache)?.host)
        }
    }
}

/// Neither a file nor the name of a running machine.
fn unknown(wanted: &str, not_up: &Error) -> Box<Error> {
    if wanted.contains(['/', '.']) {
        let told = std::io::Error::from(std::io::ErrorKind::NotFound);
        return unreadable(wanted, &Say::same(told.to_string()));
    }
    let error = Error::new(
        not_up.kind,
        say!(
            "`{wanted}` is neither a machine file nor a running machine",
            "`{wanted}` — не файл машины и не запущенная машина"
        ),
    );
    error.hint(say!(
        "`stend lab list` shows running machines, `stend lab machines` the built-in ones",
        "запущенные покажет `stend lab list`, встроенные — `stend lab machines`"
    ))
}

/// This binary with this verb.
fn own(verb: &str, arguments: Option<[&str; 2]>) -> Command {
    // Not by its path: there may be another build by now, and both ends must be of one.
    let mut command = Command::new("/proc/self/exe");
    command.arg0("stend").arg(verb).args(arguments.into_iter().flatten());
    command
}
