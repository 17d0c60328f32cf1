//! What a drive says of its own state, through `smartctl`, of an NVMe drive else through `nvme`. Where there is neither, or the drive does
//! not tell, nothing is said.
//!
//! Source: smartctl(8) of smartmontools 7.3, `--json`.

use super::nvme_cli;
use serde_json::Value;
use std::time::Duration;
use stend_record::Health;

/// SATA attributes that count down from 100 with the endurance that is left: Micron's, Samsung's, others'.
const WEAR_ATTRIBUTES: [&str; 3] = ["Percent_Lifetime_Remain", "Wear_Leveling_Count", "SSD_Life_Left"];
/// Intel's. Other drives have an attribute of that name, too, which counts up, or counts something else: WD and SanDisk (230, percent used),
/// SK hynix (233, percent used), SandForce (233, always 0).
///
/// Source: zbx-smartctl issue 148, QDiskInfo issue 69, smartmontools issue 642.
const INTEL_WEAR: (u64, &str) = (233, "Media_Wearout_Indicator");

/// Longest time that a drive may take to answer.
const PATIENCE: Duration = Duration::from_secs(30);

/// Programs that drives can be asked with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HealthTools {
    /// `smartctl`, which asks drives of any kind.
    All,
    /// `nvme`, which asks NVMe drives.
    OnlyNvme,
    /// None.
    None,
}

/// Asks a drive. `None` where it does not tell: no program for it, no root, a virtual disk, no answer in time. With `wakes` unset a disk that
/// stands still is left alone.
pub(super) fn ask(path: &str, wakes: bool) -> Option<Health> {
    by_smartctl(path, wakes).or_else(|| is_nvme(path).then(|| by_nvme(path)).flatten())
}

/// Whether this path is that of a namespace of NVMe, as the kernel names it.
pub(super) fn is_nvme(path: &str) -> bool {
    path.starts_with("/dev/nvme")
}

/// The command that is sent reads a log; no NVMe drive has to wake up for it.
fn by_nvme(path: &str) -> Option<Health> {
    let words = ["nvme", "smart-log", "--output-format=json", path].map(String::from);
    of_json(&crate::command::ask(&words, PATIENCE).ok()?.out)
}

fn by_smartctl(path: &str, wakes: bool) -> Option<Health> {
    let check = if wakes { "--nocheck=never" } else { "--nocheck=standby" };
    // A SAS drive has its errors in a log of its own, which `--attributes` leaves out.
    let words = ["smartctl", "--json=c", check, "--info", "--health", "--attributes", "--log=error", path];
    let words = words.map(String::from);
    // Its exit code is a set of bits, and of a drive that fails it is not 0: what it printed counts.
    of_json(&crate::command::ask(&words, PATIENCE).ok()?.out)
}

/// Which of them there are.
pub(super) fn tools() -> HealthTools {
    let has = |words: [&str; 2]| crate::command::ask(&words.map(String::from), PATIENCE).is_ok();
    match (has(["smartctl", "--version"]), has(["nvme", "version"])) {
        (true, _) => HealthTools::All,
        (false, true) => HealthTools::OnlyNvme,
        (false, false) => HealthTools::None,
    }
}

pub(crate) fn of_json(text: &str) -> Option<Health> {
    let told: Value = serde_json::from_str(text).ok()?;
    if let Some(health) = nvme_cli::of_log(&told) {
        return Some(health);
    }
    let nvme = &told["nvme_smart_health_information_log"];
    let table = told["ata_smart_attributes"]["table"].as_array();
    let attribute = |names: &[&str]| {
        let found = table?.iter().find(|row| row["name"].as_str().is_some_and(|name| names.contains(&name)))?;
        Some(found.clone())
    };
    let is_intel = ["model_family", "model_name"]
        .iter()
        .filter_map(|key| told[key].as_str())
        .any(|of| of.to_lowercase().contains("intel"));
    let of_intel = || {
        let (id, name) = INTEL_WEAR;
        attribute(&[name]).filter(|row| is_intel && row["id"].as_u64() == Some(id))
    };
    // A drive that counts down never tells 0, and what is above 100 is no percentage.
    let left = attribute(&WEAR_ATTRIBUTES).or_else(of_intel).and_then(|row| row["value"].as_u64());
    let wear = left.filter(|left| (1..=100).contains(left)).map(|left| 100 - left);
    let raw = |names: &[&str]| attribute(names).and_then(|row| row["raw"]["value"].as_u64());
    let found = Health {
        passed: told["smart_status"]["passed"].as_bool(),
        used_percent: nvme["percentage_used"].as_u64().or(told["endurance_used"]["current_percent"].as_u64()).or(wear),
        spare_percent: nvme["available_spare"].as_u64().or(told["spare_available"]["current_percent"].as_u64()),
        media_errors: nvme["media_errors"]
            .as_u64()
            .or_else(|| raw(&["Reported_Uncorrect", "Uncorrectable_Error_Cnt"]))
            .or_else(|| told["scsi_error_counter_log"]["read"]["total_uncorrected_errors"].as_u64())
            // Disks of WD, HGST and Toshiba count no reads that failed, but sectors that cannot be read.
            .or_else(|| raw(&["Offline_Uncorrectable"])),
        power_on_hours: told["power_on_time"]["hours"].as_u64(),
        celsius: told["temperature"]["current"].as_i64(),
        critical_warning: nvme["critical_warning"].as_u64(),
        bytes_written: written(nvme)
            .or_else(|| raw(&["Total_LBAs_Written"]).map(|sectors| sectors.saturating_mul(512))),
        unsafe_shutdowns: nvme["unsafe_shutdowns"].as_u64(),
        hot_minutes: nvme["warning_temp_time"]
            .as_u64()
            .zip(nvme["critical_comp_time"].as_u64())
            .map(|(warm, hot)| warm.saturating_add(hot)),
        throttled_s: None,
    };
    (found != Health::default()).then_some(found)
}

/// NVMe counts thousands of 512 bytes.
fn written(nvme: &Value) -> Option<u64> {
    nvme["data_units_written"].as_u64().map(|units| units.saturating_mul(512_000))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_an_nvme_drive_and_a_sata_drive_tell_is_read() {
        let nvme = r#"{"smart_status": {"passed": true}, "temperature": {"current": 41}, "power_on_time": {"hours": 812},
            "nvme_smart_health_information_log": {"critical_warning": 4, "percentage_used": 7, "available_spare": 100,
            "media_errors": 2, "data_units_written": 3000}}"#;
        let expected = Health {
            passed: Some(true),
            used_percent: Some(7),
            spare_percent: Some(100),
            media_errors: Some(2),
            power_on_hours: Some(812),
            celsius: Some(41),
            critical_warning: Some(4),
            bytes_written: Some(1_536_000_000),
            ..Health::default()
        };
        assert_eq!(of_json(nvme), Some(expected));
        let sata = r#"{"smart_status": {"passed": false}, "ata_smart_attributes": {"table": [
            {"name": "Power_On_Hours", "value": 99, "raw": {"value": 4}},
            {"name": "Wear_Leveling_Count", "value": 93, "raw": {"value": 120}},
            {"name": "Reported_Uncorrect", "value": 100, "raw": {"value": 3}}]}}"#;
        let found = of_json(sata).unwrap();
        assert_eq!((found.passed, found.used_percent, found.media_errors), (Some(false), Some(7), Some(3)));
    }

    #[test]
    fn drives_of_several_vendors_are_read() {
        let read = |name: &str| {
            let place = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/health");
            let found = of_json(&std::fs::read_to_string(format!("{place}/{name}.json")).unwrap()).unwrap();
            let Health { passed, used_percent, media_errors, power_on_hours, celsius, bytes_written, .. } = found;
            format!("{passed:?} {used_percent:?} {media_errors:?} {power_on_hours:?} {celsius:?} {bytes_written:?}")
        };
        assert_eq!(read("smartctl-sas-seagate"), "Some(false) None Some(6) Some(41230) Some(38) None");
        assert_eq!(read("smartctl-sata-hgst"), "Some(true) None Some(8) Some(37120) Some(37) None");
        assert_eq!(
            read("smartctl-sata-micron"),
            format!("Some(true) Some(12) Some(1) Some(12002) Some(31) Some({})", 51_244_031_221_u64 * 512)
        );
    }

    #[test]
    fn media_errors_are_read_from_sas_drives_and_from_sata_drives_that_count_sectors() {
        let errors = |text: &str| of_json(text).unwrap().media_errors;
        let sas = r#"{"smart_status": {"passed": true}, "scsi_grown_defect_list": 0, "scsi_error_counter_log": {
            "read": {"errors_corrected_by_eccfast": 888487, "total_errors_corrected": 942707,
                "gigabytes_processed": "1788780.870", "total_uncorrected_errors": 4},
            "write": {"total_uncorrected_errors": 1}}}"#;
        assert_eq!(errors(sas), Some(4));
        let table = |rows: &str| {
            errors(&format!(r#"{{"smart_status": {{"passed": true}}, "ata_smart_attributes": {{"table": [{rows}]}}}}"#))
        };
        let sectors = r#"{"id": 198, "name": "Offline_Uncorrectable", "value": 200, "raw": {"value": 2}}"#;
        let reported = r#"{"id": 187, "name": "Reported_Uncorrect", "value": 100, "raw": {"value": 3}}"#;
        assert_eq!(table(sectors), Some(2));
        assert_eq!(table(&format!("{sectors}, {reported}")), Some(3), "reads that failed come first");
    }

    #[test]
    fn wear_is_read_only_from_attributes_that_count_down_on_the_drives_that_have_them() {
        let used = |model: &str, id: u64, name: &str, value: u64| {
            let row = serde_json::json!({"id": id, "name": name, "value": value, "raw": {"value": 7}});
            let told = serde_json::json!({"smart_status": {"passed": true}, "model_name": model,
                "ata_smart_attributes": {"table": [row]}});
            of_json(&told.to_string()).unwrap().used_percent
        };
        let media = "Media_Wearout_Indicator";
        assert_eq!(used("INTEL SSDSC2KB480G8", 233, media, 97), Some(3));
        assert_eq!(used("WDC WDS200T2B0A-00SM50", 230, media, 1), None, "it counts up");
        assert_eq!(used("SK hynix SC311 SATA 256GB", 233, media, 3), None, "so does this");
        assert_eq!(used("SandForce", 233, media, 0), None);
        assert_eq!(used("Samsung SSD 850 EVO 500GB", 177, "Wear_Leveling_Count", 1), Some(99));
        assert_eq!(used("Samsung SSD 850 EVO 500GB", 177, "Wear_Leveling_Count", 0), None);
        assert_eq!(used("other", 231, "SSD_Life_Left", 253), None, "no percentage");
    }

    #[test]
    fn what_does_not_tell_has_no_health() {
        let virtual_disk =
            r#"{"smartctl": {"exit_status": 2, "messages": [{"string": "Unable to detect device type"}]}}"#;
        for text in ["", "smartctl: not found", virtual_disk] {
            assert_eq!(of_json(text), None, "{text}");
        }
    }
}
