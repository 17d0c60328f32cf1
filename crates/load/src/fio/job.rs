//! The job file that says to fio what a trial is. Pure: the same trial gives the same text.
//!
//! Every job has a section of its own with the range that our engine would give it (`crate::layout`). What fio cannot
//! express was refused when the run was planned (`stend_spec::external`).

use crate::layout::Job;
use std::fmt::Write;
use std::path::Path;
use stend_base::Nanos;
use stend_spec::as_fio::{self, lines};
use stend_spec::workload::{Pattern, Trial};

/// How fio names the target: its own descriptor 0, which is the target as it was opened for us.
pub(super) const TARGET: &str = "/proc/self/fd/0";
/// Largest seed that fio 3.33 takes.
const SEED_MAX: u64 = i64::MAX as u64;

/// What of the job file follows from the host, not from the trial.
#[derive(Debug)]
pub(super) struct Setting<'a> {
    /// fio's name of the way of submitting.
    pub ioengine: &'a str,
    /// CPU of each job, where it is known.
    pub cpus: &'a [Option<u32>],
    /// Directory of the logs.
    pub logs: &'a Path,
    /// Time between two lines of a histogram log, ms.
    pub hist_ms: u64,
    /// Logs can have the times of CLOCK_MONOTONIC.
    pub monotonic: bool,
}

/// Name of a job's section.
pub(super) fn name(job: &Job) -> String {
    format!("s{}j{}", job.stream, job.job)
}

/// The whole file.
pub(super) fn text(trial: &Trial, jobs: &[Job], setting: &Setting) -> String {
    let mut out = String::new();
    let direct = u8::from(trial.direct);
    let micros = |time: Nanos| time.0.div_ceil(1000);
    let mut line = |text: String| {
        out.push_str(&text);
        out.push('\n');
    };
    line("[global]".into());
    line(format!("filename={TARGET}"));
    // Nothing is made, changed in size or dropped from a cache beyond what the trial itself does.
    line("allow_file_create=0\nfallocate=none\ninvalidate=0\nfadvise_hint=0".into());
    line(format!("thread=1\nioengine={}\ndirect={direct}\ntime_based=1", setting.ioengine));
    if trial.ramp > Nanos(0) {
        line(format!("ramp_time={}us", micros(trial.ramp)));
    }
    line(format!("runtime={}us\nexitall_on_error=1", micros(trial.window)));
    line("lat_percentiles=1\nclat_percentiles=1".into());
    line(format!("log_hist_msec={}\nlog_hist_coarseness=0", setting.hist_ms));
    if setting.monotonic {
        // 1 is CLOCK_MONOTONIC.
        line("log_alternate_epoch=1\nlog_alternate_epoch_clock_id=1".into());
    }
    if trial.writes() {
        line("refill_buffers=1".into());
    }
    for (index, job) in jobs.iter().enumerate() {
        section(&mut out, job, setting.cpus.get(index).copied().flatten(), setting.logs);
    }
    out
}

fn section(out: &mut String, job: &Job, cpu: Option<u32>, logs: &Path) {
    let (name, stream) = (name(job), &job.spec);
    let random = if stream.pattern == Pattern::Sequential { "" } else { "rand" };
    let (kinds, mix) = match (stream.mix.read, stream.mix.write) {
        (_, 0) => ("read", None),
        (0, _) => ("write", None),
        (read, _) => ("rw", Some(read)),
    };
    let mut all = vec![String::new(), format!("[{name}]"), format!("rw={random}{kinds}")];
    all.extend(mix.map(|read| format!("rwmixread={read}")));
    // What has no words was refused.
    all.extend(lines(as_fio::order(&stream.pattern).unwrap_or_default()));
    all.push(match stream.block_mix.as_slice() {
        [] => format!("bs={}", stream.block_size.0),
        sizes => format!("bssplit={}", as_fio::shares(sizes, |size| size.0.to_string())),
    });
    all.push(format!("iodepth={}", stream.queue_depth));
    all.extend(lines(as_fio::batch(stream.batch, stream.submit, stream.queue_depth)));
    all.extend(lines(as_fio::rate(stream).unwrap_or_default()));
    all.push(format!("offset={}", job.area.start));
    all.push(format!("size={}", job.region().len.0));
    all.push(format!("randseed={}", job.seed & SEED_MAX));
    all.extend(lines(as_fio::sync(stream.sync)));
    all.extend(lines(as_fio::contents(stream.data, stream.block_size_min())));
    all.extend(cpu.map(|cpu| format!("cpus_allowed={cpu}")));
    all.push(format!("write_hist_log={}/{name}", logs.display()));
    for line in all {
        // Into a string nothing fails.
        let _ = writeln!(out, "{line}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::{self, tests::stream, tests::trial};
    use expect_test::{Expect, expect};
    use stend_base::{Bytes, MilliIops};
    use stend_spec::rate::{Gaps, Rate};
    use stend_spec::workload::{Batch, BlockShare, Data, Mix, Stream, Sync};

    fn check(trial: &Trial, setting: Setting, expected: Expect) {
        let jobs = layout::jobs(trial, u64::MAX).unwrap();
        expected.assert_eq(&text(trial, &jobs, &setting));
    }

    fn setting(ioengine: &'static str) -> Setting<'static> {
        Setting { ioengine, cpus: &[], logs: Path::new("/dev/shm/logs"), hist_ms: 100, monotonic: true }
    }

    #[test]
    fn random_reads_of_two_jobs_that_are_pinned() {
        let trial = trial(Bytes::mib(64), vec![Stream { jobs: 2, queue_depth: 32, ..stream() }]);
        check(
            &trial,
            Setting { cpus: &[Some(1), Some(0)], ..setting("io_uring") },
            expect![[r#"
            [global]
            filename=/proc/self/fd/0
            allow_file_create=0
            fallocate=none
            invalidate=0
            fadvise_hint=0
            thread=1
            ioengine=io_uring
            direct=1
            time_based=1
            runtime=300000us
            exitall_on_error=1
            lat_percentiles=1
            clat_percentiles=1
            log_hist_msec=100
            log_hist_coarseness=0
            log_alternate_epoch=1
            log_alternate_epoch_clock_id=1

            [s0j0]
            rw=randread
            bs=4096
            iodepth=32
            offset=0
            size=33554432
            randseed=4523036206011702797
            cpus_allowed=1
            write_hist_log=/dev/shm/logs/s0j0

            [s0j1]
            rw=randread
            bs=4096
            iodepth=32
            offset=33554432
            size=33554432
            randseed=2895971864227365418
            cpus_allowed=0
            write_hist_log=/dev/shm/logs/s0j1
        "#]],
        );
    }

    #[test]
    fn a_rate_is_told_for_each_kind_of_io_of_each_job() {
        let told = |mix, gaps, jobs| {
            let rate = Some(Rate::constant(MilliIops::per_second(3000), gaps));
            let trial = trial(Bytes::mib(64), vec![Stream { mix, rate, jobs, ..stream() }]);
            let jobs = layout::jobs(&trial, u64::MAX).unwrap();
            let text = text(&trial, &jobs, &setting("io_uring"));
            text.lines().filter(|line| line.starts_with("rate")).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(told(Mix::of_reads(100), Gaps::Even, 2), "rate_iops=1500, rate_iops=1500,");
        assert_eq!(told(Mix::of_reads(0), Gaps::Even, 1), "rate_iops=,3000");
        assert_eq!(told(Mix::of_reads(70), Gaps::Poisson, 1), "rate_iops=2100,900 rate_process=poisson");
    }

    #[test]
    fn a_mixture_with_a_ramp_and_data_that_can_be_compressed() {
        let share = |kib, percent| BlockShare { size: Bytes::kib(kib), percent };
        let oltp = Stream {
            mix: Mix::of_reads(70),
            block_size: Bytes::kib(16),
            block_mix: vec![share(4, 60), share(16, 40)],
            data: Data { compress_thousandths: 2500, ..Data::default() },
            pattern: Pattern::Uniform,
            queue_depth: 8,
            batch: Batch { size: 4, one_stamp: false },
            ..stream()
        };
        let trial = Trial { ramp: Nanos::millis(1500), direct: false, ..trial(Bytes::mib(1), vec![oltp]) };
        check(
            &trial,
            Setting { monotonic: false, hist_ms: 500, ..setting("libaio") },
            expect![[r#"
            [global]
            filename=/proc/self/fd/0
            allow_file_create=0
            fallocate=none
            invalidate=0
            fadvise_hint=0
            thread=1
            ioengine=libaio
            direct=0
            time_based=1
            ramp_time=1500000us
            runtime=300000us
            exitall_on_error=1
            lat_percentiles=1
            clat_percentiles=1
            log_hist_msec=500
            log_hist_coarseness=0
            refill_buffers=1

            [s0j0]
            rw=randrw
            rwmixread=70
            norandommap=1
            bssplit=4096/60:16384/40
            iodepth=8
            iodepth_batch_submit=4
            iodepth_batch_complete_min=4
            offset=0
            size=1048576
            randseed=4523036206011702797
            buffer_compress_percentage=60
            buffer_compress_chunk=4096
            write_hist_log=/dev/shm/logs/s0j0
        "#]],
        );
    }

    #[test]
    fn two_streams_of_writes_that_are_made_durable() {
        let write = Stream { mix: Mix::of_reads(0), ..stream() };
        let log = Stream { pattern: Pattern::Sequential, sync: Sync::Fdatasync(1), ..write.clone() };
        let open = Stream { sync: Sync::ODsync, ..write };
        check(
            &trial(Bytes::mib(8), vec![log, open]),
            setting("psync"),
            expect![[r#"
            [global]
            filename=/proc/self/fd/0
            allow_file_create=0
            fallocate=none
            invalidate=0
            fadvise_hint=0
            thread=1
            ioengine=psync
            direct=1
            time_based=1
            runtime=300000us
            exitall_on_error=1
            lat_percentiles=1
            clat_percentiles=1
            log_hist_msec=100
            log_hist_coarseness=0
            log_alternate_epoch=1
            log_alternate_epoch_clock_id=1
            refill_buffers=1

            [s0j0]
            rw=write
            bs=4096
            iodepth=1
            offset=0
            size=4194304
            randseed=4523036206011702797
            fdatasync=1
            write_hist_log=/dev/shm/logs/s0j0

            [s1j0]
            rw=randwrite
            bs=4096
            iodepth=1
            offset=4194304
            size=4194304
            randseed=6300499700710326541
            sync=dsync
            write_hist_log=/dev/shm/logs/s1j0
        "#]],
        );
    }

    #[test]
    fn no_seed_is_too_large_for_fio() {
        let trial = trial(Bytes::mib(64), vec![Stream { jobs: 64, ..stream() }]);
        let text = text(&trial, &layout::jobs(&trial, u64::MAX).unwrap(), &setting("psync"));
        let seeds: Vec<i64> = text.lines().filter_map(|l| l.strip_prefix("randseed=")?.parse().ok()).collect();
        assert!(seeds.len() == 64 && seeds.iter().all(|seed| *seed >= 0));
    }
}
