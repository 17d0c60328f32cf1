//! What the numbers of fio's JSON are numbers of, by their names. Pure.

/// Unit of a number by its name, whose levels are joined by dots; empty for counts and for what is not known.
pub fn of(name: &str) -> &'static str {
    let (first, rest) = name.split_once('.').unwrap_or((name, ""));
    match first {
        "io_bytes" | "io_kbytes" | "bw" | "bw_bytes" => bytes(first),
        "bw_agg" | "usr_cpu" | "sys_cpu" | "latency_percentile" => "%",
        _ if first.starts_with("iodepth_") || first.starts_with("latency_ns") => "%",
        "latency_us" | "latency_ms" => "%",
        "bw_min" | "bw_max" | "bw_mean" | "bw_dev" => "KiB/s",
        "iops" | "iops_min" | "iops_max" | "iops_mean" | "iops_stddev" => "1/s",
        "runtime" | "job_runtime" | "job_start" => "ms",
        "elapsed" | "eta" => "s",
        _ if rest == "N" => "",
        "lat_ns" | "clat_ns" | "slat_ns" => "ns",
        "lat" | "clat" | "slat" => "us",
        _ => "",
    }
}

fn bytes(name: &str) -> &'static str {
    match name {
        "io_bytes" => "B, before fio 3 KiB",
        "io_kbytes" => "KiB",
        "bw_bytes" => "B/s",
        _ => "KiB/s",
    }
}

#[cfg(test)]
mod tests {
    use super::of;

    #[test]
    fn numbers_have_the_units_that_fio_gives_them() {
        let cases = [
            ("bw", "KiB/s"),
            ("bw_bytes", "B/s"),
            ("iops_mean", "1/s"),
            ("iops_samples", ""),
            ("clat_ns.percentile.99.000000", "ns"),
            ("clat.percentile.99.000000", "us"),
            ("lat_ns.N", ""),
            ("iodepth_level.32", "%"),
            ("latency_us.250", "%"),
            ("runtime", "ms"),
            ("ctx", ""),
        ];
        for (name, unit) in cases {
            assert_eq!(of(name), unit, "{name}");
        }
    }
}
