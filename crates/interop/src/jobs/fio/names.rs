//! Names of fio's options, each in exactly one class. Data only; must not read values.
//! Facts: `options.c` and the engines of fio 3.33 to 3.42, and its HOWTO.

use stend_base::{Say, say};

/// What becomes of an option.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Class {
    /// Its value is read.
    Understood,
    /// It changes no I/O of ours.
    Harmless,
    /// It means something that a suite does not express so.
    Unsupported(Why),
}

/// Why an option is not taken over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Why {
    Verify,
    Trace,
    Zoned,
    Steady,
    Search,
    Commands,
    Numa,
    Contents,
    Sharing,
    Priority,
    FileLayout,
    Ending,
    Submission,
    Order,
    Engine,
}

impl Why {
    /// Why it is not.
    pub fn say(self) -> Say {
        match self {
            Why::Verify => say!("Stend does not write marks of fio", "меток fio Stend не пишет"),
            Why::Trace => say!("a replay has a key of its own", "у повтора записи есть свой ключ"),
            Why::Steady => {
                say!("Stend has a different rule for the steady state", "правило установившегося режима здесь другое")
            }
            Why::Search => {
                say!("Stend searches for a latency limit in a different way", "предел задержки здесь ищется иначе")
            }
            Why::Commands => {
                say!("commands of a job file are never executed", "команды из файла заданий не выполняются")
            }
            Why::Numa => say!("NUMA nodes have a key of their own", "узлы задаются отдельным ключом"),
            Why::Contents => say!("a suite cannot ask for such data", "такие данные в наборе не задать"),
            Why::Zoned => {
                say!("Stend does not know zones of zoned devices", "зон зонных устройств Stend не знает")
            }
            Why::Sharing => say!("jobs do not throttle each other here", "задания здесь друг друга не сдерживают"),
            Why::Priority => {
                say!("I/Os and threads have no priorities here", "приоритетов у операций и потоков здесь нет")
            }
            Why::FileLayout => say!("test files are laid out by Stend", "тестовые файлы раскладывает Stend"),
            Why::Ending => {
                say!("a trial ends by the clock, and by errors", "испытание кончается по часам и по ошибкам")
            }
            Why::Submission => say!("Stend does not submit I/Os in this way", "операции здесь так не подаются"),
            Why::Order => say!("a suite has no such order of offsets", "такого порядка смещений в наборе нет"),
            Why::Engine => say!(
                "it belongs to an I/O engine that Stend does not have",
                "она относится к способу ввода-вывода, которого у Stend нет"
            ),
        }
    }

    /// What there is instead.
    pub fn instead(self) -> Say {
        match self {
            Why::Verify => say!(
                "write `verify: {{after: true}}` into the suite, which finds more",
                "впишите в набор `verify: {{after: true}}` — она выявляет больше"
            ),
            Why::Trace => say!("write `trace: {{file: …}}` into the suite", "впишите в набор `trace: {{file: …}}`"),
            Why::Steady => {
                say!("write `steady: {{rounds: 25}}` into the case", "впишите в случай `steady: {{rounds: 25}}`")
            }
            Why::Search => say!("write `rate: {{search: …}}` into the stream", "впишите в поток `rate: {{search: …}}`"),
            Why::Commands => say!(
                "write them as `arms` of the suite, or run them yourself",
                "впишите их в набор как `arms` или выполните сами"
            ),
            Why::Numa => say!(
                "write `numa: {{cpu: 0, memory: 0}}` into the stream",
                "впишите в поток `numa: {{cpu: 0, memory: 0}}`"
            ),
            Why::Contents => say!(
                "write `data: {{compress: …, dedup: …}}` into the stream",
                "впишите в поток `data: {{compress: …, dedup: …}}`"
            ),
            Why::Ending => say!("write `trial: 60s` into the case", "впишите в случай `trial: 60s`"),
            Why::Engine => say!(
                "mount or attach the storage, and name it with `--on`",
                "подключите хранилище и укажите его в `--on`"
            ),
            Why::Zoned | Why::Sharing | Why::Priority | Why::FileLayout | Why::Submission | Why::Order => {
                say!("leave it out, or write the suite by hand", "уберите её или напишите набор сами")
            }
        }
    }
}

/// Another name of an option, and the one that it is listed by.
const ALIASES: &[(&str, &str)] = &[
    ("readwrite", "rw"),
    ("blocksize", "bs"),
    ("blockalign", "ba"),
    ("blocksize_range", "bsrange"),
    ("blocksize_unaligned", "bs_unaligned"),
    ("iodepth_batch_submit", "iodepth_batch"),
    ("iodepth_batch_complete", "iodepth_batch_complete_min"),
    ("io_limit", "io_size"),
    ("fill_fs", "fill_device"),
    ("fileoffset", "offset"),
    ("allrandrepeat", "randrepeat"),
    ("nr_files", "nrfiles"),
    ("timeout", "runtime"),
    ("iomem", "mem"),
    ("mem_align", "iomem_align"),
    ("ratemin", "rate_min"),
    ("ratecycle", "rate_cycle"),
    ("wait_for_previous", "stonewall"),
    ("ss", "steadystate"),
    ("ss_dur", "steadystate_duration"),
    ("ss_ramp", "steadystate_ramp_time"),
    ("ss_interval", "steadystate_check_interval"),
    ("disable_bw", "disable_bw_measurement"),
    ("threads", "thread"),
    ("data_placement", "dataplacement"),
    ("fdp_pli_select", "plid_select"),
    ("fdp_pli", "plids"),
    ("proto", "verb"),
];

const UNDERSTOOD: &str = "name filename directory rw bs bsrange bssplit ba bs_unaligned ioengine iodepth iodepth_batch \
    iodepth_batch_complete_min size io_size filesize offset offset_increment nrfiles number_ios loops norandommap \
    random_distribution percentage_random fsync fdatasync direct buffered numjobs runtime time_based ramp_time \
    rwmixread rwmixwrite mem hugepage-size thinktime thinktime_spin thinktime_blocks rate rate_iops rate_process sync cpus_allowed \
    cpus_allowed_policy stonewall zero_buffers buffer_compress_percentage dedupe_percentage kb_base hipri sqthread_poll \
    startdelay random_generator invalidate verify do_verify verify_backlog verify_only wait_for libblkio_driver \
    libblkio_path rbdname pool uri";

const HARMLESS: &str = "description filename_format unique_filename randrepeat randseed softrandommap openfiles \
    fallocate fadvise_hint overwrite clocksource iomem_align lockmem write_hint \
    create_serialize create_fsync create_on_open allow_file_create allow_mounted_write end_fsync fsync_on_close \
    end_syncfs unlink unlink_each_loop exitall exit_what exitall_on_error new_group thread per_job_logs write_bw_log \
    write_lat_log write_iops_log write_hist_log write_iolog bwavgtime iopsavgtime log_entries log_avg_msec log_hist_msec \
    log_hist_coarseness log_max_value log_window_value log_offset log_prio log_issue_time log_compression \
    log_compression_cpus log_store_compressed log_unix_epoch log_alternate_epoch log_alternate_epoch_clock_id \
    job_start_clock_id block_error_percentiles group_reporting stats refill_buffers scramble_buffers buffer_compress_chunk \
    clat_percentiles lat_percentiles slat_percentiles percentile_list significant_figures disk_util gtod_reduce disable_lat \
    disable_clat disable_slat disable_bw_measurement gtod_cpu unified_rw_reporting error_dump unit_base fixedbufs \
    registerfiles nonvectored sqthread_poll_cpu userspace_reap libaio_vectored iodepth_batch_complete_max comm \
    readonly eta warnings-fatal max-jobs idle-prof rwmixcycle verifysort verifysort_nr verify_interval verify_offset \
    verify_pattern verify_pattern_interval verify_fatal verify_dump verify_async verify_async_cpus experimental_verify \
    verify_state_save verify_write_sequence verify_header_seed verify_policy verify_mode";

const UNSUPPORTED: &[(Why, &str)] = &[
    (
        Why::Verify,
        "verify_backlog_batch verify_state_load trim_percentage trim_verify_zero trim_backlog trim_backlog_batch",
    ),
    (
        Why::Trace,
        "read_iolog read_iolog_chunked replay_no_stall replay_redirect replay_scale replay_align replay_time_scale \
         replay_skip merge_blktrace_file merge_blktrace_scalars merge_blktrace_iters",
    ),
    (
        Why::Zoned,
        "zonemode zonesize zonecapacity zonerange zoneskip read_beyond_wp max_open_zones job_max_open_zones \
         ignore_zone_limits zone_reset_threshold zone_reset_frequency recover_zbd_write_error write_zone_remainder",
    ),
    (Why::Steady, "steadystate steadystate_duration steadystate_ramp_time steadystate_check_interval"),
    (Why::Search, "latency_target latency_window latency_percentile latency_run max_latency"),
    (
        Why::Commands,
        "exec_prerun exec_postrun profile ioscheduler cpuload cpumode cpuchunks exit_on_io_done \
         program arguments grace_time std_redirect",
    ),
    (Why::Numa, "numa_cpu_nodes numa_mem_policy cpumask"),
    (
        Why::Contents,
        "buffer_pattern dedupe_mode dedupe_working_set_percentage dedupe_global sprandom spr_num_regions spr_op spr_cs",
    ),
    (Why::Sharing, "flow flow_id flow_sleep flow_watermark io_submit_mode serialize_overlap rate_cycle"),
    (
        Why::Priority,
        "prio prioclass priohint nice cgroup cgroup_weight cgroup_nodelete uid gid cmdprio_percentage cmdprio_class \
         cmdprio_hint cmdprio cmdprio_bssplit",
    ),
    (
        Why::FileLayout,
        "create_only filetype lockfile file_append fill_device opendir pre_read file_service_type offset_align num_range",
    ),
    (Why::Ending, "rate_min rate_iops_min continue_on_error ignore_error ramp_size"),
    (
        Why::Submission,
        "iodepth_low thinktime_blocks_type thinktime_iotime thinkcycles rate_ignore_thinktime atomic write_barrier \
         sync_file_range uncached nowait force_async hipri_percentage readfua writefua cmd_type md_per_io_size pi_act pi_chk \
         apptag apptag_mask deac fdp dataplacement plid_select plids dp_scheme write_mode read_mode thp",
    ),
    (Why::Order, "rw_sequencer percentage_sequential random_sequence_stride bs_is_seq_rand"),
    (
        Why::Engine,
        "clustername clientname busy_poll rbd_encryption_format rbd_encryption_passphrase hostname port \
         protocol nodelay listen pingpong interface ttl window_size mss netsplice https http_host http_user http_pass \
         http_s3_key http_s3_keyid http_s3_security_token http_swift_auth_token http_s3_region http_s3_sse_customer_key \
         http_s3_sse_customer_algorithm http_s3_storage_class http_mode http_verbose http_object_mode conf touch_objects \
         sg_write_mode stream_id nfs_url namenode hdfsdirectory chunk_size single_instance hdfs_use_direct volume brick \
         skip_bad donorname inplace verb bindname cdb_len verify_bytchk gpu_dev_ids gpu_dev_id cuda_io rocm_io cont svcl \
         object_class initiator libblkio_force_enable_completion_eventfd libblkio_num_entries libblkio_pre_connect_props \
         libblkio_pre_start_props libblkio_queue_size libblkio_vectored libblkio_wait_mode libblkio_write_zeroes_on_trim \
         xnvme_admin xnvme_async xnvme_be xnvme_dev_nsid xnvme_dev_subnqn xnvme_iovec xnvme_mem xnvme_sync stat_type",
    ),
];

/// Values at which an option asks for nothing: fio's default, or "off". Several are divided by `|`.
const NEUTRAL: &str = "trim_percentage=0 trim_backlog=0 trim_verify_zero=0 verify_backlog_batch=0 verify_state_load=0 \
    replay_no_stall=0 replay_scale=0|1 replay_align=0 replay_time_scale=100 replay_skip= zonemode=none zonesize=0 zonecapacity=0 \
    zonerange=0 zoneskip=0 read_beyond_wp=0 max_open_zones=0 job_max_open_zones=0 ignore_zone_limits=0 zone_reset_threshold=0 \
    zone_reset_frequency=0 recover_zbd_write_error=0 write_zone_remainder=0 latency_target=0 latency_window=0 \
    latency_percentile=100 latency_run=0 max_latency=0 exit_on_io_done=0 numa_mem_policy=default dedupe_mode=repeat \
    dedupe_global=0 sprandom=0 flow=0 flow_id=0 flow_sleep=0 flow_watermark=0|1024 io_submit_mode=inline serialize_overlap=0 \
    rate_cycle=0|1000 prio=0 prioclass=0 priohint=0|none nice=0 cmdprio_percentage=0 cmdprio_class=0 cmdprio_hint=0 cmdprio=0 \
    create_only=0 lockfile=none file_append=0 fill_device=0 pre_read=0 file_service_type=roundrobin offset_align=0 num_range=0|1 \
    rate_min=0 rate_iops_min=0 continue_on_error=none|0 ramp_size=0 thinktime_blocks_type=complete thinktime_iotime=0 \
    thinkcycles=0 rate_ignore_thinktime=0 atomic=0 write_barrier=0 uncached=0 nowait=0 force_async=0 \
    hipri_percentage=100 readfua=0 writefua=0 cmd_type=nvme md_per_io_size=0 deac=0 fdp=0 dataplacement=none write_mode=write \
    thp=0 rw_sequencer=sequential percentage_sequential=0 bs_is_seq_rand=0 random_sequence_stride=0 busy_poll=0 http_verbose=0";

/// Options that mean nothing unless one of the others asks for something.
const NEEDS: &[(&str, &str)] = &[
    ("steadystate_duration steadystate_ramp_time steadystate_check_interval", "steadystate"),
    ("latency_window latency_percentile latency_run", "latency_target"),
    ("flow_id flow_sleep flow_watermark", "flow"),
    ("dedupe_mode dedupe_working_set_percentage dedupe_global", "dedupe_percentage"),
    ("cgroup_weight cgroup_nodelete", "cgroup"),
    ("cmdprio_class cmdprio_hint cmdprio", "cmdprio_percentage cmdprio_bssplit"),
    ("trim_verify_zero trim_backlog trim_backlog_batch", "trim_percentage"),
    ("verify_backlog_batch verify_state_load", "verify"),
    ("spr_num_regions spr_op spr_cs", "sprandom"),
    ("rate_cycle", "rate_min rate_iops_min"),
    ("rate_ignore_thinktime", "thinktime"),
    ("thinktime_blocks_type thinktime_iotime", "thinktime"),
    ("numa_mem_policy", "numa_cpu_nodes numa_mem_policy"),
    (
        "replay_no_stall replay_redirect replay_scale replay_align replay_time_scale replay_skip read_iolog_chunked",
        "read_iolog",
    ),
];

/// Whether a value of an option asks for nothing.
pub(super) fn is_neutral(name: &str, value: Option<&str>) -> bool {
    let value = value.unwrap_or("1").trim();
    let same = |neutral: &str| {
        neutral.eq_ignore_ascii_case(value) || neutral.parse::<f64>().is_ok_and(|n| value.parse::<f64>() == Ok(n))
    };
    let known = NEUTRAL.split_whitespace().filter_map(|pair| pair.split_once('='));
    known.filter(|(known, _)| *known == name).any(|(_, values)| values.split('|').any(same))
}

/// The options of which one has to ask for something, so that this one means anything.
pub(super) fn needs(name: &str) -> Option<impl Iterator<Item = &'static str>> {
    let found = NEEDS.iter().find(|(names, _)| names.split_whitespace().any(|known| known == name))?;
    Some(found.1.split_whitespace())
}

/// Engines that neither read nor write storage: processors, networks, programs, names and lengths of files.
pub(super) const NO_STORAGE: [&str; 17] = [
    "cpuio",
    "net",
    "netsplice",
    "rdma",
    "exec",
    "filecreate",
    "filestat",
    "filedelete",
    "fileoperations",
    "dircreate",
    "dirstat",
    "dirdelete",
    "falloc",
    "ftruncate",
    "e4defrag",
    "page_fault",
    "guasi",
];

/// The name by which an option is listed.
pub(super) fn canonical(name: &str) -> &str {
    ALIASES.iter().find(|(alias, _)| *alias == name).map_or(name, |(_, name)| name)
}

/// The class of an option by its canonical name; `None` if fio has none of that name.
pub(super) fn class(name: &str) -> Option<Class> {
    let holds = |names: &str| names.split_whitespace().any(|known| known == name);
    if holds(UNDERSTOOD) {
        return Some(Class::Understood);
    }
    if holds(HARMLESS) {
        return Some(Class::Harmless);
    }
    UNSUPPORTED.iter().find(|(_, names)| holds(names)).map(|(why, _)| Class::Unsupported(*why))
}

/// All names, for the nearest one to a mistyped one.
pub(super) fn all() -> impl Iterator<Item = &'static str> {
    let lists = [UNDERSTOOD, HARMLESS].into_iter().chain(UNSUPPORTED.iter().map(|(_, names)| *names));
    lists.flat_map(str::split_whitespace).chain(ALIASES.iter().map(|(alias, _)| *alias))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_that_ask_for_nothing_are_of_options_that_would_be_refused() {
        let names = || NEUTRAL.split_whitespace().map(|pair| pair.split('=').next().unwrap_or_default());
        let refused = |name: &str| matches!(class(name), Some(Class::Unsupported(_)));
        for name in names().chain(NEEDS.iter().flat_map(|(names, _)| names.split_whitespace())) {
            assert!(refused(name), "{name}");
        }
        assert!(NEEDS.iter().flat_map(|(_, needed)| needed.split_whitespace()).all(|name| class(name).is_some()));
        assert!(is_neutral("zonemode", Some("none")) && is_neutral("prio", Some("0.0")) && !is_neutral("prio", None));
    }

    #[test]
    fn every_option_is_in_one_class_only_and_every_alias_leads_to_one() {
        let mut seen: Vec<&str> = all().collect();
        seen.sort_unstable();
        let twice: Vec<_> = seen.windows(2).filter(|pair| pair[0] == pair[1]).map(|pair| pair[0]).collect();
        assert!(twice.is_empty(), "{twice:?}");
        assert!(ALIASES.iter().all(|(_, name)| class(name).is_some()));
        assert_eq!((class("no_such"), class(canonical("blocksize"))), (None, Some(Class::Understood)));
    }
}
