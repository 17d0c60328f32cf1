//! Settings of the kernel below `/proc/sys` and `/sys`: what one is, and how it is given another value. Must not decide which.

use stend_base::{Error, Result, say};

/// What a setting is now. Where the kernel lists all choices, the one in brackets.
pub(crate) fn current(path: &str) -> Result<String> {
    let text = std::fs::read_to_string(path).map_err(|e| failed(path, "read", "прочитать", &e))?;
    Ok(chosen(&text))
}

fn chosen(text: &str) -> String {
    let bracketed = text.split_once('[').and_then(|(_, rest)| rest.split_once(']')).map(|(word, _)| word);
    bracketed.map_or_else(|| text.split_whitespace().collect::<Vec<_>>().join(" "), str::to_string)
}

/// Writes a setting and makes sure that it took.
pub(crate) fn write(path: &str, value: &str) -> Result<()> {
    std::fs::OpenOptions::new()
        .write(true)
        .open(path)
        .and_then(|mut file| std::io::Write::write_all(&mut file, value.as_bytes()))
        .map_err(|e| failed(path, "set", "изменить", &e))?;
    let now = current(path)?;
    if now == chosen(value) {
        return Ok(());
    }
    Err(Error::preflight(say!("`{path}` was set to {value} and is {now}", "в `{path}` записано {value}, а там {now}"))
        .hint(say!(
            "write the value as the kernel shows it, or use `command` and `undo`",
            "укажите значение так, как его показывает ядро, или воспользуйтесь `command` и `undo`"
        )))
}

/// Whether a setting may be one of a device, whose name is another one's when devices come and go. Below `/sys` there are few others.
pub(crate) fn is_of_device(path: &str) -> bool {
    const OF_THE_HOST: [&str; 5] =
        ["/sys/devices/system/", "/sys/fs/cgroup/", "/sys/kernel/", "/sys/module/", "/sys/power/"];
    path.starts_with("/sys/") && !OF_THE_HOST.iter().any(|root| path.starts_with(root))
}

fn failed(path: &str, en: &str, ru: &str, error: &std::io::Error) -> Box<Error> {
    Error::preflight(say!("cannot {en} `{path}`: {error}", "не удалось {ru} `{path}`: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_setting_of_a_device_is_told_from_one_of_the_host() {
        let of_devices = ["/sys/block/sda/queue/scheduler", "/sys/devices/pci0000:00/0000:00:1d.0/power/control"];
        assert!(of_devices.iter().all(|path| is_of_device(path)));
        let of_the_host = ["/proc/sys/vm/swappiness", "/sys/kernel/mm/transparent_hugepage/enabled"];
        assert!(!of_the_host.iter().any(|path| is_of_device(path)));
        assert!(!is_of_device("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"));
    }

    #[test]
    fn the_value_in_force_is_the_one_in_brackets() {
        assert_eq!(chosen("none [mq-deadline] kyber\n"), "mq-deadline");
        assert_eq!(chosen("4096\t87380\t6291456\n"), "4096 87380 6291456");
    }
}
