//! The file that is opened first: what is in a bundle, what is not, and how to read it, in English and in Russian.

use super::{BUNDLE_TABLES_MAX, Bundle};
use stend_base::{Lang, Say, format, say};

/// Columns of its lines.
const WIDTH: usize = 100;

/// Both languages, English first.
pub(super) fn readme(bundle: &Bundle) -> String {
    let [en, ru] = [Lang::En, Lang::Ru].map(|lang| of(bundle, lang));
    format!("{en}\n\n{ru}")
}

fn of(bundle: &Bundle, lang: Lang) -> String {
    let mut out = String::new();
    let mut paragraph = |say: Say| {
        out.push_str(&crate::text::wrapped(say.get(lang), WIDTH));
        out.push_str("\n\n");
    };
    let (version, at) = (&bundle.stend_version, format::utc(bundle.made_unix));
    paragraph(say!(
        "Support bundle of one host, made by Stend {version}, {at}.",
        "Данные для поддержки об одной машине; собраны Stend {version}, {at}."
    ));
    paragraph(how_to_read());
    paragraph(redaction(bundle.redacted));
    let (limit_en, limit_ru) = (format::bytes(BUNDLE_TABLES_MAX, Lang::En), format::bytes(BUNDLE_TABLES_MAX, Lang::Ru));
    paragraph(say!(
        "Samples go back 48 hours from the last one. Tables take at most {limit_en} before packing; where there is more, the oldest samples are missing.",
        "Отсчёты — за последние 48 часов до конца записи. Таблицы до сжатия занимают не более {limit_ru}; если данных больше, нет самых старых отсчётов."
    ));
    paragraph(match bundle.left_out.is_empty() {
        true => say!("Left out: nothing.", "Вошло всё."),
        false => say!("Left out:", "Не вошло:"),
    });
    for left_out in &bundle.left_out {
        paragraph(Say::both(|lang| format!("* {}", left_out.why.get(lang))));
    }
    paragraph(say!("Files:", "Файлы:"));
    out + &bundle.text(lang)
}

fn how_to_read() -> Say {
    say!(
        "No program of Stend is needed. Folder `en` has texts and pages in English, `ru` the same in Russian, `data` the same for programs. A folder `recording-…` has what was recorded on the host: begin with its `en/recording.html`, which opens in a browser. Times in tables are UTC, numbers have a point for decimals, units are in the headings, and an empty field is not known.",
        "Программа Stend не нужна. В каталоге `en` — тексты и страницы по-английски, в `ru` — по-русски, в `data` — то же для программ. В каталоге `recording-…` — запись работы машины: начните с `ru/recording.html`, она открывается в браузере. Время в таблицах — UTC, дробная часть отделена точкой, единицы указаны в заголовках, пустое поле значит «неизвестно»."
    )
}

fn redaction(redacted: bool) -> Say {
    match redacted {
        true => say!(
            "Names of hosts, serial numbers, addresses, paths, labels and UUIDs of file systems, kernel command lines and boot ids are replaced. The same thing has the same stand-in everywhere in this bundle. What people named themselves (suites, labels of runs, volumes) is left.",
            "Имена машин, серийные номера, адреса, пути, метки и UUID файловых систем, командные строки ядра и номера загрузок заменены. Одно и то же везде заменено одинаково. Имена, которые выбрали люди (наборов, меток прогонов, томов), остались."
        ),
        false => say!(
            "Nothing was taken out: names, serial numbers, addresses and paths are in it.",
            "Ничего не убрано: имена, серийные номера, адреса и пути — настоящие."
        ),
    }
}
