//! The page of conditions: host, target and command, the suite word by word, and every limit that something was held against.

use super::page::Page;
use crate::words;
use rust_xlsxwriter::XlsxError;
use stend_analyse::Findings;
use stend_analyse::findings::CheckId;
use stend_analyse::limits::list;
use stend_base::{Say, format, say};
use stend_record::{Role, RunRecord};

pub(super) fn fill(page: &mut Page<'_>, run: &RunRecord, findings: &Findings) -> Result<(), XlsxError> {
    page.widths(&[34.0, 90.0])?;
    let lang = page.lang;
    let row = |page: &mut Page<'_>, name: Say, value: &str| -> Result<(), XlsxError> {
        if !value.is_empty() {
            page.text(0, name.get(lang))?;
            page.text(1, value)?;
            page.next();
        }
        Ok(())
    };
    row(page, say!("run", "прогон"), &findings.run)?;
    row(page, say!("command", "команда"), &run.header.command_line.join(" "))?;
    row(page, say!("seed", "начальное число"), &run.header.inputs.seed.to_string())?;
    for host in run.hosts() {
        let name = match host.role {
            Role::Load => say!("host", "машина"),
            Role::Storage => say!("storage host", "машина с накопителями"),
            Role::Observe => say!("watched host", "машина под наблюдением"),
        };
        let Some(host) = &host.facts else { continue };
        row(page, name, &host.hostname)?;
        row(page, say!("kernel", "ядро"), &host.kernel)?;
        row(page, say!("system", "система"), &host.os)?;
        row(page, say!("CPU", "процессор"), &format!("{} × {}", host.cpus, host.cpu_model))?;
        row(page, say!("memory", "память"), &format::bytes(host.memory, lang))?;
        row(page, say!("hypervisor", "гипервизор"), host.hypervisor.as_deref().unwrap_or_default())?;
    }
    let own = run.load().targets.iter().map(|target| (say!("target", "объект"), target));
    let handed_out = run.storages().flat_map(|(_, storage)| &storage.targets);
    for (name, target) in own.chain(handed_out.map(|target| (say!("handed out", "отдаётся"), target))) {
        let kind = words::target_kind(target.kind);
        let file_system = target.file_system.as_ref().map_or(String::new(), |name| format!(", {name}"));
        let size = format::bytes(target.size, lang);
        row(page, name, &format!("{}: {}{file_system}, {size}", target.named, kind.get(lang)))?;
        for device in &target.devices {
            let parts = [Some(&device.name), Some(&device.kind), device.model.as_ref(), device.firmware.as_ref()];
            let parts = parts.into_iter().flatten().map(String::as_str).chain(device.identity.as_deref());
            row(page, say!("device", "устройство"), &parts.collect::<Vec<_>>().join(", "))?;
        }
    }
    page.next();
    for limit in list::all() {
        let (checks, Say { en, ru }) = (CheckId::codes(limit.checks).join(" "), limit.meaning);
        let name = if checks.is_empty() { say!("{en}", "{ru}") } else { say!("{checks}: {en}", "{checks}: {ru}") };
        row(page, name, limit.value.say().get(lang))?;
    }
    page.next();
    page.list(run.header.suite_text.lines(), |page, line| page.text(1, line))
}
