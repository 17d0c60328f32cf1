//! The load hosts in a dry run on a terminal: which of them load what.

use super::super::Screen;
use super::super::inspect::what;
use super::super::layout::{clean, paragraph};
use stend_analyse::preview::{LoadHostAhead, Preview};
use stend_base::{Say, format, say};
use stend_spec::workload::Region;

/// Which hosts load what, and what is said of each of them.
pub(super) fn load_hosts(preview: &Preview, screen: &Screen) -> String {
    if preview.ahead.hosts.is_empty() {
        return String::new();
    }
    let of_each = say!(
        "All of them begin together. Jobs, queue depths, rates and sizes are those of each host.",
        "Все начинают одновременно. Задания, глубина очереди, частота и объёмы — на каждую машину."
    );
    let line = |host: &LoadHostAhead| {
        let targets = host.targets.iter().map(|target| {
            let (path, what) = (clean(&target.path), what(target));
            let part = host.part.map(|part| part_of(part).get(screen.lang).to_string()).unwrap_or_default();
            format!("{path} ({}{part})", what.get(screen.lang))
        });
        (format!("▸ {}", clean(&host.name)), targets.collect::<Vec<_>>().join(", "))
    };
    let list =
        super::super::list(&say!("Load hosts", "Нагружающие машины"), screen, preview.ahead.hosts.iter().map(line));
    let shared = preview.ahead.hosts.iter().any(|host| host.part.is_some()).then(|| {
        say!(
            "The hosts share these devices, and each loads a part of its own.",
            "Устройства у машин общие, каждая нагружает свою часть."
        )
    });
    let said = shared.into_iter().chain([of_each]);
    said.fold(list, |list, say| list + &paragraph("", say.get(screen.lang), screen.width))
}

/// Which part of a device a host has, as words behind the device.
fn part_of(Region { start, len }: Region) -> Say {
    say!(
        |lang| "; its part: {size} from {begin} on",
        "; её часть: {size} начиная с {begin}",
        size = format::bytes(len, lang),
        begin = format::bytes(start, lang)
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;
    use stend_base::{Bytes, Lang};

    #[test]
    fn hosts_that_share_a_device_are_shown_with_their_parts_of_it() {
        let mut preview = fixture::preview_of_two_hosts();
        for (at, host) in (0..).zip(&mut preview.ahead.hosts) {
            host.part = Some(Region { start: Bytes::mib(47 * at), len: Bytes::mib(47) });
        }
        for (lang, of_second, of_all) in [
            (Lang::En, "; its part: 47 MiB from 47 MiB on)", "The hosts share these devices"),
            (Lang::Ru, "; её часть: 47 МиБ начиная с 47 МиБ)", "Устройства у машин общие"),
        ] {
            let shown = crate::preview_text(&preview, lang, 200, false).replace('\u{a0}', " ");
            assert!(shown.contains(of_second) && shown.contains(of_all), "{shown}");
        }
    }

    #[test]
    fn a_dry_run_warns_of_what_the_run_will_warn_of() {
        let mut preview = fixture::preview_of_two_hosts();
        preview.ahead.warnings = vec![say!("both may be one device", "это может быть одно устройство")];
        for (lang, warning) in [(Lang::En, "! both may be one device"), (Lang::Ru, "! это может быть одно устройство")]
        {
            let shown = crate::preview_text(&preview, lang, 200, false);
            assert!(shown.contains(warning), "{shown}");
        }
        assert!(crate::preview_json(&preview).contains("\"both may be one device\""));
    }
}
