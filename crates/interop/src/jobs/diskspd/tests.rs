//! Commands and profiles of diskspd as suites; must not read files.

use super::super::tests::{check, of_command, of_file};
use expect_test::expect;
use stend_base::Lang;
use stend_spec::workload::Pages;

/// After Profile::GetXml of diskspd, shortened.
const PROFILE: &str = "<Profile>
  <Progress>0</Progress>
  <TimeSpans>
    <TimeSpan>
      <Duration>60</Duration>
      <Warmup>10</Warmup>
      <Cooldown>0</Cooldown>
      <ThreadCount>0</ThreadCount>
      <RequestCount>0</RequestCount>
      <Targets>
        <Target>
          <Path>E:\\R&D\\a.dat</Path>
          <BlockSize>8192</BlockSize>
          <DisableOSCache>true</DisableOSCache>
          <WriteThrough>true</WriteThrough>
          <WriteBufferContent><Pattern>random</Pattern></WriteBufferContent>
          <ParallelAsyncIO>false</ParallelAsyncIO>
          <FileSize>1073741824</FileSize>
          <ThreadStride>0</ThreadStride>
          <Random>8192</Random>
          <Distribution><Percent><Range IO=\"90\">10</Range></Percent></Distribution>
          <BaseFileOffset>0</BaseFileOffset>
          <MaxFileSize>0</MaxFileSize>
          <RequestCount>8</RequestCount>
          <WriteRatio>30</WriteRatio>
          <Throughput unit=\"IOPS\">500</Throughput>
          <ThreadsPerFile>2</ThreadsPerFile>
          <IOPriority>3</IOPriority>
        </Target>
      </Targets>
    </TimeSpan>
    <TimeSpan>
      <Duration>30</Duration>
      <Targets>
        <Target>
          <Path>E:\\R&D\\a.dat</Path>
          <FileSize>1073741824</FileSize>
          <InterlockedSequential>true</InterlockedSequential>
        </Target>
        <!-- <Target><Path>F:\\b.dat</Path></Target> -->
      </Targets>
    </TimeSpan>
  </TimeSpans>
</Profile>
";

#[test]
fn the_commands_of_the_article_become_cases_with_the_cold_truth() {
    let text = "DiskSpd64.exe -b4K -t32 -o32 -w0 -d10 -r -S -c100G F:/testfile.dat G:/testfile.dat && sleep 5 && \
                DiskSpd64.exe -b128K -t32 -o32 -w100 -d10 -si -S -c100G F:/testfile.dat G:/testfile.dat";
    check(
        of_command(text, false),
        expect![[r##"
            # Made by `stend import --suite` of diskspd command line
            # The jobs name these targets; a suite names none, so give them, in this order: --on F:/ --on G:/
            # Decisions:
            #   command:13: `sleep` between commands is left out
            #   command:1: test files are made by Stend in the directories that `--on` names, and written once before measuring
            #   command:16: test files are made by Stend in the directories that `--on` names, and written once before measuring
            #   command:16: diskspd writes the bytes 0 to 255 over and over, which storage compresses; here data are incompressible
            suite: "diskspd"
            defaults: {prober: off}
            fill: {size: 100GiB}
            cases:
              - name: "read 4K"
                trial: 10s
                ramp: 5s
                direct: true
                streams:
                  - {op: read, pattern: uniform, block_size: 4KiB, queue_depth: 32, jobs: {per_target: 32}}
              - name: "write 128K"
                trial: 10s
                ramp: 5s
                direct: true
                streams:
                  - {op: write, pattern: shared_sequential, block_size: 128KiB, queue_depth: 32, jobs: {per_target: 32}}
        "##]],
    );
}

#[test]
fn switches_of_diskspd_are_taken_over_or_refused_with_their_word() {
    let streams = |rest: &str| {
        let text =
            of_command(&format!("diskspd {rest} /dev/sdb"), false).unwrap_or_else(|e| panic!("{e}")).text(Lang::En);
        text.lines().filter_map(|line| line.strip_prefix("      - ")).collect::<Vec<_>>().join("\n")
    };
    let all = [
        "",
        "-b8K -o1 -Sh -w100 -Zr",
        "-r64K -b64K",
        "-rs30 -b4K",
        "-rdpct90/10:5/20",
        "-s128K -b64K",
        "-g100i -t4 -b4K",
        "-b4K -g4",
        "-i8 -j100 -o1",
        "-B1G:2G",
        "-f1G -b4K",
        "-F8 -o4",
        "/b8K /o1 /w100",
        "-si -b64K -t2",
        "-si64K -b64K -t2",
        "-rs30 -r -b4K",
        "-r4K -rs30 -b4K",
        "-rdpct90/10 -r -b4K",
        "-B1G -f3G",
        "-f3G -B1G",
        "-B0:1G",
    ];
    expect![[r#"
        {op: read, pattern: sequential, block_size: 64KiB, queue_depth: 2}
        {op: write, pattern: sequential, block_size: 8KiB, queue_depth: 1, sync: o_dsync}
        {op: read, pattern: uniform, block_size: 64KiB, queue_depth: 2}
        {op: read, pattern: {sequential: 70%}, block_size: 4KiB, queue_depth: 2}
        {op: read, pattern: {zones: [{space: 10%, accesses: 90%}, {space: 20%, accesses: 5%}, {space: 70%, accesses: 5%}]}, block_size: 64KiB, queue_depth: 2}
        {op: read, pattern: {strided: {stride: 128KiB}}, block_size: 64KiB, queue_depth: 2}
        {op: read, pattern: sequential, block_size: 4KiB, queue_depth: 2, jobs: 4, rate: 400/s}
        {op: read, pattern: sequential, block_size: 4KiB, queue_depth: 2, rate: 0.976/s}
        {op: read, pattern: sequential, block_size: 64KiB, queue_depth: 1, think: {time: 100ms, every: 8}}
        {op: read, pattern: sequential, block_size: 64KiB, queue_depth: 2, region: {start: 1GiB, size: 2GiB}}
        {op: read, pattern: sequential, block_size: 4KiB, queue_depth: 2, region: {start: 0B, size: 1GiB}}
        {op: read, pattern: sequential, block_size: 64KiB, queue_depth: 4, jobs: 8}
        {op: write, pattern: sequential, block_size: 8KiB, queue_depth: 1}
        {op: read, pattern: shared_sequential, block_size: 64KiB, queue_depth: 2, jobs: 2}
        {op: read, pattern: shared_sequential, block_size: 64KiB, queue_depth: 2, jobs: 2}
        {op: read, pattern: {sequential: 70%}, block_size: 4KiB, queue_depth: 2}
        {op: read, pattern: {sequential: 70%}, block_size: 4KiB, queue_depth: 2}
        {op: read, pattern: {zones: [{space: 10%, accesses: 90%}, {space: 90%, accesses: 10%}]}, block_size: 4KiB, queue_depth: 2}
        {op: read, pattern: sequential, block_size: 64KiB, queue_depth: 2, region: {start: 1GiB, size: 2GiB}}
        {op: read, pattern: sequential, block_size: 64KiB, queue_depth: 2, region: {start: 1GiB, size: 2GiB}}
        {op: read, pattern: sequential, block_size: 64KiB, queue_depth: 2, region: {start: 0B, size: 1GiB}}"#]].assert_eq(&all.map(streams).join("\n"));
    for (text, why) in [
        ("-b4K -y /dev/x", "command:3: `-y` has no equivalent"),
        ("-Z /dev/x", "zeroes, or bytes of a file"),
        ("-Q1 /dev/x", "unknown switch `-Q`"),
        ("-r4K /dev/x", "aligned to their size"),
        ("-i8 -j100 /dev/x", "the whole thread rests"),
        ("-Sm /dev/x", "mapped into memory"),
        ("-si128K -b64K /dev/x", "go on by a block"),
        ("-rdabs90/10G /dev/x", "parts of a target in bytes"),
        ("-rdpct90/10 -rs50 /dev/x", "all are spread by `-rdpct`"),
        ("-si -c1M d/a d/b", "one sequence would go over all files"),
    ] {
        let error = of_command(&format!("diskspd {text}"), false).map(|i| i.text(Lang::En)).unwrap_err().to_string();
        assert!(error.contains(why) && error.contains("command:"), "{error}");
        let notes = of_command(&format!("diskspd {text}"), true).unwrap().text(Lang::En);
        assert!(notes.contains("Different here"), "{notes}");
    }
    for (text, why) in [
        ("-b4K", "names no target"),
        ("-b1000 x", "multiple of 512 B"),
        ("-w101 x", "0 to 100"),
        ("-o0 x", "at least 1"),
        ("-rdpct90/10:20/5 x", "shares such as"),
        ("-c5 x", "files of that size"),
        ("-Sq x", "letters of"),
        ("-g0 x", "above 0"),
        ("-B1G:2G -f3G x", "given twice"),
        ("-B3G -f1G x", "ends before it begins"),
        ("-r -s4K x", "`-r` and `-s` together"),
    ] {
        let error = of_command(&format!("diskspd {text}"), true).map(|i| i.text(Lang::En)).unwrap_err().to_string();
        assert!(error.contains(why) && error.contains("command:"), "{text}: {error}");
    }
}

#[test]
fn a_command_of_diskspd_is_read_as_its_own_shell_reads_it() {
    let of = |text: &str| of_command(text, false).unwrap_or_else(|e| panic!("{e}"));
    let targets = |text: &str| of(text).targets;
    assert_eq!(targets("diskspd.exe -b4K D:\\test\\io.dat"), ["D:\\test\\io.dat"]);
    assert_eq!(targets("\"C:\\Program Files\\diskspd.exe\" -b4K \"D:\\a b.dat\" E:\\c"), ["D:\\a b.dat", "E:\\c"]);
    assert_eq!(targets("diskspd -b4K ^\n  #1"), ["#1"]);
    assert_eq!(targets("sudo diskspd -b4K /dev/sdb"), ["/dev/sdb"]);
    assert_eq!(of("fio --name=\"a \\\"b\\\" \\c\" --filename=/dev/sdb --rw=read").suite.cases[0].name, "a \"b\" \\c");
    // Two targets, and the limits of all threads on each of them.
    let text = of("diskspd -F4 -g100i -b4K /dev/sdb /dev/sdc").text(Lang::En);
    assert!(text.contains("rate: 800/s") && text.contains("jobs: 4"), "{text}");
}

#[test]
fn a_profile_of_diskspd_is_a_case_for_each_time_span() {
    check(
        of_file(PROFILE, false),
        expect![[r##"
            # Made by `stend import --suite` of x
            # The jobs name these targets; a suite names none, so give them, in this order: --on E:\R&D
            # Decisions:
            #   x:4: write-through is `o_dsync`
            #   x:4: test files are made by Stend in the directories that `--on` names, and written once before measuring
            #   x:26: the limits of all threads and targets become one rate: latency counts from when an I/O was due
            #   x:32: test files are made by Stend in the directories that `--on` names, and written once before measuring
            # Left out, because it changes no I/O: Cooldown, IOPriority, Progress
            suite: "diskspd"
            defaults: {prober: off}
            fill: {size: 1GiB}
            cases:
              - name: "mix 8K"
                trial: 60s
                ramp: 10s
                direct: true
                streams:
                  - {op: {read: 70, write: 30}, pattern: {zones: [{space: 10%, accesses: 90%}, {space: 90%, accesses: 10%}]}, block_size: 8KiB, queue_depth: 8, jobs: 2, sync: o_dsync, rate: 1000/s}
              - name: "read 64K"
                trial: 30s
                ramp: 5s
                direct: false
                streams:
                  - {op: read, pattern: shared_sequential, block_size: 64KiB, queue_depth: 2}
        "##]],
    );
    let results = format!("<Results>\n<System><RunTime/></System>\n{PROFILE}</Results>");
    assert_eq!(of_file(&results, false).unwrap().suite, of_file(PROFILE, false).unwrap().suite);
}

#[test]
fn what_a_profile_of_diskspd_means_otherwise_is_an_error_with_its_line() {
    for (from, to, why) in [
        ("<ParallelAsyncIO>false<", "<ParallelAsyncIO>true<", "x:17: `ParallelAsyncIO` has no equivalent"),
        ("<Pattern>random<", "<Pattern>zero<", "x:16: zeroes, or bytes of a file"),
        ("<Random>8192<", "<Random>4096<", "x:21: here I/Os are aligned"),
        ("<Percent>", "<Absolute>", "x:21: parts of a target in bytes"),
        ("<Duration>", "<Durations>", "x:5: unknown option `Durations`"),
    ] {
        let other = to.replace('<', "</").replace("><", ">");
        let text = PROFILE.replacen(from, to, 1).replacen(&from.replace('<', "</"), &other, 1);
        let error = of_file(&text, false).map(|i| i.text(Lang::En)).unwrap_err().to_string();
        assert!(error.contains(why), "{error}");
        assert!(of_file(&text, true).unwrap().text(Lang::Ru).contains("Здесь значит другое"), "{text}");
    }
    for (from, to, why) in [
        ("<BlockSize>8192<", "<BlockSize>1000<", "x:13: `BlockSize` needs a multiple of 512 B"),
        ("<WriteRatio>30<", "<WriteRatio>130<", "x:25: `WriteRatio` needs 0 to 100 percent"),
        ("<RequestCount>8<", "<RequestCount>0<", "x:24: `RequestCount` needs at least 1"),
        ("unit=\"IOPS\"", "unit=\"MBPS\"", "x:26: `Throughput` needs the unit"),
        ("<Range IO=\"90\">10<", "<Range IO=\"90\">110<", "x:21: `Distribution` needs shares"),
        ("</Profile>", "", "x:45: the file ends in the middle of `Profile`"),
        (
            "<!-- <Target>",
            "<Target><WriteRatio>1</WriteRatio></Target> <!-- <Target>",
            "x:40: the load of the target differs",
        ),
        ("<TimeSpans>", "<!DOCTYPE a []><TimeSpans>", "document type definitions"),
    ] {
        let error = of_file(&PROFILE.replacen(from, to, 1), true).map(|i| i.text(Lang::En)).unwrap_err().to_string();
        assert!(error.contains(why), "{from}: {error}");
    }
}

#[test]
fn large_pages_of_diskspd_are_huge_ones() {
    let pages = |command: &str| of_command(command, false).unwrap().suite.cases[0].pages;
    assert_eq!((pages("diskspd -b1M -l /dev/a"), pages("diskspd -b1M /dev/a")), (Pages::Huge, Pages::Ordinary));
    let of_profile = |word: &str| {
        let asked = format!("<UseLargePages>{word}</UseLargePages><BlockSize>8192<");
        of_file(&PROFILE.replacen("<BlockSize>8192<", &asked, 1), false).unwrap().suite.cases[0].pages
    };
    assert_eq!((of_profile("true"), of_profile("false")), (Pages::Huge, Pages::Ordinary));
}

#[test]
fn what_a_shell_does_is_no_target_of_diskspd_and_huge_numbers_are_no_panic() {
    for text in ["diskspd -b4K F:/t.dat > out.txt", "diskspd -b4K F:/t.dat 2>&1", "diskspd -b4K F:/t.dat | tee x"] {
        assert!(of_command(text, false).unwrap_err().to_string().contains("is for the shell"), "{text}");
    }
    drop(of_command("diskspd -t2147483648 /dev/a /dev/b", true));
    drop(of_command("diskspd -t4294967295 -g1000 /dev/a /dev/b", true));
}

#[test]
fn more_time_spans_than_a_suite_holds_are_refused_with_their_line() {
    let span = "<TimeSpan><Duration>1</Duration><Targets><Target><Path>a</Path></Target></Targets></TimeSpan>\n";
    let profile = |count: usize| format!("<Profile><TimeSpans>{}</TimeSpans></Profile>\n", span.repeat(count));
    let why = of_file(&profile(1001), false).unwrap_err().render(Lang::En);
    assert!(why.contains(":1001: more than 1000 time spans"), "{why}");
    assert!(of_file(&profile(2), true).is_ok());
}
