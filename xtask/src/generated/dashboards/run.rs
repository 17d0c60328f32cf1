//! Panels of a run.

use super::panels::{Kind, Panel};
use stend_base::{Say, say};

pub fn panels() -> Vec<Panel> {
    let rate = |metric: &str| format!("rate({metric}{{run=\"$run\"}}[$__rate_interval])");
    let quantile =
        |q: &str| format!("histogram_quantile({q}, sum by (le, op) ({}))", rate("stend_io_latency_seconds_bucket"));
    let by_op = || Say::same("{{op}}");
    let run = |metric: &str| format!("{metric}{{run=\"$run\"}}");
    vec![
        Panel::number(say!("Done", "Выполнено"), "percentunit", &run("stend_run_progress_ratio")),
        Panel::number(say!("Time left", "Осталось"), "s", &run("stend_run_eta_seconds")),
        Panel::number(say!("IOPS now", "IOPS сейчас"), "iops", &format!("sum({})", rate("stend_io_operations_total"))),
        Panel::number(
            say!("Failed I/Os", "Ошибок ввода-вывода"),
            "none",
            &format!("sum({})", run("stend_io_errors_total")),
        ),
        Panel::lines(
            say!("IOPS of the load", "IOPS нагрузки"),
            "iops",
            vec![(by_op(), rate("stend_io_operations_total"))],
        ),
        Panel::lines(
            say!("Throughput of the load", "Пропускная способность нагрузки"),
            "Bps",
            vec![(by_op(), rate("stend_io_bytes_total"))],
        ),
        Panel::lines(
            say!("Latency of the load", "Задержка нагрузки"),
            "s",
            vec![
                (say!("{{{{op}}}}, median", "{{{{op}}}}, медиана"), quantile("0.5")),
                (Say::same("{{op}}, p99"), quantile("0.99")),
                (Say::same("{{op}}, p99.9"), quantile("0.999")),
            ],
        )
        .about(say!(
            "From buckets of 1, 2 and 5: rough. Results come from the run file.",
            "По интервалам 1, 2 и 5, поэтому грубо. Результаты считаются по файлу прогона."
        )),
        Panel {
            kind: Kind::Heatmap,
            ..Panel::lines(
                say!("All latencies", "Все задержки"),
                "s",
                vec![(Say::same("{{le}}"), format!("sum by (le) ({})", rate("stend_io_latency_seconds_bucket")))],
            )
        },
        Panel {
            kind: Kind::States,
            width: 24,
            ..Panel::lines(
                say!("Phases of the run", "Фазы прогона"),
                "none",
                vec![(Say::same("{{phase}}"), run("stend_run_phase"))],
            )
        },
    ]
}
