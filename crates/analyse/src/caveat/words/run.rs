//! Sentences of caveats about how the run went.

use super::Words;
use crate::findings::Caveat;
use crate::steady;
use stend_base::text::{plural_en, plural_ru};
use stend_base::{Lang, Nanos, Say, Share, format, say, say_in};

pub(super) fn no_end() -> Words {
    Words {
        text: say!(
            "The run has no recorded end: it is still in progress, or it was killed. This is what was recorded until now. Continue a killed run: `stend run --resume NAME`.",
            "У прогона нет записанного конца: он ещё идёт или был прерван. Показано то, что записано до сих пор. Продолжить прерванный: `stend run --resume ИМЯ`."
        ),
        advice: say!(
            "Show it again later, or continue it if it was killed.",
            "Откройте позже или продолжите, если он прерван."
        ),
    }
}

pub(super) fn ended_early(reason: &Say) -> Words {
    let (en, ru) = (reason.en.trim_end_matches('.'), reason.ru.trim_end_matches('.'));
    let text = match en {
        "" => say!("The run ended early.", "Прогон закончился раньше времени."),
        _ => say!("The run ended early: {en}.", "Прогон закончился раньше времени: {ru}."),
    };
    Words { text, advice: remove_the_cause() }
}

pub(super) fn crashes_survived(crashes: u64, rebooted: u64, below: Share) -> Words {
    let text = Say::both(|l| {
        let (n, below, rebooted) = (format::count(crashes), format::percent(below.0, l), format::count(rebooted));
        let crashes = plural_en(crashes, "crash was", "crashes were");
        say_in!(
            l,
            "{n} {crashes} judged and took nothing that had been acknowledged: the chance that one does is below {below} (95 %), which is not \"safe\". The host had been restarted after {rebooted} of them; where only processes were killed, caches of the system and of drives were not tested.",
            "Оценено сбоев: {n}; подтверждённые данные не пострадали: вероятность потери при сбое ниже {below} (95 %), и это не «безопасно». Перезапусков машины среди них: {rebooted}; там, где убивали лишь процессы, кэши системы и накопителей не проверены."
        )
    });
    let advice = say!(
        "Repeat with the kind of crash that matters (60 without a loss prove 4.9 %, 300 prove 1 %), for drives by cutting their power.",
        "Повторите с тем видом сбоя, который важен (60 без потерь доказывают 4,9 %, 300 — 1 %), для накопителей — отключая их питание."
    );
    Words { text, advice }
}

pub(super) fn replays_survived(states: u64, of: u64) -> Words {
    let text = Say::both(|l| {
        let (n, of) = (format::count(states), format::count(of));
        say_in!(
            l,
            "{n} of {of} states of the device were rebuilt from a log of its writes and held everything that had been acknowledged: the layers on the device request the flushes that they need. How the device itself executes a flush is not tested, nor are states with some of the writes between two flushes.",
            "По журналу записей воссоздано состояний устройства: {n} из {of}; всё подтверждённое было на месте: то, что лежит на устройстве, требует всё нужное. Как сам накопитель исполняет сброс кэша, не проверено; состояния с частью записей между двумя сбросами — тоже."
        )
    });
    let advice = say!(
        "Raise `points` to examine more of them; test drives by cutting their power.",
        "Увеличьте `points`, чтобы изучить больше; накопители проверяйте, отключая их питание."
    );
    Words { text, advice }
}

pub(super) fn crash_unknown(reason: &Say) -> Words {
    let Say { en, ru } = reason;
    Words {
        text: say!(
            "The data could not be checked after a crash: {en}.",
            "Данные после сбоя проверить не удалось: {ru}."
        ),
        advice: say!(
            "Keep the run file and its ledger where the crash does not reach them, and do not touch the target until the run is resumed.",
            "Держите файл прогона, а с ним и журнал, там, где сбой их не затронет, и не трогайте объект до продолжения прогона."
        ),
    }
}

fn remove_the_cause() -> Say {
    say!(
        "Remove the cause and run it again; what was measured before is still valid.",
        "Устраните причину и запустите снова; измеренное до того остаётся в силе."
    )
}

pub(super) fn trials_left_out(count: u32) -> Words {
    let n = u64::from(count);
    let en = plural_en(n, "trial was", "trials were");
    let trials = plural_ru(n, "испытание", "испытания", "испытаний");
    let cut = plural_ru(n, "прервано", "прерваны", "прервано");
    let failed = plural_ru(n, "завершилось", "завершились", "завершилось");
    let dropped = plural_ru(n, "не учитывается", "не учитываются", "не учитывается");
    let text = say!(
        "{count} {en} cut short, interrupted or failed, so not counted.",
        "{count} {trials} {cut} или {failed} ошибкой и {dropped}."
    );
    Words { text, advice: remove_the_cause() }
}

pub(super) fn prober_heavy(case: &str, share: Share) -> Words {
    let text = say!(
        |l| "In “{case}” the prober made as many I/Os as {s} of the load, more than 0.5 %: it is part of what was measured.",
        "В «{case}» пробы составили {s} операций нагрузки, больше 0,5 %: они стали частью измеренного.",
        s = format::percent(share.0, l)
    );
    let advice = say!(
        "Lower the rate of `prober`, or leave it to `prober: auto`.",
        "Уменьшите частоту `prober` или оставьте `prober: auto`."
    );
    Words { text, advice }
}

pub(super) fn trace_changed(caveat: &Caveat) -> Words {
    let advice = say!(
        "Take a target with the size and block size of the original, or treat the result as that of the changed trace.",
        "Возьмите объект не меньше исходного и с тем же размером блока либо относите результат к изменённой трассе."
    );
    Words { text: Say::both(|lang| changed(caveat, lang)), advice }
}

fn changed(caveat: &Caveat, l: Lang) -> String {
    let Caveat::TraceChanged { trace, ios, aligned, left_out, wrapped, scaled } = caveat else {
        return String::new();
    };
    let parts = [
        (*aligned > 0).then(|| {
            say_in!(
                l,
                "{n} of {all} I/Os are rounded to whole blocks",
                "{n} из {all} операций округлены до целых блоков",
                n = format::count(*aligned),
                all = format::count(*ios)
            )
        }),
        (*left_out > 0).then(|| {
            say_in!(
                l,
                "{n} lines hold I/O that cannot be replayed",
                "строк с невоспроизводимыми операциями: {n}",
                n = format::count(*left_out)
            )
        }),
        wrapped.then(|| {
            say_in!(
                l,
                "offsets beyond the range begin again at its start",
                "смещения за пределами области начинаются заново"
            )
        }),
        scaled.then(|| say_in!(l, "all offsets are scaled down to the range", "все смещения уменьшены до области")),
    ];
    let told = parts.into_iter().flatten().collect::<Vec<_>>().join("; ");
    say_in!(
        l,
        "The replay of {trace} differs from the recording: {told}.",
        "Воспроизведение {trace} отличается от записанного: {told}."
    )
}

pub(super) fn never_written(share: Share) -> Words {
    let text = say!(
        |l| "{s} of the sampled blocks had never been written: such reads do not reach the medium.",
        "{s} проверенных блоков никогда не записывались: такое чтение не доходит до носителя.",
        s = format::percent(share.0, l)
    );
    Words { text, advice: fill_first() }
}

fn fill_first() -> Say {
    say!(
        "Fill the range first: allow writing (--confirm) or name a directory, where a filled file is made.",
        "Сначала заполните область: разрешите запись (--confirm) или укажите каталог, где будет создан заполненный файл."
    )
}

pub(super) fn not_filled() -> Words {
    Words {
        text: say!(
            "The range is not filled before reading: its contents are unknown, and unwritten or trimmed parts read faster than written ones.",
            "Перед чтением область не заполняется: что в ней лежит — неизвестно, а незаписанное или освобождённое (TRIM) читается быстрее записанного."
        ),
        advice: fill_first(),
    }
}

pub(super) fn reads_erased(at_once: bool) -> Words {
    let text = match at_once {
        true => say!(
            "A stream reads what the same trial discards or fills with zeroes: such reads are answered from a map, without the medium, and are faster than others.",
            "Поток читает то, что в том же испытании освобождается или заполняется нулями: такие чтения обслуживаются по карте, без носителя, и быстрее прочих."
        ),
        false => say!(
            "Some cases discard the range, or fill it with zeroes, that others read, and it is filled only once: later reads are answered from a map, without the medium, and are faster than others.",
            "Одни случаи освобождают область или заполняют её нулями, другие её читают, а заполняется она один раз: позднейшие чтения обслуживаются по карте, без носителя, и быстрее прочих."
        ),
    };
    Words {
        text,
        advice: say!(
            "Give reads their own `region` or their own suite; a mix shows how the target copes with both, not how it reads.",
            "Дайте чтению свою область (`region`) или отдельный набор; смесь показывает, как объект справляется с обоими, а не как он читает."
        ),
    }
}

pub(super) fn targets_in_turn(cases: u32, targets: u32) -> Words {
    let n = u64::from(cases);
    let (en, ru) = (plural_en(n, "case", "cases"), plural_ru(n, "случае", "случаях", "случаях"));
    Words {
        text: say!(
            "In {cases} {en} there are fewer sequential jobs than targets ({targets}): at any moment only some targets are loaded, one after the other.",
            "В {cases} {ru} последовательных заданий меньше, чем объектов ({targets}): в каждый момент нагружена только часть объектов, один за другим."
        ),
        advice: say!(
            "Give each target its own jobs with `jobs: {{per_target: 1}}`.",
            "Дайте каждому объекту свои задания: `jobs: {{per_target: 1}}`."
        ),
    }
}

pub(super) fn streams_overlap(case: &str, first: u32, second: u32) -> Words {
    Words {
        text: say!(
            "Streams {first} and {second} of `{case}` work on the same bytes: a cache may answer one with what the other has just touched.",
            "Потоки {first} и {second} случая `{case}` работают с одними и теми же байтами: на то, что только что затронул один, другому может ответить кэш."
        ),
        advice: say!(
            "Give them regions side by side, unless the overlap is what you measure.",
            "Задайте им области рядом, если измеряется не само перекрытие."
        ),
    }
}

/// `blocks` is how many it takes, with their time.
pub(super) fn few_trials(cases: u32, trials: u32, need: u32, blocks: (u32, Option<Nanos>)) -> Words {
    let time = |l: Lang| {
        let time = blocks.1.map(|time| format::duration(time, l));
        time.map_or(String::new(), |time| say_in!(l, " (about {time})", " (около {time})"))
    };
    let (blocks, time_en, time_ru) = (blocks.0, time(Lang::En), time(Lang::Ru));
    let en = plural_en(u64::from(cases), "case has", "cases have");
    let ru = plural_ru(u64::from(cases), "случая", "случаев", "случаев");
    Words {
        text: say!(
            "{cases} {en} fewer than {need} trials (down to {trials}): the intervals are wide, or missing.",
            "У {cases} {ru} меньше {need} испытаний (в худшем — {trials}): интервалы широки или их нет."
        ),
        advice: say!(
            "Let the run finish, with `repeats: {{blocks: {blocks}}}` or more{time_en}.",
            "Дайте прогону закончиться; в наборе нужно `repeats: {{blocks: {blocks}}}` или больше{time_ru}."
        ),
    }
}

/// `what` is the least precise case with the relative half-widths of its rate and its p99 that are too wide.
pub(super) fn not_precise(
    cases: u32,
    (case, between_arms): (&str, bool),
    (rate, p99, no_p99): (Option<Share>, Option<Share>, bool),
) -> Words {
    let width = |share: Share, l| format!("±\u{a0}{}", format::percent(share.0, l));
    let of = |l: Lang| {
        let (of_rate, of_p99) = match between_arms {
            false => (l.pick("its rate is known to", "его скорость известна до"), l.pick("its p99 to", "его p99 — до")),
            true => (
                l.pick(
                    "the ratio of its rates in two arms is known to",
                    "отношение его скоростей в двух вариантах известно до",
                ),
                l.pick("the ratio of its p99 to", "отношение его p99 — до"),
            ),
        };
        let rate = rate.map(|share| format!("{of_rate} {}", width(share, l)));
        let p99 = p99.map(|share| format!("{of_p99} {}", width(share, l)));
        let none = no_p99.then(|| {
            say_in!(
                l,
                "its trials are too short or too few for an interval of a p99",
                "испытаний слишком мало или они слишком коротки для интервала p99"
            )
        });
        rate.into_iter().chain(p99).chain(none).collect::<Vec<_>>().join(", ")
    };
    let (of_en, of_ru) = (of(Lang::En), of(Lang::Ru));
    let en = plural_en(u64::from(cases), "case is", "cases are");
    let ru = plural_ru(u64::from(cases), "случая", "случаев", "случаев");
    Words {
        text: say!(
            "Inconclusive: {cases} {en} not as precise as the suite asks after all its blocks; {case}: {of_en}.",
            "Неоднозначно: у {cases} {ru} точность, которой требует набор, не достигнута за все его блоки; {case}: {of_ru}."
        ),
        advice: say!(
            "Allow more `blocks` or longer trials; the precision of each case shows how many.",
            "Разрешите больше блоков (`blocks`) или более долгие испытания; сколько — сказано при точности каждого случая."
        ),
    }
}

/// `what` is the first case with its rounds, `window` range and slope of the last five.
pub(super) fn not_steady(cases: u32, what: (&str, u32), window: Option<(Share, Share)>) -> Words {
    let (case, count) = what;
    let of = |l: Lang| match window {
        Some((range, slope)) => say_in!(
            l,
            "the rate spans {r} and moves by {s}",
            "размах скорости — {r}, сдвиг — {s}",
            r = format::percent(range.0, l),
            s = format::percent(slope.0, l)
        ),
        None => say_in!(l, "too few of them were whole", "целых среди них слишком мало"),
    };
    let (of_en, of_ru) = (of(Lang::En), of(Lang::Ru));
    let [rounds_en, rounds_ru] = [Lang::En, Lang::Ru].map(|l| steady::rounds(count, l));
    let en = plural_en(u64::from(cases), "case was", "cases were");
    let ru = plural_ru(u64::from(cases), "случай измерен", "случая измерено", "случаев измерено");
    Words {
        text: say!(
            "Steady state not reached: {cases} {en} measured in a transient; {case}: after {rounds_en} {of_en}.",
            "Установившийся режим не достигнут: {cases} {ru} в переходном процессе; {case}: за {rounds_ru} {of_ru}."
        ),
        advice: say!(
            "Allow more or longer rounds (`steady: {{rounds: …, round: …}}`), or publish it with this label and the curve of the rounds.",
            "Разрешите больше раундов или более длинные (`steady: {{rounds: …, round: …}}`) либо публикуйте с этой пометкой и кривой раундов."
        ),
    }
}

pub(super) fn few_cpus(cpus: u32) -> Words {
    let en = plural_en(u64::from(cpus), "CPU", "CPUs");
    let ru = plural_ru(u64::from(cpus), "процессор", "процессора", "процессоров");
    Words {
        text: say!(
            "The machine has {cpus} {en}: load and telemetry share them and delay each other a little.",
            "На машине {cpus} {ru}: нагрузка и телеметрия делят их и немного задерживают друг друга."
        ),
        advice: say!(
            "For fast drives use a machine with more CPUs; check H40 shows whether it mattered here.",
            "Для быстрых накопителей возьмите машину, где процессоров больше; важно ли это здесь, говорит проверка H40."
        ),
    }
}

pub(super) fn clock_step(by_ns: i64) -> Words {
    let sign = if by_ns < 0 { "−" } else { "+" };
    let text = Say::both(|l| {
        let by = format::latency(Nanos(by_ns.unsigned_abs()), l);
        say_in!(
            l,
            "The wall clock was set by {by} during the run; dates may be off, durations are not.",
            "Во время прогона часы перевели на {by}; даты могут быть неточны, длительности — нет.",
            by = format!("{sign}{by}")
        )
    });
    Words {
        text,
        advice: say!(
            "Let the clock settle (chronyc waitsync) before a run whose dates matter.",
            "Если важны даты, перед прогоном дождитесь синхронизации часов (chronyc waitsync)."
        ),
    }
}

pub(super) fn log_incomplete(dropped: u64, recorded: u64) -> Words {
    let text = say!(
        |l| "The log of every I/O lacks {d} I/Os of the windows, beside {r} that it has: the load was faster than the recorder.",
        "В журнале операций не хватает {d} из окон измерения при {r} записанных: нагрузка была быстрее записи журнала.",
        d = format::count(dropped),
        r = format::count(recorded)
    );
    Words {
        text,
        advice: say!(
            "Keep the run file on a fast disk that is not the target's, or measure at a lower rate; histograms and rates count every I/O.",
            "Держите файл прогона на быстром диске, не общем с объектом, или снизьте нагрузку; гистограммы и скорости учитывают каждую операцию."
        ),
    }
}

pub(super) fn no_spool(why: &str) -> Words {
    Words {
        text: say!(
            "The run file is on a drive of the target, so it is written between trials only. Until then the data of a trial were only in the memory of Stend: killing it would have lost the whole trial, not just the last second. Reason: {why}.",
            "Файл прогона лежит на накопителе объекта, поэтому пишется только между испытаниями. Измеренное до конца испытания хранилось лишь в памяти самого Stend: если бы его убили, пропало бы всё испытание, а не последняя секунда. Причина: {why}."
        ),
        advice: say!(
            "Put the run file on another drive (`-o`), or make room in `/dev/shm`. Numbers of trials that ended are not affected.",
            "Положите файл прогона на другой накопитель (`-o`) или освободите место в `/dev/shm`. На числа завершённых испытаний это не влияет."
        ),
    }
}

pub(super) fn intervals_merged(count: u64) -> Words {
    let text = say!(
        |l| "{n} counter intervals were merged because the connection to the worker was slow: the charts are coarser there, the totals are complete.",
        "Объединено интервалов счётчиков: {n} — медленная связь с рабочим процессом. Графики там грубее, итоги полны.",
        n = format::count(count)
    );
    Words {
        text,
        advice: say!(
            "Nothing is lost; for finer charts use a faster connection.",
            "Ничего не потеряно; для подробных графиков нужна более быстрая связь."
        ),
    }
}
