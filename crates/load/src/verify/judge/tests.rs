//! Every row of the table of verdicts, and properties that hold for any block. Must not know the engine.

use super::*;
use crate::verify::sector::stamp;
use proptest::prelude::*;

const RUN: u64 = 500;
const MARKS: Marks = Marks { run: RUN, epoch: 3 };
const ADDRESS: u64 = 40_960;
const SECTORS: usize = 4;

/// What a sector of a test holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Piece {
    /// This write of the trial.
    Version(u32),
    /// A write of the trial to another place.
    Elsewhere,
    /// The same, by an earlier trial.
    EarlierElsewhere,
    /// Trials of this run before and after this one.
    Earlier,
    Later,
    /// Runs before and after this one.
    OlderRun,
    NewerRun,
    Damaged,
    Zeros,
    Unknown,
}

fn block(pieces: &[Piece]) -> Vec<u8> {
    let mut block = vec![0; pieces.len() * SECTOR];
    for (index, piece) in pieces.iter().enumerate() {
        let sector = &mut block[index * SECTOR..(index + 1) * SECTOR];
        let address = ADDRESS + (index * SECTOR) as u64;
        let of = |run, epoch| Marks { run, epoch };
        match *piece {
            Piece::Version(version) => stamp(sector, MARKS, address, u64::from(version)),
            Piece::Elsewhere => stamp(sector, MARKS, address + 4096, 1),
            Piece::EarlierElsewhere => stamp(sector, of(RUN, 2), address + 4096, 1),
            Piece::Earlier => stamp(sector, of(RUN, 2), address, 9),
            Piece::Later => stamp(sector, of(RUN, 4), address, 1),
            Piece::OlderRun => stamp(sector, of(RUN - 1, 3), address, 2),
            Piece::NewerRun => stamp(sector, of(RUN + 1, 1), address, 2),
            Piece::Damaged => {
                stamp(sector, MARKS, address, 2);
                sector[100] ^= 4;
            }
            Piece::Zeros => {}
            Piece::Unknown => sector.fill(0x55),
        }
    }
    block
}

fn judged(pieces: &[Piece], allowed: Allowed) -> Judgement {
    judge(&block(pieces), ADDRESS, MARKS, allowed)
}

/// The name of the defect, or of what else came out; settled at write 2, of `newest` sent.
fn name(pieces: &[Piece], after: bool) -> String {
    match judged(pieces, Allowed { oldest: 2, newest: 2, seen: 0, after }) {
        Judgement::Wrong { defect, sector, .. } => format!("{} in {sector}", defect.say().en),
        other => format!("{other:?}"),
    }
}

/// Four sectors of one kind.
fn whole(piece: Piece) -> [Piece; SECTORS] {
    [piece; SECTORS]
}

/// Four sectors, the third of which differs.
fn but_one(rest: Piece, one: Piece) -> [Piece; SECTORS] {
    [rest, rest, one, rest]
}

#[test]
fn every_kind_of_wrong_content_has_its_name_while_the_load_runs_and_afterwards() {
    use Piece::*;
    for (pieces, running, after) in [
        (whole(Version(2)), "Ok(2)", "Ok(2)"),
        (whole(Version(1)), "stale in 0", "lost in 0"),
        (whole(Earlier), "stale in 0", "lost in 0"),
        (whole(OlderRun), "stale in 0", "lost in 0"),
        (whole(Zeros), "stale in 0", "lost in 0"),
        (whole(Unknown), "stale in 0", "lost in 0"),
        (but_one(Version(2), Version(1)), "torn in 2", "torn in 2"),
        (but_one(Version(2), Zeros), "torn in 2", "torn in 2"),
        (but_one(Version(1), Version(2)), "torn in 0", "torn in 0"),
        (but_one(Version(1), Zeros), "torn in 0", "torn in 0"),
        (whole(Elsewhere), "misdirected in 0", "misdirected in 0"),
        (but_one(Version(2), Elsewhere), "misdirected in 2", "misdirected in 2"),
        (whole(EarlierElsewhere), "misdirected in 0", "misdirected in 0"),
        (but_one(Version(2), Damaged), "corrupt in 2", "corrupt in 2"),
        (whole(Version(3)), "phantom in 0", "phantom in 0"),
        (whole(Later), "phantom in 0", "phantom in 0"),
        (whole(NewerRun), "phantom in 0", "phantom in 0"),
    ] {
        assert_eq!((name(&pieces, false).as_str(), name(&pieces, true).as_str()), (running, after), "{pieces:?}");
    }
}

#[test]
fn what_a_run_with_a_later_number_left_is_wrong_only_where_a_write_of_this_one_ended() {
    let seen = |oldest| judged(&whole(Piece::NewerRun), Allowed { oldest, newest: 1, seen: 0, after: false });
    assert!(matches!(seen(1), Judgement::Wrong { defect: Defect::Phantom, .. }));
    assert_eq!(seen(0), Judgement::Ok(0), "it was there before, and the clock was set back since");
}

#[test]
fn what_was_read_back_and_is_older_now_is_reordered_not_lost() {
    let seen = |seen| judged(&whole(Piece::Version(1)), Allowed { oldest: 3, newest: 3, seen, after: true });
    assert!(matches!(seen(1), Judgement::Wrong { defect: Defect::Lost, .. }));
    assert!(matches!(seen(2), Judgement::Wrong { defect: Defect::Reordered, .. }));
}

#[test]
fn the_finding_says_what_the_sector_held() {
    let found = |piece| match judged(&whole(piece), Allowed { oldest: 2, newest: 2, seen: 0, after: false }) {
        Judgement::Wrong { found, .. } => found,
        other => panic!("{other:?}"),
    };
    assert_eq!(found(Piece::Version(1)), Found::Sector { run: RUN, epoch: 3, address: ADDRESS, sequence: 1 });
    assert_eq!(found(Piece::Zeros), Found::Zeros);
    assert_eq!(found(Piece::Unknown), Found::Unknown);
    assert_eq!(found(Piece::Damaged), Found::Damaged);
}

#[test]
fn writes_that_overlap_leave_open_what_is_mixed_or_half_written_and_nothing_else() {
    use Piece::*;
    let open = |pieces: &[Piece]| judged(pieces, Allowed { oldest: 2, newest: 4, seen: 0, after: false });
    for version in 2..=4 {
        assert_eq!(open(&whole(Version(version))), Judgement::Ok(version));
    }
    assert_eq!(open(&but_one(Version(2), Version(4))), Judgement::Unsettled);
    assert_eq!(open(&but_one(Version(3), Damaged)), Judgement::Unsettled);
    let defect = |pieces: &[Piece]| match open(pieces) {
        Judgement::Wrong { defect, .. } => defect,
        other => panic!("{other:?}"),
    };
    assert_eq!(defect(&but_one(Version(2), Version(1))), Defect::Torn);
    assert_eq!(defect(&whole(Version(1))), Defect::Stale);
    assert_eq!(defect(&whole(Version(5))), Defect::Phantom);
    assert_eq!(defect(&but_one(Version(3), Elsewhere)), Defect::Misdirected);
}

#[test]
fn what_was_there_before_is_allowed_until_a_write_was_acknowledged() {
    // A run that seems newer may be older by a clock that was set back.
    for piece in [Piece::Zeros, Piece::Unknown, Piece::Earlier, Piece::OlderRun, Piece::NewerRun] {
        assert_eq!(judged(&whole(piece), Allowed { oldest: 0, newest: 1, seen: 0, after: true }), Judgement::Ok(0));
    }
}

#[test]
fn a_place_that_was_never_written_is_not_verifiable_unless_a_write_of_this_run_strayed_there() {
    use Piece::*;
    let never = Allowed { oldest: 0, newest: 0, seen: 0, after: false };
    for piece in [Zeros, Unknown, Earlier, OlderRun, NewerRun, Damaged] {
        assert_eq!(judged(&whole(piece), never), Judgement::NeverWritten, "{piece:?}");
    }
    let defect = |piece| match judged(&but_one(Zeros, piece), never) {
        Judgement::Wrong { defect, sector: 2, .. } => defect,
        other => panic!("{other:?}"),
    };
    assert_eq!([defect(Elsewhere), defect(EarlierElsewhere)], [Defect::Misdirected; 2]);
    assert_eq!([defect(Version(1)), defect(Later)], [Defect::Phantom; 2]);
}

fn piece() -> impl Strategy<Value = Piece> {
    use Piece::*;
    prop_oneof![
        4 => (1u32..7).prop_map(Version),
        1 => prop::sample::select(vec![Elsewhere, EarlierElsewhere, Earlier, Later, OlderRun, NewerRun, Damaged, Zeros, Unknown]),
    ]
}

/// The write that a sector stands for, 0 for one before the trial; `None`: it may never be there.
fn version(piece: Piece, oldest: u32) -> Option<u32> {
    use Piece::*;
    match piece {
        Version(version) => Some(version),
        Earlier | OlderRun | Zeros | Unknown => Some(0),
        NewerRun if oldest == 0 => Some(0),
        Elsewhere | EarlierElsewhere | Later | NewerRun | Damaged => None,
    }
}

proptest! {
    #[test]
    fn a_block_is_good_exactly_if_it_is_of_one_write_that_it_may_hold(
        pieces in prop::collection::vec(piece(), 1..6), oldest in 0u32..5, more in 0u32..3, seen in 0u32..8, after in any::<bool>(),
    ) {
        let allowed = Allowed { oldest, newest: oldest + more, seen, after };
        let versions: Option<Vec<u32>> = pieces.iter().map(|&piece| version(piece, oldest)).collect();
        let one = versions.filter(|all| all.iter().all(|v| v == &all[0])).map(|all| all[0]);
        let good = one.filter(|v| (allowed.oldest..=allowed.newest).contains(v) && allowed.newest > 0);
        match (judged(&pieces, allowed), good) {
            (Judgement::Ok(is), Some(expected)) => prop_assert_eq!(is, expected),
            (Judgement::Ok(is), None) => prop_assert!(false, "{is} of {pieces:?}"),
            (other, Some(_)) => prop_assert!(false, "{other:?} of {pieces:?}"),
            (_, None) => {}
        }
    }

    #[test]
    fn nothing_is_left_open_where_no_write_overlaps(
        pieces in prop::collection::vec(piece(), 1..6), oldest in 1u32..6, seen in 0u32..8, after in any::<bool>(),
    ) {
        let judged = judged(&pieces, Allowed { oldest, newest: oldest, seen, after });
        prop_assert!(!matches!(judged, Judgement::Unsettled | Judgement::NeverWritten), "{judged:?} of {pieces:?}");
    }

    #[test]
    fn only_a_defect_that_can_be_at_that_time_is_named(
        pieces in prop::collection::vec(piece(), 1..6), oldest in 0u32..5, more in 0u32..3, seen in 0u32..8, after in any::<bool>(),
    ) {
        if let Judgement::Wrong { defect, sector, .. } = judged(&pieces, Allowed { oldest, newest: oldest + more, seen, after }) {
            prop_assert!(sector < pieces.len());
            match defect {
                Defect::Stale => prop_assert!(!after),
                Defect::Lost | Defect::Reordered => prop_assert!(after),
                Defect::Corrupt => prop_assert!(more == 0 && pieces.contains(&Piece::Damaged)),
                Defect::Torn => prop_assert!(pieces.windows(2).any(|pair| pair[0] != pair[1])),
                Defect::Misdirected => {
                    prop_assert!(pieces.iter().any(|p| matches!(p, Piece::Elsewhere | Piece::EarlierElsewhere)));
                }
                Defect::Phantom => prop_assert!(pieces.iter().any(|&p| version(p, oldest).is_none_or(|v| v > oldest + more))),
            }
        }
    }
}
