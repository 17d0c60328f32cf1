//! Every answer of [`may_write`], each with its neighbour.

use super::*;
use stend_base::{Bytes, Lang};

fn facts(kind: TargetKind, access: WriteAccess) -> TargetFacts {
    TargetFacts {
        path: "/dev/x".into(),
        identity: Some("serial:A1".into()),
        size: Bytes::gib(1),
        free: Bytes::gib(1),
        physical_block: Bytes(4096),
        ..TargetFacts::new("x", kind, access)
    }
}

fn device(signatures: &[&str]) -> TargetFacts {
    let signatures = signatures.iter().map(|s| s.to_string()).collect();
    facts(TargetKind::BlockDevice, WriteAccess::Confirm { identity: "serial:A1".into(), signatures })
}

fn mounted(kind: TargetKind) -> TargetFacts {
    facts(
        kind,
        WriteAccess::Refused(vec![Refusal::Mounted { at: "/srv".into() }, Refusal::Fstab { at: "/srv".into() }]),
    )
}

fn permission(confirm: &[&str], signatures: &[&str]) -> Permission {
    let own = |texts: &[&str]| texts.iter().map(|t| t.to_string()).collect();
    Permission { confirm: own(confirm), overwrite_signatures: own(signatures), ..Permission::default() }
}

/// `yes`, `not run: …` or `KIND: …`.
fn answer(facts: &TargetFacts, confirm: &[&str], signatures: &[&str]) -> String {
    match may_write(facts, &permission(confirm, signatures)) {
        Ok(Ok(())) => "yes".to_string(),
        Ok(Err(reason)) => format!("not run: {}", reason.en),
        Err(error) => format!("{:?} {}", error.kind, error.render(Lang::En)),
    }
}

#[test]
fn a_blank_device_is_written_only_with_its_own_identity() {
    assert_eq!(answer(&device(&[]), &[], &[]), "not run: needs --confirm=serial:A1");
    assert_eq!(answer(&device(&[]), &["serial:A1"], &[]), "yes");
    assert_eq!(answer(&device(&[]), &["serial:B2", "serial:A1"], &[]), "yes");
    assert_eq!(
        answer(&device(&[]), &["serial:B2"], &[]),
        "Unsafe error: refused to write to `/dev/x`: `--confirm=serial:B2` names something else; its identity is \
         `serial:A1`\nhint: if all data on it may be lost, give --confirm=serial:A1"
    );
}

#[test]
fn every_signature_must_be_named_to_be_overwritten() {
    let both = device(&["ext4", "gpt"]);
    assert_eq!(
        answer(&both, &[], &[]),
        "not run: needs --confirm=serial:A1 --overwrite-signature=ext4 --overwrite-signature=gpt"
    );
    assert_eq!(
        answer(&both, &["serial:A1"], &["gpt"]),
        "Unsafe error: refused to write to `/dev/x`: it carries `ext4`, `gpt`\nhint: if that may be lost, add \
         --overwrite-signature=ext4"
    );
    assert_eq!(answer(&both, &["serial:A1"], &["gpt", "ext4"]), "yes");
}

#[test]
fn unknown_data_are_told_with_their_place_and_may_be_named_where_a_sample_found_none() {
    let mark = |broken_at| stend_record::OwnMark { by: "R-1".into(), left_unix: 1, broken_at };
    let sampled = |other, mark| Sampled {
        blocks: 3072,
        blank: 3072 - other,
        ours: 0,
        other,
        first_other: (other > 0).then_some(8192),
        mark,
        took: stend_base::Nanos(1),
    };
    let with = |other, mark| {
        let mut facts = device(&[]);
        crate::contents::add_sampled(&mut facts, sampled(other, mark));
        facts
    };
    assert_eq!(answer(&with(0, None), &["serial:A1"], &[]), "yes");
    assert_eq!(answer(&with(0, None), &["serial:A1"], &[UNKNOWN_DATA]), "yes");
    assert_eq!(answer(&with(7, Some(mark(None))), &["serial:A1"], &[]), "yes");
    assert_eq!(
        answer(&with(7, None), &["serial:A1"], &[]),
        "Unsafe error: refused to write to `/dev/x`: it holds data that Stend did not write: 7 of 3072 sampled blocks, \
         the first at 8 KiB\nhint: if that may be lost, add --overwrite-signature=unknown-data"
    );
    let broken = answer(&with(7, Some(mark(Some(8192)))), &["serial:A1"], &[]);
    assert!(broken.contains("`R-1` marked its data there, but byte 8192 was written since"), "{broken}");
    assert_eq!(answer(&with(7, None), &["serial:A1"], &[UNKNOWN_DATA]), "yes");
    // A file system that is given up accounts for what is in it, a table of partitions does not.
    let mut named = device(&["ext4"]);
    named.signatures.push(stend_record::Signature { name: "ext4".into(), offset: 1080, label: None });
    crate::contents::add_sampled(&mut named, sampled(7, None));
    assert_eq!(answer(&named, &["serial:A1"], &["ext4"]), "yes");
    let mut table = device(&["gpt"]);
    table.signatures.push(stend_record::Signature { name: "gpt".into(), offset: 512, label: None });
    crate::contents::add_sampled(&mut table, sampled(7, None));
    assert!(
        answer(&table, &["serial:A1"], &["gpt"]).contains("it carries `gpt`; it holds data that Stend did not write")
    );
}

#[test]
fn a_signature_that_is_not_there_means_another_device_was_meant() {
    let wrong = answer(&device(&["ext4"]), &["serial:A1"], &["ext4", "xfs"]);
    assert!(wrong.starts_with("Unsafe error: refused to write to `/dev/x`: it carries `ext4`, not `xfs`"), "{wrong}");
    let again = answer(&device(&[]), &["serial:A1"], &["ext4"]);
    assert!(again.starts_with("Unsafe error: refused to write to `/dev/x`: there is no `ext4` signature"), "{again}");
    assert!(again.ends_with("leave `--overwrite-signature=ext4` out"), "the same command again: {again}");
}

#[test]
fn a_signature_without_a_confirmation_is_refused() {
    let alone = answer(&device(&["ext4"]), &[], &["ext4"]);
    assert!(alone.contains("`--overwrite-signature` without `--confirm`"), "{alone}");
}

#[test]
fn a_target_in_use_is_read_without_a_word_and_refused_when_writing_is_asked_for() {
    let device = mounted(TargetKind::BlockDevice);
    assert_eq!(
        answer(&device, &[], &[]),
        "not run: `/dev/x` is mounted at `/srv`; it is listed in /etc/fstab for `/srv`"
    );
    let asked = answer(&device, &["serial:A1"], &[]);
    assert!(
        asked.starts_with("Unsafe error: refused to write to `/dev/x`: it is mounted at `/srv`; it is listed"),
        "{asked}"
    );
    assert!(answer(&device, &[], &["ext4"]).starts_with("Unsafe"));
}

#[test]
fn a_foreign_file_is_only_read() {
    let file = facts(TargetKind::File, WriteAccess::Refused(vec![Refusal::ForeignFile]));
    assert!(answer(&file, &[], &[]).starts_with("not run: `/dev/x` is a file that Stend did not create"));
    assert!(answer(&file, &["serial:A1"], &[]).starts_with("Unsafe"));
}

#[test]
fn a_directory_needs_no_confirmation_and_takes_none() {
    let directory = facts(TargetKind::Directory, WriteAccess::OwnDirectory);
    assert_eq!(answer(&directory, &[], &[]), "yes");
    assert!(answer(&directory, &["serial:A1"], &[]).starts_with("Unsafe"));
}

#[test]
fn a_directory_that_cannot_be_used_is_an_error_of_its_own_kind() {
    let refused = |reason| facts(TargetKind::Directory, WriteAccess::Refused(vec![reason]));
    assert!(answer(&refused(Refusal::ReadOnly), &[], &[]).starts_with("Preflight error: cannot make a test file"));
    let busy = answer(&refused(Refusal::InUseByRun { pid: 7, run: "/r.stend".into() }), &[], &[]);
    assert!(busy.starts_with("Unsafe error: refused to write to `/dev/x`: it is in use by another run"), "{busy}");
    assert!(busy.contains("process 7, `/r.stend`"), "{busy}");
}
