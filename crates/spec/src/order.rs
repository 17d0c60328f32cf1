//! An order: everything that a user asks of `stend run` in one go, as data. Two processes that get the same order make the same plan.
//! Pure; must not know who gave it, nor how its progress is shown.

use crate::permission::Permission;
use crate::workload::Engine;
use serde::{Serialize, Serializer};
use stend_base::{Nanos, Say, say};

/// Version of the format; another one is refused.
pub const VERSION: u32 = 1;

/// Everything that is asked for. Serialised it is what [`parse::order`](crate::parse::order) reads.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Order {
    /// Version of the format.
    #[serde(rename = "order")]
    pub version: u32,
    /// What is run.
    #[serde(flatten)]
    pub work: Work,
    /// Stands to put up first, one after the other.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub stands: Vec<NamedText>,
    /// They are built anew for every block.
    #[serde(skip_serializing_if = "is_false")]
    pub rebuild: bool,
    /// Targets, by path or identity, in the order in which they form the range; with several hosts `HOST:PATH`, or a path on each.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub on: Vec<String>,
    /// Targets that are measured in turn with `on`, block by block, each in a run of its own, and compared with it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub against: Vec<String>,
    /// The machine of the lab in which it is measured: the name of one that is up, or a machine file. Without this and `ssh` it is
    /// this machine, or the one that the stand makes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lab: Option<String>,
    /// The hosts that make the load, as `ssh` knows them; of several each measures targets of its own, at the same time.
    #[serde(serialize_with = "one_or_several", skip_serializing_if = "Vec::is_empty")]
    pub ssh: Vec<String>,
    /// A file with the hosts of the run, in place of `ssh` and `observe`, and their targets.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hosts: Option<NamedText>,
    /// Only hosts of these groups of that file; empty: all of them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub groups: Vec<String>,
    /// Whose jobs, queue depths and rates those of the suite are, with several load hosts.
    #[serde(skip_serializing_if = "LoadOf::is_default")]
    pub load: LoadOf,
    /// What becomes of the run when one of several load hosts is lost.
    #[serde(skip_serializing_if = "OnLoss::is_default")]
    pub on_loss: OnLoss,
    /// The hosts of a stand beside the one that is measured, as `--storage` has them.
    #[serde(serialize_with = "one_or_several", skip_serializing_if = "Vec::is_empty")]
    pub storage: Vec<String>,
    /// Hosts that are watched while it is measured, each as `--observe` has it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub observe: Vec<String>,
    /// A file of sources: values that are read meanwhile where no worker can run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sources: Option<NamedText>,
    /// What may be written and executed.
    #[serde(skip_serializing_if = "is_nothing")]
    pub permission: Permission,
    /// What the user calls the run; of a campaign each of its runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// What its results must hold, as a gate file says it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gate: Option<NamedText>,
    /// Limits that they must keep besides, each a line such as `rand-read p99 < 5ms`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub expect: Vec<String>,
    /// Where the run file goes; `None`: it gets a name of its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output: Option<String>,
}

/// What is run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum Work {
    /// A suite.
    Suite(Box<SuiteWork>),
    /// A run that ended early goes on.
    Resume {
        /// Its id, its file, or `last`.
        resume: String,
    },
}

/// A suite with all that its plan follows from, but the target.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SuiteWork {
    /// The suite.
    pub suite: NamedText,
    /// Directory at which its relative paths begin.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub directory: String,
    /// The traces that it replays, each once, in the order of the suite; empty: whatever is there.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub traces: Vec<TraceFile>,
    /// Seed of all random choices; written as text, because not every reader of JSON has whole numbers of 64 bits.
    #[serde(serialize_with = "as_text")]
    pub seed: u64,
    /// Who makes the load of every case, whatever the suite says.
    #[serde(serialize_with = "as_word", skip_serializing_if = "Option::is_none")]
    pub engine: Option<Engine>,
    /// How many blocks it has, whatever the suite says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repeats: Option<u32>,
    /// Wall time that the run should take.
    #[serde(serialize_with = "with_unit", skip_serializing_if = "Option::is_none")]
    pub time_budget: Option<Nanos>,
}

/// What becomes of a run when one of several load hosts is lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum OnLoss {
    /// It ends.
    #[default]
    Stop,
    /// The others go on with the trial and the run.
    GoOn,
}

/// Whose jobs, queue depths and rates those of a suite are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum LoadOf {
    /// Those of each load host: two make twice as much.
    #[default]
    EachHost,
    /// Those of all together: each makes an equal part.
    AllHosts,
}

impl LoadOf {
    fn is_default(&self) -> bool {
        *self == LoadOf::default()
    }
}

impl OnLoss {
    fn is_default(&self) -> bool {
        *self == OnLoss::default()
    }
}

/// The text of a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct NamedText {
    /// Its name, for errors; of a stand also where its relative paths begin.
    pub file: String,
    /// What is in it.
    pub text: String,
}

/// A trace as it was when the order was made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TraceFile {
    /// Its file.
    pub file: String,
    /// SHA-256 of what is in it.
    pub sha256: String,
}

/// Most characters of a label.
pub const LABEL_MAX: usize = 64;

/// Why a run cannot have this label; `None`: it can.
pub fn not_a_label(text: &str) -> Option<Say> {
    let length = text.chars().count();
    if !(1..=LABEL_MAX).contains(&length) || text.chars().any(char::is_control) {
        return Some(say!(
            "a label is 1 to {LABEL_MAX} characters, without control characters",
            "метка — от 1 до {LABEL_MAX} символов без управляющих"
        ));
    }
    (text == "last")
        .then(|| say!("`last` is reserved; choose another label", "имя `last` занято; выберите другую метку"))
}

fn is_false(value: &bool) -> bool {
    !value
}

fn is_nothing(permission: &Permission) -> bool {
    *permission == Permission::default()
}

/// One as a word, as it was before there could be several.
fn one_or_several<S: Serializer>(hosts: &[String], to: S) -> Result<S::Ok, S::Error> {
    match hosts {
        [one] => one.serialize(to),
        several => several.serialize(to),
    }
}

fn as_word<S: Serializer>(engine: &Option<Engine>, to: S) -> Result<S::Ok, S::Error> {
    let word = crate::keys::ENGINES.iter().find(|(.., is)| Some(*is) == *engine).map(|(word, ..)| *word);
    word.serialize(to)
}

fn as_text<S: Serializer>(number: &u64, to: S) -> Result<S::Ok, S::Error> {
    to.collect_str(number)
}

fn with_unit<S: Serializer>(time: &Option<Nanos>, to: S) -> Result<S::Ok, S::Error> {
    let second = Nanos::SECOND.0;
    let text = |Nanos(ns)| if ns % second == 0 { format!("{}s", ns / second) } else { format!("{ns}ns") };
    time.map(text).serialize(to)
}
