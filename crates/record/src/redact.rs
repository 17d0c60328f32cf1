//! Takes out of runs what says whose they are and where they were made: names of hosts, serial numbers, paths, addresses, labels of file
//! systems and kernel command lines. The same thing gets the same stand-in everywhere, so that comparisons and findings stay what they are.
//! Names that somebody chose (of suites, cases, stands and runs, and comments) are left: nobody can know what they mean.

mod machine;
mod words;

use crate::event::EventKind;
use crate::facts::{TargetFacts, WriteAccess};
use crate::hosts::HostInfo;
use crate::observed::TrialOutcome;
use crate::run::{RunHeader, RunRecord};
use crate::source::SourceWay;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::collections::BTreeMap;
use stend_base::{Error, Result, Say};

/// What a secret is, as its stand-in says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Secret {
    /// Name of a machine.
    Host,
    /// Serial number, WWN or UUID of a device.
    Identity,
    /// Path, or the name of a file.
    Path,
    /// Address in a network, with its port, or the name of a target there.
    Address,
    /// Label or UUID of a file system.
    Label,
    /// Command line of a kernel.
    CommandLine,
    /// Id of a boot.
    Boot,
}

impl Secret {
    fn stem(self) -> &'static str {
        match self {
            Secret::Host => "host",
            Secret::Identity => "id",
            Secret::Path => "/path",
            Secret::Address => "address",
            Secret::Label => "label",
            Secret::CommandLine => "kernel-command-line",
            Secret::Boot => "boot",
        }
    }
}

/// Secrets of one or more runs with their stand-ins.
#[derive(Debug, Default)]
pub struct Redaction {
    /// Ends every stand-in, so that those of two redactions are never taken for the same thing.
    tag: String,
    known: BTreeMap<String, (Secret, String)>,
    counts: BTreeMap<Secret, u32>,
}

impl Redaction {
    /// Learns the secrets of all `records`; the same thing in two of them gets one stand-in.
    ///
    /// Errors: `Bug` if a part of a record cannot be looked through.
    pub fn of(records: &[&RunRecord]) -> Result<Redaction> {
        let tag = records.first().and_then(|record| record.header.id.rsplit('-').next()).unwrap_or("x").to_string();
        let mut redaction = Redaction { tag, ..Redaction::default() };
        records.iter().try_for_each(|record| redaction.learn_of(record))?;
        Ok(redaction)
    }

    /// Knows no secret yet; every stand-in ends with this tag.
    pub fn tagged(tag: &str) -> Redaction {
        Redaction { tag: tag.to_string(), ..Redaction::default() }
    }

    /// How many different secrets of each kind there are.
    pub fn counts(&self) -> &BTreeMap<Secret, u32> {
        &self.counts
    }

    /// Learns the secrets of a record.
    ///
    /// Errors: `Bug` if a part of it cannot be looked through.
    pub fn learn_of(&mut self, record: &RunRecord) -> Result<()> {
        for host in record.hosts() {
            self.learn_host(host);
            host.samples.iter().for_each(|sample| self.learn_sample(sample));
        }
        for event in &record.events {
            if let EventKind::Arm { facts, .. } = &event.kind {
                let of_arm = HostInfo { facts: Some(facts.host.clone()), ..HostInfo::default() };
                self.learn_host(&of_arm);
                facts.targets.iter().for_each(|target| self.learn_target(target));
            }
            if let EventKind::Problem(problem) = &event.kind {
                self.learn_object(&problem.rule, &problem.object);
            }
        }
        for source in &record.sources {
            self.learn(Secret::Host, &source.info.name);
            // A program says nothing of the user.
            if source.info.way != SourceWay::Command {
                self.learn(Secret::Address, &source.info.place);
                self.learn(Secret::Host, words::host_of(&source.info.place));
            }
        }
        record.header.named.iter().for_each(|named| self.learn_path(named));
        if let Some(stand) = &record.header.stand {
            self.learn(Secret::Path, &stand.file);
        }
        if let Some(gate) = &record.header.gate {
            self.learn(Secret::Path, &gate.file);
        }
        if let Some(imported) = &record.header.imported {
            imported.files.iter().for_each(|file| self.learn(Secret::Path, &file.name));
            imported.targets.iter().for_each(|target| self.learn_path(target));
        }
        // What is found in texts: paths and addresses.
        let hosts: Vec<&HostInfo> = record.hosts().iter().map(|host| &host.info).collect();
        self.scan(&record.header)?;
        self.scan(&record.plan)?;
        self.scan(&hosts)?;
        self.scan(&record.events)?;
        self.scan(&record.sources)?;
        self.scan(&record.state)?;
        self.scan(&record.decisions)?;
        for trial in record.trials.iter().chain(&record.rounds) {
            self.scan(&trial.asked)?;
            for outcome in trial.clone().outcomes_mut() {
                texts_of(outcome).into_iter().for_each(|text| self.scan_text(text));
            }
        }
        Ok(())
    }

    fn learn_host(&mut self, host: &HostInfo) {
        self.learn(Secret::Host, &host.name);
        if let Some(facts) = &host.facts {
            self.learn(Secret::Host, &facts.hostname);
            self.learn(Secret::Boot, &facts.boot_id);
            self.learn(Secret::CommandLine, &facts.kernel_command_line);
        }
        self.learn_ports(&host.ports);
        host.targets.iter().for_each(|target| self.learn_target(target));
    }

    fn learn_target(&mut self, target: &TargetFacts) {
        self.learn_path(&target.named);
        self.learn_path(&target.path);
        let identities = target.devices.iter().filter_map(|device| device.identity.as_deref());
        let asked = match &target.access {
            WriteAccess::Confirm { identity, .. } => Some(identity.as_str()),
            _ => None,
        };
        for identity in identities.chain(target.identity.as_deref()).chain(asked) {
            self.learn(Secret::Identity, words::secret_part(identity));
        }
        for label in target.signatures.iter().filter_map(|signature| signature.label.as_deref()) {
            self.learn(Secret::Label, label);
        }
    }

    /// Learns the name of a host as a user gives it: `db1`, `root@db1`.
    pub fn learn_name(&mut self, host: &str) {
        self.learn(Secret::Host, host);
        self.learn(Secret::Host, words::host_of(host));
    }

    /// Learns a path, unless every machine has it.
    pub fn learn_path(&mut self, path: &str) {
        if !words::is_public(path) {
            self.learn(Secret::Path, path.trim_end_matches('/'));
        }
    }

    fn learn(&mut self, kind: Secret, secret: &str) {
        if secret.is_empty() || self.known.contains_key(secret) {
            return;
        }
        let count = self.counts.entry(kind).or_default();
        *count += 1;
        let stand_in = format!("{}-{count}-{}", kind.stem(), self.tag);
        self.known.insert(secret.to_string(), (kind, stand_in));
    }

    /// Learns the paths and addresses in all texts of a part.
    ///
    /// Errors: `Bug` if it cannot be looked through.
    pub fn scan<T: Serialize>(&mut self, part: &T) -> Result<()> {
        let mut value = serde_json::to_value(part).map_err(lost)?;
        each_text(&mut value, &mut |text| self.scan_text(text));
        Ok(())
    }

    fn scan_text(&mut self, text: &str) {
        for (kind, word) in words::found(text) {
            self.learn(kind, &word);
        }
    }

    /// A text with stand-ins in place of its secrets.
    pub fn text(&self, text: &str) -> String {
        words::replaced(text, &self.known)
    }

    /// The record without its secrets.
    ///
    /// Errors: `Bug` if a part of it cannot be looked through.
    pub fn apply(&self, mut record: RunRecord) -> Result<RunRecord> {
        record.header.command_line = words::shape(&record.header.command_line);
        record.header = self.part::<RunHeader>(&record.header)?;
        record.plan = self.part(&record.plan)?;
        for host in &mut record.hosts {
            host.info = self.part(&host.info)?;
            host.samples.iter_mut().for_each(|sample| self.sample(sample));
        }
        record.events = self.part(&record.events)?;
        for source in &mut record.sources {
            source.info = self.part(&source.info)?;
            source.readings = self.part(&source.readings)?;
        }
        record.state = self.part(&record.state)?;
        record.decisions = self.part(&record.decisions)?;
        for trial in record.trials.iter_mut().chain(&mut record.rounds) {
            trial.asked = self.part(&trial.asked)?;
            let texts = trial.outcomes_mut().flat_map(texts_of);
            texts.for_each(|text| *text = self.text(text));
        }
        Ok(record)
    }

    /// A part without its secrets.
    ///
    /// Errors: `Bug` if it cannot be looked through.
    pub fn part<T: Serialize + DeserializeOwned>(&self, part: &T) -> Result<T> {
        let mut value = serde_json::to_value(part).map_err(lost)?;
        each_text(&mut value, &mut |text| *text = self.text(text));
        serde_json::from_value(value).map_err(lost)
    }
}

/// Everything in an outcome that is not a number.
fn texts_of(outcome: &mut TrialOutcome) -> Vec<&mut String> {
    let engine = &mut outcome.engine;
    let mut texts = vec![&mut engine.backend, &mut engine.fallback_reason];
    if let Some(external) = &mut engine.external {
        texts.extend([&mut external.version, &mut external.job_file]);
    }
    if let Some(app) = &mut outcome.app {
        texts.extend(&mut app.versions);
        for instance in &mut app.instances {
            texts.push(&mut instance.failed);
            texts.extend(instance.windows.iter_mut().map(|window| &mut window.printed));
        }
    }
    texts
}

/// Hands every string below a value to `take`, names of fields excepted.
fn each_text(value: &mut Value, take: &mut impl FnMut(&mut String)) {
    match value {
        Value::String(text) => take(text),
        Value::Array(values) => values.iter_mut().for_each(|value| each_text(value, take)),
        Value::Object(fields) => fields.values_mut().for_each(|value| each_text(value, take)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn lost(error: serde_json::Error) -> Box<Error> {
    Error::bug(Say::same(error.to_string()))
}

#[cfg(test)]
mod tests;
