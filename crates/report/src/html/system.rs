//! What was measured on what: host, target, device stack, engine, what the tool itself cost, and how
//! to repeat the run.

use super::{Page, facts, hosts, table};
use crate::figures::NONE;
use crate::markup::Markup;
use crate::shell;
use crate::words;
use std::collections::BTreeSet;
use stend_analyse::findings::ToolCost;
use stend_base::{Bytes, Nanos, Say, format, say, say_in};
use stend_record::targets::devices;
use stend_record::{Device, EngineFacts, HostFacts, HostRecord, RunRecord, TargetFacts};

/// The section.
pub fn section(m: &mut Markup, page: &Page) {
    super::section(m, "system", &say!("System", "Система"), |m| {
        let unknown = say!("not recorded", "не записано");
        // The first of several load hosts is shown whole, the others in their table.
        let first = page.run.several_loads().first().map_or(String::new(), |(_, name)| format!(" {name}"));
        match page.run.load().targets.as_slice() {
            [] => {
                m.line("h3", "", &say!("Target", "Объект"));
                m.line("p", "", &unknown);
            }
            [target] => {
                m.line("h3", "", &say!("Target", "Объект"));
                facts(m, &target_rows(target));
                stack(m, &devices(&page.run.load().targets));
            }
            several => {
                targets(m, several);
                stack(m, &devices(several));
            }
        }
        m.line("h3", "", &say!("Host{first}", "Хост{first}"));
        match &page.run.load().facts {
            Some(host) => facts(m, &host_rows(host)),
            None => m.line("p", "", &unknown),
        }
        hosts::machines(m, page);
        for (_, storage) in page.run.storages() {
            let name = &storage.name;
            m.line("h3", "", &say!("Storage host {name}", "Машина с накопителями {name}"));
            facts(m, &host_beside_rows(say!("Hands out", "Отдаёт"), storage));
            stack(m, &devices(&storage.targets));
        }
        for (_, host) in page.run.observed() {
            let name = &host.name;
            m.line("h3", "", &say!("Watched host {name}", "Машина под наблюдением {name}"));
            facts(m, &host_beside_rows(say!("Watched there", "Что наблюдалось"), host));
            stack(m, &devices(&host.targets));
        }
        m.line("h3", "", &say!("Load engine", "Генератор нагрузки"));
        facts(m, &engine_rows(page.run));
        m.line("h3", "", &say!("What Stend itself used", "Что израсходовал сам Stend"));
        facts(m, &cost_rows(&page.findings.cost));
    });
}

fn target_rows(target: &TargetFacts) -> Vec<(Say, Say)> {
    let text = |value: &Option<String>| Say::same(value.clone().unwrap_or_default());
    let size = |bytes: Bytes| Say::both(|lang| format::bytes(bytes, lang));
    let (logical, physical) = (target.logical_block.0, target.physical_block.0);
    let mut rows = vec![
        (say!("Named", "Указан как"), Say::same(&target.named)),
        (say!("Path", "Путь"), Say::same(&target.path)),
        (say!("Kind", "Вид"), words::target_kind(target.kind)),
        (say!("Identity", "Идентификатор"), text(&target.identity)),
        (say!("Size", "Размер"), size(target.size)),
    ];
    if target.free != target.size {
        rows.push((say!("Free", "Свободно"), size(target.free)));
    }
    rows.push((
        say!("Blocks", "Блоки"),
        say!("logical {logical} B, physical {physical} B", "логический {logical} Б, физический {physical} Б"),
    ));
    rows.push((say!("File system", "Файловая система"), text(&target.file_system)));
    rows.push((say!("Mount options", "Параметры монтирования"), text(&target.mount_options)));
    rows
}

/// One line for each of several targets.
fn targets(m: &mut Markup, several: &[TargetFacts]) {
    let count = several.len();
    m.line("h3", "", &say!("Targets: {count}", "Объектов: {count}"));
    m.line(
        "p",
        "",
        &say!(
            "Together, one after the other, they form one range; each has an equal share.",
            "Вместе они образуют одну область, один за другим, с равными долями."
        ),
    );
    let columns = [
        say!("Named", "Указан как"),
        say!("Path", "Путь"),
        say!("Kind", "Вид"),
        say!("Identity", "Идентификатор"),
        say!("Size", "Размер"),
        say!("Blocks", "Блоки"),
        say!("File system", "Файловая система"),
    ];
    table(m, "stack", &columns, |m| {
        for target in several {
            let (logical, physical) = (target.logical_block.0, target.physical_block.0);
            m.el("tr", "", |m| {
                m.with("th", &[("scope", "row")], |m| m.el("code", "", |m| m.text(&target.named)));
                m.el("td", "", |m| m.el("code", "", |m| m.text(&target.path)));
                m.line("td", "", &words::target_kind(target.kind));
                m.el("td", "", |m| m.el("code", "", |m| m.text(target.identity.as_deref().unwrap_or(NONE))));
                m.line("td", "", &Say::both(|lang| format::bytes(target.size, lang)));
                m.line("td", "", &say!("{logical} B, {physical} B", "{logical} Б, {physical} Б"));
                m.line("td", "", &Say::same(target.file_system.clone().unwrap_or_else(|| NONE.to_string())));
            });
        }
    });
}

/// The device under each target and everything below it, indented by depth.
fn stack(m: &mut Markup, devices: &[&Device]) {
    if devices.is_empty() {
        return m.line(
            "p",
            "",
            &say!(
                "No block device could be found below the target.",
                "Под объектом не найдено ни одного блочного устройства."
            ),
        );
    }
    m.line("h4", "", &say!("Devices, from the target down", "Устройства, от объекта вниз"));
    let columns = [
        say!("Device", "Устройство"),
        say!("Kind", "Вид"),
        say!("Model, firmware", "Модель, прошивка"),
        say!("Size", "Размер"),
        say!("Identity", "Идентификатор"),
        say!("Cache, scheduler", "Кэш, планировщик"),
    ];
    table(m, "stack", &columns, |m| {
        for device in devices {
            m.el("tr", "", |m| {
                m.with("th", &[("scope", "row")], |m| {
                    m.el("code", "", |m| {
                        for _ in 1..device.depth.min(16) {
                            m.raw("\u{2003}");
                        }
                        m.raw(if device.depth > 0 { "└ " } else { "" });
                        m.text(&device.name);
                    });
                });
                m.line("td", "", &kind(device));
                m.line("td", "", &joined([device.model.as_deref(), device.firmware.as_deref()]));
                m.line("td", "", &Say::both(|lang| format::bytes(device.size, lang)));
                m.el("td", "", |m| m.el("code", "", |m| m.text(device.identity.as_deref().unwrap_or(NONE))));
                m.line("td", "", &joined([device.write_cache.as_deref(), device.scheduler.as_deref()]));
            });
        }
    });
}

fn kind(device: &Device) -> Say {
    // A virtual disk passes on what it was given.
    let spins = device.rotational == Some(true) && device.kind == "disk" && !device.is_virtual;
    let words = [
        (device.is_virtual, say!("virtual", "виртуальное")),
        (spins, say!("spinning", "вращающееся")),
        (device.rotational == Some(false) && !device.is_virtual, say!("solid state", "твердотельное")),
        (device.removable, say!("removable", "съёмное")),
    ];
    let list = |lang| {
        let (array, transport) = (device.array().unwrap_or_default(), device.transport.as_deref().unwrap_or_default());
        let mut parts = vec![device.kind.as_str(), array.as_str(), transport];
        parts.retain(|part| !part.is_empty());
        parts.extend(words.iter().filter(|(holds, _)| *holds).map(|(_, word)| word.get(lang)));
        parts.join(", ")
    };
    Say::both(list)
}

fn joined(parts: [Option<&str>; 2]) -> Say {
    let present: Vec<&str> = parts.into_iter().flatten().filter(|p| !p.is_empty()).collect();
    Say::same(if present.is_empty() { NONE.to_string() } else { present.join(", ") })
}

fn host_rows(host: &HostFacts) -> Vec<(Say, Say)> {
    let text = |value: &Option<String>| Say::same(value.clone().unwrap_or_default());
    let (cpus, nodes) = (host.cpus, host.numa_nodes.len());
    vec![
        (say!("Name", "Имя"), Say::same(&host.hostname)),
        (say!("System", "Система"), Say::same(&host.os)),
        (say!("Kernel", "Ядро"), Say::same(&host.kernel)),
        (say!("Processor", "Процессор"), Say::same(&host.cpu_model)),
        (say!("CPUs", "Процессоров"), say!("{cpus}, NUMA nodes: {nodes}", "{cpus}, узлов NUMA: {nodes}")),
        (say!("Memory", "Память"), Say::both(|lang| format::bytes(host.memory, lang))),
        (say!("Hypervisor", "Гипервизор"), text(&host.hypervisor)),
        (say!("Clock source", "Источник времени"), text(&host.clock_source)),
        (say!("Frequency governor", "Управление частотой"), text(&host.governor)),
        (say!("Kernel command line", "Командная строка ядра"), Say::same(&host.kernel_command_line)),
        (
            say!("Worker", "Исполнитель"),
            if host.root { say!("as root", "от root") } else { say!("as a user", "от пользователя") },
        ),
    ]
}

/// What of it is of interest, the host, and how well its clock is known.
fn host_beside_rows(targets: Say, host: &HostRecord) -> Vec<(Say, Say)> {
    let paths = host.targets.iter().map(|target| target.path.as_str()).collect::<Vec<_>>().join(", ");
    let mut rows = vec![(targets, Say::same(paths))];
    rows.extend(host.facts.iter().flat_map(host_rows));
    rows.extend(host.clock_uncertainty_ns.map(|off| {
        let off = |lang| format!("± {}", format::latency(Nanos(off), lang));
        (say!("Clock known within", "Часы известны с точностью"), Say::both(off))
    }));
    rows
}

/// Every way in which trials were really submitted, with how many there were of each.
fn engine_rows(run: &RunRecord) -> Vec<(Say, Say)> {
    let mut ways: Vec<(EngineFacts, BTreeSet<u32>, u32)> = Vec::new();
    for outcome in run.trials.iter().filter_map(|t| t.outcome.as_ref()) {
        let mut engine = EngineFacts {
            kernel_workers: None,
            clock_read_ns: 0,
            buffers: None,
            jobs: Vec::new(),
            cpus: Vec::new(),
            ..outcome.engine.clone()
        };
        // Only by whom: job files differ in their seeds.
        if let Some(other) = &mut engine.external {
            (other.job_file, other.start_uncertainty_ns) = (String::new(), 0);
        }
        // The scheduler places threads differently in each trial: the line shows the CPUs of all trials.
        match ways.iter_mut().find(|(known, ..)| *known == engine) {
            Some((_, cpus, n)) => {
                cpus.extend(&outcome.engine.cpus);
                *n += 1;
            }
            None => ways.push((engine, outcome.engine.cpus.iter().copied().collect(), 1)),
        }
    }
    let name = |engine: &EngineFacts| match &engine.external {
        Some(other) => Say::same(format!("{}, {}", other.version, engine.backend)),
        None => Say::same(engine.backend.clone()),
    };
    ways.into_iter().map(|(engine, cpus, n)| (name(&engine), way(&engine, &cpus, n))).collect()
}

fn way(engine: &EngineFacts, cpus: &BTreeSet<u32>, trials: u32) -> Say {
    let trials = words::trials(trials);
    let cpus: Vec<String> = cpus.iter().map(u32::to_string).collect();
    let cpus = if cpus.is_empty() { NONE.to_string() } else { cpus.join(", ") };
    let registered = match engine.registered {
        true => say!("files and buffers registered", "файлы и буферы зарегистрированы"),
        false => say!("nothing registered", "без регистрации"),
    };
    let chosen = engine.chosen.say();
    let syncs = match engine.plain_syncs {
        true => say!("; syncs by plain calls", "; сбросы обычными вызовами"),
        false => Say::same(String::new()),
    };
    let why = match engine.fallback_reason.as_str() {
        "" => String::new(),
        reason => format!(" ({reason})"),
    };
    Say::both(|lang| {
        let threads = say_in!(lang, "load threads on CPU {cpus}", "потоки нагрузки на процессорах {cpus}");
        format!(
            "{}; {}{why}; {}{}; {threads}",
            trials.get(lang),
            chosen.get(lang),
            registered.get(lang),
            syncs.get(lang)
        )
    })
}

fn cost_rows(cost: &ToolCost) -> Vec<(Say, Say)> {
    let missing = || say!("not measurable", "неизмеримо");
    let cpu = |value: Option<f64>| {
        value.filter(|v| v.is_finite()).map_or_else(missing, |v| {
            say!(|lang| "{share} of a CPU", "{share} одного процессора", share = format::percent(v, lang))
        })
    };
    let memory = |value: Option<Bytes>| value.map_or_else(missing, |v| Say::both(|lang| format::bytes(v, lang)));
    vec![
        (say!("Worker, load included", "Рабочий процесс вместе с нагрузкой"), cpu(cost.worker_cpus)),
        (say!("Coordinator", "Координатор"), cpu(cost.coordinator_cpus)),
        (say!("Telemetry", "Телеметрия"), cpu(cost.telemetry_cpus)),
        (say!("Memory of the worker", "Память исполнителя"), memory(cost.worker_memory)),
        (say!("Memory of the coordinator", "Память координатора"), memory(cost.coordinator_memory)),
    ]
}

/// How to run the same plan again.
pub fn repeat(m: &mut Markup, page: &Page) {
    let header = &page.run.header;
    super::section(m, "repeat", &say!("How to repeat", "Как повторить"), |m| {
        m.line("p", "", &say!(
            "This command repeats the plan in a new run file: the same version, seed and range give the same I/Os in the same order.",
            "Эта команда повторит план в новом файле прогона: те же версия, начальное число (seed) и область дают те же операции в том же порядке."
        ));
        m.with("pre", &[("class", "command"), ("tabindex", "0")], |m| {
            m.el("code", "", |m| m.text(&shell::join(&crate::repeat::command(header))));
        });
        let facts = [
            (say!("Seed", "Начальное число"), Say::same(header.inputs.seed.to_string())),
            (say!("Version of Stend", "Версия Stend"), Say::same(&header.stend_version)),
            (say!("Limits of the checks", "Пределы проверок"), Say::same(&page.findings.limits_version)),
            (say!("Run", "Прогон"), Say::same(&header.id)),
        ];
        super::facts(m, &facts);
    });
}
