//! Screens as people see them.

use super::layout::width;
use super::{bounds, brief::brief, inspect::inspect_text, text};
use crate::fixture;
use expect_test::expect_file;
use stend_analyse::findings::{Caveat, CheckId, CheckStatus};
use stend_base::{Bytes, Lang, Say};
use stend_record::{Refusal, RunState, Signature, TargetFacts, TargetKind, WriteAccess};

/// The longest line of a screen may not be wider than the terminal.
fn assert_fits(screen: &str, columns: usize) {
    for line in screen.lines() {
        assert!(width(line) <= columns, "{} > {columns}: {line}", width(line));
    }
}

#[test]
fn a_pair_of_nodes_with_a_failed_check_is_marked() {
    let mut findings = fixture::findings();
    findings.numa[0].cells[1].failed = vec![CheckId::H65];
    findings.numa[0].cells[1].of_local = None;
    let screen = text(&findings, Lang::En, 100, false).replace('\u{a0}', " ");
    assert!(screen.contains("✖ H65 · 228 000 IOPS"), "{screen}");
}

#[test]
fn a_run_fits_eighty_columns_in_both_languages() {
    let findings = fixture::findings();
    let (en, ru) = (text(&findings, Lang::En, 80, false), text(&findings, Lang::Ru, 80, false));
    assert_fits(&en, 80);
    assert_fits(&ru, 80);
    expect_file!["../../tests/golden/show_en_80.txt"].assert_eq(&en);
    expect_file!["../../tests/golden/show_ru_80.txt"].assert_eq(&ru);
}

#[test]
fn the_short_form_fits_eighty_columns_in_both_languages_and_ends_with_the_table() {
    let findings = fixture::findings();
    for (lang, golden) in [(Lang::En, "show_brief_en_80.txt"), (Lang::Ru, "show_brief_ru_80.txt")] {
        let screen = brief(&findings, "last", lang, 80, false);
        assert_fits(&screen, 80);
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(golden);
        expect_file![path].assert_eq(&screen);
    }
}

#[test]
fn eight_cases_without_faults_take_twenty_lines_with_the_names_of_both_files() {
    let mut findings = fixture::findings();
    findings.not_run.clear();
    findings.cases.iter_mut().flat_map(|case| &mut case.checks).for_each(|check| check.status = CheckStatus::Pass);
    assert!(findings.cases.len() == 8 && findings.cases.iter().any(|case| case.is_mix()), "those of `quick`");
    for lang in [Lang::En, Lang::Ru] {
        let screen = brief(&findings, "R-20261121T213000Z-kfzm", lang, 80, false);
        assert!(screen.lines().count() + 2 <= 20, "{screen}");
        assert!(screen.lines().any(|line| line.ends_with("stend show -v R-20261121T213000Z-kfzm")), "{screen}");
    }
}

#[test]
fn a_case_of_which_no_check_passed_has_no_tick_in_the_short_form() {
    let mut findings = fixture::findings();
    let last = findings.cases.last_mut().expect("a case");
    last.checks.iter_mut().for_each(|check| check.status = CheckStatus::NotMeasurable);
    let expected = format!("?{}", last.checks.len());
    let screen = brief(&findings, "x", Lang::En, 100, false).replace('\u{a0}', " ");
    assert!(screen.contains(&expected) && screen.contains("? not measurable"), "{screen}");
    let last = findings.cases.last_mut().expect("a case");
    last.checks[0].status = CheckStatus::Pass;
    let screen = brief(&findings, "x", Lang::En, 100, false).replace('\u{a0}', " ");
    assert!(!screen.contains("? not measurable"), "what passed speaks for the number: {screen}");
}

#[test]
fn a_run_that_is_one_sweep_says_in_short_where_the_rate_bends() {
    let mut findings = fixture::findings();
    assert!(!brief(&findings, "x", Lang::En, 80, false).contains("The rate bends"), "others have other questions");
    findings.cases.truncate(findings.sweeps[0].points.len());
    let screen = brief(&findings, "x", Lang::En, 80, false);
    let bend = screen.find("The rate bends at queue depth").expect("the bend");
    assert!(bend < screen.find("Screening").expect("the grade"), "{screen}");
    assert!(!screen.contains("Scalability"), "{screen}");
}

#[test]
fn what_fails_is_told_in_the_short_form_too_and_a_warning_is_counted() {
    let mut findings = fixture::findings();
    let screen = brief(&findings, "my run", Lang::En, 80, false);
    assert!(screen.contains("✖ H18 reads of unwritten blocks (rand-read, queue_depth 1)"), "{screen}");
    assert!(screen.contains("1 warning in 2 cases, 3 caveats") && !screen.contains("! H02"), "{screen}");
    assert!(screen.contains("stend show -v 'my run'\n"), "{screen}");
    findings.state = RunState::Open;
    findings.caveats.push(Caveat::EndedEarly { reason: Say::same("the disk is full") });
    assert!(brief(&findings, "x", Lang::En, 80, false).contains("✖ "), "an early end is never folded away");
}

#[test]
fn axes_have_columns_where_they_fit_and_cases_differ_by_few() {
    let findings = fixture::findings();
    let head = |columns: usize| {
        let screen = brief(&findings, "x", Lang::En, columns, false);
        screen.lines().find(|line| line.starts_with("case")).map(|line| line.contains("QD"))
    };
    assert_eq!((head(80), head(110), head(40)), (Some(true), Some(true), None));
    let mut many = findings.clone();
    for axis in ["block_size", "jobs"] {
        many.cases[2].axes.push((axis.into(), "1".into()));
    }
    let screen = brief(&many, "x", Lang::En, 110, false);
    assert!(!screen.contains("QD") && screen.contains("rand-read, queue_depth 1"), "{screen}");
}

#[test]
fn an_open_loop_has_a_row_of_latencies_without_waiting() {
    let findings = fixture::open_findings();
    for (lang, row) in [(Lang::En, "service, without waiting"), (Lang::Ru, "обслуживание, без ожидания")]
    {
        let count = |columns| {
            let screen = text(&findings, lang, columns, false);
            assert_fits(&screen, columns);
            screen.lines().filter(|line| line.contains(row)).count()
        };
        assert_eq!((count(110), count(40)), (1, 1));
        assert!(!text(&fixture::findings(), lang, 110, false).contains(row));
    }
}

#[test]
fn a_narrow_terminal_gets_one_case_below_the_other() {
    let screen = text(&fixture::findings(), Lang::Ru, 40, false);
    assert_fits(&screen, 40);
    expect_file!["../../tests/golden/show_ru_40.txt"].assert_eq(&screen);
}

#[test]
fn hostile_names_fit_and_steer_nothing() {
    for columns in [40, 60, 80, 110] {
        let screen = text(&fixture::hostile_findings(), Lang::En, columns, false);
        assert_fits(&screen, columns);
        assert!(!screen.contains('\u{1b}') && !screen.contains('\u{202e}') && !screen.contains("NaN"));
    }
}

#[test]
fn escape_codes_only_when_asked_for_and_never_across_lines() {
    assert!(!text(&fixture::findings(), Lang::En, 80, false).contains('\u{1b}'));
    let screen = text(&fixture::findings(), Lang::En, 80, true);
    assert!(screen.contains("\u{1b}[1m"));
    for line in screen.lines().filter(|l| l.contains('\u{1b}')) {
        let last = line.rsplit("\u{1b}[").next().unwrap_or_default();
        assert!(last.starts_with("0m"), "{line:?}");
    }
}

fn refused() -> TargetFacts {
    let mut facts = fixture::target();
    facts.named = "nvme0n1".into();
    facts.path = "/dev/nvme0n1".into();
    facts.kind = TargetKind::BlockDevice;
    facts.identity = Some("serial:S64GNN0TB01234".into());
    facts.size = Bytes::gib(894);
    facts.file_system = None;
    facts.mount_options = None;
    facts.devices = vec![facts.devices.remove(2)];
    facts.devices[0].depth = 0;
    facts.signatures =
        vec![Signature { name: "linux_raid_member".into(), offset: 4096, label: Some("stand-7:0".into()) }];
    facts.access = WriteAccess::Refused(vec![
        Refusal::Member { of: "linux_raid_member".into(), device: "nvme0n1".into() },
        Refusal::RelativeMounted { device: "dm-0".into(), at: "/var".into() },
    ]);
    facts
}

#[test]
fn inspect_says_what_it_is_and_how_it_may_be_written() {
    let (directory, refused) = (fixture::target(), refused());
    let confirm = TargetFacts {
        access: WriteAccess::Confirm { identity: "serial:S64 1".into(), signatures: vec!["ext4".into()] },
        ..refused.clone()
    };
    let mut all = String::new();
    for facts in [&directory, &refused, &confirm] {
        for lang in [Lang::En, Lang::Ru] {
            let screen = inspect_text(facts, lang, 80);
            assert_fits(&screen, 80);
            all.push_str(&screen);
            all.push_str("\n════\n");
        }
    }
    expect_file!["../../tests/golden/inspect.txt"].assert_eq(&all);
}

#[test]
fn a_device_that_cannot_be_read_has_no_empty_list_of_marks_and_no_word_of_reading() {
    let of = |reasons: Vec<Refusal>, lang| {
        let facts = TargetFacts { access: WriteAccess::Refused(reasons), signatures: Vec::new(), ..refused() };
        inspect_text(&facts, lang, 100)
    };
    let user = of(vec![Refusal::NoPermission { root: false }], Lang::En);
    assert!(user.contains("unknown: no permission to read") && !user.contains("none found"), "{user}");
    assert!(user.contains("✖ `nvme0n1` cannot be read: permission denied. Run as root."), "{user}");
    assert!(!user.contains("Reading is possible") && !user.contains("never writes to it"), "{user}");
    let user = of(vec![Refusal::NoPermission { root: false }], Lang::Ru);
    assert!(user.contains("неизвестны: нет прав на чтение") && user.contains("Запустите от root."), "{user}");
    let root = of(vec![Refusal::NoPermission { root: true }], Lang::En);
    assert!(root.contains("container") && !root.contains("Run as root"), "{root}");
    let used = of(vec![Refusal::NoPermission { root: false }, Refusal::Swap { device: "nvme0n1".into() }], Lang::En);
    assert!(used.contains("never writes to it") && used.contains("holds active swap"), "{used}");
    let read_only = of(vec![Refusal::ReadOnly], Lang::En);
    assert!(read_only.contains("none found") && read_only.contains("Reading is possible"), "{read_only}");
}

#[test]
fn inspect_says_that_nothing_can_be_written_where_there_is_no_space() {
    let full = TargetFacts { free: stend_base::Bytes(0), ..fixture::target() };
    assert!(inspect_text(&full, Lang::En, 80).contains("✖ Nothing can be written here"));
    assert!(!inspect_text(&fixture::target(), Lang::En, 80).contains("Nothing can be written"));
}

#[test]
fn only_a_drive_is_said_to_spin_and_what_lies_between_reports_it() {
    let mut facts = refused();
    facts.devices[0].rotational = Some(true);
    for (kind, is_virtual, told) in [
        ("disk", false, ", spinning"),
        ("disk", true, ", reports itself as spinning"),
        ("loop", false, ", reports itself as spinning"),
    ] {
        (facts.devices[0].kind, facts.devices[0].is_virtual) = (kind.into(), is_virtual);
        let screen = inspect_text(&facts, Lang::En, 110);
        assert!(screen.split_whitespace().collect::<Vec<_>>().join(" ").contains(told), "{screen}");
    }
}

#[test]
fn inspect_fits_a_narrow_terminal() {
    assert_fits(&inspect_text(&refused(), Lang::Ru, 40), 40);
}

#[test]
fn what_is_not_known_of_several_cases_is_said_once() {
    let mut findings = fixture::findings();
    let ceiling = findings.cases.iter().find_map(|case| case.ceiling.clone()).expect("a case with a ceiling");
    let alone = bounds(&findings.cases, Lang::En);
    assert!(alone.len() == 1 && alone[0].1.contains("Not known: drives in order"), "{alone:?}");
    findings.cases.iter_mut().for_each(|case| case.ceiling = Some(ceiling.clone()));
    let lines = bounds(&findings.cases, Lang::En);
    let told = lines.iter().filter(|(_, line)| line.contains("Not known")).collect::<Vec<_>>();
    assert_eq!((told.len(), lines.len()), (1, findings.cases.len() + 1), "{lines:?}");
    assert!(
        told[0].1.starts_with("The same in ") && told[0].1.contains("cases. Not known: drives in order"),
        "{told:?}"
    );
}
