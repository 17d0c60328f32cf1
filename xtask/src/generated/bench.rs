//! The tables of benches in the two READMEs, taken from the page that the bench wrote. Must not change a number.

use super::File;
use std::path::Path;

/// What `make speed` writes.
const PAGE: &str = "docs/bench/speed.md";
/// Around the table in a README.
const BEGIN: &str = "<!-- make speed -->\n";
const END: &str = "<!-- end -->";
/// Columns of the page that are shown, by their names there, with their Russian ones.
const COLUMNS: [(&str, &str); 6] = [
    ("load", "нагрузка"),
    ("against", "против"),
    ("in", "в чём"),
    ("ratio", "отношение"),
    ("95 % interval", "интервал 95 %"),
    ("reached", "цель достигнута"),
];
/// The column that holds two numbers.
const INTERVAL: usize = 4;
/// Cells in Russian; another one that is no number is refused.
const RUSSIAN: &[(&str, &str)] = &[
    ("no I/O, depth 1", "без ввода-вывода, глубина 1"),
    ("no I/O, depth 32", "без ввода-вывода, глубина 32"),
    ("no I/O, depth 32, in batches", "без ввода-вывода, глубина 32, пачками"),
    ("no I/O, depth 32, with a log", "без ввода-вывода, глубина 32, с журналом"),
    ("no I/O, depth 32, 2 threads", "без ввода-вывода, глубина 32, 2 потока"),
    ("write /dev/null, depth 32", "запись в /dev/null, глубина 32"),
    ("write /dev/null, depth 32, in batches", "запись в /dev/null, глубина 32, пачками"),
    ("write /dev/null, depth 1, plain calls", "запись в /dev/null, глубина 1, обычные вызовы"),
    ("read from the page cache, depth 32", "чтение из страничного кэша, глубина 32"),
    ("read a loop device, depth 32", "чтение loop-устройства, глубина 32"),
    ("read a loop device, depth 32, in batches", "чтение loop-устройства, глубина 32, пачками"),
    ("write a loop device, depth 32", "запись на loop-устройство, глубина 32"),
    ("write a loop device, depth 32, in batches", "запись на loop-устройство, глубина 32, пачками"),
    ("read the disk, depth 32", "чтение диска, глубина 32"),
    ("read the disk, depth 32, in batches", "чтение диска, глубина 32, пачками"),
    ("write the disk, depth 32", "запись на диск, глубина 32"),
    ("write the disk, depth 32, in batches", "запись на диск, глубина 32, пачками"),
    ("read tmpfs, depth 32", "чтение tmpfs, глубина 32"),
    ("fio, tuned", "fio, настроенный"),
    ("fio, defaults", "fio по умолчанию"),
    ("fio, null, *clat* only", "fio, null, только *clat*"),
    ("fio, psync", "fio, psync"),
    ("t/io_uring, no latency", "t/io_uring без задержек"),
    ("Stend, no log", "Stend без журнала"),
    ("Stend, 1 thread", "Stend, 1 поток"),
    ("a bare ring, nothing measured", "голое кольцо без измерений"),
    ("–", "–"),
    ("IOPS", "IOPS"),
    ("ns per I/O", "нс на операцию"),
    ("ns of CPU per I/O", "нс процессора на операцию"),
    ("yes", "да"),
    ("yes, and the further goal", "да, и дальняя цель"),
    ("**not shown**", "**не показано**"),
];

/// Both READMEs with the table of the page; none while there is no page.
pub fn files(root: &Path) -> Result<Vec<File>, String> {
    let Ok(page) = std::fs::read_to_string(root.join(PAGE)) else { return Ok(Vec::new()) };
    let rows = rows(&page).ok_or_else(|| format!("`{PAGE}` has no table with the columns that the README shows"))?;
    let file = |path: &str, russian: bool| -> Result<File, String> {
        let text = std::fs::read_to_string(root.join(path)).map_err(|e| format!("cannot read `{path}`: {e}"))?;
        let text = replaced(&text, &table(&rows, russian)?)
            .ok_or_else(|| format!("`{path}` has no place for the table of `{PAGE}`: `{}`", BEGIN.trim()))?;
        Ok(File { path: path.to_string(), text })
    };
    Ok(vec![file("README.md", false)?, file("README.ru.md", true)?])
}

/// Cells of the shown columns, without the head.
fn rows(page: &str) -> Option<Vec<Vec<String>>> {
    let cells = |line: &str| -> Vec<String> {
        line.trim().trim_matches('|').split('|').map(|cell| cell.trim().to_string()).collect()
    };
    let mut lines = page.lines().skip_while(|line| !line.starts_with("| load |"));
    let head = cells(lines.next()?);
    let places: Option<Vec<usize>> =
        COLUMNS.iter().map(|(name, _)| head.iter().position(|cell| cell == name)).collect();
    let places = places?;
    let body = lines.skip(1).take_while(|line| line.starts_with('|'));
    body.map(|line| {
        let cells = cells(line);
        places.iter().map(|place| cells.get(*place).cloned()).collect()
    })
    .collect()
}

fn table(rows: &[Vec<String>], russian: bool) -> Result<String, String> {
    let head = COLUMNS.map(|(en, ru)| if russian { ru } else { en }).join(" | ");
    let mut text = format!("| {head} |\n|{}\n", "---|".repeat(COLUMNS.len()));
    for row in rows {
        let cells: Result<Vec<String>, String> = match russian {
            true => row.iter().enumerate().map(|(column, cell)| in_russian(column, cell)).collect(),
            false => Ok(row.clone()),
        };
        text += &format!("| {} |\n", cells?.join(" | "));
    }
    Ok(text)
}

fn in_russian(column: usize, cell: &str) -> Result<String, String> {
    let number = |text: &str| text.parse::<f64>().is_ok().then(|| text.replace('.', ","));
    let interval = || {
        let (least, most) = cell.split_once(" to ").filter(|_| column == INTERVAL)?;
        Some(format!("{} … {}", number(least)?, number(most)?))
    };
    let known = || RUSSIAN.iter().find(|(en, _)| *en == cell).map(|(_, ru)| ru.to_string());
    let found = number(cell).or_else(interval).or_else(known);
    found.ok_or_else(|| {
        format!("`{PAGE}` has a cell `{cell}`, for which the README has no Russian; add it to {}", file!())
    })
}

fn replaced(text: &str, table: &str) -> Option<String> {
    let (before, rest) = text.split_once(BEGIN)?;
    let (_, after) = rest.split_once(END)?;
    Some(format!("{before}{BEGIN}{table}{END}{after}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = "# x\n| load | backend | against | in | Stend | ratio | 95 % interval | reached |\n|---|---|\n\
        | read tmpfs, depth 32 | psync | fio, tuned | IOPS | 7 | 1.50 | 1.40 to 1.60 | yes |\n\nmore\n";

    #[test]
    fn numbers_are_carried_over_and_words_translated() {
        let rows = rows(PAGE).unwrap();
        assert!(
            table(&rows, false)
                .unwrap()
                .ends_with("| read tmpfs, depth 32 | fio, tuned | IOPS | 1.50 | 1.40 to 1.60 | yes |\n")
        );
        assert!(
            table(&rows, true)
                .unwrap()
                .ends_with("| чтение tmpfs, глубина 32 | fio, настроенный | IOPS | 1,50 | 1,40 … 1,60 | да |\n")
        );
        assert_eq!(super::rows("| load | ratio |\n|---|\n"), None);
    }

    #[test]
    fn a_cell_without_a_translation_is_refused() {
        let found = |page: &str| table(&rows(page).unwrap(), true).map_err(|why| why.contains("no Russian"));
        assert!(found(PAGE).is_ok());
        assert_eq!(found(&PAGE.replace("read tmpfs", "read zram")), Err(true));
        // Two numbers stand in one column only.
        assert_eq!(found(&PAGE.replace("1.50", "1 to 2")), Err(true));
        assert_eq!(found(&PAGE.replace("1.40 to 1.60", "up to 1.60")), Err(true));
    }

    #[test]
    fn only_what_lies_between_the_marks_changes() {
        let text = format!("a\n{BEGIN}old\n{END}\nb");
        assert_eq!(replaced(&text, "new\n"), Some(format!("a\n{BEGIN}new\n{END}\nb")));
        assert_eq!(replaced("a", "new"), None);
    }
}
