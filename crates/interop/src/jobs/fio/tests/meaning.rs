//! What single options of fio mean together: what is decided, what is said of it, and what is refused.

use super::*;

/// What is decided and left out of a file that imports.
fn notes(text: &str) -> String {
    let imported = import(text, false).unwrap_or_else(|e| panic!("{text}: {e}"));
    imported.notes.iter().map(|note| format!("{}\n", note.said().en)).collect()
}

const RANDOM: &str = "[a]\nfilename=/dev/x\nrw=randread\ndirect=1\nruntime=1\ntime_based\n";

#[test]
fn values_that_ask_for_nothing_are_taken_for_what_they_are() {
    for neutral in [
        "verify=0",
        "zonemode=none",
        "nice=0",
        "prioclass=0",
        "latency_target=0",
        "flow=0",
        "create_only=0",
        "io_submit_mode=inline",
        "continue_on_error=none",
        "file_append=0",
        "ba=0",
        "loops=1",
        "number_ios=0",
        "rate_min=0",
        "numa_mem_policy=default",
        "dedupe_mode=repeat",
        "sync=none",
        "startdelay=0",
        "steadystate_duration=10",
        "thinktime=0",
        "threads=1",
        "trim_percentage=0",
        "latency_window=5",
        "cmdprio_class=1",
        "flow_sleep=1000",
    ] {
        assert_eq!(stream(&format!("rw=randread\n{neutral}")), stream("rw=randread"), "{neutral}");
    }
    // The last value counts, wherever the others stand.
    let text = format!("[global]\nnice=5\nverify=md5\n{RANDOM}nice=0\nverify=0\n");
    assert!(import(&text, false).is_ok());
    assert!(refused("nice=5").contains("jobs.fio:5: `nice`") && refused("flow=2").contains("`flow`"));
}

#[test]
fn what_stands_behind_a_value_is_a_comment() {
    let plain = "bs=8k\nnumjobs=1\ndescription=x\n";
    let text = "bs=8k # of a page\nnumjobs=1\t; one ; and no more\ndescription=x;y\n;bs=4k\n";
    assert_eq!(stream(&format!("rw=randread\n{text}")), stream(&format!("rw=randread\n{plain}")));
    assert!(import(&RANDOM.replace("time_based", "time_based ; yes"), false).is_ok());
    let commented = refused("numjobs=; four").to_string();
    assert!(commented.contains("`numjobs` needs a value"), "{commented}");
}

#[test]
fn a_variable_that_is_not_set_is_an_error_where_its_value_counts() {
    let unset = |option: &str| {
        format!("[a]\nrw=randread\ndirectory=${{DIR}}\ndescription=${{X}}\n{option}\nsize=1g\nruntime=1\n")
    };
    let error = |option: &str| import(&unset(option), true).map(|i| i.text(Lang::En)).unwrap_err().to_string();
    assert!(error("bs=${BS}").contains("jobs.fio:5: the variable `BS` is not set"), "{}", error("bs=${BS}"));
    let imported = import(&unset("bs=${BS}\nbs=8k"), false).unwrap();
    assert_eq!(imported.targets, ["${DIR}"], "where files lie is said by `--on`");
}

#[test]
fn what_is_verified_is_verified_by_marks_of_our_own() {
    assert!(stream("rw=randwrite\nverify=crc32c").contains("verify: {after: true}"));
    assert!(stream("rw=randrw\nverify=meta\ndo_verify=0\nverify_interval=512").contains("verify: {after: false}"));
    assert!(!stream("rw=write\nverify=md5\ndo_verify=0").contains("verify"));
    let two = "[global]\nfilename=/dev/x\nrw=randwrite\nverify=md5\ndirect=1\n[a]\nsize=1g\n[b]\noffset=1g\nsize=1g\n";
    assert!(import(two, false).unwrap().suite.cases[0].streams.iter().all(|stream| stream.verify.is_some()));
    let over = import(&two.replace("offset=1g", "offset=512m"), false).unwrap_err().to_string();
    assert!(over.contains("jobs.fio:4: other jobs write to the same blocks at the same time"), "{over}");
    assert!(refused("verify=md5").contains("fio compares what an earlier job wrote"));
}

#[test]
fn shares_of_zones_that_are_left_out_are_equal_parts_of_the_rest() {
    let zones = |text: &str| stream(&format!("rw=randread\nrandom_distribution=zoned:{text}"));
    assert!(
        zones("50/5:30/15:20/")
            .contains("{space: 5%, accesses: 50%}, {space: 15%, accesses: 30%}, {space: 80%, accesses: 20%}")
    );
    assert!(
        zones("50:30/40:20")
            .contains("{space: 30%, accesses: 50%}, {space: 40%, accesses: 30%}, {space: 30%, accesses: 20%}")
    );
    for bad in ["50/50:50/60", "100/100", "50/100:50/"] {
        assert!(refused(&format!("random_distribution=zoned:{bad}")).contains("needs zones such as"), "{bad}");
    }
}

#[test]
fn lengths_that_no_region_has_are_refused_as_they_stand_there() {
    assert!(refused("size=1030792150").contains("jobs.fio:5: `size` needs a multiple of 512 B, not `1030792150`"));
    assert!(refused("offset=1000").contains("jobs.fio:5: `offset` needs a multiple of 512 B, not `1000`"));
}

#[test]
fn a_file_shorter_than_the_smallest_fill_is_a_part_of_it() {
    for size in ["size=256k", "filesize=256k", "filesize=256k\nsize=1m"] {
        let text = import(&format!("[a]\nrw=randread\nruntime=1\n{size}\n"), false).unwrap().text(Lang::En);
        assert!(
            text.contains("fill: {size: 1MiB}") && text.contains("region: {start: 0B, size: 256KiB}"),
            "{size}: {text}"
        );
    }
    let text = import("[a]\nrw=randread\nruntime=1\nfilesize=4m\noffset=1m\n", false).unwrap().text(Lang::En);
    assert!(text.contains("fill: {size: 4MiB}") && text.contains("region: {start: 1MiB, size: 3MiB}"), "{text}");
}

#[test]
fn no_file_is_made_where_no_i_o_is() {
    let text = import("[a]\nioengine=null\nsize=100g\nrw=randread\nnumjobs=2\n", false).unwrap().text(Lang::En);
    assert!(!text.contains("fill:") && text.contains("backend: none") && text.contains("jobs: 2}"), "{text}");
    assert!(text.contains("`ioengine=null` makes no I/O"), "{text}");
}

#[test]
fn what_the_page_cache_may_answer_is_said() {
    let file = "[a]\nfilename=/mnt/f\nsize=1g\nrw=randread\nruntime=1\ntime_based\n";
    assert!(notes(file).contains("jobs.fio:1: without `direct=1` fio drops the file from the page cache"));
    assert!(notes(&format!("{file}invalidate=0\n")).contains("jobs.fio:7: with `invalidate=0` reads may be answered"));
    let direct = notes(&format!("{file}direct=1\ninvalidate=1\n"));
    assert!(!direct.contains("cache") && direct.contains("jobs.fio:8: invalidate"), "{direct}");
}

#[test]
fn jobs_that_go_side_by_side_over_a_device_are_said_to_begin_elsewhere() {
    let clones = notes(&RANDOM.replace("randread", "read\nnumjobs=3"));
    assert!(
        clones.contains("In fio they start together") && clones.contains("Here each starts at an offset of its own"),
        "{clones}"
    );
    let sections = "[global]\nfilename=/dev/x\nrw=read\ndirect=1\nruntime=1\ntime_based\n[a]\n[b]\n";
    assert!(notes(sections).contains("jobs.fio:8: in fio jobs over the same blocks begin"), "{}", notes(sections));
    assert!(!notes(&sections.replace("rw=read", "rw=randread")).contains("same blocks"));
}

#[test]
fn a_device_that_a_first_job_would_fill_is_not_filled_unless_the_suite_says_so() {
    let text = "[global]\nfilename=/dev/x\ndirect=1\n[fill]\nrw=write\nbs=1m\n[measure]\nstonewall\nrw=randwrite\nruntime=60\ntime_based\n";
    assert!(notes(text).contains("jobs.fio:4: cases run in mixed order") && notes(text).contains("`fill: {size: …}`"));
    // Test files are written beforehand anyway.
    let files = text.replace("filename=/dev/x", "filename=/mnt/f\nsize=1g");
    assert!(!notes(&files).contains("mixed order"), "{}", notes(&files));
}

#[test]
fn jobs_that_touch_no_storage_are_left_out_where_that_is_allowed_and_a_wait_is_a_stonewall() {
    let text = "[global]\nfilename=/dev/x\nrw=randread\nruntime=1\ntime_based\ndirect=1\n[burn]\nioengine=cpuio\ncpuload=50\n[a]\n[b]\nwait_for=a\n";
    let error = import(text, false).unwrap_err().to_string();
    assert!(error.contains("jobs.fio:8: the job `burn` is left out"), "{error}");
    assert_eq!(import(text, true).unwrap().suite.cases.len(), 2, "`b` begins when `a` has ended");
    let alone = import("[a]\nioengine=net\nhostname=x\nsize=1g\nrw=read\n", true).unwrap_err().to_string();
    assert!(alone.contains("jobs.fio:1: none of its jobs reads or writes storage"), "{alone}");
}

#[test]
fn discards_beside_other_i_o_have_one_way_for_both() {
    let text = "[global]\nfilename=/dev/x\ndirect=1\nioengine=libaio\nruntime=1\ntime_based\n[a]\nrw=randwrite\n[b]\nrw=randtrim\n";
    let imported = import(text, false).unwrap();
    assert_eq!(imported.suite.cases[0].backend, stend_spec::workload::Backend::Auto);
    let plain = import(&text.replace("[b]\n", "[b]\ndirect=0\n"), true).unwrap();
    assert_eq!(plain.suite.cases[0].backend, stend_spec::workload::Backend::Auto, "whatever `direct` says");
    let passthrough = stream("rw=randread\nioengine=io_uring_cmd\ncmd_type=nvme");
    assert!(passthrough.contains("op: read"), "direct whatever `direct` says");
}
