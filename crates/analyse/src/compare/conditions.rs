//! The circumstances of a run that a comparison must know: what is not the same explains, or spoils,
//! every difference. What a run measured is no circumstance.

use super::{ArmCondition, Condition};
use crate::findings::Findings;
use crate::phrase::method;
use stend_base::{Bytes, Nanos, Say, format, say, say_in};
use stend_record::{
    ArmFacts, Device, HYPERVISOR, HostFacts, HostId, HostRecord, RunRecord, TargetFacts, TargetKind, TrialOutcome,
};
use stend_spec::workload::{Pages, Submit};

/// Key, name and value of one circumstance of one run; the value is empty where it is not known.
type Item = (&'static str, Say, Say);

/// The conditions of all runs: those that differ, and those that are the same. What is known of none is
/// in neither.
pub fn split(runs: &[(&RunRecord, &Findings)]) -> (Vec<Condition>, Vec<Condition>) {
    let mut all: Vec<Condition> = Vec::new();
    for (i, (record, findings)) in runs.iter().enumerate() {
        for (key, name, value) in of_run(record, findings) {
            add(&mut all, i, ArmCondition { key: key.to_string(), name, value });
        }
        for condition in observed(record) {
            add(&mut all, i, condition);
        }
    }
    all.iter_mut().for_each(|condition| condition.values.resize(runs.len(), unknown()));
    all.retain(|condition| condition.values.iter().any(|value| !value.en.is_empty()));
    all.into_iter().partition(|condition| condition.values.iter().any(|value| *value != condition.values[0]))
}

/// Adds the value that a condition has in run number `run`, the first of which is 0.
fn add(all: &mut Vec<Condition>, run: usize, condition: ArmCondition) {
    let ArmCondition { key, name, value } = condition;
    let known = match all.iter().position(|c| c.key == key) {
        Some(known) => known,
        None => {
            all.push(Condition { key, name, values: Vec::new() });
            all.len() - 1
        }
    };
    let values = &mut all[known].values;
    values.resize(run, unknown());
    values.push(value);
}

/// The conditions of one arm: host, target, and what the suite observes.
pub fn of_arm(facts: &ArmFacts) -> Vec<ArmCondition> {
    let mut items = machine(Some(&facts.host));
    items.extend(targets(&facts.targets));
    items.extend(devices(&facts.targets));
    let known = items.into_iter().map(|(key, name, value)| ArmCondition { key: key.to_string(), name, value });
    known.chain(looked_at(facts)).collect()
}

/// What the suite observes in the arms of a run: of the arm that was entered first, which is the only one
/// in a record of a single arm.
fn observed(record: &RunRecord) -> Vec<ArmCondition> {
    record.arms_entered().next().map_or_else(Vec::new, |(_, _, facts)| looked_at(facts).collect())
}

fn looked_at(facts: &ArmFacts) -> impl Iterator<Item = ArmCondition> {
    let condition = |(name, output): &(String, String)| ArmCondition {
        key: name.clone(),
        name: Say::same(name),
        value: Say::same(output),
    };
    facts.observed.iter().map(condition)
}

/// Always the same keys in the same order.
fn of_run(record: &RunRecord, findings: &Findings) -> Vec<Item> {
    let stand = record.header.stand.as_ref().map_or_else(unknown, |stand| Say::same(&stand.name));
    let mut items = machine(record.load().facts.as_ref());
    items.push(("stand", say!("stand", "стенд"), stand));
    items.extend(targets(&record.load().targets));
    items.extend(devices(&record.load().targets));
    items.extend(storage(record));
    items.push(loads(record));
    items.push(watched(record));
    items.extend(asked(record));
    items.extend(tool(record, findings));
    items
}

fn machine(host: Option<&HostFacts>) -> Vec<Item> {
    let text = |of: fn(&HostFacts) -> String| Say::same(host.map(of).unwrap_or_default());
    let own = |of: fn(&HostFacts) -> &Option<String>| Say::same(host.and_then(|h| of(h).clone()).unwrap_or_default());
    vec![
        ("hostname", say!("host", "хост"), text(|h| h.hostname.clone())),
        ("kernel", say!("kernel", "ядро"), text(|h| h.kernel.clone())),
        ("kernel_command_line", say!("kernel command line", "параметры ядра"), text(|h| h.kernel_command_line.clone())),
        ("os", say!("distribution", "дистрибутив"), text(|h| h.os.clone())),
        ("boot_id", say!("boot", "загрузка"), text(|h| h.boot_id.clone())),
        ("cpu_model", say!("CPU", "процессор"), text(|h| h.cpu_model.clone())),
        ("cpus", say!("CPUs online", "процессоров в работе"), text(|h| h.cpus.to_string())),
        ("numa_nodes", say!("NUMA nodes", "узлов NUMA"), text(|h| h.numa_nodes.len().to_string())),
        ("memory", say!("memory", "память"), size(host.map(|h| h.memory))),
        ("hypervisor", say!("hypervisor", "гипервизор"), own(|h| &h.hypervisor)),
        ("clock_source", say!("clock source", "источник времени"), own(|h| &h.clock_source)),
        ("governor", say!("frequency governor", "регулятор частоты"), own(|h| &h.governor)),
        ("root", say!("worker is root", "исполнитель от root"), host.map_or_else(unknown, |h| yes_no(h.root))),
    ]
}

/// Common properties of several targets appear once; names, identities and sizes are those of all, in order.
fn targets(targets: &[TargetFacts]) -> Vec<Item> {
    let list = |of: fn(&TargetFacts) -> Option<String>| {
        Say::same(targets.iter().filter_map(of).collect::<Vec<_>>().join(", "))
    };
    let text = |of: fn(&TargetFacts) -> Option<String>| each(targets.iter().filter_map(of), |text, _| text.clone());
    // As mke2fs has it, in either language.
    let file_system = |t: &TargetFacts| match (&t.file_system, t.journal) {
        (Some(kind), Some(false)) => Some(format!("{kind} -O ^has_journal")),
        (kind, _) => kind.clone(),
    };
    let sizes = |of: fn(&TargetFacts) -> Bytes| each(targets.iter().map(of), |size, lang| format::bytes(*size, lang));
    let kind = |target: &TargetFacts| match target.kind {
        TargetKind::BlockDevice => say!("block device", "блочное устройство"),
        TargetKind::File => say!("file", "файл"),
        TargetKind::Directory => say!("directory", "каталог"),
        TargetKind::NullDevice => say!("null device", "нулевое устройство"),
    };
    vec![
        ("target", say!("target", "объект"), list(|t| Some(t.path.clone()))),
        ("target_kind", say!("kind of target", "вид объекта"), targets.first().map_or_else(unknown, kind)),
        ("target_identity", say!("identity of the target", "идентификатор объекта"), list(|t| t.identity.clone())),
        ("target_size", say!("size of the target", "размер объекта"), sizes(|t| t.size)),
        ("logical_block", say!("logical block", "логический блок"), sizes(|t| t.logical_block)),
        ("physical_block", say!("physical block", "физический блок"), sizes(|t| t.physical_block)),
        ("file_system", say!("file system", "файловая система"), text(file_system)),
        ("mount_options", say!("mounted with", "параметры монтирования"), text(|t| t.mount_options.clone())),
    ]
}

/// What is known of the devices, from each target down; names such as `sda` change from boot to boot.
fn devices(targets: &[TargetFacts]) -> Vec<Item> {
    let devices = stend_record::targets::devices(targets);
    let list = |of: fn(&Device) -> Option<String>| Say::same(counted(devices.iter().filter_map(|d| of(d))));
    vec![
        ("device_kinds", say!("device stack", "стек устройств"), list(|d| Some(d.kind.clone()))),
        ("device_identities", say!("identities of devices", "идентификаторы устройств"), list(|d| d.identity.clone())),
        ("device_models", say!("models", "модели"), list(|d| d.model.clone())),
        ("device_firmware", say!("firmware", "прошивки"), list(|d| d.firmware.clone())),
        ("schedulers", say!("schedulers", "планировщики"), list(|d| d.scheduler.clone())),
        ("arrays", say!("arrays", "массивы"), list(Device::array)),
        ("write_caches", say!("write cache", "кэш записи"), list(|d| d.write_cache.clone())),
    ]
}

/// The storage hosts and what is below them. What is known of none is left out.
fn storage(record: &RunRecord) -> Vec<Item> {
    let hosts: Vec<&HostFacts> = record.storages().filter_map(|(_, storage)| storage.facts.as_ref()).collect();
    let devices: Vec<&Device> =
        record.storages().flat_map(|(_, storage)| stend_record::targets::devices(&storage.targets)).collect();
    let text = |of: fn(&HostFacts) -> String| Say::same(counted(hosts.iter().map(|host| of(host))));
    let list = |of: fn(&Device) -> Option<String>| Say::same(counted(devices.iter().filter_map(|d| of(d))));
    let there = |Say { en, ru }: Say| say!("{en} of the storage host", "{ru} машины с накопителями");
    let items: Vec<Item> = vec![
        ("storage_hostname", say!("name", "имя"), text(|h| h.hostname.clone())),
        ("storage_kernel", say!("kernel", "ядро"), text(|h| h.kernel.clone())),
        (
            "storage_kernel_command_line",
            say!("kernel command line", "параметры ядра"),
            text(|h| h.kernel_command_line.clone()),
        ),
        ("storage_boot_id", say!("boot", "загрузка"), text(|h| h.boot_id.clone())),
        ("storage_cpu_model", say!("CPU", "процессор"), text(|h| h.cpu_model.clone())),
        ("storage_cpus", say!("CPUs online", "процессоры в работе"), text(|h| h.cpus.to_string())),
        ("storage_memory", say!("memory", "память"), memory(&hosts)),
        ("storage_device_kinds", say!("device stack", "стек устройств"), list(|d| Some(d.kind.clone()))),
        (
            "storage_device_identities",
            say!("identities of devices", "идентификаторы устройств"),
            list(|d| d.identity.clone()),
        ),
        ("storage_device_models", say!("models", "модели"), list(|d| d.model.clone())),
        ("storage_device_firmware", say!("firmware", "прошивки"), list(|d| d.firmware.clone())),
        ("storage_schedulers", say!("schedulers", "планировщики"), list(|d| d.scheduler.clone())),
        ("storage_arrays", say!("arrays", "массивы"), list(Device::array)),
        ("storage_write_caches", say!("write cache", "кэш записи"), list(|d| d.write_cache.clone())),
    ];
    items.into_iter().map(|(key, name, value)| (key, there(name), value)).collect()
}

/// The load hosts where there are several: one alone is described by its own facts.
fn loads(record: &RunRecord) -> Item {
    let hosts = record.several_loads();
    let is_lost = |host: HostId| record.lost_loads().any(|(_, lost, _)| lost == host);
    let named = |lost: &str| {
        let names: Vec<String> = hosts
            .iter()
            .map(|(host, name)| if is_lost(*host) { format!("{name} ({lost})") } else { name.to_string() })
            .collect();
        names.join(", ")
    };
    let (en, ru) = (named("lost"), named("потеряна"));
    ("load_hosts", say!("load hosts", "нагружающие машины"), say!("{en}", "{ru}"))
}

/// The hosts that the user had watched. A hypervisor is watched without a word of the user.
fn watched(record: &RunRecord) -> Item {
    let one = |host: &HostRecord| {
        let kernel = host.facts.as_ref().map(|facts| facts.kernel.as_str()).unwrap_or_default();
        format!("{} ({kernel})", host.name)
    };
    let asked = record.observed().filter(|(_, host)| host.name != HYPERVISOR);
    let hosts: Vec<String> = asked.map(|(_, host)| one(host)).collect();
    ("observed_hosts", say!("hosts watched besides", "машины под наблюдением"), Say::same(hosts.join(", ")))
}

/// `md, disk × 6`: equal neighbours are counted, as what a stack is made of comes in dozens.
fn counted(values: impl Iterator<Item = String>) -> String {
    let mut runs: Vec<(String, u32)> = Vec::new();
    for value in values.filter(|value| !value.is_empty()) {
        match runs.last_mut() {
            Some((last, count)) if *last == value => *count += 1,
            _ => runs.push((value, 1)),
        }
    }
    let shown = runs.into_iter().map(|(value, count)| if count == 1 { value } else { format!("{value} × {count}") });
    shown.collect::<Vec<_>>().join(", ")
}

/// What was asked for, beyond the workload of each case. The seed is no condition: it differs by design, and draws other places and
/// another order of the same experiment.
fn asked(record: &RunRecord) -> Vec<Item> {
    let inputs = &record.header.inputs;
    let distinct = |of: fn(&stend_spec::workload::Trial) -> Nanos| {
        each(record.trials.iter().map(|t| of(&t.asked)), |value, lang| format::duration(*value, lang))
    };
    // It may be unknown for imported trials.
    let working_sets = record.trials.iter().map(|t| t.asked.region.len).filter(|len| len.0 > 0);
    let working_set = each(working_sets, |len, lang| format::bytes(*len, lang));
    let budget = inputs.time_budget.map_or_else(|| say!("none", "нет"), |b| Say::both(|l| format::duration(b, l)));
    let traces: Vec<String> = inputs.traces.iter().map(|t| format!("{} ({:.12})", t.source.file, t.sha256)).collect();
    let traces = if traces.is_empty() { say!("none", "нет") } else { Say::same(traces.join(", ")) };
    let files = inputs.target.room.map_or_else(unknown, |_| crate::phrase::files(inputs.suite.files.as_ref()));
    vec![
        ("suite", say!("suite", "набор"), Say::same(&inputs.suite.name)),
        ("suite_text", say!("text of the suite", "текст набора"), Say::same(digest(&record.header.suite_text))),
        ("blocks", say!("blocks", "блоков"), Say::same(inputs.suite.blocks.to_string())),
        ("time_budget", say!("time budget", "бюджет времени"), budget),
        (
            "fill",
            say!("filled before measuring", "заполнено до измерения"),
            size(record.load().fill.map(|f| f.written)),
        ),
        (
            "precondition",
            say!("preconditioned", "подготовка"),
            record.load().fill.map_or_else(unknown, |fill| method(&fill)),
        ),
        ("rounds", say!("rounds before trials", "раунды перед испытаниями"), rounds(record)),
        ("files", say!("test files", "тестовые файлы"), files),
        ("working_set", say!("working set", "рабочий набор"), working_set),
        ("traces", say!("traces with their SHA-256", "трассы с их SHA-256"), traces),
        ("ramp", say!("ramp", "разгон"), distinct(|t| t.ramp)),
        ("window", say!("window", "окно"), distinct(|t| t.window)),
    ]
}

/// The rounds that cases may have.
fn rounds(record: &RunRecord) -> Say {
    let cases = record.header.inputs.suite.cases.iter();
    let asked: Vec<(u32, Nanos)> = cases.filter_map(|case| case.steady.map(|s| (s.rounds, s.round))).collect();
    if asked.is_empty() {
        return say!("none", "нет");
    }
    each(asked.into_iter(), |(most, round), l| {
        let (most, round) = (most.to_string(), format::duration(*round, l));
        say_in!(l, "at most {most} × {round}", "не более {most} × {round}")
    })
}

fn tool(record: &RunRecord, findings: &Findings) -> Vec<Item> {
    let outcomes = || record.trials.iter().filter_map(|t| t.outcome.as_ref());
    let backends = each(outcomes().map(|o| o.engine.backend.clone()), |name, _| name.clone());
    let own = || "Stend".to_string();
    let made_by = |o: &TrialOutcome| o.engine.external.as_ref().map_or_else(own, |other| other.version.clone());
    let engines = each(outcomes().map(made_by), |name, _| name.clone());
    let reasons = outcomes().map(|o| o.engine.fallback_reason.clone()).filter(|r| !r.is_empty());
    let registered = outcomes().map(|o| o.engine.registered).collect::<std::collections::BTreeSet<_>>();
    let registered = registered.into_iter().map(yes_no).reduce(joined).unwrap_or_else(unknown);
    vec![
        ("engine", say!("I/O made by", "ввод-вывод выполняет"), engines),
        ("backend", say!("I/O submitted by", "подача ввода-вывода"), backends),
        ("fallback", say!("reason of the fall-back", "причина запасного пути"), each(reasons, |r, _| r.clone())),
        ("registered", say!("files and buffers registered", "файлы и буферы зарегистрированы"), registered),
        ("submit", say!("submitted", "подача операций"), submit(record)),
        ("pages", say!("pages of buffers", "страницы буферов"), pages(record)),
        ("stend_version", Say::same("Stend"), Say::same(&record.header.stend_version)),
        ("limits_version", say!("limits of checks", "пределы проверок"), Say::same(&findings.limits_version)),
    ]
}

/// How I/Os were to be given to the kernel.
fn submit(record: &RunRecord) -> Say {
    if record.header.imported.is_some() {
        return unknown();
    }
    let asked = record.trials.iter().flat_map(|trial| &trial.asked.streams).map(|stream| stream.submit);
    each(asked, |submit, l| match submit {
        Submit::Auto => say_in!(l, "by the load", "по нагрузке"),
        Submit::Each => say_in!(l, "one by one", "по одной"),
        Submit::Batch => say_in!(l, "together", "вместе"),
    })
}

/// What buffers lay in: what was asked for, and where the kernel gave less, what was got. Among other tools fio, whose options
/// are repeated, and diskspd tell; applications have memory of their own.
fn pages(record: &RunRecord) -> Say {
    let tool = record.header.imported.as_ref().map(|imported| imported.tool.as_str());
    if !matches!(tool, None | Some("fio" | "diskspd")) || !crate::is_cache_known(record) {
        return unknown();
    }
    let kind = |trial: &stend_record::TrialRecord| {
        let got = trial.outcome.as_ref().filter(|_| trial.asked.app.is_none())?.engine.buffers;
        let short = got.filter(|got| trial.asked.pages == Pages::Huge && got.huge < got.size);
        // In whole percent, rounded down: not all is never 100 %.
        Some((trial.asked.pages, short.map(|got| got.huge.0 * 100 / got.size.0.max(1))))
    };
    each(record.trials.iter().filter_map(kind), |(pages, got), lang| match (pages, got) {
        (Pages::Ordinary, _) => say_in!(lang, "ordinary", "обычные"),
        (Pages::Huge, None) => say_in!(lang, "huge", "большие"),
        (Pages::Huge, Some(got)) => {
            say_in!(lang, "huge, {got} % got", "большие, получено {got} %")
        }
    })
}

/// The different values among all of them, in their order.
fn each<T: Ord>(values: impl Iterator<Item = T>, text: impl Fn(&T, stend_base::Lang) -> String) -> Say {
    let distinct: std::collections::BTreeSet<T> = values.collect();
    Say::both(|lang| {
        let mut shown: Vec<String> = distinct.iter().map(|value| text(value, lang)).collect();
        // What looks the same is not told twice.
        shown.dedup();
        shown.join(", ")
    })
}

fn joined(a: Say, b: Say) -> Say {
    Say { en: format!("{}, {}", a.en, b.en), ru: format!("{}, {}", a.ru, b.ru) }
}

fn size(bytes: Option<Bytes>) -> Say {
    bytes.map_or_else(unknown, |bytes| Say::both(|lang| format::bytes(bytes, lang)))
}

fn memory(hosts: &[&HostFacts]) -> Say {
    Say::both(|lang| counted(hosts.iter().map(|host| format::bytes(host.memory, lang))))
}

fn yes_no(holds: bool) -> Say {
    if holds { say!("yes", "да") } else { say!("no", "нет") }
}

fn unknown() -> Say {
    Say::same("")
}

/// A short mark of a text, equal for equal texts: 64 bits of FNV-1a, made for telling apart and not
/// against forgery. Source: RFC 9923.
fn digest(text: &str) -> String {
    let hash =
        text.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |h, byte| (h ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3));
    format!("{hash:016x}")
}

#[cfg(test)]
mod tests;
