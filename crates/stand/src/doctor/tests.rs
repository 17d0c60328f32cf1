//! Each finding appears when its cause is there, with its command, and only then.

use super::*;
use stend_record::Refusal;

/// A machine on which everything is as it should be.
struct Machine {
    dir: tempfile::TempDir,
    ring: std::result::Result<(), Obstacle>,
    arch: &'static str,
}

const FLAGS: &str = "flags : fpu cx16 lahf_lm pni popcnt sse4_1 sse4_2 ssse3 avx\n";
const LIMITS: &str = "Limit                     Soft Limit           Hard Limit           Units\n\
    Max locked memory         67108864             67108864             bytes\n\
    Max open files            1024                 524288               files\n";

impl Machine {
    fn new() -> Machine {
        let machine = Machine { dir: tempfile::tempdir().unwrap(), ring: Ok(()), arch: "x86_64" };
        for (path, text) in [
            ("proc/self/stat", "1 (stend) R 0"),
            ("proc/self/status", "Uid:\t0\t0\t0\t0\n"),
            ("proc/self/limits", LIMITS),
            ("proc/sys/kernel/arch", "x86_64\n"),
            ("proc/sys/fs/aio-max-nr", "65536\n"),
            ("proc/sys/fs/aio-nr", "0\n"),
            ("proc/cpuinfo", FLAGS),
            ("sys/class/block/nvme0n1", ""),
            ("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "performance\n"),
            ("sys/devices/system/clocksource/clocksource0/current_clocksource", "tsc\n"),
            ("bin/smartctl", ""),
            ("bin/nvme", ""),
            ("bin/fio", ""),
            ("place/file", ""),
        ] {
            machine.put(path, text);
        }
        machine
    }

    fn put(&self, path: &str, text: &str) {
        let path = self.dir.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    fn remove(&self, path: &str) {
        std::fs::remove_file(self.dir.path().join(path)).unwrap();
    }

    fn place(&self) -> String {
        self.dir.path().join("place").display().to_string()
    }

    fn look(&self, on: Option<&str>) -> Checkup {
        let context = CheckupContext {
            on,
            places: vec![self.place().into(), self.dir.path().join("absent")],
            tools: vec![self.dir.path().join("bin")],
            ring: self.ring.clone(),
            arch: self.arch,
        };
        checkup(&Roots::under(self.dir.path()), &context)
    }

    /// What is not fine: name, level, what was found, command.
    fn wrong(&self) -> Vec<(String, Level, String, String)> {
        let items = self.look(None).items.into_iter().filter(|item| item.level != Level::Ok);
        items.map(|i| (i.id, i.level, i.found.en, i.cure.unwrap_or_default())).collect()
    }
}

/// The one finding after a change of a good machine.
fn after(change: impl FnOnce(&mut Machine)) -> (String, Level, String, String) {
    let mut machine = Machine::new();
    change(&mut machine);
    let wrong = machine.wrong();
    assert_eq!(wrong.len(), 1, "{wrong:?}");
    wrong.into_iter().next().unwrap()
}

fn check(found: &(String, Level, String, String), id: &str, level: Level, text: &str, command: &str) {
    assert_eq!((found.0.as_str(), found.1), (id, level), "{found:?}");
    assert!(found.2.contains(text) && found.3.contains(command), "{found:?}");
    assert_eq!(found.3.is_empty(), command.is_empty(), "{found:?}");
}

#[test]
fn a_good_machine_has_nothing_to_cure() {
    let checkup = Machine::new().look(None);
    assert!(checkup.items.iter().all(|item| item.level == Level::Ok && item.cure.is_none()), "{checkup:?}");
    assert_eq!(checkup.musts(), 0);
}

#[test]
fn what_the_kernel_refuses_or_limits_is_told_with_its_command() {
    let forbidden = Obstacle {
        cause: say!("io_uring is switched off (kernel.io_uring_disabled = 2)", "выключен"),
        cure: Some(ShellCommand::AsRoot("sysctl -w kernel.io_uring_disabled=0")),
    };
    let ring = after(|m| m.ring = Err(forbidden));
    check(&ring, "io_uring", Level::Warn, "switched off", "sysctl -w kernel.io_uring_disabled=0");
    let files = after(|m| m.put("proc/self/limits", &LIMITS.replace("1024 ", "256 ")));
    check(&files, "open_files", Level::Warn, "RLIMIT_NOFILE is 256", "prlimit --pid $$ --nofile=");
    let aio = after(|m| m.put("proc/sys/fs/aio-nr", "65000\n"));
    check(&aio, "aio_requests", Level::Warn, "65000 in use", "sysctl -w fs.aio-max-nr=");
}

#[test]
fn locked_memory_limits_a_user_but_not_root() {
    let small = LIMITS.replace("67108864             67108864", "8388608              8388608 ");
    let root = Machine::new();
    root.put("proc/self/limits", &small);
    assert_eq!(root.wrong(), []);
    root.put("proc/self/status", "Uid:\t1000\t1000\t1000\t1000\n");
    let wrong = root.wrong();
    assert_eq!(wrong.len(), 2, "{wrong:?}");
    // No command changes who runs this one.
    assert_eq!((wrong[0].0.as_str(), wrong[0].3.as_str()), ("rights", ""), "{wrong:?}");
    check(&wrong[1], "locked_memory", Level::Warn, "8 MiB", "sudo prlimit --pid $$ --memlock=");
}

#[test]
fn a_governor_that_saves_power_and_a_slow_clock_are_told() {
    let governor = after(|m| m.put("sys/devices/system/cpu/cpu7/cpufreq/scaling_governor", "powersave\n"));
    check(&governor, "governor", Level::Warn, "performance, powersave", "echo performance");
    let clock = "sys/devices/system/clocksource/clocksource0";
    let slow = after(|m| {
        m.put(&format!("{clock}/current_clocksource"), "hpet\n");
        m.put(&format!("{clock}/available_clocksource"), "hpet tsc acpi_pm\n");
    });
    check(&slow, "clock_source", Level::Warn, "hpet", "echo tsc");
    let without_tsc = after(|m| {
        m.put(&format!("{clock}/current_clocksource"), "hpet\n");
        m.put(&format!("{clock}/available_clocksource"), "hpet acpi_pm\n");
    });
    check(&without_tsc, "clock_source", Level::Warn, "hpet", "");
}

#[test]
fn a_foreign_or_old_processor_is_a_must() {
    let emulated = after(|m| m.put("proc/sys/kernel/arch", "aarch64\n"));
    check(&emulated, "processor", Level::Must, "machine is aarch64", "");
    let old = after(|m| m.put("proc/cpuinfo", &FLAGS.replace(" popcnt", "").replace(" sse4_2", "")));
    check(&old, "processor", Level::Must, "no popcnt, sse4_2", "");
    let arm = Machine { arch: "aarch64", ..Machine::new() };
    arm.put("proc/sys/kernel/arch", "aarch64\n");
    arm.put("proc/cpuinfo", "Features : fp asimd\n");
    assert_eq!(arm.wrong(), []);
    let unknown = Machine::new();
    unknown.remove("proc/sys/kernel/arch");
    assert_eq!(unknown.wrong(), [], "kernels before 6.1 do not tell");
}

#[test]
fn a_machine_that_shows_nothing_is_a_must_and_no_panic() {
    let machine = Machine::new();
    machine.remove("proc/self/stat");
    check(&machine.wrong()[0], "kernel_files", Level::Must, "/proc", "mount -t proc");
    let context = CheckupContext { on: None, places: Vec::new(), tools: Vec::new(), ring: Ok(()), arch: "x86_64" };
    assert_eq!(checkup(&Roots::under(Path::new("/nonexistent")), &context).musts(), 1);
}

#[test]
fn tools_are_missed_only_where_they_have_something_to_do() {
    for (tool, package) in [("smartctl", "smartmontools"), ("nvme", "nvme-cli"), ("fio", "fio")] {
        let missing = after(|m| m.remove(&format!("bin/{tool}")));
        check(&missing, "tool", Level::Warn, tool, &format!("apt-get install {package}"));
    }
    let machine = Machine::new();
    for file in ["bin/smartctl", "bin/nvme", "sys/class/block/nvme0n1"] {
        machine.remove(file);
    }
    assert_eq!(machine.wrong(), [], "no drive that they could talk to");
}

#[test]
fn what_a_dead_run_left_is_listed_once_and_what_is_foreign_is_not() {
    let machine = Machine::new();
    let note = r#"{"pid":1,"started":1,"boot_id":"another","run_id":"R-1","run_file":"/r"}"#;
    machine.put("place/.stend-it's dead/marker", note);
    machine.put("place/.stend-foreign/letter", "dear reader");
    let checkup = machine.look(Some(&machine.place()));
    let left: Vec<_> = checkup.items.iter().filter(|item| item.id == "leftovers").collect();
    assert_eq!(left.len(), 1, "{left:?}");
    assert_eq!(left[0].level, Level::Warn);
    let cure = left[0].cure.clone().unwrap();
    assert!(cure.starts_with("rm -r --one-file-system '/") && cure.ends_with(r".stend-it'\''s dead'"), "{cure}");
}

#[test]
fn a_target_that_cannot_be_used_is_a_must_and_one_that_is_only_read_a_warning() {
    let machine = Machine::new();
    let level = |on: &str| {
        let items = machine.look(Some(on)).items;
        items.into_iter().find(|item| item.id == "target").unwrap().level
    };
    assert_eq!(level(&machine.place()), Level::Ok);
    assert_eq!(level(&format!("{}/file", machine.place())), Level::Warn);
    assert_eq!(level("/nonexistent"), Level::Must);
    let mut facts = inspect_under(&Roots::host(), "/var/tmp").unwrap();
    facts.access = WriteAccess::Refused(vec![Refusal::ReadOnly]);
    let (item, _) = about_target("/x", Ok(facts.clone()));
    assert_eq!((item.level, item.found.en.as_str()), (Level::Must, "`/x` is read-only"));
    let device = |reason| TargetFacts {
        kind: TargetKind::BlockDevice,
        access: WriteAccess::Refused(vec![reason]),
        ..facts.clone()
    };
    let (item, _) = about_target("/x", Ok(device(Refusal::NoPermission { root: false })));
    assert_eq!((item.level, item.affects.en.as_str()), (Level::Must, "It can be neither read nor written."));
    let (item, _) = about_target("/x", Ok(device(Refusal::ReadOnly)));
    assert_eq!((item.level, item.affects.en.as_str()), (Level::Warn, "It is only read, never written."));
}

#[test]
fn this_machine_can_be_looked_at() {
    let checkup = doctor(Some("/var/tmp"));
    assert!(checkup.items.len() >= 11, "{checkup:?}");
    assert!(checkup.items.iter().all(|item| (item.level == Level::Ok) == item.affects.en.is_empty()), "{checkup:?}");
}
