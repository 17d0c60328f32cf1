//! A mirror of two hosts (DRBD): each keeps a copy on a device of its own, and one of them has the device of the mirror.
//!
//! Its settings are a file of the stand's own, so that neither `/etc/drbd.conf` nor other resources are touched. Metadata are written by
//! `drbdmeta` from a text, because only that gives them a UUID that is drawn for the stand. Source: drbdadm(8), drbdsetup(8), drbdmeta(8),
//! drbd.conf(5) of drbd-utils 9.22 for DRBD 8.4; drivers/block/drbd of Linux 6.12.

use super::super::product::Product;
use super::exports::tell;
use super::{Made, StepContext};
use crate::change::{Action, Change, Condition, MirrorDevice, Wait, run};
use crate::command::words;
use stend_base::{Say, say};
use stend_spec::stand::{Drbd, InitialSync};

/// Numbers of ports begin here.
const PORTS: u16 = 10_000;
/// Numbers of devices begin here: below them are those that people choose.
const MINORS: u32 = 1_000;
/// Where `drbdmeta` notes which device it wrote to last, by the number of the device of the mirror.
const NOTES: &str = "/var/lib/drbd";

/// A mirror as this host has it.
struct Mirror<'a> {
    context: &'a StepContext<'a>,
    drbd: Drbd,
    /// Name of the resource.
    name: String,
    minor: u32,
    uuid: String,
    /// The device with the data, and its bytes.
    data: (&'a str, Option<u64>),
    /// The one with the metadata.
    meta: &'a str,
}

pub(super) fn mirror(context: &StepContext, drbd: Drbd) -> Made {
    let Some(mirror) = Mirror::of(context, drbd) else { return Made::default() };
    let mut steps = vec![mirror.metadata(), mirror.started()];
    if context.takes_in() {
        steps.extend([mirror.filled(), mirror.primary()]);
    }
    let Mirror { minor, uuid, .. } = mirror;
    Made { steps, products: vec![Product::Mirror { minor, uuid }] }
}

/// A mirror as events see it, on its primary.
#[derive(Debug, Clone)]
pub(crate) struct EventMirror {
    /// Number of its device.
    pub minor: u32,
    /// What cuts it off its peer.
    pub disconnect: Action,
    /// What has it connect.
    pub connect: Action,
}

/// Whether the kernel has a resource of this name, be it of others. It does not tell whose it is.
pub(crate) fn named(name: &str) -> Condition {
    Condition::Prints { words: words("drbdsetup status", &[name]), text: "role:".to_string() }
}

/// The mirror as events see it; `None` on the host that is not primary.
pub(crate) fn of_events(context: &StepContext, drbd: Drbd) -> Option<EventMirror> {
    let mirror = Mirror::of(context, drbd).filter(|_| context.takes_in())?;
    let act = |command: &str| mirror.drbdadm(&format!("{command} {}", mirror.name));
    Some(EventMirror { minor: mirror.minor, disconnect: act("disconnect"), connect: act("connect") })
}

impl<'a> Mirror<'a> {
    fn of(context: &'a StepContext<'a>, drbd: Drbd) -> Option<Mirror<'a>> {
        let data = context.below.first()?;
        let meta = if drbd.external { context.below.get(1)? } else { data };
        let minor = MINORS + u32::from(context.names.number(&context.layer.name));
        let uuid = context.names.short_uuid(&context.layer.name);
        let data = (data.path.as_str(), data.size);
        Some(Mirror { context, drbd, name: context.name(), minor, uuid, data, meta: &meta.path })
    }

    fn device(&self) -> MirrorDevice {
        MirrorDevice { minor: self.minor, uuid: self.uuid.clone() }
    }

    fn at(&self, end: &str) -> String {
        self.context.names.file(&self.context.layer.name, end)
    }

    /// Where metadata lie, in the words of `drbdmeta`.
    fn index(&self) -> &'static str {
        if self.drbd.external { "flex-external" } else { "internal" }
    }

    fn drbdmeta(&self, command: &str, more: &[&str]) -> Action {
        let minor = self.minor;
        // No questions: what would be asked about was looked at before.
        let line = format!("drbdmeta --force {minor} v08 {} {} {command}", self.meta, self.index());
        run(&line, more)
    }

    fn drbdadm(&self, command: &str) -> Action {
        run(
            "drbdadm --config-file",
            &[&[self.at("res").as_str()], &command.split(' ').collect::<Vec<_>>()[..]].concat(),
        )
    }

    fn metadata(&self) -> Change {
        let (text, note, meta) = (self.at("md"), format!("{NOTES}/drbd-minor-{}.lkbd", self.minor), self.meta);
        let mark = Condition::Mark { device: meta.to_string(), uuid: self.uuid.clone() };
        let (data, bytes) = self.data;
        let blank = (self.drbd.initial_sync == InitialSync::Skip)
            .then(|| Action::MustBeBlank { device: data.to_string(), bytes });
        let gone = |path: String| (Condition::Path(path.clone()), run("rm --", &[&path]));
        let mut apply: Vec<Action> = blank.into_iter().collect();
        apply.extend([tell(text.clone(), &self.new_metadata()), self.drbdmeta("restore-md", &[&text])]);
        Change {
            erases: self.context.erases(),
            apply,
            undo: vec![(mark.clone(), self.drbdmeta("wipe-md", &[])), gone(text), gone(note)],
            ..Change::new(say!("write the metadata of DRBD to {meta}", "записать метаданные DRBD на {meta}"), mark)
        }
    }

    /// Metadata of a copy that has never been taken for the one that counts, as `drbdmeta create-md` makes them, and with a UUID.
    //= drbd 8.4, drivers/block/drbd/drbd_int.h: UUID_JUST_CREATED is 4
    fn new_metadata(&self) -> String {
        let (zero, uuid) = ("0x0000000000000000;", self.uuid.to_uppercase());
        [
            "version \"v08\";".to_string(),
            format!("uuid {{ 0x0000000000000004; {zero} {zero} {zero} flags 0x00000000; }}"),
            "la-size-sect 0;".into(),
            "bm-byte-per-bit 4096;".into(),
            format!("device-uuid 0x{uuid};"),
            "la-peer-max-bio-size 0;".into(),
            "al-stripes 1;".into(),
            "al-stripe-size-4k 8;".into(),
            "bm { }".into(),
        ]
        .join("\n")
    }

    fn started(&self) -> Change {
        let (settings, name, letter) = (self.at("res"), &self.name, self.drbd.protocol.letter());
        let [_, peer] = self.ends();
        // Its number follows from the stand: a resource of others that has only its name stays.
        //= drbd-utils 9.22, user/v84/drbdsetup.c, show_scmd(): "device", tabs, "minor %d;"
        let known =
            Condition::Prints { words: words("drbdsetup show", &[name]), text: format!("minor {};", self.minor) };
        Change {
            apply: vec![
                Action::Module("drbd".into()),
                tell(settings.clone(), &self.settings()),
                self.drbdadm(&format!("up {name}")),
            ],
            undo: vec![
                (known, run("drbdsetup down", &[name])),
                (Condition::Path(settings.clone()), run("rm --", &[&settings])),
            ],
            // The peer is built first.
            wait: self.context.takes_in().then(|| Wait::Peer(self.device(), peer.clone())),
            ..Change::new(
                say!(
                    "start the mirror {name} with {peer}, protocol {letter}",
                    "запустить зеркало {name} с {peer}, протокол {letter}"
                ),
                Condition::Mirror(self.device()),
            )
        }
    }

    /// Address and port of this host and of the other one.
    fn ends(&self) -> [String; 2] {
        let port = PORTS + self.context.names.number(&self.context.layer.name) % 10_000;
        let first = |addresses: &[String]| format!("{}:{port}", addresses.first().map_or("127.0.0.1", String::as_str));
        let (from, to) = self.context.way.map_or((&[][..], &[][..]), |way| (way.from, way.to));
        match self.context.takes_in() {
            true => [first(to), first(from)],
            false => [first(from), first(to)],
        }
    }

    /// Addresses tell the hosts apart, not their names. What DRBD does where it found both copies written apart is left at its
    /// default: nothing is discarded. No other host is let in that does not know a word of the stand.
    fn settings(&self) -> String {
        let (letter, minor, secret) =
            (self.drbd.protocol.letter(), self.minor, self.context.secret().unwrap_or_default());
        let lasting = |device: &str| (self.context.lasting)(device);
        let data = lasting(self.data.0);
        let meta = if self.drbd.external { lasting(self.meta) } else { "internal".to_string() };
        let [here, there] = self.ends();
        let mut lines = vec![
            "global { usage-count no; }".to_string(),
            format!("resource \"{}\" {{", self.name),
            format!("net {{ protocol {letter}; cram-hmac-alg sha1; shared-secret \"{secret}\"; }}"),
        ];
        lines.extend(
            self.drbd.resync_rate.map(|rate| format!("disk {{ resync-rate {}k; c-plan-ahead 0; }}", rate.0 / 1024)),
        );
        lines.extend([
            format!("volume 0 {{ device minor {minor}; disk \"{data}\"; meta-disk {meta}; }}"),
            format!("floating {here} {{ }}"),
            format!("floating {there} {{ }}"),
            "}".to_string(),
        ]);
        lines.join("\n")
    }

    /// Both copies are new: that of the primary is taken for the one that counts, or both are blank and so the same.
    fn filled(&self) -> Change {
        let (name, device) = (&self.name, self.data.0);
        let (what, command): (Say, String) = match self.drbd.initial_sync {
            InitialSync::Skip => (
                say!(
                    "take both copies of {name} for equal: both are blank",
                    "считать обе копии {name} одинаковыми: обе пусты"
                ),
                format!("new-current-uuid --clear-bitmap {name}/0"),
            ),
            InitialSync::Wait | InitialSync::Beside => (
                say!(
                    "take what is on {device} for the contents of {name}, and copy it to the peer",
                    "взять содержимое {device} за содержимое {name} и копировать его на вторую машину"
                ),
                format!("primary --force {name}"),
            ),
        };
        let [_, peer] = self.ends();
        let wait = (self.drbd.initial_sync != InitialSync::Beside).then(|| Wait::Mirror(self.device(), peer));
        Change {
            apply: vec![self.drbdadm(&command)],
            wait,
            ..Change::new(what, Condition::MirrorFilled(self.device()))
        }
    }

    fn primary(&self) -> Change {
        let name = &self.name;
        let primary = Condition::MirrorPrimary(self.device());
        Change {
            apply: vec![self.drbdadm(&format!("primary {name}"))],
            ..Change::new(say!("make this host primary of {name}", "сделать эту машину основной для {name}"), primary)
        }
    }
}
