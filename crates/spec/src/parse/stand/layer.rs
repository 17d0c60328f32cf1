//! What one layer is: exactly one kind, with its settings, checked against each other.

use super::super::arms::tunables;
use super::super::{Map, boolean, bytes, expected, list, span, text, whole, word};
use crate::keys::Limits;
use crate::keys::stand as keys;
use crate::stand::{
    Btrfs, Consistency, Dm, Fs, InitialSync, Iscsi, Kind, LoopFiles, Md, MdLevel, Nfs, PathPolicy, Profile, Zram,
};
use crate::yaml::Node;
use stend_base::format::bytes as format;
use stend_base::{Bytes, Lang, Nanos, Result, Say, say};

/// Words that would lead to another device, or that mean nothing without one.
const LEADS_AWAY: [&str; 6] = ["logdev", "rtdev", "device", "journal_dev", "journal_path", "name="];

pub(super) fn kind(map: &mut Map, node: &Node, file: &str) -> Result<Kind> {
    let all = [
        map.optional("loop", loop_files)?,
        map.optional("zram", zram)?,
        map.optional("partition", |node, file| Ok(Kind::Partition { count: count(node, file)? }))?,
        map.optional("md", md)?,
        map.optional("lvm", super::lvm::lvm)?,
        map.optional("dm", dm)?,
        map.optional("luns", |node, file| Ok(Kind::Luns { count: count(node, file)? }))?,
        map.optional("nvme_of", nvme_of)?,
        map.optional("iscsi", iscsi)?,
        map.optional("nfs", nfs)?,
        map.optional("existing", existing)?,
        map.optional("btrfs", btrfs)?,
        map.optional("zfs", super::zfs::zfs)?,
        map.optional("fs", fs)?,
        map.optional("settings", |node, file| tunables(node, file).map(Kind::Settings))?,
    ];
    let mut named = all.into_iter().flatten();
    match (named.next(), named.next()) {
        (Some(one), None) => Ok(one),
        _ => Err(node
            .error(file, say!("a layer is exactly one kind", "у слоя ровно один вид"))
            .hint(say!("for example `- md: {{level: 5}}`", "например `- md: {{level: 5}}`"))),
    }
}

pub(super) fn contradiction<T>(node: &Node, file: &str, what: Say) -> Result<T> {
    Err(node.error(file, what))
}

fn loop_files(node: &Node, file: &str) -> Result<Kind> {
    let mut map = Map::of(node, file, &keys::LOOP)?;
    let directory = map.required("directory", directory)?;
    let found = LoopFiles {
        directory,
        size: map.required("size", size)?,
        count: map.optional("count", |node, file| whole(node, file, keys::COUNT))?.unwrap_or(1),
    };
    map.finish()?;
    Ok(Kind::Loop(found))
}

fn zram(node: &Node, file: &str) -> Result<Kind> {
    let mut map = Map::of(node, file, &keys::ZRAM)?;
    let count = |node: &Node, file: &str| whole(node, file, keys::COUNT);
    let found = Zram { size: map.required("size", size)?, count: map.optional("count", count)?.unwrap_or(1) };
    map.finish()?;
    Ok(Kind::Zram(found))
}

fn count(node: &Node, file: &str) -> Result<u32> {
    let mut map = Map::of(node, file, &keys::PARTS)?;
    let count = map.required("count", |node, file| whole(node, file, keys::COUNT))?;
    map.finish()?;
    Ok(count)
}

fn md(node: &Node, file: &str) -> Result<Kind> {
    let mut map = Map::of(node, file, &keys::MD)?;
    let level = map.required("level", |node, file| {
        let number = whole(node, file, Limits { least: 0, most: 10 })?;
        let found = keys::MD_LEVELS.iter().find(|(known, _)| *known == number);
        found
            .map(|(_, level)| *level)
            .ok_or_else(|| expected(node, file, say!("0, 1, 10, 5 or 6", "0, 1, 10, 5 или 6")))
    })?;
    let found = Md {
        level,
        chunk: map.optional("chunk", |node, file| power_of_two(node, file, keys::CHUNK))?,
        consistency: map.optional("consistency", |node, file| word(node, file, keys::CONSISTENCIES))?,
        journal: map.optional("journal", boolean)?.unwrap_or(false),
        spares: map.optional("spares", |node, file| whole(node, file, keys::SPARES))?.unwrap_or(0),
        member_size: map.optional("member_size", size)?,
        initial_sync: initial_sync(&mut map)?,
    };
    map.finish()?;
    let parity = matches!(level, MdLevel::Raid5 | MdLevel::Raid6);
    let wrong = match () {
        () if level == MdLevel::Raid1 && found.chunk.is_some() => {
            say!("level 1 has no chunks", "у уровня 1 нет порций")
        }
        () if level == MdLevel::Raid0 && (found.consistency.is_some() || found.spares > 0) => say!(
            "level 0 has no redundancy: neither `consistency` nor `spares`",
            "у уровня 0 нет избыточности: ни `consistency`, ни `spares`"
        ),
        () if found.consistency == Some(Consistency::Ppl) && level != MdLevel::Raid5 => {
            say!("`ppl` is for level 5", "`ppl` бывает только у уровня 5")
        }
        () if found.journal && !parity => say!("a journal is for levels 5 and 6", "журнал бывает у уровней 5 и 6"),
        () if found.journal && found.consistency.is_some() => {
            say!("a journal is the `consistency` itself", "журнал сам и есть `consistency`")
        }
        // mdadm refuses to assume members that agree where it has to write a journal first.
        () if found.journal && found.initial_sync == InitialSync::Skip => {
            say!(
                "with a journal the first synchronisation cannot be left out",
                "с журналом первую синхронизацию пропустить нельзя"
            )
        }
        () => return Ok(Kind::Md(found)),
    };
    contradiction(node, file, wrong)
}

fn dm(node: &Node, file: &str) -> Result<Kind> {
    let mut map = Map::of(node, file, &keys::DM)?;
    let linear = map.optional("linear", |node, file| word(node, file, &[("whole", "", Dm::Linear)]))?;
    let delay = map.optional("delay", |node, file| {
        let mut map = Map::of(node, file, &keys::DELAY)?;
        let wait = |node: &Node, file: &str| in_whole(node, file, Nanos::millis(1));
        let read = map.optional("read", wait)?.unwrap_or(Nanos(0));
        let found = Dm::Delay { read, write: map.optional("write", wait)?.unwrap_or(Nanos(0)) };
        map.finish()?;
        Ok(found)
    })?;
    let flakey = map.optional("flakey", |node, file| {
        let mut map = Map::of(node, file, &keys::FLAKEY)?;
        let seconds = |node: &Node, file: &str| in_whole(node, file, Nanos::secs(1));
        let found = Dm::Flakey { up: map.required("up", seconds)?, down: map.required("down", seconds)? };
        map.finish()?;
        Ok(found)
    })?;
    let error = map.optional("error", |node, file| {
        let mut map = Map::of(node, file, &keys::ERROR)?;
        let from = map.required("from", |node, file| whole_mib(node, file, keys::PLACE))?;
        let found =
            Dm::Error { from, length: map.required("length", |node, file| whole_mib(node, file, keys::LENGTH))? };
        map.finish()?;
        Ok(found)
    })?;
    let crypt = map.optional("crypt", |node, file| word(node, file, keys::CIPHERS).map(Dm::Crypt))?;
    let log_writes = map.optional("log_writes", |node, file| {
        let mut map = Map::of(node, file, &keys::LOG_WRITES)?;
        let points = map.optional("points", |node, file| whole(node, file, keys::POINTS))?;
        map.finish()?;
        Ok(Dm::LogWrites { points: points.unwrap_or(keys::POINTS_USUAL) })
    })?;
    map.finish()?;
    let mut named = [linear, delay, flakey, error, crypt, log_writes].into_iter().flatten();
    match (named.next(), named.next()) {
        (Some(one), None) => Ok(Kind::Dm(one)),
        _ => contradiction(node, file, say!("`dm` is exactly one mapping", "`dm` — это ровно одно отображение")),
    }
}

fn nvme_of(node: &Node, file: &str) -> Result<Kind> {
    let mut map = Map::of(node, file, &keys::NVME_OF)?;
    let transport = map.required("transport", |node, file| word(node, file, keys::TRANSPORTS))?;
    map.finish()?;
    Ok(Kind::NvmeOf(transport))
}

fn iscsi(node: &Node, file: &str) -> Result<Kind> {
    let mut map = Map::of(node, file, &keys::ISCSI)?;
    let paths = map.optional("paths", |node, file| whole(node, file, keys::PATHS))?.unwrap_or(1);
    let policy = map.optional("policy", |node, file| word(node, file, keys::PATH_POLICIES))?;
    map.finish()?;
    if paths == 1 && policy.is_some() {
        return contradiction(
            node,
            file,
            say!(
                "one path leaves nothing to choose: `policy` needs `paths` above 1",
                "один путь не выбирают: для `policy` нужно `paths` больше 1"
            ),
        );
    }
    Ok(Kind::Iscsi(Iscsi { paths, policy: policy.unwrap_or(PathPolicy::ServiceTime) }))
}

/// A path that means the same wherever it is read.
fn directory(node: &Node, file: &str) -> Result<String> {
    let path = text(node, file)?;
    let plain = path.starts_with('/') && !path.split('/').any(|part| part == "..");
    match plain && !path.chars().any(char::is_control) {
        true => Ok(path),
        false => Err(expected(node, file, say!("a path from the root", "путь от корня"))),
    }
}

fn nfs(node: &Node, file: &str) -> Result<Kind> {
    let mut map = Map::of(node, file, &keys::NFS)?;
    let options = map.optional("options", plain_words)?.unwrap_or_default();
    map.finish()?;
    Ok(Kind::Nfs(Nfs { options }))
}

fn existing(node: &Node, file: &str) -> Result<Kind> {
    let mut map = Map::of(node, file, &keys::EXISTING)?;
    let directory = map.required("directory", directory)?;
    map.finish()?;
    Ok(Kind::Existing { directory })
}

fn btrfs(node: &Node, file: &str) -> Result<Kind> {
    let mut map = Map::of(node, file, &keys::BTRFS)?;
    let profile = |node: &Node, file: &str| word(node, file, keys::PROFILES);
    let data = map.optional("data", profile)?.unwrap_or(Profile::Single);
    let like_data = if data == Profile::Single { Profile::Dup } else { data };
    let found = Btrfs {
        data,
        metadata: map.optional("metadata", profile)?.unwrap_or(like_data),
        options: map.optional("options", plain_words)?.unwrap_or_default(),
    };
    map.finish()?;
    Ok(Kind::Btrfs(found))
}

fn fs(node: &Node, file: &str) -> Result<Kind> {
    let mut map = Map::of(node, file, &keys::FS)?;
    let found = Fs {
        kind: map.required("type", |node, file| word(node, file, keys::FILE_SYSTEMS))?,
        make: map.optional("make", plain_words)?.unwrap_or_default(),
        options: map.optional("options", plain_words)?.unwrap_or_default(),
    };
    map.finish()?;
    Ok(Kind::Fs(found))
}

fn initial_sync(map: &mut Map) -> Result<InitialSync> {
    let found = map.optional("initial_sync", |node, file| word(node, file, keys::INITIAL_SYNC))?;
    Ok(found.unwrap_or(InitialSync::Wait))
}

/// Words for another program, none of which can lead it to a device that the stand does not name.
fn plain_words(node: &Node, file: &str) -> Result<Vec<String>> {
    let items = list(node, file)?;
    let plain = |item: &Node| {
        let word = super::super::name(item, file)?;
        let known = |c: char| c.is_ascii_alphanumeric() || "-_=,.:+^".contains(c);
        // `mkfs.f2fs -c` takes another device.
        let leads = word == "-c" || LEADS_AWAY.iter().any(|part| word.contains(part));
        match word.chars().all(known) && !leads {
            true => Ok(word),
            false => Err(item.error(
                file,
                say!(
                    "`{word}` is not allowed here: it could name another device",
                    "`{word}` здесь не допускается: так можно назвать другое устройство"
                ),
            )),
        }
    };
    items.iter().map(plain).collect()
}

pub(super) fn size(node: &Node, file: &str) -> Result<Bytes> {
    whole_mib(node, file, keys::SIZE)
}

fn whole_mib(node: &Node, file: &str, limits: Limits<Bytes>) -> Result<Bytes> {
    let found = bytes(node, file)?;
    match limits.hold(&found) && found.0.is_multiple_of(keys::UNIT) {
        true => Ok(found),
        false => Err(not_between(node, file, limits, say!("in whole MiB", "в целых МиБ"))),
    }
}

pub(super) fn power_of_two(node: &Node, file: &str, limits: Limits<Bytes>) -> Result<Bytes> {
    let found = bytes(node, file)?;
    match limits.hold(&found) && found.0.is_power_of_two() {
        true => Ok(found),
        false => Err(not_between(node, file, limits, say!("a power of two", "степень двойки"))),
    }
}

fn not_between(node: &Node, file: &str, limits: Limits<Bytes>, how: Say) -> Box<stend_base::Error> {
    let [least, most] = [limits.least, limits.most].map(|size| format(size, Lang::En));
    let [from, to] = [limits.least, limits.most].map(|size| format(size, Lang::Ru));
    let Say { en, ru } = how;
    node.error(file, say!("not {least} to {most}, {en}", "нужно от {from} до {to}, {ru}"))
}

/// A duration in whole units, within the limits of a wait.
fn in_whole(node: &Node, file: &str, unit: Nanos) -> Result<Nanos> {
    let found = span(node, file)?;
    match keys::WAIT.hold(&found) && found.0.is_multiple_of(unit.0) {
        true => Ok(found),
        false => {
            let ms = unit.0 / 1_000_000;
            Err(node
                .error(file, say!("not at most an hour in steps of {ms} ms", "нужно не больше часа с шагом {ms} мс")))
        }
    }
}
