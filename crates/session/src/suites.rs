//! The suites inside the binary. Must not read files: `cmd` does for suites of the user.

use stend_base::{Say, say};

/// A suite inside the binary.
pub struct BuiltIn {
    /// What `stend run` takes: the folder of the suite, with `/` and the name of the file for its variants.
    pub name: &'static str,
    /// The file.
    pub text: &'static str,
    /// What it answers, in one sentence.
    pub about: fn() -> Say,
}

/// A row of the table.
macro_rules! suite {
    ($name:literal, $file:literal, $en:literal, $ru:literal) => {
        BuiltIn {
            name: $name,
            text: include_str!(concat!("../../../suites/", $file, ".yaml")),
            about: || say!($en, $ru),
        }
    };
}

/// All of them, what most users need first.
pub const ALL: &[BuiltIn] = &[
    suite!(
        "quick",
        "quick/suite",
        "screening in about two and a half minutes: does this storage behave, and roughly how fast is it",
        "беглая оценка примерно за две с половиной минуты: исправно ли хранилище и насколько оно быстрое"
    ),
    suite!(
        "fsync",
        "fsync/suite",
        "what a durable write costs: five ways to ask for it, from one job and from many",
        "сколько стоит запись с подтверждением: пять способов её запросить, одним заданием и многими"
    ),
    suite!(
        "mixed-stall",
        "mixed-stall/suite",
        "does writing hurt reads: the same reads alone and beside four kinds of writers",
        "мешает ли запись чтению: одни и те же чтения отдельно и рядом с четырьмя видами записи"
    ),
    suite!(
        "drive-loss",
        "drive-loss/suite",
        "a member of an array fails under load and is replaced: stall, depth, time until 90 %, lost work, rebuild, lost data",
        "накопитель массива отказывает под нагрузкой и заменяется: остановка, глубина, время до 90 %, потерянная работа, перестроение, сохранность данных"
    ),
    suite!(
        "drive-loss/slow",
        "drive-loss/slow",
        "a member of an array becomes slow but stays in it",
        "накопитель массива становится медленным и остаётся в нём"
    ),
    suite!(
        "drive-loss/scrub",
        "drive-loss/scrub",
        "what a scrub of the whole array costs the load",
        "во что обходится нагрузке проверка всего массива"
    ),
    suite!(
        "cluster-loss",
        "cluster-loss/suite",
        "a drive of a Ceph is lost under load and an empty one takes its place: stall, depth, time until 90 %, time until it is whole, lost data",
        "накопитель Ceph потерян под нагрузкой, на его место встаёт пустой: остановка, глубина, время до 90 % и до полной избыточности, сохранность данных"
    ),
    suite!(
        "cluster-loss/daemon",
        "cluster-loss/daemon",
        "the daemon of one drive of a Ceph is killed and comes back with its data",
        "демон одного накопителя Ceph убит и возвращается со своими данными"
    ),
    suite!(
        "cluster-loss/two",
        "cluster-loss/two",
        "two daemons of a Ceph are gone at the same time: how long does I/O wait, and are all data there",
        "два демона Ceph отсутствуют одновременно: сколько ждёт ввод-вывод и целы ли данные"
    ),
    suite!(
        "rebuild-impact",
        "rebuild-impact/suite",
        "a member of an array is replaced at once: what the rebuild alone costs the load, and how long it takes under it",
        "накопитель массива сразу заменён: во что обходится нагрузке само перестроение и сколько оно длится под ней"
    ),
    suite!(
        "power-cut",
        "power-cut/suite",
        "the power of a machine of the lab is cut under durable writes, again and again: is all acknowledged data still there",
        "питание машины лаборатории раз за разом отключается под записью с подтверждением: цело ли всё подтверждённое"
    ),
    suite!(
        "snapshot-impact",
        "snapshot-impact/suite",
        "what making, keeping and removing a snapshot costs the load",
        "во что обходится нагрузке снимок: создание, жизнь и удаление"
    ),
    suite!(
        "block-sweep",
        "block-sweep/suite",
        "512 B to 1 MiB with 256 in flight: IOPS, MB/s and response time over the block size",
        "от 512 Б до 1 МиБ, 256 операций в очереди: IOPS, МБ/с и время отклика по размеру блока"
    ),
    suite!(
        "block-sweep/as-published",
        "block-sweep/as-published",
        "the same as published in 2009: once, ten minutes each, not filled",
        "то же, как опубликовано в 2009 году: один раз, по десять минут, без заполнения"
    ),
    suite!(
        "soft-raid",
        "soft-raid/suite",
        "six tests of a drive or of an array of drives, in steady state",
        "шесть испытаний накопителя или массива из накопителей в установившемся состоянии"
    ),
    suite!(
        "soft-raid-small",
        "../lab/suites/soft-raid",
        "the same six tests on a few megabytes, for stands in machines of the lab: compares layouts, not drives",
        "те же шесть испытаний на нескольких мегабайтах — для стендов в машинах лаборатории: сравнивает схемы, а не накопители"
    ),
    suite!(
        "soft-raid/as-published",
        "soft-raid/as-published",
        "the same as published in 2023: a minute each, twice, four jobs, state of the drives unknown",
        "то же, как опубликовано в 2023 году: по минуте, дважды, четыре задания, состояние накопителей неизвестно"
    ),
    suite!(
        "soft-raid/files",
        "soft-raid/files",
        "the same tests by 64 threads on 64 files, for file systems",
        "те же испытания 64 потоками на 64 файлах — для файловых систем"
    ),
    suite!(
        "soft-raid/files-as-published",
        "soft-raid/files-as-published",
        "the tests on files as published: 16 files of 20 GiB, a minute each, twice",
        "испытания на файлах, как опубликовано: 16 файлов по 20 ГиБ, по минуте, дважды"
    ),
    suite!(
        "array-patterns",
        "array-patterns/suite",
        "six patterns of an array: random and sequential 4 KiB, sequential 128 KiB, 8 jobs with 32 in flight",
        "шесть видов нагрузки на СХД: случайно и подряд по 4 КиБ, подряд по 128 КиБ, 8 заданий по 32 операции"
    ),
    suite!(
        "array-patterns/before-after",
        "array-patterns/before-after",
        "the six patterns before and after a change that a person makes, in one run",
        "эти шесть видов до и после изменения, которое делает человек, в одном прогоне"
    ),
    suite!(
        "array-patterns/as-published",
        "array-patterns/as-published",
        "the six patterns as published in 2020: an hour each, once, volumes not filled",
        "эти шесть видов, как опубликовано в 2020 году: по часу, один раз, тома не заполнены"
    ),
    suite!(
        "array-patterns/as-published-5.4",
        "array-patterns/as-published-5.4",
        "the job files of 2021 for kernel 5.4: 40 minutes each, up to 16,384 in flight on eight volumes",
        "файлы заданий 2021 года для ядра 5.4: по 40 минут, до 16 384 операций в очереди на восьми томах"
    ),
    suite!(
        "numa-placement",
        "numa-placement/suite",
        "what a remote NUMA node costs: four loads on every pair of nodes for threads and memory, in percent of the local pair",
        "чего стоит дальний узел NUMA: четыре нагрузки на всех парах узлов для потоков и памяти, в процентах от ближней пары"
    ),
    suite!(
        "numa-placement/as-published",
        "numa-placement/as-published",
        "32 threads per target with 32 in flight each, not placed on NUMA nodes, as published",
        "32 потока на объект по 32 операции, без размещения по узлам NUMA, как опубликовано"
    ),
    suite!(
        "backup-streams",
        "backup-streams/suite",
        "N backups of virtual machines at the same time: MB/s over N",
        "N одновременных резервных копий виртуальных машин: МБ/с в зависимости от N"
    ),
    suite!(
        "backup-streams/buffered",
        "backup-streams/buffered",
        "the same through the page cache, as most backup programs write",
        "то же через страничный кэш, как пишет большинство программ резервного копирования"
    ),
    suite!(
        "oltp-density",
        "oltp-density/suite",
        "how many databases fit: PostgreSQL under sysbench, raised until the objective breaks",
        "сколько баз данных поместится: PostgreSQL под sysbench, пока цель не перестанет выполняться"
    ),
    suite!("oltp-density/mariadb", "oltp-density/mariadb", "the same with MariaDB", "то же с MariaDB"),
    suite!(
        "web-density",
        "web-density/suite",
        "how many web servers fit: nginx under wrk, raised until the objective breaks",
        "сколько веб-серверов поместится: nginx под wrk, пока цель не перестанет выполняться"
    ),
    suite!(
        "vm-density",
        "vm-density/suite",
        "how many virtual machines or other clients a storage carries, and what each further one gives",
        "сколько виртуальных машин или других клиентов выдержит хранилище и что даёт каждая следующая"
    ),
    suite!(
        "oltp",
        "oltp/suite",
        "a transactional database: response time at three rates, with a durable log",
        "транзакционная база данных: время отклика при трёх частотах запросов; запись журнала с подтверждением"
    ),
    suite!(
        "vdi",
        "vdi/suite",
        "a hundred virtual desktops: booting, logging in, at work",
        "сто виртуальных рабочих столов: загрузка, вход, работа"
    ),
    suite!(
        "web",
        "web/suite",
        "a web server: reads of ten sizes at three rates",
        "веб-сервер: чтение десяти размеров при трёх частотах запросов"
    ),
    suite!(
        "video",
        "video/suite",
        "video surveillance: 32 and 256 cameras, and a viewer of recordings",
        "видеонаблюдение: 32 и 256 камер и просмотр записей"
    ),
    suite!(
        "backup",
        "backup/suite",
        "backup and restore at the rate of a network of 1 and 10 Gbit/s",
        "резервное копирование и восстановление со скоростью сети 1 и 10 Гбит/с"
    ),
    suite!(
        "drive",
        "drive/suite",
        "a solid-state drive in steady state: five loads, some hours",
        "твердотельный накопитель в установившемся состоянии: пять нагрузок, несколько часов"
    ),
    suite!(
        "pts-iops",
        "pts-iops/suite",
        "IOPS of a solid-state drive after SNIA's PTS: seven mixes by eight block sizes",
        "IOPS твердотельного накопителя по методу SNIA PTS: семь смесей, восемь размеров блока"
    ),
    suite!(
        "pts-throughput",
        "pts-throughput/suite",
        "throughput of a solid-state drive after SNIA's PTS: 128 KiB",
        "пропускная способность твердотельного накопителя по методу SNIA PTS: 128 КиБ"
    ),
    suite!(
        "pts-throughput/1m",
        "pts-throughput/1m",
        "the same with 1 MiB, from a purge of its own",
        "то же по 1 МиБ, после отдельной очистки"
    ),
    suite!(
        "pts-latency",
        "pts-latency/suite",
        "latency of a solid-state drive after SNIA's PTS: one I/O at a time, three mixes by three block sizes",
        "задержка твердотельного накопителя по методу SNIA PTS: одна операция в очереди, три смеси, три размера блока"
    ),
    suite!(
        "pts-wsat",
        "pts-wsat/suite",
        "write saturation of a solid-state drive after SNIA's PTS: a day of random writes from the purged state",
        "насыщение записью твердотельного накопителя по методу SNIA PTS: сутки случайной записи после очистки"
    ),
    suite!(
        "limits",
        "limits/suite",
        "limits of a volume and what its bursts hold: ten minutes of small reads, ten of large ones; writes nothing",
        "лимиты тома и запас его всплесков: десять минут мелкого чтения и десять крупного, без записи"
    ),
    suite!(
        "fill-and-age",
        "fill-and-age/suite",
        "aging: the same reads before and after overwriting at random until the rate is steady",
        "как стареет заполненное хранилище: одни и те же чтения до и после случайной перезаписи до установившейся скорости"
    ),
];

/// The suite of that name.
pub fn find(name: &str) -> Option<&'static BuiltIn> {
    ALL.iter().find(|suite| suite.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;
    use std::path::Path;

    /// Suites that are examples: what they need lies beside them.
    const EXAMPLES: [&str; 1] = ["replay"];

    /// Names of the files in `suites/`, as `stend run` would take them.
    fn in_the_tree() -> BTreeSet<String> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../suites");
        let mut names = BTreeSet::new();
        for folder in std::fs::read_dir(root).unwrap().flatten() {
            for file in std::fs::read_dir(folder.path()).unwrap().flatten().map(|file| file.path()) {
                let folder = folder.file_name().into_string().unwrap();
                let stem = file.file_stem().unwrap().to_string_lossy().into_owned();
                if file.extension().is_some_and(|e| e == "yaml") {
                    names.insert(if stem == "suite" { folder } else { format!("{folder}/{stem}") });
                }
            }
        }
        names
    }

    #[test]
    fn how_long_the_quick_suite_takes_is_told_alike_everywhere() {
        let quick = find("quick").unwrap();
        let takes = stend_analyse::outline(&stend_spec::parse::suite(quick.text, quick.name).unwrap()).unwrap();
        // In half minutes: a fill and the clean-up come on top of the trials.
        assert_eq!((takes.time.as_secs() / 30.0).round(), 5.0, "the texts below say another time");
        let Say { en, ru } = (quick.about)();
        let (guide, guide_ru) = (include_str!("../../../docs/guide.md"), include_str!("../../../docs/guide.ru.md"));
        let row = |guide: &'static str| guide.lines().find(|line| line.starts_with("| [`quick`]")).unwrap();
        let readme = include_str!("../../../suites/quick/README.md");
        for text in [en.as_str(), quick.text, row(guide), readme] {
            assert!(text.to_lowercase().contains("two and a half minutes"), "{text}");
        }
        for text in [ru.as_str(), row(guide_ru)] {
            assert!(text.to_lowercase().contains("две с половиной минуты"), "{text}");
        }
    }

    #[test]
    fn every_suite_of_the_tree_is_built_in_under_the_name_that_it_gives_itself() {
        let known: BTreeSet<String> = ALL.iter().map(|suite| suite.name.to_string()).collect();
        assert_eq!(known.len(), ALL.len(), "a name stands twice");
        let mut expected: BTreeSet<String> =
            in_the_tree().into_iter().filter(|name| !EXAMPLES.contains(&name.as_str())).collect();
        // The others of `lab/suites` are for our own benches.
        expected.insert("soft-raid-small".into());
        assert_eq!(known, expected);
        for suite in ALL {
            let parsed = stend_spec::parse::suite(suite.text, suite.name).unwrap();
            assert_eq!(parsed.name, suite.name);
        }
    }
}
