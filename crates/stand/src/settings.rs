//! Settings of the kernel below `/proc/sys` and `/sys`: what one is, and how it is given another value. Must not decide which.

use crate::roots::{Roots, number};
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

/// The number of the block device that a setting is of, if it is of one: no other device gets it before the next boot.
pub(crate) fn device_number(roots: &Roots, path: &str) -> Option<u64> {
    let below = ["/sys/block/", "/sys/class/block/"].iter().find_map(|root| path.strip_prefix(root))?;
    let name = below.split('/').next().filter(|name| !name.is_empty())?;
    number(roots.sys.join("class/block").join(name).join("diskseq"))
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
    fn a_block_device_is_known_by_the_number_that_the_kernel_gave_it() {
        let tree = tempfile::tempdir().unwrap();
        let roots = Roots { sys: tree.path().to_path_buf(), ..Roots::host() };
        std::fs::create_dir_all(tree.path().join("class/block/sda")).unwrap();
        std::fs::write(tree.path().join("class/block/sda/diskseq"), "7\n").unwrap();
        let of = |path| device_number(&roots, path);
        assert_eq!(of("/sys/block/sda/queue/scheduler"), Some(7));
        assert_eq!(of("/sys/class/block/sda/queue/scheduler"), Some(7));
        for other in ["/sys/block/sdb/queue/scheduler", "/proc/sys/vm/swappiness", "/sys/block/"] {
            assert_eq!(of(other), None, "{other}");
        }
    }

    #[test]
    fn the_value_in_force_is_the_one_in_brackets() {
        assert_eq!(chosen("none [mq-deadline] kyber\n"), "mq-deadline");
        assert_eq!(chosen("4096\t87380\t6291456\n"), "4096 87380 6291456");
    }
}
