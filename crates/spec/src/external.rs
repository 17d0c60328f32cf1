//! What another program means by a workload: which keys fio has no words for, and where its words mean something
//! else. Pure; must not know which version is installed.

use crate::suite::{Suite, SuiteCase};
use crate::workload::{Backend, Data, Engine, Pages, Pattern, Stream, Sync, Trial};
use serde::{Deserialize, Serialize};
use stend_base::{Error, Result, Say, say};

/// Most jobs of a trial that fio runs: each is a section of its job file and keeps its own histograms.
pub const FIO_JOBS_MAX: u32 = 256;

/// What a suite needs of the fio of a host, beyond what any case does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct FioNeed {
    /// It opens a target with `O_DSYNC`.
    pub o_dsync: bool,
}

impl Suite {
    /// What its cases need of the fio of the host; `None` if nothing.
    pub fn needs_fio(&self) -> Option<FioNeed> {
        let cases = || self.cases.iter().filter(|case| case.engine == Engine::Fio);
        let o_dsync = || cases().flat_map(|case| &case.streams).any(|stream| stream.sync == Sync::ODsync);
        cases().next().map(|_| FioNeed { o_dsync: o_dsync() })
    }
}

/// Where fio means something else by what was asked for, and does that.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Difference {
    /// The rate of an open loop, and from when its latencies count.
    Arrivals,
    /// Buckets of latency.
    Bins,
    /// The latencies of each second.
    Seconds,
    /// Ramp and place of the window in time.
    Clock,
    /// The last I/Os of a trial.
    End,
    /// The first failed I/O.
    Errors,
    /// Where a job begins, and the order of its blocks.
    Order,
    /// Shares of a mix.
    Mix,
    /// Sizes of a mixture.
    Sizes,
    /// What is written.
    Contents,
    /// How far it can be compressed.
    Compression,
    /// When syncs were, and latency of a write that is followed by one.
    Syncs,
}

impl Difference {
    /// All of them, in the order of their description.
    pub const ALL: [Difference; 12] = [
        Difference::Arrivals,
        Difference::Seconds,
        Difference::Syncs,
        Difference::Clock,
        Difference::End,
        Difference::Errors,
        Difference::Order,
        Difference::Mix,
        Difference::Sizes,
        Difference::Contents,
        Difference::Compression,
        Difference::Bins,
    ];

    /// The difference as a clause.
    pub fn say(self) -> Say {
        match self {
            Difference::Arrivals => say!(
                "latency of an open loop begins when fio submits an I/O, not when it was due",
                "задержка разомкнутого цикла — от подачи операции, а не от её срока"
            ),
            Difference::Bins => say!(
                "buckets of latency are twice as wide and end at 17.1 s",
                "корзины задержек вдвое шире и кончаются на 17,1 с"
            ),
            Difference::Seconds => {
                say!("latencies of single seconds leave the submission out", "задержки отдельных секунд — без подачи")
            }
            Difference::Clock => say!(
                "fio reports nothing about the ramp, and the begin of the window is known only roughly",
                "о разгоне fio не сообщает, а начало окна известно лишь приблизительно"
            ),
            Difference::End => say!(
                "what is in flight at the end of the window counts in it",
                "операции, не завершённые к концу окна, засчитываются в него"
            ),
            Difference::Errors => say!("the first failed I/O ends the trial", "первая же ошибка завершает испытание"),
            Difference::Order => say!(
                "random blocks come in fio's own order, and jobs begin at the start of their regions",
                "случайные блоки идут в порядке самого fio, а задания начинают с начала своих областей"
            ),
            Difference::Mix => say!(
                "kinds of I/O are drawn by chance: shares hold on average",
                "виды операций случайны: доли верны в среднем"
            ),
            Difference::Sizes => say!(
                "sizes of I/O are drawn by chance: bytes of single intervals are counted at the mean size",
                "размеры операций случайны: байты отдельных интервалов считаются по среднему"
            ),
            Difference::Contents => say!(
                "data are made while the load runs, which costs CPU time before each write",
                "данные создаются во время нагрузки, и перед каждой записью на это уходит время процессора"
            ),
            Difference::Compression => {
                say!("the compress ratio is only approximate", "степень сжатия лишь приблизительная")
            }
            Difference::Syncs => say!(
                "syncs are reported for whole trials only and are not in the latency of a write",
                "синхронизации сообщаются лишь за испытание целиком и не входят в задержку записи"
            ),
        }
    }

    fn concerns(self, trial: &Trial) -> bool {
        let any = |of: fn(&Stream) -> bool| trial.streams.iter().any(of);
        match self {
            Difference::Bins | Difference::Seconds | Difference::Clock | Difference::End | Difference::Errors => true,
            Difference::Arrivals => any(|s| s.rate.is_some()),
            Difference::Order => any(|s| s.pattern != Pattern::Uniform),
            Difference::Mix => any(|s| s.mix.shares().count() > 1),
            Difference::Sizes => any(|s| !s.block_mix.is_empty()),
            Difference::Contents => any(|s| s.mix.write > 0),
            Difference::Compression => any(|s| s.data.compress_thousandths != Data::default().compress_thousandths),
            Difference::Syncs => any(syncs),
        }
    }
}

/// Whether a stream makes its writes durable by I/Os of their own.
pub fn syncs(stream: &Stream) -> bool {
    stream.mix.write > 0 && stream.sync.every() > 0
}

/// Where fio means something else by a trial that it can run.
pub fn differences(trial: &Trial) -> Vec<Difference> {
    Difference::ALL.into_iter().filter(|difference| difference.concerns(trial)).collect()
}

/// A key that fio cannot express, and why.
type Refusal = (&'static str, Say);

/// Refuses a case that its engine cannot run, and names the key.
pub fn check(case: &SuiteCase, trial: &Trial) -> Result<()> {
    if trial.engine == Engine::Native {
        return Ok(());
    }
    let Some((key, Say { en, ru })) = refusal(case, trial) else { return Ok(()) };
    let name = &case.name;
    let message = say!(
        "case `{name}`: `{key}` contradicts `engine: fio`: {en}",
        "случай `{name}`: `{key}` противоречит `engine: fio`: {ru}"
    );
    Err(Error::spec(message).hint(say!(
        "leave the key out, or let Stend's own engine run the case (`engine: native`)",
        "уберите ключ или поручите случай генератору самого Stend (`engine: native`)"
    )))
}

fn refusal(case: &SuiteCase, trial: &Trial) -> Option<Refusal> {
    if trial.backend == Backend::Null {
        let why = say!("it measures the cost of Stend's own engine", "так измеряется цена генератора самого Stend");
        return Some(("backend: none", why));
    }
    let polled = match trial.backend {
        Backend::IoUringSqpoll => Some("backend: io_uring_sqpoll"),
        Backend::IoUringIopoll => Some("backend: io_uring_iopoll"),
        _ => None,
    };
    if trial.backend == Backend::NvmePassthrough {
        let why = say!("Stend does not ask fio for NVMe commands", "Stend не поручает fio команды NVMe");
        return Some(("backend: nvme_passthrough", why));
    }
    if let Some(key) = polled {
        return Some((key, say!("Stend does not ask fio to poll", "Stend не поручает fio опрос")));
    }
    if trial.backend == Backend::Psync && trial.streams.iter().any(|s| s.queue_depth > 1) {
        let why = say!(
            "a job of fio then has one I/O in flight, and a `queue_depth` above 1 was asked for",
            "у задания fio тогда одна операция одновременно, а запрошена `queue_depth` больше 1"
        );
        return Some(("backend: psync", why));
    }
    if trial.backend == Backend::IoUring && trial.streams.iter().any(syncs) {
        // fio 3.33, `rw=write`, `fdatasync=4` on /dev/null, where every sync fails: exit code 0 and no error. With psync
        // and libaio both are there.
        let why = say!(
            "through it fio does not notice that a sync has failed, and `sync` was asked for",
            "через него fio не замечает неудачных синхронизаций, а запрошена `sync`"
        );
        return Some(("backend: io_uring", why));
    }
    let (deep, through_cache) = (trial.streams.iter().any(|s| s.queue_depth > 1), !trial.direct);
    if deep && through_cache && trial.streams.iter().any(syncs) {
        // What is left without io_uring is libaio, which makes buffered I/O one after the other.
        let why = say!(
            "beside `sync` fio then has one I/O in flight, and a `queue_depth` above 1 was asked for",
            "рядом с `sync` у fio тогда одна операция одновременно, а запрошена `queue_depth` больше 1"
        );
        return Some(("direct: false", why));
    }
    if trial.io_log.is_some() {
        let why = say!(
            "fio keeps logs of its own, in milliseconds and in files beside the run file",
            "fio ведёт собственные журналы, в миллисекундах и в отдельных от прогона файлах"
        );
        return Some(("io_log", why));
    }
    if trial.pages == Pages::Huge {
        return Some(("pages: huge", reserved()));
    }
    let jobs: u64 = trial.streams.iter().map(|s| u64::from(s.jobs)).sum();
    if jobs > u64::from(FIO_JOBS_MAX) {
        let why = say!(
            "{jobs} jobs were asked for, and Stend gives fio at most {FIO_JOBS_MAX}",
            "запрошено заданий: {jobs}, а Stend поручает fio не больше {FIO_JOBS_MAX}"
        );
        return Some(("jobs", why));
    }
    searches(case).or_else(|| trial.streams.iter().find_map(of_stream))
}

/// What a case searches that fio cannot decide.
fn searches(case: &SuiteCase) -> Option<(&'static str, Say)> {
    if case.streams.iter().any(|stream| stream.search.is_some()) {
        let why = say!(
            "a search decides by latencies that count from when an I/O was due, and fio has none",
            "поиск решает по задержкам от срока операций, а в fio таких нет"
        );
        return Some(("rate: {search}", why));
    }
    if case.load_hosts.search().is_some() {
        let why = say!(
            "a search of hosts decides by the responses of each I/O, which fio does not give",
            "поиск числа машин решает по времени ответа каждой операции, а fio его не даёт"
        );
        return Some(("load_hosts: {search}", why));
    }
    None
}

fn reserved() -> Say {
    say!(
        "fio needs reserved huge pages (`vm.nr_hugepages`), and Stend reserves none",
        "fio берёт большие страницы, зарезервированные администратором (`vm.nr_hugepages`), а Stend ничего не резервирует"
    )
}

fn unknown() -> Say {
    say!("there is nothing in fio that means the same", "в fio нет ничего с тем же смыслом")
}

fn of_stream(stream: &Stream) -> Option<Refusal> {
    if stream.mix.erases() {
        let key = if stream.mix.discard > 0 { "discard" } else { "write_zeroes" };
        return Some((key, unknown()));
    }
    if let Some(key) = pattern(&stream.pattern) {
        let why = say!(
            "its blocks would not be those of Stend's definition",
            "блоки не были бы блоками по определению Stend"
        );
        return Some((key, why));
    }
    if stream.pattern == Pattern::Sequential && stream.mix.shares().count() > 1 {
        let why = say!(
            "fio keeps a position for each kind of I/O, so that a mix is two sequences and not one",
            "fio ведёт свою позицию для каждого вида операций, и смесь — это две последовательности, а не одна"
        );
        return Some(("pattern: sequential", why));
    }
    if !stream.block_mix.is_empty() && stream.pattern != Pattern::Uniform {
        // fio 3.33, `rw=randread`, `bssplit=4k/50:64k/50` with its random map: 20,693 bytes per I/O, not 34,816.
        let why = say!(
            "fio cuts I/Os short where the pass was already, so that other sizes come out (`pattern: uniform` has no passes)",
            "fio укорачивает операции там, где проход уже был, и размеры выходят другими (у `pattern: uniform` проходов нет)"
        );
        return Some(("block_size", why));
    }
    of_sync(stream).or_else(|| of_extras(stream))
}

fn of_sync(stream: &Stream) -> Option<Refusal> {
    match stream.sync {
        Sync::Dsync => {
            let why = say!(
                "fio can only open the target so (`sync: o_dsync`)",
                "fio умеет лишь открыть так объект (`sync: o_dsync`)"
            );
            Some(("sync: dsync", why))
        }
        Sync::SyncFileRange(_) => Some(("sync_file_range", unknown())),
        Sync::Fdatasync(_) | Sync::Fsync(_) if stream.mix.read > 0 => {
            // fio 3.33: 2624 syncs for 3611 writes with `fdatasync=8`, 70 % reads and four I/Os in flight.
            let why = say!(
                "among reads fio syncs again and again after the same write",
                "среди чтений fio вновь и вновь синхронизирует после одной и той же записи"
            );
            Some(("sync", why))
        }
        Sync::Fdatasync(_) | Sync::Fsync(_) if stream.queue_depth > 1 => {
            // fio 3.33, writes per sync with `fdatasync=8`: 8.01 at depth 1, 4.27 at depth 2, 1.76 at depth 16.
            let why = say!(
                "with several I/Os in flight fio syncs after fewer writes than asked; at `queue_depth: 1` it keeps to the number",
                "при нескольких операциях одновременно fio синхронизирует чаще заявленного; при `queue_depth: 1` число соблюдается"
            );
            Some(("sync", why))
        }
        Sync::None | Sync::Fdatasync(_) | Sync::Fsync(_) | Sync::ODsync => None,
    }
}

fn of_extras(stream: &Stream) -> Option<Refusal> {
    if stream.data.dedup_thousandths != Data::default().dedup_thousandths {
        let why = say!("a share of equal buffers is not a ratio", "доля равных буферов — не коэффициент");
        return Some(("dedup", why));
    }
    if stream.verify.is_some() {
        let why = say!(
            "marks of fio tell less than Stend's, which cannot read them",
            "метки fio говорят меньше, и Stend их не читает"
        );
        return Some(("verify", why));
    }
    if stream.think.is_some() {
        let why =
            say!("in fio a whole job rests, not each place in flight", "у fio отдыхает всё задание, а не каждое место");
        return Some(("think", why));
    }
    if stream.batch.one_stamp {
        let why = say!("fio reads the clock as it does", "fio читает часы по-своему");
        return Some(("batch: stamps", why));
    }
    if stream.place.memory.is_some() {
        let why = say!("fio does not report where its buffers are", "fio не сообщает, где лежат его буферы");
        return Some(("numa", why));
    }
    match stream.rate.as_ref().map(|rate| (rate.level(), per_job(stream))) {
        Some((None, _)) => Some(("rate", say!("fio keeps one rate", "fio держит одну частоту"))),
        Some((Some(_), None)) => {
            let why = say!(
                "fio counts whole I/Os per second for each job and each kind of I/O, and this rate does not divide evenly",
                "fio считает целые операции в секунду для каждого задания и каждого вида, а эта частота так не делится"
            );
            Some(("rate", why))
        }
        _ => None,
    }
}

/// Reads and writes per second of each job of a stream, as fio counts them: whole numbers, 0 for a kind that there is none of.
/// `None` without one rate, or where it cannot be shared out so.
pub fn per_job(stream: &Stream) -> Option<[u64; 2]> {
    let total = stream.rate.as_ref()?.level()?.0;
    // A rate is in thousandths, a share in percent.
    let parts = 1000 * 100 * u64::from(stream.jobs.max(1));
    let of = |percent: u8| {
        let rate = total.checked_mul(u64::from(percent))?;
        (rate % parts == 0 && (rate > 0 || percent == 0)).then_some(rate / parts)
    };
    Some([of(stream.mix.read)?, of(stream.mix.write)?])
}

/// The name of an order of offsets that fio does not have.
fn pattern(pattern: &Pattern) -> Option<&'static str> {
    match pattern {
        Pattern::Sequential | Pattern::Random | Pattern::Uniform => None,
        Pattern::SharedSequential => Some("pattern: shared_sequential"),
        Pattern::Append => Some("pattern: append"),
        Pattern::Reverse => Some("pattern: reverse"),
        Pattern::Zipf { .. } => Some("zipf"),
        Pattern::Pareto { .. } => Some("pareto"),
        Pattern::Normal { .. } => Some("normal"),
        Pattern::Zones(_) => Some("zones"),
        Pattern::Strided { .. } => Some("strided"),
        Pattern::Mixed { .. } => Some("pattern: {sequential}"),
        Pattern::Traced => Some("trace"),
    }
}
