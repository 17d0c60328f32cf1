//! The load that a printed command line of fio or diskspd asks for. Only what it names: defaults are not filled in, since texts shorten
//! commands. One command a cell; a value that cannot be read is an error with its option.

use stend_base::{Bytes, Nanos, Say, say};

/// What a command names of its load.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Command {
    /// How long it measures.
    pub runtime: Option<Nanos>,
    /// Size of the file or of the area.
    pub size: Option<Bytes>,
    /// Bytes per I/O.
    pub block_size: Option<Bytes>,
    /// I/Os in flight per job.
    pub queue_depth: Option<u32>,
    /// Jobs, in all unless `jobs_each`.
    pub jobs: Option<u32>,
    /// The jobs are of each of several targets, and the command does not name the targets.
    pub jobs_each: bool,
}

/// Longest command that is read, bytes.
const LENGTH_MAX: usize = 10_000;

impl Command {
    /// Reads a command line. Errors: why it is not understood.
    pub(super) fn parse(text: &str) -> std::result::Result<Command, Say> {
        if text.len() > LENGTH_MAX {
            return Err(say!("the command is longer than {LENGTH_MAX} bytes", "команда длиннее {LENGTH_MAX} байт"));
        }
        if text.contains(['\n', ';', '|']) || text.contains("&&") {
            return Err(say!(
                "several commands in one cell: give each a row",
                "в ячейке несколько команд: каждой нужна строка"
            ));
        }
        // Word processors make dashes of hyphens.
        let text = text.replace(['–', '—', '−'], "-");
        let words = words(&text);
        let program = words.iter().position(|word| is_diskspd(word));
        // What stands before the program is a prompt.
        let words = without_redirections(&words[program.map_or(0, |at| at + 1)..]);
        let is_short = |word: &&str| {
            let short = word.strip_prefix('-').unwrap_or_default();
            short.starts_with(['b', 'o', 't', 'd']) && short[1..].starts_with(|c: char| c.is_ascii_digit())
        };
        if program.is_some() || words.iter().any(is_short) { diskspd(&words) } else { fio(&words) }
    }
}

/// The words of a command line; blanks between double quotes separate nothing.
fn words(text: &str) -> Vec<&str> {
    let mut quoted = false;
    let ends = |c: char| {
        quoted ^= c == '"';
        c.is_whitespace() && !quoted
    };
    text.split(ends).filter(|word| !word.is_empty()).collect()
}

/// Whether a word is the name of the program, behind its path or a prompt: `C:\tools>.\DiskSpd64.exe`.
fn is_diskspd(word: &str) -> bool {
    let name = word.rsplit(['\\', '/', '>']).next().unwrap_or_default().to_lowercase();
    let name = name.trim_matches('"');
    let program = name.strip_suffix(".exe");
    // A file that is called like it is no program; a version of the program has a dot.
    let is_its = |rest: &str| program.is_some() || !rest.contains('.');
    program.unwrap_or(name).strip_prefix("diskspd").is_some_and(is_its)
}

/// The words without where the shell sends the output: `> a.xml`, `2>&1`.
fn without_redirections<'a>(words: &[&'a str]) -> Vec<&'a str> {
    let (mut kept, mut is_file) = (Vec::new(), false);
    for word in words {
        let Some((before, after)) = word.split_once('>') else {
            if !std::mem::take(&mut is_file) {
                kept.push(*word);
            }
            continue;
        };
        if !before.chars().all(|c| c.is_ascii_digit() || c == '&') {
            kept.push(before);
        }
        is_file = after.trim_start_matches('>').is_empty();
    }
    kept
}

fn fio(words: &[&str]) -> std::result::Result<Command, Say> {
    let (mut command, mut names, mut at) = (Command::default(), 0, 0);
    let mut known = false;
    while let Some(word) = words.get(at) {
        at += 1;
        let Some(option) = word.strip_prefix('-') else { continue };
        let option = option.trim_start_matches('-');
        let (name, value) = match option.split_once('=') {
            Some((name, value)) => (name, value),
            None => match words.get(at).filter(|next| !next.starts_with('-')) {
                Some(value) => {
                    at += 1;
                    (option, *value)
                }
                None => (option, ""),
            },
        };
        let value = value.trim_matches(['"', '\'']);
        match name {
            "bs" | "blocksize" => command.block_size = Some(read(name, value, block_size)?),
            "iodepth" => command.queue_depth = Some(read(name, value, whole)?),
            "numjobs" => command.jobs = Some(read(name, value, whole)?),
            "runtime" | "timeout" => command.runtime = Some(read(name, value, seconds)?),
            "size" | "filesize" if !value.ends_with('%') => command.size = Some(read(name, value, block_size)?),
            "name" => names += 1,
            _ => continue,
        }
        known = true;
    }
    match (known, names) {
        (false, _) => Err(say!(
            "found no option of fio or diskspd that describes the load",
            "не найдено ни одного параметра fio или diskspd, описывающего нагрузку"
        )),
        (true, 2..) => Err(say!(
            "several jobs in one command: give each a row",
            "в команде несколько заданий: каждому нужна строка"
        )),
        _ => Ok(command),
    }
}

fn diskspd(words: &[&str]) -> std::result::Result<Command, Say> {
    let (mut command, mut targets, mut of_each) = (Command::default(), 0, None);
    for word in words {
        let Some(option) = word.strip_prefix('-') else {
            targets += 1;
            continue;
        };
        let Some(name) = option.chars().next() else { continue };
        let (value, shown) = (&option[name.len_utf8()..], name.to_string());
        match name {
            'b' => command.block_size = Some(read(&shown, value, block_size)?),
            'c' => command.size = Some(read(&shown, value, block_size)?),
            'o' => command.queue_depth = Some(read(&shown, value, whole)?),
            'd' => command.runtime = Some(read(&shown, value, seconds)?),
            't' => of_each = Some(read(&shown, value, whole)?),
            'F' => command.jobs = Some(read(&shown, value, whole)?),
            _ => {}
        }
    }
    // `-t` counts for each target; the texts often leave the targets out.
    if let (None, Some(each)) = (command.jobs, of_each) {
        command.jobs_each = targets == 0;
        command.jobs = each.checked_mul(targets.max(1));
    }
    Ok(command)
}

fn read<T>(option: &str, value: &str, of: fn(&str) -> Option<T>) -> std::result::Result<T, Say> {
    of(value).ok_or_else(|| {
        say!("cannot interpret `{value}` of the option `{option}`", "значение `{value}` параметра `{option}` не понято")
    })
}

fn whole(text: &str) -> Option<u32> {
    text.parse().ok().filter(|count| *count > 0)
}

/// `4k`, `128K`, `1M`, `100G`: powers of two, as both tools count.
pub(super) fn block_size(text: &str) -> Option<Bytes> {
    let lower = text.trim().to_lowercase();
    let digits = lower.find(|c: char| !c.is_ascii_digit()).unwrap_or(lower.len());
    let shift = match &lower[digits..] {
        "" | "b" => 0,
        "k" | "kb" | "kib" | "к" | "кб" => 10,
        "m" | "mb" | "mib" | "м" | "мб" => 20,
        "g" | "gb" | "gib" | "г" | "гб" => 30,
        "t" | "tb" | "tib" => 40,
        _ => return None,
    };
    let bytes = lower[..digits].parse::<u64>().ok()?.checked_mul(1 << shift)?;
    (bytes > 0).then_some(Bytes(bytes))
}

/// `60`, `60s`, `10m`, `1h`.
fn seconds(text: &str) -> Option<Nanos> {
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let unit: u64 = match &text[digits..] {
        "" | "s" => 1,
        "m" => 60,
        "h" => 3600,
        _ => return None,
    };
    let nanos = text[..digits].parse::<u64>().ok()?.checked_mul(unit)?.checked_mul(1_000_000_000)?;
    (nanos > 0).then_some(Nanos(nanos))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_of_both_tools_are_read() {
        let command = Command::parse(
            "fio --name=rand -ioengine=libaio -direct=1 -bs=4k -iodepth=128 -numjobs=4 -rw=randwrite --runtime 60 -size=20G",
        );
        let expected = Command {
            runtime: Some(Nanos(60_000_000_000)),
            size: Some(Bytes::gib(20)),
            block_size: Some(Bytes::kib(4)),
            queue_depth: Some(128),
            jobs: Some(4),
            jobs_each: false,
        };
        assert_eq!(command, Ok(expected));
        let two =
            Command::parse("DiskSpd64.exe –b128K -t32 -o32 -w0 -d10 -si -S -c100G F:/testfile.dat G:/testfile.dat");
        let two = two.unwrap();
        assert_eq!(
            (two.jobs, two.jobs_each, two.queue_depth, two.size),
            (Some(64), false, Some(32), Some(Bytes::gib(100)))
        );
        let short = Command::parse("-b4K -t32 -o32 -w0 -d10 -r -S -c100G").unwrap();
        assert_eq!((short.jobs, short.jobs_each, short.runtime), (Some(32), true, Some(Nanos(10_000_000_000))));
    }

    #[test]
    fn what_is_not_one_readable_command_is_refused_with_its_reason() {
        for (text, why) in [
            ("fio -bs=4k -name=a -name=b", "several jobs"),
            ("fio -bs=4k && fio -bs=8k", "several commands"),
            ("fio -bs=4k/8k", "`4k/8k` of the option `bs`"),
            ("fio -iodepth=many", "`many` of the option `iodepth`"),
            ("fio -runtime=99999999999999999999", "option `runtime`"),
            ("diskspd -b0 -t1", "option `b`"),
            ("dd if=/dev/zero", "no option"),
            ("", "no option"),
        ] {
            let error = Command::parse(text).expect_err(text);
            assert!(error.en.contains(why), "{text}: {}", error.en);
        }
    }

    #[test]
    fn a_prompt_and_a_redirection_are_no_targets() {
        for (text, jobs) in [
            ("diskspd -b8K -t2 -o8 -d60 D:\\io.dat > a.xml", 2),
            ("diskspd -b8K -t2 -o8 -d60 D:\\io.dat>a.xml 2>&1", 2),
            ("diskspd -b8K -t2 -o8 -d60 D:\\io.dat >> a.txt 2> errors.txt", 2),
            ("diskspd -b8K -t2 -o8 -d60 > a.xml D:\\io.dat E:\\io.dat", 4),
            ("C:\\> diskspd -b8K -t2 -o8 -d60 D:\\io.dat", 2),
            ("PS C:\\diskspd\\amd64> .\\diskspd.exe -b8K -t2 -o8 -d60 D:\\io.dat", 2),
            ("C:\\tools>DiskSpd64 -b8K -t2 -o8 -d60 D:\\io.dat", 2),
            ("diskspd -b8K -t2 -o8 -d60 \"D:\\my file.dat\"", 2),
            ("diskspd -b8K -t2 -o8 -d60 D:\\diskspd.dat E:\\diskspd.dat", 4),
            ("diskspd-2.1.exe -b8K -t2 -o8 -d60 D:\\io.dat", 2),
        ] {
            let command = Command::parse(text).unwrap_or_else(|why| panic!("{text}: {}", why.en));
            assert_eq!((command.jobs, command.jobs_each), (Some(jobs), false), "{text}");
            assert_eq!(command.block_size, Some(Bytes::kib(8)), "{text}");
        }
        let none = Command::parse("diskspd -b8K -t2 > a.xml").unwrap();
        assert_eq!((none.jobs, none.jobs_each), (Some(2), true));
        let fio = Command::parse("C:\\> fio --filename=D:\\diskspd.dat --bs=4k --numjobs=4 > a.json").unwrap();
        assert_eq!((fio.jobs, fio.block_size), (Some(4), Some(Bytes::kib(4))));
    }
}
