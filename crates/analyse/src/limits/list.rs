//! The table of limits as every report prints it: each constant of [`crate::limits`] with its value, what it is for, and the check
//! that it decides. A test holds the list to the constants: a missing one fails the build.

use super::*;
use crate::findings::CheckId;
use stend_base::{Lang, Say, format, say};

/// One limit.
#[derive(Debug, Clone, PartialEq)]
pub struct Limit {
    /// Name for machines: that of the constant.
    pub key: &'static str,
    /// The checks that it decides, with which its documentation begins; none for caveats, intervals and comparisons.
    pub checks: &'static [CheckId],
    /// What is limited.
    pub meaning: Say,
    /// The limit.
    pub value: Value,
}

/// Value of a limit with its unit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Value {
    /// A part of something; 1 is all.
    Share(f64),
    /// A factor or another number without a unit.
    Number(f64),
    /// A whole number of things.
    Count(u64),
    /// A time.
    Time(Nanos),
    /// A size.
    Size(Bytes),
    /// Per second.
    Rate(f64),
    /// Bytes per second.
    Throughput(f64),
    /// One of these words.
    Words(&'static [&'static str]),
}

impl Value {
    /// For people. Never rounded: a reader may compute with it.
    pub fn say(&self) -> Say {
        let text = |lang: Lang| match self {
            Value::Share(share) => format!("{} %", exact(share * 100.0, lang)),
            Value::Number(number) => exact(*number, lang),
            Value::Count(count) => format::count(*count),
            Value::Time(time) if time.0 < 1_000_000_000 => format::latency(*time, lang),
            Value::Time(time) => format::duration(*time, lang),
            Value::Size(size) => format::bytes(*size, lang),
            Value::Rate(rate) => format!("{}{}", exact(*rate, lang), lang.pick("/s", "/с")),
            Value::Throughput(rate) => format::throughput(*rate, lang),
            Value::Words(words) => words.join(", "),
        };
        Say::both(text)
    }
}

/// A number with as many digits as it has, none of which comes from binary fractions.
fn exact(value: f64, lang: Lang) -> String {
    let text = ((value * 1e9).round() / 1e9).to_string();
    lang.pick(&text, &text.replace('.', ",")).to_string()
}

macro_rules! limit {
    ($kind:ident $name:ident, [$($check:ident)*], $english:literal, $russian:literal) => {
        Limit {
            key: stringify!($name),
            checks: &[$(CheckId::$check),*],
            meaning: say!($english, $russian),
            value: value!($kind $name),
        }
    };
}

macro_rules! value {
    (Count $name:ident) => {
        Value::Count($name as u64)
    };
    (Words $name:ident) => {
        Value::Words(&$name)
    };
    ($kind:ident $name:ident) => {
        Value::$kind($name)
    };
}

/// Every limit: those of checks in the order of their numbers, then the others.
pub fn all() -> Vec<Limit> {
    let mut list = of_arithmetic();
    list.extend(of_storage());
    list.extend(of_the_engine());
    list.extend(of_the_machine());
    list.extend(of_intervals());
    list.extend(of_ceilings());
    list.extend(of_caveats());
    list
}

fn of_arithmetic() -> Vec<Limit> {
    vec![
        limit!(Share BANDWIDTH_DEVIATION, [H01], "bytes against I/Os × block size", "байты против операций × размер блока"),
        limit!(Share SLIP_NEAR, [H01], "how near a published number is to a slip of units to be called that", "насколько число близко к ошибке единиц, чтобы так её назвать"),
        limit!(Number IN_FLIGHT_IMPOSSIBLE, [H02], "I/Os in flight over those asked for, impossible above", "операций в очереди к запрошенным, выше невозможно"),
        limit!(Number IN_FLIGHT_REACHED, [H02], "I/Os in flight over those asked for, queue not full below", "операций в очереди к запрошенным, ниже очередь неполна"),
        limit!(Number IN_FLIGHT_TURNS, [H02], "the same where the rest waited for its turn to be submitted", "то же, если остальные ждали подачи"),
        limit!(Share MIX_DEVIATION, [H03], "share of an operation against the one asked for", "доля вида операций против запрошенной"),
        limit!(Number MIX_SIGMA, [H01 H03], "standard deviations that chance may add", "стандартных отклонений на случайность"),
        limit!(Number COINCIDENCES_EXPECTED, [H05], "expected coincidences from which an equal value says nothing", "ожидаемых совпадений, с которых равенство ни о чём не говорит"),
        limit!(Count DUPLICATE_DIGITS, [H05], "digits of a published number, fewer are equal by chance", "цифр в опубликованном числе, меньше — равны случайно"),
        limit!(Share NEIGHBOURS, [H05], "distance at which published numbers are neighbours", "расстояние, на котором опубликованные числа — соседи"),
        limit!(Number PERCENT_STEPS, [H06], "units of the last digit that a percentage may be off", "единиц последней цифры, на которые может ошибаться процент"),
        limit!(Count BASELINE_MISSES, [H06], "misses against one baseline, another is looked for from", "промахов против одной базы, с которых ищется другая"),
        limit!(Share BASELINE_EXPLAINS, [H06], "part of the misses that another baseline explains", "часть промахов, которую объясняет другая база"),
        limit!(Share SUM_DEVIATION, [H08], "sums of the same I/Os against each other", "суммы одних и тех же операций между собой"),
        limit!(Share WINDOW_DEVIATION, [H08], "length of the window against the plan", "длина окна против плана"),
        limit!(Count SWEEP_POINTS, [H09], "points of a sweep, fewer have no shape", "точек зависимости, у меньшего числа нет вида"),
        limit!(Share SWEEP_STEP_BACK, [H09], "a step back of a published sweep", "шаг назад в опубликованной зависимости"),
    ]
}

fn of_storage() -> Vec<Limit> {
    vec![
        limit!(Share CACHE_INFLATION, [H10], "how much a cache may raise a rate", "насколько кэш может поднять скорость"),
        limit!(Number BYTES_AT_DRIVES, [H11], "bytes at the drives per byte of the application, at least", "байт на накопителях на байт приложения, не меньше"),
        limit!(Share SAMPLES_COVER, [H11], "part of the load that samples have to cover", "часть нагрузки, которую должны покрыть отсчёты"),
        limit!(Share START_UNCERTAIN, [H11 H12 H26], "part of the window by which its start may be unknown", "часть окна, на которую может быть неизвестно его начало"),
        limit!(Number EDGE_SIGMA, [H11 H12 H26], "standard deviations that the edges of readings may add", "стандартных отклонений на края показаний"),
        limit!(Share EDGE_EXCUSES, [H11 H12], "part of the load that these edges may excuse", "часть нагрузки, которую эти края могут объяснить"),
        limit!(Number BYTES_PAGED, [H12], "bytes that block devices moved per byte of the application, at least", "байт через блочные устройства на байт приложения, не меньше"),
        limit!(Share CACHE_GROWTH, [H12], "growth of the page cache per byte of direct I/O", "рост страничного кэша на байт прямого ввода-вывода"),
        limit!(Size CACHE_GROWTH_MIN, [H12], "growth of the page cache that is ignored", "рост страничного кэша, который не учитывается"),
        limit!(Share ARC_HITS, [H13], "reads that the cache of ZFS may answer", "чтений, на которые может ответить кэш ZFS"),
        limit!(Number CACHE_WARMED, [H14], "later trials of reads over the first", "поздние испытания чтения к первому"),
        limit!(Number CACHE_FILLED, [H14], "begin of writes over what comes later", "начало записи к остальному"),
        limit!(Time CACHE_FILLING, [H14], "the begin of a load that is held against its rest", "начало нагрузки, которое сравнивают с остальным"),
        limit!(Share AREAS_UNIQUE, [H16], "part of all areas that one job has alone, at least", "часть областей, где задание одно, не меньше"),
        limit!(Number COMPRESSIBLE, [H17], "compression of what is read, at most", "сжимаемость читаемого, не больше"),
        limit!(Share REPEATED, [H17], "blocks that repeat another one, at most", "блоков, повторяющих другой, не больше"),
        limit!(Share NEVER_WRITTEN, [H18], "blocks of zeros among those sampled", "блоков из нулей среди взятых на пробу"),
        limit!(Share PLACES_SHORTFALL, [H19], "different places fewer than by chance, at most", "разных мест меньше случайного, не больше чем на"),
        limit!(Number PLACES_SIGMA, [H19], "roots of that number that chance may take away", "корней из этого числа на случайность"),
        limit!(Number PRECONDITIONED, [H20], "times that the range of a solid-state drive is written first", "раз область твердотельного накопителя записана до измерения"),
        limit!(Count STEADY_ROUNDS, [H21], "values that the steady-state rule looks at", "значений, на которые смотрит правило установившегося режима"),
        limit!(Share STEADY_RANGE, [H21], "largest less smallest of them, of their mean", "размах между ними от их среднего"),
        limit!(Share STEADY_SLOPE, [H21], "movement of the line through them, of their mean", "ход прямой через них от их среднего"),
        limit!(Count STEADY_PART, [H21], "intervals of 100 ms in a value, at least", "интервалов по 100 мс в значении, не меньше"),
        limit!(Share FOREIGN_SHARE, [H26], "I/O of others at the device", "чужой ввод-вывод на устройстве"),
        limit!(Size NEVER_SPLIT, [H26], "largest block that devices take as one", "наибольший блок, который устройства принимают целиком"),
        limit!(Size ZFS_RECORD, [H26], "what ZFS may read for each I/O besides", "сколько ZFS может прочитать на каждую операцию сверх неё"),
        limit!(Number ZFS_PIECES, [H26], "I/Os at a drive of ZFS for each of the case besides", "операций на накопителе ZFS на каждую операцию случая сверх неё"),
        limit!(Time ZFS_SETTLED, [H26], "time in which ZFS writes what it was given", "время, за которое ZFS записывает полученное"),
        limit!(Share FILL_DIFFERENCE, [H27], "difference in use of the file systems compared", "различие занятости сравниваемых файловых систем"),
        limit!(Number SYNCS_JUDGED, [H30], "syncs from which none with a flush is no chance", "синхронизаций, с которых отсутствие сброса не случайно"),
        limit!(Number FLUSHES_PER_SYNC, [H30], "flushes per sync that come one by one, at least", "сбросов на синхронизацию, идущую по одной, не меньше"),
        limit!(Time SYNC_FASTEST, [H30], "median of syncs of a volatile cache, at least", "медиана синхронизации энергозависимого кэша, не меньше"),
        limit!(Rate SYNC_PER_SECOND_ROTATING, [H30], "durable writes of a rotating disk, one by one", "записей с подтверждением на диск, по одной"),
    ]
}

fn of_the_engine() -> Vec<Limit> {
    vec![
        limit!(Count TRIALS_SURE, [H40 H41], "trials from which the interval of their mean decides", "испытаний, с которых решает интервал их среднего"),
        limit!(Share RUN_DELAY_VISIBLE, [H40], "part of the window that a load thread waited for a CPU, visible above", "часть окна, которую поток нагрузки ждал процессора, выше заметно"),
        limit!(Share RUN_DELAY_BOUND, [H40], "the same, from which the result is that of the engine", "то же, с чего результат — это генератор"),
        limit!(Share THREAD_BUSY, [H40], "part of one CPU of the busiest load thread", "занятость самого занятого потока нагрузки"),
        limit!(Share LATE_STAMPS, [H40], "how late completions are stamped, at most, of the mean latency", "опоздание отметок завершения, не больше, от средней задержки"),
        limit!(Number DEPTH_REACHED, [H41], "I/Os in flight at the device over those asked for, at least", "операций в очереди устройства к запрошенным, не меньше"),
        limit!(Number DEPTH_LOST, [H41], "the same in each trial, at least", "то же в каждом испытании, не меньше"),
        limit!(Share OFFERED_DEVIATION, [H43], "served against offered rate", "обслуженная скорость против поданной"),
        limit!(Number OFFERED_SIGMA, [H43], "square roots of what was due that chance may add", "корней из числа назначенных на случайность"),
        limit!(Share OWN_LATENESS, [H43], "our own delay in a latency", "собственное опоздание в задержке"),
        limit!(Count BATCHES_PUBLISHABLE, [H23], "independent batches of a trial, at least", "независимых частей испытания, не меньше"),
        limit!(Time REPLAY_LATE, [H80], "lateness that 99 % of the I/Os of a replay may have", "опоздание, допустимое для 99 % операций воспроизведения"),
        limit!(Share REPLAY_DRIFT, [H80], "growth of that lateness per time", "рост этого опоздания за время"),
        limit!(Share CLOCK_COST, [H44], "part of the latency that two readings of the clock take", "часть задержки на два чтения часов"),
        limit!(Share BATCH_SPAN, [H44], "part of the median over which I/Os share a reading", "часть медианы, на которой операции делят одну отметку"),
        limit!(Words CLOCK_SOURCES, [H44], "clock sources that are fast and even", "быстрые и ровные источники времени"),
        limit!(Share HOSTS_APART, [H04], "part of the window by which load hosts begin apart", "часть окна, на которую расходятся начала нагружающих машин"),
        limit!(Share HOSTS_APART_MOST, [H04], "part from which the sum of their rates does not count", "часть, с которой сумма их скоростей не считается"),
        limit!(Time CLOCK_STEP, [H44], "step of the wall clock", "скачок настенных часов"),
        limit!(Share CLOCK_SLEW, [H44], "drift of a clock that is steered", "ход подводимых часов"),
    ]
}

fn of_the_machine() -> Vec<Limit> {
    vec![
        limit!(Number INTERRUPT_SHARE, [H46], "fair shares of the drives' interrupts on one CPU", "равных долей прерываний накопителей на процессор"),
        limit!(Share INTERRUPT_CPU_BUSY, [H46], "part of a CPU that goes into interrupts", "часть процессора на прерывания"),
        limit!(Count INTERRUPTS_JUDGED, [H46], "interrupts from which it matters who takes them", "прерываний, с которых важно, кто их принимает"),
        limit!(Share FREQUENCY_VARIATION, [H47], "variation of the CPU frequency under load", "разброс частоты процессоров под нагрузкой"),
        limit!(Count FREQUENCIES_JUDGED, [H47], "readings that it is computed from, at least", "показаний, по которым он считается, не меньше"),
        limit!(Share THROTTLED_LOSS, [H48], "loss of rate within a window that counts as caused by heat", "потеря скорости внутри окна, которую относят к перегреву"),
        limit!(Share STEAL_MEAN, [H49], "CPU time that the hypervisor took", "процессорное время, отобранное гипервизором"),
        limit!(Share STEAL_SECOND, [H49], "the same in the worst second", "то же в худшую секунду"),
        limit!(Share SWAPPED_SHARE, [H50], "bytes swapped, of those of the load", "подкачка от байт нагрузки"),
        limit!(Share MEMORY_WAIT, [H50], "time that some task waited for memory", "время ожидания памяти"),
        limit!(Share MEMORY_TO_SPARE, [H50], "memory available all the time from which only groups with limits of their own are short", "доступно памяти всё время — тогда её не хватает лишь группам со своими пределами"),
        limit!(Number READ_FOR_WRITES, [H62], "bytes that members read per byte written, for the sake of writes above", "байт, прочитанных под массивом на записанный байт, выше — ради записи"),
        limit!(Number READ_AMPLIFIED, [H62], "bytes that members read beyond those asked for, per byte", "лишних байт, прочитанных под томом, на прочитанный байт"),
        limit!(Share LINE_RATE_REACHED, [H61], "part of the line rate from which a network is the limit", "часть скорости канала, с которой предел — сеть"),
        limit!(Share SENT_AGAIN, [H61], "TCP segments sent again", "повторённых сегментов TCP"),
        limit!(Share AMPLIFICATION_DEVIATION, [H63], "bytes at the drives against what the layers make of a write", "байты на накопителях против ожидаемых от слоёв"),
        limit!(Size POOL_METADATA, [H63], "log and metadata of an OSD of Ceph for each write", "журнал и метаданные OSD в Ceph на каждую запись"),
        limit!(Size POOL_CACHE, [H63], "what a client of CephFS may hold back at the end of a trial", "сколько клиент CephFS может придержать к концу испытания"),
        limit!(Number FLAT_TOP, [H65], "95 % over 50 % quantile of the rates of seconds, flat below", "95-й процентиль к медиане скоростей по секундам, ниже — плоско"),
        limit!(Count FLAT_SECONDS, [H65], "seconds that can be called flat, at least", "секунд, которые можно назвать плоскими, не меньше"),
        limit!(Share ROUND_DISTANCE, [H65], "distance from a round number", "расстояние до круглого числа"),
        limit!(Share LIMIT_REACHED, [H65], "part of a known limit from which it is what was measured", "часть известного предела, с которой измерен он"),
        limit!(Number STEP_DOWN, [H65], "part of its first level that a rate keeps after a step", "часть первого уровня, остающаяся после ступени"),
        limit!(Count STEP_SECONDS, [H65], "seconds on either side of a step, at least", "секунд по обе стороны ступени, не меньше"),
        limit!(Number SPLIT, [H66], "bytes per I/O at the device over the block size, split below", "байт на операцию устройства к размеру блока, ниже — разбито"),
        limit!(Number MERGED, [H66], "the same, merged above", "то же, выше — слито"),
    ]
}

fn of_intervals() -> Vec<Limit> {
    vec![
        limit!(Time IDLE, [H78], "between the load before a trial and the trial", "между нагрузкой до испытания и испытанием"),
        limit!(Share TELEMETRY_CPU, [H77], "part of one CPU that reading counters takes", "часть процессора на чтение счётчиков"),
        limit!(Number DRIFT_T, [H71], "Student's t of a slope over the blocks of a comparison", "t Стьюдента наклона по блокам сравнения"),
        limit!(Count TRIALS_PUBLISHABLE, [], "interleaved trials of a number for publishing", "чередующихся испытаний у числа для публикации"),
        limit!(Time WINDOW_PUBLISHABLE, [], "trial of a number for publishing", "испытание у числа для публикации"),
        limit!(Share MARGIN, [], "difference that does not matter", "незначимое различие"),
        limit!(Share FALSE_DIFFERENCE, [], "chance of calling any cell different when none is", "вероятность назвать различной хоть одну клетку, когда различий нет"),
        limit!(Share PRECISION, [], "half of the interval that a rate should have", "половина интервала, нужная скорости"),
        limit!(Share RUN_SHORTER, [], "part of the time of a run for which another length of trials is named", "часть времени прогона, ради которой называют другую длину испытаний"),
        limit!(Time WINDOW_SUGGESTED, [], "longest trial that is suggested", "самое долгое предлагаемое испытание"),
        limit!(Number CHANGE_P, [], "largest p of a change over a series of runs", "наибольшее p изменения в ряду прогонов"),
        limit!(Share CHANGE_LEAST, [], "least change over a series of runs that is reported", "наименьшее изменение в ряду прогонов, о котором сообщается"),
        limit!(Count BATCH_INTERVALS, [], "intervals of 100 ms in a batch of a single trial, at least", "интервалов по 100 мс в части одиночного испытания, не меньше"),
        limit!(Share USL_DEVIATION, [], "deviation of a sweep from the Universal Scalability Law that still follows it", "отклонение ряда от универсального закона масштабируемости, при котором он ему следует"),
        limit!(Share USL_SPREAD, [], "what a rate of a sweep counts as known by, at best", "точность, с которой скорость ряда считается известной, в лучшем случае"),
        limit!(Share SWEEP_LEVEL, [], "distance from the largest rate of a sweep at which it does not grow any more", "расстояние до наибольшей скорости ряда, на котором рост кончился"),
    ]
}

fn of_ceilings() -> Vec<Limit> {
    vec![
        limit!(Share ABOVE_CEILING, [H07], "rate over what the drives gave when they were read", "скорость к той, что дали накопители при чтении"),
        limit!(Number ENGINE_HEADROOM, [H42], "rate of the engine against nothing over that of the case, at least", "скорость генератора без объекта к скорости случая, не меньше"),
        limit!(Share HELD_BACK, [], "periods in which an instance is held back by its own limit of CPU, named from", "доля периодов, в которых экземпляр сдерживает его предел процессора, называется с"),
        limit!(Share FAULT_BACK, [], "part of the rate before an event, from which service is back", "доля скорости до события, с которой работа восстановлена"),
        limit!(Time FAULT_MEAN, [], "length of the means after an event", "длина средних после события"),
        limit!(Time FAULT_HELD, [], "how long a rate must stay where it is back", "как долго скорость должна держаться, чтобы считаться восстановленной"),
        limit!(Time FAULT_HORIZON, [], "fixed time over which work lost by an event is counted", "постоянный срок, за который считается потерянная из-за события работа"),
        limit!(Number FAULT_STALL_LEAST, [], "I/Os in 100 ms, on average, from which an interval without any is a stall", "операций за 100 мс в среднем, начиная с которых интервал без них — остановка"),
        limit!(Share BOUND_AT, [], "part of a ceiling from which it limits a rate", "часть потолка, с которой он ограничивает скорость"),
        limit!(Share BOUND_TOGETHER, [], "difference of two ceilings that limit a rate together", "разница потолков, при которой пределов два"),
        limit!(Share LATENCY_BOUND_BELOW, [], "part of every ceiling below which latency may be the bound", "часть каждого потолка, ниже которой пределом может быть задержка"),
        limit!(Share LATENCY_BOUND_REACHED, [], "rate over in flight / latency alone from which it is", "скорость к глубине, делённой на задержку в одиночку, с которой это так"),
        limit!(Share LINK_USABLE, [], "part of a PCIe link that is left for data", "часть канала PCIe, остающаяся данным"),
        limit!(Share NETWORK_USABLE, [], "part of a network as it is stated that is left for data", "часть указанной пропускной способности сети, остающаяся данным"),
        limit!(Share DOUBLED_SATURATED, [], "gain from twice the queue depth, below it there is saturation", "прибавка от удвоения глубины, ниже которой насыщение"),
        limit!(Share DOUBLED_GROWS, [], "the same, from it on there is none", "то же, с которой насыщения нет"),
    ]
}

fn of_caveats() -> Vec<Limit> {
    vec![
        limit!(Count FEW_CPUS, [], "CPUs on which load shares with telemetry", "процессоров, при которых нагрузка делит их с телеметрией"),
        limit!(Share NEARLY_FULL, [], "use of a file system that is nearly full", "занятость почти полной файловой системы"),
        limit!(Count MEMORY_SIZES, [], "sizes of memory that a range should have", "объёмов памяти, которые должна занимать область"),
        limit!(Rate OTHER_IOPS, [], "other programs' I/Os before the run that are reported", "чужих операций до прогона, о которых сообщается"),
        limit!(Throughput OTHER_BYTES_PER_S, [], "other programs' throughput before the run that is reported", "чужая пропускная способность до прогона, о которой сообщается"),
        limit!(Share PROBER_SHARE, [], "probes in the I/Os of the load", "проб в операциях нагрузки"),
        limit!(Number STANDSTILL_PERIODS, [], "times between probes that are no answer", "периодов между пробами, которые считаются отсутствием ответа"),
        limit!(Share STANDSTILL_QUIET, [], "intervals of it in which the load stood still", "интервалов в нём, где нагрузка стояла"),
        limit!(Number STOOD_EXPECTED, [], "I/Os of a kind missing from which the load stood still", "недостающих операций вида, с которых нагрузка стояла"),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    /// Name of each constant with the numbers of checks that its documentation begins with.
    fn constants() -> BTreeMap<String, String> {
        let mut found = BTreeMap::new();
        let mut documentation = String::new();
        for line in include_str!("../limits.rs").lines() {
            if let Some(text) = line.strip_prefix("/// ") {
                documentation = documentation + text + " ";
            } else if let Some(rest) = line.strip_prefix("pub const ") {
                let name = rest.split(':').next().unwrap_or_default().to_string();
                let ids = documentation.split(':').next().unwrap_or_default();
                let is_id = |word: &&str| word.starts_with('H') && word[1..].parse::<u32>().is_ok();
                let ids: Vec<&str> = ids.split([' ', ',']).filter(is_id).collect();
                found.insert(name, ids.join(" "));
                documentation.clear();
            } else if line.is_empty() {
                documentation.clear();
            }
        }
        found.remove("LIMITS_VERSION");
        found
    }

    #[test]
    fn every_limit_is_in_the_list_once_with_its_checks() {
        let list = all();
        let listed: BTreeMap<String, String> =
            list.iter().map(|limit| (limit.key.to_string(), CheckId::codes(limit.checks).join(" "))).collect();
        assert_eq!(listed, constants());
        assert_eq!(list.len(), listed.len(), "a limit is there twice");
        assert!(list.len() > 60, "the constants are read: {}", list.len());
    }

    #[test]
    fn values_are_told_as_they_are() {
        let told = |value: Value| (value.say().en, value.say().ru);
        let same = |text: &str| (text.to_string(), text.to_string());
        assert_eq!(told(Value::Share(0.0055)), ("0.55 %".into(), "0,55 %".into()));
        assert_eq!(told(Value::Share(0.07)), same("7 %"), "and not 7.000000000000001");
        assert_eq!(told(Value::Number(1.05)).1, "1,05");
        assert_eq!(told(Value::Rate(500.0)), ("500/s".into(), "500/с".into()));
        assert_eq!(told(Value::Time(Nanos(100_000))).0, "100 µs");
        assert_eq!(told(Value::Words(&["a", "b"])), same("a, b"));
    }
}
