//! Caveats in plain sentences: what happened, and what to do about it.

use crate::findings::Caveat;
use crate::phrase::{both, pick};
use stend_base::text::{plural_en, plural_ru};
use stend_base::{Nanos, Say, format, say};

impl Caveat {
    /// What was found and what it means for the numbers, as a sentence.
    pub fn say(&self) -> Say {
        match self {
            Caveat::NoEnd => say!(
                "The run has no recorded end: it is still going on, or it was killed. What is shown was recorded until then.",
                "У прогона нет записанного конца: он ещё идёт или был убит. Показано то, что успело записаться."
            ),
            Caveat::EndedEarly { reason } => {
                let (en, ru) = (reason.en.trim_end_matches('.'), reason.ru.trim_end_matches('.'));
                say!("The run ended early: {en}.", "Прогон закончился раньше времени: {ru}.")
            }
            Caveat::TargetInUse { reasons } => {
                let list = both(|l| reasons.iter().map(|r| r.get(l)).collect::<Vec<_>>().join("; "));
                let (en, ru) = (list.en, list.ru);
                say!(
                    "The target {en}. Only reads ran, and the I/O of others is in the numbers.",
                    "Объект {ru}. Выполнялось только чтение, и в числах есть чужой ввод-вывод."
                )
            }
            Caveat::VirtualDisk { device } => say!(
                "`{device}` is a virtual disk: the caches of its host and the drives behind it cannot be seen from here.",
                "`{device}` — виртуальный диск: кэш его хоста и накопители за ним отсюда не видны."
            ),
            Caveat::NoDevice => say!(
                "No block device was found below the target, so it cannot be told whether the bytes reached a drive.",
                "Под объектом не найдено блочного устройства, поэтому нельзя сказать, дошли ли байты до накопителя."
            ),
            Caveat::Fallback { backend, reason } => say!(
                "I/O was submitted through `{backend}`, not io_uring: {reason}. It costs more CPU per I/O; rates may be lower than the storage allows.",
                "Ввод-вывод шёл через `{backend}`, а не io_uring: {reason}. Он дороже для процессора; скорости могут быть ниже возможностей хранилища."
            ),
            Caveat::KernelWorkers { count } => kernel_workers(*count),
            Caveat::FewCpus { cpus } => few_cpus(*cpus),
            Caveat::ClockStep { by_ns } => clock_step(*by_ns),
            Caveat::TrialsLeftOut { count } => left_out(*count),
            Caveat::IntervalsMerged { count } => both(|l| {
                pick(
                    l,
                    "{n} counter intervals were merged because the connection to the worker was slow: the charts are coarser there, the totals are complete.",
                    "Объединено интервалов счётчиков: {n} — медленная связь с исполнителем. Графики там грубее, итоги полны.",
                )
                .replace("{n}", &format::count(*count))
            }),
            Caveat::NeverWritten { share } => both(|l| {
                pick(
                    l,
                    "{s} of the sampled blocks had never been written: such reads are answered without touching the medium.",
                    "{s} проверенных блоков никогда не записывались: такое чтение не доходит до носителя.",
                )
                .replace("{s}", &format::percent(share.0, l))
            }),
            Caveat::NotFilled => say!(
                "The range was not filled before reading: what lies in it is not known, and unwritten parts read faster than written ones.",
                "Перед чтением область не была заполнена: что в ней лежит — неизвестно, а незаписанное читается быстрее записанного."
            ),
            Caveat::FewTrials { cases, trials, need } => few_trials(*cases, *trials, *need),
        }
    }

    /// What the user can do about it, as a sentence.
    pub fn advice(&self) -> Say {
        match self {
            Caveat::NoEnd => say!(
                "Show it again later; if the process is gone, run it again.",
                "Откройте позже; если процесса уже нет, запустите прогон снова."
            ),
            Caveat::EndedEarly { .. } | Caveat::TrialsLeftOut { .. } => say!(
                "Remove the cause and run it again; what was measured before is still valid.",
                "Устраните причину и запустите снова; измеренное до того остаётся в силе."
            ),
            Caveat::TargetInUse { .. } => say!(
                "Stop the others, or measure a directory on it, where a file of our own can be written.",
                "Остановите остальных или укажите каталог на нём: там можно писать в собственный файл."
            ),
            Caveat::VirtualDisk { .. } => say!(
                "Read the numbers as those of this virtual machine today; to judge the drives, measure on the host.",
                "Это числа этой виртуальной машины на сегодня; чтобы судить о накопителях, измеряйте на хосте."
            ),
            Caveat::NoDevice => say!(
                "Measure a file system on a local drive or the device itself if the drives are the question.",
                "Если вопрос о накопителях, измеряйте файловую систему на локальном диске или само устройство."
            ),
            Caveat::Fallback { .. } => say!(
                "Allow io_uring (sysctl kernel.io_uring_disabled, the container's seccomp profile) and run it again.",
                "Разрешите io_uring (sysctl kernel.io_uring_disabled, профиль seccomp контейнера) и запустите снова."
            ),
            Caveat::KernelWorkers { .. } => say!(
                "Compare only with runs on the same file system and kernel.",
                "Сравнивайте только с прогонами на той же файловой системе и том же ядре."
            ),
            Caveat::FewCpus { .. } => say!(
                "For fast drives use a machine with more CPUs; check H40 says whether it mattered here.",
                "Для быстрых накопителей возьмите машину, где процессоров больше; важно ли это здесь, говорит проверка H40."
            ),
            Caveat::ClockStep { .. } => say!(
                "Let the clock settle (chronyc waitsync) before a run whose dates matter.",
                "Если важны даты, перед прогоном дождитесь синхронизации часов (chronyc waitsync)."
            ),
            Caveat::IntervalsMerged { .. } => say!(
                "Nothing is lost; for finer charts use a faster connection.",
                "Ничего не потеряно; для подробных графиков нужна более быстрая связь."
            ),
            Caveat::NeverWritten { .. } | Caveat::NotFilled => say!(
                "Fill the range first: allow writing (--confirm) or name a directory, where a filled file is made.",
                "Сначала заполните область: разрешите запись (--confirm) или укажите каталог, где будет создан заполненный файл."
            ),
            Caveat::FewTrials { need, .. } => say!(
                "Let the run finish, with `repeats: {{blocks: {need}}}` or more.",
                "Дайте прогону закончиться; в наборе нужно `repeats: {{blocks: {need}}}` или больше."
            ),
        }
    }
}

fn kernel_workers(count: u32) -> Say {
    let word = plural_en(u64::from(count), "thread", "threads");
    say!(
        "The kernel passed I/O on to {count} worker {word}: the latencies include that hand-over.",
        "Ядро передавало операции рабочим потокам ({count}): в задержки вошла и эта передача."
    )
}

fn few_cpus(cpus: u32) -> Say {
    let en = plural_en(u64::from(cpus), "CPU", "CPUs");
    let ru = plural_ru(u64::from(cpus), "процессор", "процессора", "процессоров");
    say!(
        "The machine has {cpus} {en}: load and telemetry share them and delay each other a little.",
        "На машине {cpus} {ru}: нагрузка и телеметрия делят их и немного задерживают друг друга."
    )
}

fn clock_step(by_ns: i64) -> Say {
    let sign = if by_ns < 0 { "−" } else { "+" };
    both(|l| {
        let by = format::latency(Nanos(by_ns.unsigned_abs()), l);
        pick(
            l,
            "The wall clock was set by {by} during the run; dates may be off, durations are not.",
            "Во время прогона часы перевели на {by}; даты могут быть неточны, длительности — нет.",
        )
        .replace("{by}", &format!("{sign}{by}"))
    })
}

fn left_out(count: u32) -> Say {
    let n = u64::from(count);
    let en = plural_en(n, "trial was", "trials were");
    let trials = plural_ru(n, "испытание", "испытания", "испытаний");
    let cut = plural_ru(n, "прервано", "прерваны", "прервано");
    let failed = plural_ru(n, "завершилось", "завершились", "завершилось");
    let dropped = plural_ru(n, "не учитывается", "не учитываются", "не учитывается");
    say!(
        "{count} {en} cut short, interrupted or failed, and not counted.",
        "{count} {trials} {cut} или {failed} ошибкой и {dropped}."
    )
}

fn few_trials(cases: u32, trials: u32, need: u32) -> Say {
    let en = plural_en(u64::from(cases), "case has", "cases have");
    let ru = plural_ru(u64::from(cases), "случая", "случаев", "случаев");
    say!(
        "{cases} {en} fewer than {need} trials (down to {trials}): the intervals are wide, or missing.",
        "У {cases} {ru} меньше {need} испытаний (в худшем — {trials}): интервалы широки или их нет."
    )
}
