//! Parts of files and devices, orders and batches that mean something else, and files that ask for too much; must not read files.

use super::tests::{import, refused};
use stend_base::Lang;

/// The streams of a file of jobs.
fn streams(text: &str) -> Vec<String> {
    let text = import(text, false).unwrap_or_else(|e| panic!("{e}")).text(Lang::En);
    text.lines().filter_map(|line| line.strip_prefix("      - ")).map(String::from).collect()
}

#[test]
fn a_job_with_a_smaller_file_of_its_own_keeps_to_its_size() {
    let jobs = |second: &str| format!("[global]\nrw=randread\nruntime=1\n[a]\nsize=1g\n[b]\n{second}\n");
    let of = |second: &str| streams(&jobs(second));
    assert_eq!(
        of("size=1g")[1],
        "{op: read, pattern: random, block_size: 4KiB, queue_depth: 1, region: {start: 1GiB, size: 1GiB}}"
    );
    assert!(of("size=256m")[1].ends_with("region: {start: 1GiB, size: 256MiB}}"), "{:?}", of("size=256m"));
    assert!(of("size=256m\nfilesize=512m\noffset=64m")[1].ends_with("region: {start: 1088MiB, size: 448MiB}}"));
    let ordered = jobs("size=256m\nfilesize=512m\noffset=64m\nrw=write");
    assert!(streams(&ordered)[1].ends_with("region: {start: 1088MiB, size: 256MiB}}"), "as fio 3.33 did");
    // Each of several files would be a part.
    let error = import(&jobs("size=256m\nnumjobs=2"), false).map(|i| i.text(Lang::En)).unwrap_err().to_string();
    assert!(error.contains("jobs.fio:7: a part of each of several files"), "{error}");
    assert!(streams("[a]\nrw=randread\nruntime=1\nsize=1g\nnumjobs=2\n")[0].ends_with("jobs: 2}"));
}

#[test]
fn what_of_a_mixture_or_a_batch_has_no_equal_is_refused() {
    assert!(
        refused("percentage_random=30\nrandom_distribution=zipf:1.2")
            .contains("jobs.fio:6: the random part of a mixture is spread evenly")
    );
    for fine in
        ["percentage_random=30\nrandom_distribution=random", "percentage_random=100\nrandom_distribution=zipf:1.2"]
    {
        assert_eq!(streams(&format!("[a]\nfilename=/dev/x\nrw=randread\nruntime=1\n{fine}\n")).len(), 1);
    }
    let deep = "ioengine=libaio\ndirect=1\niodepth=16\n";
    let error = refused(&format!("{deep}iodepth_batch_submit=8"));
    assert!(error.contains("jobs.fio:8: here an I/O is submitted as soon as a place is free"), "{error}");
    assert_eq!(
        streams(&format!("[a]\nfilename=/dev/x\nrw=randread\nruntime=1\n{deep}iodepth_batch_submit=1\n")).len(),
        1
    );
}

#[test]
fn more_streams_than_a_case_has_are_refused_whichever_way_they_come() {
    let steps = |clones: u32| {
        let text =
            format!("[a]\nfilename=/dev/x\nrw=read\nruntime=1\nnumjobs={clones}\noffset_increment=1m\nsize=1m\n");
        import(&text, true).map(|imported| imported.suite.cases[0].streams.len())
    };
    assert_eq!(steps(64).unwrap(), 64);
    assert!(steps(1024).unwrap_err().to_string().contains("1024 streams or more run at once, the limit is 64"));
    let jobs: String = (0..65).map(|n| format!("[j{n}]\nfilename=/dev/x\nrw=randread\nruntime=1\n")).collect();
    assert!(import(&jobs, true).unwrap_err().to_string().contains("65 streams or more"));
}

#[test]
fn of_an_option_that_is_said_again_the_last_counts_and_the_others_are_not_kept() {
    let text = "[global]\nbs=4k\nrw=read\n[global]\nbs=8k\nruntime=1\nfilename=/dev/x\n[a]\nrw=randread\n[global]\nbs=16k\n[b]\nstonewall\n";
    let found = streams(text);
    assert!(
        found[0].contains("op: read, pattern: random, block_size: 8KiB")
            && found[1].contains("pattern: sequential, block_size: 16KiB"),
        "{found:?}"
    );
    // A thousand globals of a hundred options each, which every job would hold.
    let again = (0..900).map(|n| format!("[global]\nbs={}k\nrw=randread\nruntime=1\nfilename=/dev/x\n", n % 7 * 4 + 4));
    let globals: String = again.collect();
    let imported = import(&format!("{globals}[a]\n"), false).unwrap();
    assert_eq!(imported.suite.cases[0].streams[0].block_size, [stend_base::Bytes::kib(16)]);
}

#[test]
fn a_shift_register_visits_each_block_once_also_without_a_map() {
    let of = |more: &str| streams(&format!("[a]\nfilename=/dev/x\nrw=randread\nruntime=1\nnorandommap\n{more}\n"));
    assert!(of("random_generator=lfsr")[0].contains("pattern: random,"), "{:?}", of("random_generator=lfsr"));
    assert!(of("random_generator=tausworthe64")[0].contains("pattern: uniform,"));
    assert!(refused("random_generator=mersenne").contains("`random_generator` needs `tausworthe`"));
}

#[test]
fn sizes_come_out_otherwise_only_where_fio_keeps_a_map() {
    let is_noted = |more: &str| {
        let text = format!("[a]\nfilename=/dev/x\nrw=randread\nruntime=1\nbssplit=4k/50:64k/50\n{more}\n");
        let found = import(&text, false).unwrap_or_else(|e| panic!("{more}: {e}"));
        found.notes.iter().any(|note| note.text.en.contains("cuts I/Os short"))
    };
    for map in ["", "percentage_random=50", "random_distribution=zoned:60/10:40/90"] {
        assert!(is_noted(map) && !is_noted(&format!("{map}\nnorandommap")), "{map}");
    }
    for none in ["random_generator=lfsr", "random_generator=lfsr\nnorandommap", "random_distribution=zipf:1.2"] {
        assert!(!is_noted(none), "{none}");
    }
    assert!(!is_noted("percentage_random=0"));
}

#[test]
fn a_directory_whose_files_are_all_read_is_another_target() {
    assert!(refused("opendir=/srv/data").contains("`opendir` is not imported"), "{}", refused("opendir=/srv/data"));
}
