//! A made-up run for tests: rich, deterministic, and in a second form hostile.

use stend_analyse::chart::{Axis, Band, Chart, Pane, Point, Quantity, Scale, Series, Unit};
use stend_analyse::findings::*;
use stend_base::{Bytes, Nanos, Say, Share, say};
use stend_record::observed::{EngineFacts, FillOutcome, TrialOutcome};
use stend_record::{Device, HostFacts, RunHeader, RunRecord, RunState, TargetFacts, TargetKind, TrialRecord};
use stend_record::{TrialStatus, WriteAccess};
use stend_spec::plan::{PlanInputs, PlanTarget, Room};
use stend_spec::suite::{Fill, StreamSpec, Suite, SuiteCase};
use stend_spec::workload::{Backend, Mix, Op, Pattern, Region, Stream, Sync, Trial};

/// Names that have broken other tools.
pub const HOSTILE: [&str; 7] = [
    "</title><script>alert('x')</script>",
    "100 % \"quoted\" 'single' & <b>",
    "эмодзи 💾 и\u{301} 日本語",
    "\u{1b}[31mred\u{202e}txet\u{0}",
    "x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x",
    "",
    "верхний-регистр-и-очень-длинное-слово-без-единого-пробела-которое-не-помещается-ни-в-одну-колонку-таблицы-и-ни-в-одну-строку-телефона-и-всё-равно-должно-как-то-выглядеть-на-странице-отчёта-и-в-терминале",
];

/// Elements of HTML that have no end tag.
const VOID: [&str; 3] = ["meta", "input", "br"];

/// Every tag is closed in order and every attribute is quoted. Style sheets are skipped.
pub fn assert_well_formed(markup: &str) {
    let mut open: Vec<&str> = Vec::new();
    let mut rest = markup.strip_prefix("<!doctype html>").unwrap_or(markup);
    while let Some(start) = rest.find('<') {
        assert!(!rest[..start].contains('>') || open.last() == Some(&"style"), "bare > before {:.80}", &rest[start..]);
        let end = start + rest[start..].find('>').expect("an open tag");
        let tag = &rest[start + 1..end];
        rest = &rest[end + 1..];
        if let Some(name) = tag.strip_prefix('/') {
            assert_eq!(open.pop(), Some(name), "before {rest:.120}");
            continue;
        }
        assert_eq!(tag.matches('"').count() % 2, 0, "quotes of <{tag}>");
        assert!(!tag.contains('<'), "< inside <{tag}>");
        let name = tag.split(' ').next().unwrap_or_default();
        if name == "style" {
            rest = &rest[rest.find("</style>").expect("an end of the style sheet")..];
        }
        if !VOID.contains(&name) {
            open.push(name);
        }
    }
    assert!(open.is_empty(), "left open: {open:?}");
}

/// A number that looks random, 0 to 1, the same for the same arguments.
fn noise(seed: u64, i: u64) -> f64 {
    stend_base::random::draw(seed, i) as f64 / u64::MAX as f64
}

/// A line over whole numbers of x.
pub fn series(name: &str, quantity: Quantity, variant: u8, values: &[f64]) -> Series {
    let points = values.iter().enumerate().map(|(i, y)| Point { x: i as f64, y: Some(*y), envelope: None }).collect();
    Series { name: Say::same(name), quantity, variant, points, dots: false }
}

fn axis(label: Say, scale: Scale, unit: Unit, from: f64, to: f64) -> Axis {
    Axis { label, scale, unit, from, to }
}

/// Two trials of 60 intervals with a gap between them.
pub fn time_chart(id: &str) -> Chart {
    trials_chart(id, 2, 12_000.0, 84e3)
}

fn trials_chart(id: &str, trials: u64, iops: f64, p50: f64) -> Chart {
    // Seven other cases of 4 s run between two trials of one.
    let (window, pause) = (30, 290);
    let mut rows: [Vec<Point>; 4] = Default::default();
    let mut bands = Vec::new();
    for trial in 0..trials {
        let start = trial * (window + pause);
        let (from, to) = (start as f64 / 10.0, (start + window) as f64 / 10.0);
        let n = trial + 1;
        bands.push(Band { from, to, label: say!("trial {n}", "испытание {n}") });
        for i in start..start + window + 1 {
            let gap = i == start + window;
            let wave = |k: u64, spread: f64| 1.0 + spread * (noise(k, i) - 0.5);
            let values =
                [iops * wave(1, 0.1), p50 * wave(2, 0.05), p50 * 6.0 * wave(3, 0.4), p50 * 30.0 * wave(4, 1.5)];
            for (row, value) in rows.iter_mut().zip(values) {
                row.push(Point { x: i as f64 / 10.0, y: (!gap).then_some(value), envelope: None });
            }
        }
    }
    for point in &mut rows[0] {
        point.envelope = point.y.map(|y| (y * 0.93, y * 1.05));
    }
    let end = (trials * (window + pause)) as f64 / 10.0;
    let [rate, median, p99, max] = rows;
    let line = |name: &str, quantity, variant, points| Series {
        name: Say::same(name),
        quantity,
        variant,
        points,
        dots: false,
    };
    let latency = [
        line("p50", Quantity::Latency, 0, median),
        line("p99", Quantity::Latency, 1, p99),
        Series { name: say!("max", "макс."), ..line("", Quantity::Latency, 2, max) },
    ];
    Chart {
        id: id.into(),
        title: say!("Rate and latency over time", "Скорость и задержка во времени"),
        summary: say!(
            "IOPS stay within 5 % of their mean in all trials; the largest latency is 30 times the median.",
            "IOPS во всех испытаниях держатся в пределах 5 % от среднего; наибольшая задержка в 30 раз выше медианы."
        ),
        x: axis(
            say!("time since the start of the run, s", "время от начала прогона, с"),
            Scale::Linear,
            Unit::Seconds,
            0.0,
            end,
        ),
        panes: vec![
            Pane {
                y: axis(Say::same("IOPS"), Scale::Linear, Unit::Plain, 0.0, iops * 1.15),
                series: vec![line("IOPS", Quantity::Iops, 0, rate)],
            },
            Pane {
                y: axis(say!("latency", "задержка"), Scale::Log, Unit::LatencyNs, p50 * 0.5, p50 * 80.0),
                series: latency.into(),
            },
        ],
        bands,
    }
}

fn percentile_chart(id: &str, p50: f64) -> Chart {
    let shares = [0.0, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 0.995, 0.999, 0.9995, 0.9999];
    let factors = [0.6, 0.8, 0.9, 1.0, 1.2, 1.9, 2.6, 6.0, 8.0, 14.0, 21.0, 30.0];
    let points = shares.iter().zip(factors).map(|(x, f)| Point { x: *x, y: Some(p50 * f), envelope: None }).collect();
    Chart {
        id: id.into(),
        title: say!("Distribution of latency", "Распределение задержки"),
        summary: say!(
            "The curve ends where fewer than ten I/Os are slower.",
            "Кривая кончается там, где медленнее менее десяти операций."
        ),
        x: axis(say!("share of I/Os at or below", "доля операций не дольше"), Scale::Nines, Unit::Share, 0.0, 0.9999),
        panes: vec![Pane {
            y: axis(say!("latency", "задержка"), Scale::Log, Unit::LatencyNs, p50 * 0.4, p50 * 50.0),
            series: vec![Series {
                name: say!("read", "чтение"),
                quantity: Quantity::Latency,
                variant: 0,
                points,
                dots: false,
            }],
        }],
        bands: Vec::new(),
    }
}

fn cpu_chart() -> Chart {
    let all = (0..180).map(|i| 0.22 + 0.1 * noise(7, i)).collect::<Vec<_>>();
    let worker = (0..180).map(|i| 0.12 + 0.06 * noise(8, i)).collect::<Vec<_>>();
    Chart {
        id: "cpu".into(),
        title: say!("CPU over the run, share of all CPUs", "Загрузка процессоров за прогон, доля всех"),
        summary: say!("The host was never busy above 32 %.", "Хост ни разу не был занят более чем на 32 %."),
        x: axis(
            say!("time since the start of the run, s", "время от начала прогона, с"),
            Scale::Linear,
            Unit::Seconds,
            0.0,
            180.0,
        ),
        panes: vec![Pane {
            y: axis(say!("busy", "занято"), Scale::Linear, Unit::Share, 0.0, 1.0),
            series: vec![
                Series { name: say!("all CPUs", "все процессоры"), ..series("", Quantity::Cpu, 0, &all) },
                Series { name: say!("worker", "исполнитель"), ..series("", Quantity::Cpu, 1, &worker) },
            ],
        }],
        bands: vec![
            Band { from: 0.0, to: 22.0, label: say!("fill", "заполнение") },
            Band { from: 24.0, to: 176.0, label: say!("measure", "измерение") },
        ],
    }
}

fn estimate(value: f64, percent: f64, n: u32) -> Estimate {
    let half = value * percent / 100.0;
    Estimate { value, interval: Some((value - half, value + half)), basis: Basis::Trials { n } }
}

fn rates(iops: f64, block: f64, percent: f64) -> Rates {
    Rates { iops: estimate(iops, percent, 6), throughput: estimate(iops * block, percent, 6) }
}

fn operation(op: Op, rates: Rates, p50: u64, count: u64) -> OpFinding {
    let at = |q: f64, v: u64| Quantile {
        q: Share(q),
        value: QuantileValue::At(Nanos(v)),
        interval: Some((Nanos(v - v / 50), Nanos(v + v / 40))),
    };
    let last = match count {
        0..3688 => {
            Quantile { q: Share(0.999), value: QuantileValue::NotEnough { have: count, need: 3688 }, interval: None }
        }
        _ => at(0.999, p50 * 14),
    };
    OpFinding {
        stream: 0,
        op,
        rates,
        count,
        latency_mean_ns: p50 as f64 * 1.3,
        quantiles: vec![at(0.5, p50), at(0.99, p50 * 6), last],
        latency_max: Nanos(p50 * 31),
        censored: 0,
    }
}

fn check(id: &str, status: CheckStatus) -> CheckResult {
    let (name, measured, limit, meaning) = match id {
        "H01" => (
            say!("IOPS × block size = throughput", "IOPS × размер блока = пропускная способность"),
            say!("deviation 0.0 %", "отклонение 0,0 %"),
            say!("at most 1 %", "не более 1 %"),
            Say::same(""),
        ),
        "H02" => (
            say!("queue depth was reached", "глубина очереди достигнута"),
            say!("0.84 of the depth asked for", "0,84 от заданной глубины"),
            say!("0.9 to 1.05", "от 0,9 до 1,05"),
            say!(
                "Fewer I/Os were in flight than asked for: the load threads could not keep the queue full. More CPUs or fewer jobs help.",
                "В полёте было меньше операций, чем задано: потоки нагрузки не успевали заполнять очередь. Помогут дополнительные процессоры или меньше заданий."
            ),
        ),
        "H11" => (
            say!("bytes at the drives", "байты на накопителях"),
            say!("1.00 of the bytes asked for", "1,00 от запрошенных байт"),
            say!("at least 0.95", "не менее 0,95"),
            say!(
                "The drive is virtual: caches of the hypervisor behind it cannot be seen.",
                "Накопитель виртуальный: кэши гипервизора за ним не видны."
            ),
        ),
        "H18" => (
            say!("reads of unwritten blocks", "чтения незаписанных блоков"),
            say!("37 % of sampled blocks were zeros", "37 % проверенных блоков — нули"),
            say!("at most 1 %", "не более 1 %"),
            say!(
                "Reads of blocks that were never written may not reach the medium at all. Fill the range first.",
                "Чтения никогда не записанных блоков могут вовсе не доходить до носителя. Сначала заполните область."
            ),
        ),
        _ => (say!("errors", "ошибки"), say!("none", "нет"), say!("none", "нет"), Say::same("")),
    };
    let meaning = if status == CheckStatus::Pass { Say::same("") } else { meaning };
    CheckResult { id: id.into(), name, status, measured, limit, meaning }
}

struct Spec {
    name: &'static str,
    axis: Option<&'static str>,
    workload: Say,
    iops: f64,
    block: f64,
    p50: u64,
    read_percent: u8,
}

fn specs() -> Vec<Spec> {
    let spec = |name, axis, workload, iops, block, p50, read_percent| Spec {
        name,
        axis,
        workload,
        iops,
        block,
        p50,
        read_percent,
    };
    vec![
        spec(
            "seq-read",
            None,
            say!("sequential read, 1 MiB, 8 in flight", "последовательное чтение, 1 МиБ, 8 в полёте"),
            3_120.0,
            1_048_576.0,
            2_540_000,
            100,
        ),
        spec(
            "seq-write",
            None,
            say!("sequential write, 1 MiB, 8 in flight", "последовательная запись, 1 МиБ, 8 в полёте"),
            1_870.0,
            1_048_576.0,
            4_210_000,
            0,
        ),
        spec(
            "rand-read",
            Some("1"),
            say!("random read, 4 KiB, 1 in flight", "случайное чтение, 4 КиБ, 1 в полёте"),
            11_840.0,
            4_096.0,
            84_240,
            100,
        ),
        spec(
            "rand-read",
            Some("32"),
            say!("random read, 4 KiB, 32 in flight", "случайное чтение, 4 КиБ, 32 в полёте"),
            241_600.0,
            4_096.0,
            131_000,
            100,
        ),
        spec(
            "rand-write",
            Some("1"),
            say!("random write, 4 KiB, 1 in flight", "случайная запись, 4 КиБ, 1 в полёте"),
            31_200.0,
            4_096.0,
            29_700,
            0,
        ),
        spec(
            "rand-write",
            Some("32"),
            say!("random write, 4 KiB, 32 in flight", "случайная запись, 4 КиБ, 32 в полёте"),
            182_900.0,
            4_096.0,
            171_000,
            0,
        ),
        spec(
            "mix",
            None,
            say!(
                "random 70 % read, 30 % write, 4 KiB, 32 in flight",
                "случайно 70 % чтений, 30 % записей, 4 КиБ, 32 в полёте"
            ),
            164_300.0,
            4_096.0,
            188_000,
            70,
        ),
        spec(
            "durable-write",
            None,
            say!(
                "random write, 4 KiB, 1 in flight, fdatasync after every write",
                "случайная запись, 4 КиБ, 1 в полёте, fdatasync после каждой записи"
            ),
            512.0,
            4_096.0,
            1_940_000,
            0,
        ),
    ]
}

fn case_finding(index: usize, spec: &Spec) -> CaseFinding {
    let count = (spec.iops * 18.0) as u64;
    let share = f64::from(spec.read_percent) / 100.0;
    let part = |op, share: f64, slow: u64| {
        operation(op, rates(spec.iops * share, spec.block, 1.4), spec.p50 * slow / 10, (count as f64 * share) as u64)
    };
    let ops = match spec.read_percent {
        100 => vec![part(Op::Read, 1.0, 10)],
        0 => vec![part(Op::Write, 1.0, 10)],
        _ => vec![part(Op::Read, share, 10), part(Op::Write, 1.0 - share, 13)],
    };
    let h02 = if spec.axis == Some("32") { CheckStatus::Warn } else { CheckStatus::Pass };
    let h18 = match index {
        2 => CheckStatus::Fail,
        _ if spec.read_percent == 0 => CheckStatus::NotApplicable,
        _ => CheckStatus::Pass,
    };
    let checks = [
        ("H01", CheckStatus::Pass),
        ("H02", h02),
        ("H11", CheckStatus::NotMeasurable),
        ("H18", h18),
        ("H76", CheckStatus::Pass),
    ];
    CaseFinding {
        case: index as u32,
        label: spec.axis.map_or(spec.name.into(), |depth| format!("{}, queue_depth {depth}", spec.name)),
        workload: spec.workload.clone(),
        headline: if spec.block > 65_535.0 { Headline::Throughput } else { Headline::Iops },
        trials: 6,
        trials_left_out: u32::from(index == 7),
        total: rates(spec.iops, spec.block, 0.4 + noise(9, index as u64) * 3.0),
        ops,
        checks: checks.into_iter().map(|(id, status)| check(id, status)).collect(),
        charts: vec![
            trials_chart(&format!("case-{index}-time"), 6, spec.iops, spec.p50 as f64),
            percentile_chart(&format!("case-{index}-latency"), spec.p50 as f64),
        ],
    }
}

/// Findings of a screening run of the suite `quick`.
pub fn findings() -> Findings {
    Findings {
        run: "R-20261121T213000Z-kfzm".into(),
        suite: "quick".into(),
        target: "/var/tmp".into(),
        started_unix: 1_795_296_600,
        elapsed: Nanos::secs(184),
        state: RunState::Complete,
        grade: Grade {
            level: GradeLevel::Screening,
            banner: say!(
                "Screening: good for deciding what to measure next, not for publishing. Missing: preconditioning; a test for steady state; trials of 60 s or more (here 3 s).",
                "Предварительная оценка: помогает решить, что мерить дальше, но не для публикации. Не хватает: подготовки накопителя; проверки установившегося режима; испытаний не короче 60 с (здесь 3 с)."
            ),
        },
        verdict: say!(
            "Random reads of 4 KiB reach 241\u{a0}600 IOPS at queue depth 32 (± 1.1 %, p99 0.786 ms); a durable write takes 1.94 ms at the median. One check failed: some reads may not have reached the medium.",
            "Случайное чтение по 4 КиБ достигает 241\u{a0}600 IOPS при глубине очереди 32 (± 1,1 %, p99 0,786 мс); надёжная запись занимает в медиане 1,94 мс. Одна проверка не пройдена: часть чтений могла не дойти до носителя."
        ),
        cases: specs().iter().enumerate().map(|(i, spec)| case_finding(i, spec)).collect(),
        not_run: vec![NotRun {
            label: "trim".into(),
            reason: say!("needs --confirm=wwn:0x5000c500a1b2c3d4", "нужен ключ --confirm=wwn:0x5000c500a1b2c3d4"),
        }],
        caveats: vec![
            Caveat::NeverWritten { share: Share(0.37) },
            Caveat::VirtualDisk { device: "vda".into() },
            Caveat::FewCpus { cpus: 2 },
        ],
        charts: vec![cpu_chart()],
        cost: ToolCost {
            worker_cpus: Some(0.62),
            coordinator_cpus: Some(0.011),
            telemetry_cpus: Some(0.004),
            worker_memory: Some(Bytes::mib(41)),
            coordinator_memory: None,
        },
        limits_version: "2026-11".into(),
    }
}

/// The same run where every name that comes from outside is hostile.
pub fn hostile_findings() -> Findings {
    let mut findings = findings();
    (findings.run, findings.suite, findings.target) = (HOSTILE[0].into(), HOSTILE[2].into(), HOSTILE[3].into());
    for (i, case) in findings.cases.iter_mut().enumerate() {
        case.label = HOSTILE[i % HOSTILE.len()].into();
        case.charts.iter_mut().for_each(|c| c.id = HOSTILE[(i + 1) % HOSTILE.len()].into());
        case.checks[0].measured = Say::same(HOSTILE[(i + 2) % HOSTILE.len()]);
    }
    findings.cases[0].total.iops = Estimate { value: f64::NAN, interval: None, basis: Basis::TooFew { n: 1 } };
    findings.cases[0].total.throughput.value = f64::INFINITY;
    findings.cases[1].ops[0].censored = 3;
    findings.cases[1].ops[0].quantiles[2].value = QuantileValue::Above(Nanos(u64::MAX));
    findings.not_run[0].label = HOSTILE[4].into();
    findings.caveats = vec![
        Caveat::EndedEarly { reason: Say::same(HOSTILE[1]) },
        Caveat::Fallback { backend: HOSTILE[0].into(), reason: HOSTILE[3].into() },
    ];
    findings.state = RunState::Ended { kind: stend_base::Kind::Interrupted, reason: Say::same(HOSTILE[1]) };
    findings
}

/// The run behind [`findings`].
pub fn run() -> RunRecord {
    let suite = suite();
    let cases = specs().len() as u32;
    let trials =
        (0..6u32).flat_map(|block| (0..cases).map(move |i| (block, if block % 2 == 0 { i } else { cases - 1 - i })));
    let trials: Vec<TrialRecord> =
        trials.enumerate().map(|(ordinal, (block, case))| trial(ordinal as u32, block, case)).collect();
    let header = RunHeader {
        id: "R-20261121T213000Z-kfzm".into(),
        started_unix: 1_795_296_600,
        stend_version: "0.1.0".into(),
        command_line: ["stend", "run", "quick", "--on", "/var/tmp"].map(String::from).into(),
        inputs: PlanInputs {
            suite,
            seed: 4_211_776_331,
            target: PlanTarget {
                size: Bytes(0),
                room: Some(Room { total: Bytes::gib(252), free: Bytes::gib(80) }),
                logical_block: Bytes(512),
                writes: Ok(()),
            },
            time_budget: None,
        },
        suite_text: "suite: quick  # screening\ndefaults: {direct: true, ramp: 1s, trial: 3s}\nfill: {size: auto}\ncases:\n  - name: rand-read\n    streams: [{op: read, pattern: random, block_size: 4KiB, queue_depth: [1, 32]}]\n".into(),
        realtime_offset_ns: 1_795_296_000_000_000_000,
    };
    let mut run = RunRecord::new(header);
    run.state = RunState::Complete;
    run.host = Some(host());
    run.target = Some(target());
    run.fill = Some(FillOutcome { written: Bytes::gib(8), elapsed: Nanos::secs(21) });
    run.trials = trials;
    run
}

fn suite() -> Suite {
    let stream = StreamSpec {
        mix: Mix { read_percent: 100 },
        pattern: Pattern::Random,
        block_size: vec![Bytes::kib(4)],
        queue_depth: vec![1, 32],
        jobs: vec![1],
        sync: Sync::None,
    };
    let case = SuiteCase {
        name: "rand-read".into(),
        streams: vec![stream],
        ramp: Nanos::SECOND,
        window: Nanos::secs(3),
        direct: true,
        backend: Backend::Auto,
    };
    Suite { name: "quick".into(), fill: Some(Fill::Auto), cases: vec![case], blocks: 6 }
}

fn trial(ordinal: u32, block: u32, case: u32) -> TrialRecord {
    let spec = &specs()[case as usize];
    let stream = Stream {
        mix: Mix { read_percent: spec.read_percent },
        pattern: if spec.block > 65_535.0 { Pattern::Sequential } else { Pattern::Random },
        block_size: Bytes(spec.block as u64),
        queue_depth: spec.axis.map_or(8, |d| d.parse().unwrap()),
        jobs: 1,
        sync: if case == 7 { Sync::Fdatasync(1) } else { Sync::None },
    };
    let asked = Trial {
        streams: vec![stream],
        ramp: Nanos::SECOND,
        window: Nanos::secs(3),
        drain_limit: Nanos::secs(30),
        seed: u64::from(ordinal),
        direct: true,
        backend: Backend::Auto,
        region: Region { start: Bytes(0), len: Bytes::gib(8) },
    };
    let interrupted = (block, case) == (5, 7);
    let engine = EngineFacts {
        backend: "io_uring".into(),
        fallback_reason: String::new(),
        kernel_workers: 0,
        cpus: vec![1],
        registered: true,
    };
    let outcome = TrialOutcome {
        status: if interrupted { TrialStatus::Interrupted } else { TrialStatus::Complete },
        load_start: Nanos(0),
        window_start: Nanos::SECOND,
        window_end: Nanos::secs(4),
        engine,
        jobs: Vec::new(),
        drained: Vec::new(),
        censored: Vec::new(),
        errors: Vec::new(),
        clocks: [(0, 0, 0); 2],
    };
    TrialRecord { trial: ordinal, case, block, asked, started: Nanos(0), slices: Vec::new(), outcome: Some(outcome) }
}

fn host() -> HostFacts {
    HostFacts {
        hostname: "stand-7".into(),
        kernel: "6.12.57 #1 SMP PREEMPT_DYNAMIC".into(),
        os: "Debian GNU/Linux 13 (trixie)".into(),
        cpu_model: "AMD EPYC 7443 24-Core Processor".into(),
        cpus: 2,
        numa_nodes: 1,
        memory: Bytes::gib(24),
        hypervisor: Some("kvm".into()),
        clock_source: Some("kvm-clock".into()),
        governor: None,
        boot_id: "5c1d2a8e-0000-4000-8000-000000000000".into(),
        kernel_command_line: "root=/dev/vda1 ro quiet".into(),
        stend_version: "0.1.0".into(),
        root: false,
    }
}

/// A directory on LVM on md over two drives.
pub fn target() -> TargetFacts {
    let device = |name: &str, kind: &str, depth, gib| Device {
        name: name.into(),
        kind: kind.into(),
        depth,
        size: Bytes::gib(gib),
        ..Device::default()
    };
    let drive = |name: &str, serial: &str| Device {
        identity: Some(format!("serial:{serial}")),
        model: Some("SAMSUNG MZQL2960HCJR".into()),
        firmware: Some("GDC5602Q".into()),
        rotational: Some(false),
        write_cache: Some("write back".into()),
        scheduler: Some("none".into()),
        ..device(name, "disk", 2, 894)
    };
    TargetFacts {
        named: "/var/tmp".into(),
        path: "/var/tmp".into(),
        kind: TargetKind::Directory,
        identity: None,
        size: Bytes::gib(252),
        free: Bytes::gib(80),
        logical_block: Bytes(512),
        physical_block: Bytes(4096),
        file_system: Some("ext4".into()),
        mount_options: Some("rw,relatime".into()),
        devices: vec![
            Device { identity: Some("dm-uuid:LVM-x7".into()), ..device("dm-0", "dm", 0, 252) },
            device("md0", "md", 1, 893),
            drive("nvme0n1", "S64GNN0TB01234"),
            drive("nvme1n1", "S64GNN0TB01235"),
        ],
        signatures: Vec::new(),
        access: WriteAccess::OwnDirectory,
    }
}
