//! How the numbers came about: the plan in words, the order of trials, definitions, what bounds which
//! error, and the suite as it was written.

use super::{Page, facts};
use crate::markup::Markup;
use crate::words;
use std::collections::BTreeMap;
use stend_base::text::{plural_en, plural_ru};
use stend_base::{Lang, Nanos, Say, format, say};
use stend_record::{RunRecord, TrialRecord};
use stend_spec::app::App;
use stend_spec::workload::{Pages, Stream, Sync, Trial};

/// More blocks than this are not listed: the run file has them all.
const BLOCKS_MAX: usize = 24;

/// The section.
pub fn section(m: &mut Markup, page: &Page) {
    super::section(m, "method", &say!("Method", "Методика"), |m| {
        let verbatim = match &page.run.header.imported {
            Some(imported) => {
                super::imported::origin(m, page, imported);
                say!("Options, as they were printed", "Параметры, как они напечатаны")
            }
            None => {
                plan(m, page);
                order(m, page.run);
                // What applications print is explained where it stands.
                if !all_applications(page.run) {
                    definitions(m);
                    errors(m, page);
                }
                say!("Suite file, verbatim", "Файл набора, дословно")
            }
        };
        super::limits::folded(m);
        m.el("details", "verbatim", |m| {
            m.line("summary", "", &verbatim);
            m.with("pre", &[("tabindex", "0")], |m| m.el("code", "", |m| m.text(&page.run.header.suite_text)));
        });
    });
}

/// Whether every trial was the load of an application, and none I/O of ours.
fn all_applications(run: &RunRecord) -> bool {
    !run.trials.is_empty() && run.trials.iter().all(|trial| trial.asked.app.is_some())
}

/// In which order cases ran.
fn course(m: &mut Markup, page: &Page) {
    let inputs = &page.run.header.inputs;
    let (trials, blocks) = (page.run.trials.len() as u64, u64::from(inputs.suite.blocks));
    let (trials_en, blocks_en) = (plural_en(trials, "trial", "trials"), plural_en(blocks, "block", "blocks"));
    let trials_ru = plural_ru(trials, "испытание", "испытания", "испытаний");
    let blocks_ru = plural_ru(blocks, "блок", "блока", "блоков");
    m.line("p", "", &say!(
        "The plan: {blocks} interleaved {blocks_en}, each running every case once, in an order drawn from the seed. Every second block runs in the reverse order of the one before it, so a steady drift cancels out. {trials} {trials_en} began.",
        "План: {blocks} чередующихся {blocks_ru}, в каждом каждый случай выполняется один раз в порядке, заданном начальным числом. Каждый второй блок идёт в порядке, обратном предыдущему, поэтому равномерный дрейф взаимно гасится. Начато {trials} {trials_ru}."
    ));
}

/// How the largest number of instances was searched.
fn search(m: &mut Markup, trials: u64) {
    let (trials_en, trials_ru) =
        (plural_en(trials, "trial", "trials"), plural_ru(trials, "испытание", "испытания", "испытаний"));
    m.line("p", "", &say!(
        "The number of instances doubled until the objective broke, then the gap was halved; the largest that held and the smallest that did not were tried three times. {trials} {trials_en} of it began.",
        "Число экземпляров удваивалось, пока цель не нарушилась, затем промежуток делился пополам; наибольшее выдержавшее и наименьшее невыдержавшее проверены по три раза. Начато {trials} {trials_ru}."
    ));
}

fn plan(m: &mut Markup, page: &Page) {
    let inputs = &page.run.header.inputs;
    let searched = page.run.trials.iter().filter(|trial| trial.asked.app.is_some()).count() as u64;
    let only = all_applications(page.run);
    if !only {
        course(m, page);
    }
    if searched > 0 {
        search(m, searched);
    }
    let rounds = page.run.rounds.len() as u64;
    if rounds > 0 {
        let (en, ru) = (plural_en(rounds, "round", "rounds"), plural_ru(rounds, "раунд", "раунда", "раундов"));
        m.line("p", "", &say!(
            "Cases with rounds ran after all others, one by one, each with all of its trials: {rounds} {en} of their own load ran until the rate was steady or the rounds were used up.",
            "Случаи с раундами шли после всех прочих, по одному, каждый сразу со всеми своими испытаниями: {rounds} {ru} их собственной нагрузки — пока режим не установится или раунды не кончатся."
        ));
    }
    if let Some(until) = &inputs.suite.until {
        let Say { en, ru } = words::until(until);
        let (en, ru) = (en.trim_start_matches("; "), ru.trim_start_matches("; "));
        m.line("p", "", &say!("Precision decides: {en}.", "Решает точность: {ru}."));
    }
    let filled = (say!("Before measuring", "Перед измерением"), fill(page.run));
    let mut rows = Vec::from_iter((!only).then_some(filled));
    if let Some(files) = &inputs.suite.files {
        rows.push((say!("Test files", "Тестовые файлы"), stend_analyse::files_in_words(Some(files))));
    }
    let label = |case: u32| page.findings.cases.iter().find(|c| c.case == case).map_or("", |c| &c.label);
    let name = |case: u32, trial: &Trial| {
        let number = u64::from(case) + 1;
        Say::same(match trial.app.map(|app| app.instances) {
            Some(instances) => format!("{number} · N = {instances}"),
            None => format!("{number} · {}", label(case)),
        })
    };
    let asked = first_trials(page.run).into_iter();
    rows.extend(asked.map(|(case, trial)| (name(case, trial), describe(trial))));
    facts(m, &rows);
}

/// What each instance of an application is and may take.
fn application(app: &App) -> Say {
    let program = app.program.say();
    let data = Say::both(|lang| format::bytes(app.data, lang));
    let connections = u64::from(app.clients);
    let (connections_en, connections_ru) = (
        plural_en(connections, "connection", "connections"),
        plural_ru(connections, "соединение", "соединения", "соединений"),
    );
    let rate = app.rate.map_or(Say::same(""), |rate| {
        let rate = Say::both(|lang| format::number(rate.as_iops(), lang));
        let (en, ru) = (rate.en, rate.ru);
        say!(", {en} transactions per second", ", транзакций в секунду: {ru}")
    });
    let limits = match app.limits {
        None => say!("nothing limits them", "без ограничений"),
        Some(limits) => {
            let digits =
                [1000, 100, 10].iter().take_while(|unit| !limits.cpu_thousandths.is_multiple_of(**unit)).count();
            let share = Say::both(|lang| format::fixed(f64::from(limits.cpu_thousandths) / 1000.0, digits, lang));
            let memory = Say::both(|lang| format::bytes(limits.memory, lang));
            let iops = limits.iops.map_or(Say::same(""), |iops| {
                say!(", {iops} reads and as many writes per second", ", чтений и столько же записей в секунду: {iops}")
            });
            let (share_en, share_ru, memory_en, memory_ru) = (share.en, share.ru, memory.en, memory.ru);
            let (iops_en, iops_ru) = (iops.en, iops.ru);
            say!(
                "each may take {share_en} CPUs, {memory_en} of memory{iops_en}",
                "каждому не более: процессоров {share_ru}, памяти {memory_ru}{iops_ru}"
            )
        }
    };
    let (program_en, program_ru, data_en, data_ru) = (program.en, program.ru, data.en, data.ru);
    let (rate_en, rate_ru, limits_en, limits_ru) = (rate.en, rate.ru, limits.en, limits.ru);
    say!(
        "{program_en}, each with {data_en} of data and {connections} {connections_en}{rate_en}; {limits_en}",
        "{program_ru}; у каждого {data_ru} данных и {connections} {connections_ru}{rate_ru}; {limits_ru}"
    )
}

fn fill(run: &RunRecord) -> Say {
    let Some(fill) = run.load().fill else {
        return say!("no fill; the range was used as it was", "без заполнения; область использована как есть");
    };
    stend_analyse::conditioned_in_words(&fill)
}

/// What was asked of the engine, for every case that began.
fn first_trials(run: &RunRecord) -> BTreeMap<u32, &Trial> {
    run.trials.iter().rev().map(|trial| (trial.case, &trial.asked)).collect()
}

fn describe(trial: &Trial) -> Say {
    let time = |span: Nanos| Say::both(|lang| format::duration(span, lang));
    let (ramp, window) = (time(trial.ramp), time(trial.window));
    let (ramp_en, ramp_ru, window_en, window_ru) = (ramp.en, ramp.ru, window.en, window.ru);
    if let Some(app) = &trial.app {
        let Say { en, ru } = application(app);
        return say!(
            "{en}; {ramp_en} ramp, not counted, then a window of {window_en}",
            "{ru}; разгон {ramp_ru} не учитывается, затем окно {window_ru}"
        );
    }
    let streams = Say::both(|lang| trial.streams.iter().map(|s| stream(s, lang)).collect::<Vec<_>>().join("; "));
    let (streams_en, streams_ru) = (streams.en, streams.ru);
    let cache = if trial.direct {
        say!("direct I/O", "прямой ввод-вывод")
    } else {
        say!("through the page cache", "через страничный кэш")
    };
    let pages = match trial.pages {
        Pages::Ordinary => Say::same(""),
        Pages::Huge => say!("; buffers in huge pages", "; буферы в больших страницах"),
    };
    let (cache_en, cache_ru, pages_en, pages_ru) = (cache.en, cache.ru, pages.en, pages.ru);
    say!(
        "{streams_en}; {cache_en}{pages_en}; {ramp_en} ramp, not counted, then a window of {window_en}",
        "{streams_ru}; {cache_ru}{pages_ru}; разгон {ramp_ru} не учитывается, затем окно {window_ru}"
    )
}

fn stream(stream: &Stream, lang: Lang) -> String {
    let (size, jobs, n) = (stend_analyse::sizes_in_words(stream, lang), stream.jobs, stream.queue_depth);
    let depth = match &stream.rate {
        Some(rate) => stend_analyse::rate_in_words(rate, n, lang),
        None => say!("queue depth {n}", "глубина очереди {n}").get(lang).to_string(),
    };
    let operation = stend_analyse::operations_in_words(stream, lang);
    let pattern_more = stend_analyse::pattern_in_words(&stream.pattern, lang);
    let text = match lang {
        Lang::En => {
            let jobs_en = plural_en(jobs.into(), "job", "jobs");
            format!("{operation}{pattern_more}, {size}, {depth}, {jobs} {jobs_en}")
        }
        Lang::Ru => {
            let jobs_ru = plural_ru(jobs.into(), "задание", "задания", "заданий");
            format!("{operation}{pattern_more}, {size}, {depth}, {jobs} {jobs_ru}")
        }
    };
    let more = stend_analyse::data_in_words(stream.data, lang) + &stend_analyse::place_in_words(stream, lang);
    text + &sync(stream.sync, lang) + &more + stend_analyse::verified_in_words(stream, lang)
}

fn sync(sync: Sync, lang: Lang) -> String {
    let (call, n) = match sync {
        Sync::None => return String::new(),
        Sync::Dsync => {
            return say!(", every write with RWF_DSYNC", ", каждая запись с RWF_DSYNC").get(lang).to_string();
        }
        Sync::ODsync => return say!(", open with O_DSYNC", ", открыто с O_DSYNC").get(lang).to_string(),
        Sync::SyncFileRange(n) => ("sync_file_range", n),
        Sync::Fdatasync(n) => ("fdatasync", n),
        Sync::Fsync(n) => ("fsync", n),
    };
    match (lang, n) {
        (Lang::En, 1) => format!(", {call} after every write"),
        (Lang::En, n) => format!(", {call} after every {n} writes"),
        (Lang::Ru, 1) => format!(", {call} после каждой записи"),
        (Lang::Ru, n) => format!(", {call} после каждых {n} записей"),
    }
}

/// Blocks with the numbers of their cases in the order in which they ran.
fn order(m: &mut Markup, run: &RunRecord) {
    let mut blocks: BTreeMap<u32, Vec<&TrialRecord>> = BTreeMap::new();
    for trial in &run.trials {
        blocks.entry(trial.block).or_default().push(trial);
    }
    if blocks.is_empty() {
        return;
    }
    m.line("h3", "", &say!("Order of trials", "Порядок испытаний"));
    let columns = [say!("Block", "Блок"), say!("Cases, by number", "Случаи, по номерам")];
    super::table(m, "order", &columns, |m| {
        for (block, trials) in blocks.iter().take(BLOCKS_MAX) {
            m.el("tr", "", |m| {
                m.with("th", &[("scope", "row")], |m| m.text(&(u64::from(*block) + 1).to_string()));
                m.el("td", "", |m| {
                    for trial in trials {
                        trial_number(m, trial);
                    }
                });
            });
        }
    });
    if let Some(rest) = blocks.len().checked_sub(BLOCKS_MAX).filter(|n| *n > 0) {
        m.line("p", "note", &say!("and {rest} more blocks", "и ещё блоков: {rest}"));
    }
}

fn trial_number(m: &mut Markup, trial: &TrialRecord) {
    m.el("span", "trial", |m| {
        m.text(&(u64::from(trial.case) + 1).to_string());
        if let Some(word) = words::trial_status(trial.outcome.as_ref().map(|o| o.status)) {
            m.raw(" ✖ ");
            m.say(&word);
        }
    });
}

fn definitions(m: &mut Markup) {
    m.line("h3", "", &say!("What the words mean", "Что значат слова"));
    let rows = [
        (
            say!("Latency", "Задержка"),
            say!(
                "For every I/O: from the moment before its submission to the moment when the load thread sees its completion. Where a sync follows every write, the write ends when its sync does.",
                "От момента перед отправкой операции до момента, когда поток нагрузки увидел её завершение; для каждой операции. Если за каждой записью следует синхронизация, запись заканчивается вместе с ней."
            ),
        ),
        (
            say!("Closed loop", "Замкнутый цикл"),
            say!(
                "A new I/O starts when one ends, so a stalled target also receives less load: percentiles describe the I/Os that were sent, not users who keep arriving.",
                "Новая операция начинается по завершении предыдущей, поэтому зависший объект получает и меньше нагрузки: процентили описывают отправленные операции, а не пользователей, которые продолжают приходить."
            ),
        ),
        (
            Say::same("IOPS"),
            say!(
                "Reads and writes completed inside the window, divided by its length. Syncs are not counted.",
                "Чтения и записи, завершённые внутри окна, делённые на его длину. Синхронизации не считаются."
            ),
        ),
        (
            say!("Percentile", "Процентиль"),
            say!(
                "The latency within which that share of all I/Os completed, by nearest rank, from the histograms of all trials of a case added together; percentiles are never averaged.",
                "Задержка, в пределах которой завершилась эта доля всех операций (ближайший ранг), по сумме гистограмм всех испытаний случая; процентили никогда не усредняются."
            ),
        ),
        (
            say!("± of a rate", "± скорости"),
            say!(
                "Half of the 95 % Student t interval over the means of trials; with a single trial, over its batch means if these are independent.",
                "Половина 95 %-го интервала Стьюдента по средним испытаний; при единственном испытании — по его групповым средним, если они независимы."
            ),
        ),
        (
            say!("Interval of a percentile", "Интервал процентиля"),
            say!(
                "Between two order statistics of the effective number of independent I/Os, which follows from how much the trials of the case differ. With too few of these there is no interval, and with too few I/Os no percentile is printed.",
                "Между двумя порядковыми статистиками эффективного числа независимых операций; его дают различия между испытаниями случая. Если таких операций мало, интервала нет; если мало самих операций, не печатается и процентиль."
            ),
        ),
    ];
    facts(m, &rows);
}

fn errors(m: &mut Markup, page: &Page) {
    m.line("h3", "", &say!("What limits each error", "Что ограничивает погрешности"));
    let limits = &page.findings.limits_version;
    let rows = [
        (say!("Chance", "Случайность"), say!("The interval beside each number.", "Интервал при каждом числе.")),
        (
            say!("Drift during the run", "Дрейф за время прогона"),
            say!(
                "Interleaving: it widens the interval of every case instead of favouring one of them.",
                "Чередование: дрейф расширяет интервал каждого случая, а не даёт преимущество одному."
            ),
        ),
        (
            say!("Rounding of latencies", "Округление задержек"),
            say!(
                "Histogram buckets: a latency is never printed below its true value and at most 1/128 (0.8 %) above it.",
                "Корзины гистограммы: напечатанная задержка никогда не меньше истинной и больше неё не более чем на 1/128 (0,8 %)."
            ),
        ),
        (
            say!("Our own delay, caches, other load", "Собственная задержка, кэши, чужая нагрузка"),
            say!(
                "The checks of each case, as far as they could be measured; limits: version {limits}.",
                "Проверки каждого случая, насколько их удалось измерить; пределы: версия {limits}."
            ),
        ),
        (
            say!("Not bounded here", "Здесь не ограничено"),
            say!(
                "Wear and fill of the medium, other machines, other days.",
                "Износ и заполнение носителя, другие машины, другие дни."
            ),
        ),
    ];
    facts(m, &rows);
}
