//! How a run ends when several things went wrong: which of them counts, and that the others are reported with it. Pure.

use stend_base::{Error, Kind, Say, say};

/// I/O failed; what else went wrong, such as an undo that a failed target refused, is reported with it.
pub(crate) fn target_failed(count: u64, besides: Option<Box<Error>>) -> Box<Error> {
    let message = say!("the target failed {count} I/Os", "объект вернул ошибку для {count} операций");
    told_with(Error::target_io(message), besides)
}

/// Data were wrong; what else went wrong, such as an undo that left something behind, is reported with it.
pub(crate) fn not_as_written(blocks: u64, besides: Option<Box<Error>>) -> Box<Error> {
    let error = Error::new(
        Kind::Verification,
        say!(
            "data read back differ from data written: {blocks} blocks; see checks H79 and H81",
            "прочитанное отличается от записанного: блоков — {blocks}; см. проверки H79 и H81"
        ),
    );
    let error = error.hint(say!(
        "do not store data on the target; docs/formats/verification.md explains each kind of defect",
        "не храните на объекте данные; виды отличий описаны в docs/formats/verification.md"
    ));
    told_with(error, besides)
}

/// The error with message and hint of another one behind its own hint. An interruption adds only what it carried: that the
/// user ended the run, he knows.
pub(crate) fn told_with(mut error: Box<Error>, besides: Option<Box<Error>>) -> Box<Error> {
    let interrupted = |kind| matches!(kind, Kind::Interrupted | Kind::Terminated);
    let said = |other: Box<Error>| {
        let message = (!interrupted(other.kind)).then_some(other.message);
        message.into_iter().chain(other.hint)
    };
    let more = besides.into_iter().flat_map(said);
    error.hint = error
        .hint
        .into_iter()
        .chain(more)
        .reduce(|text, more| Say { en: format!("{}; {}", text.en, more.en), ru: format!("{}; {}", text.ru, more.ru) });
    error
}

/// What a user must hear of even before wrong data: that we are broken or that nothing more is known.
pub(crate) fn outweighs(kind: Kind) -> bool {
    matches!(kind, Kind::Bug | Kind::HostLost | Kind::RunFile)
}

/// Whether it is what trials found on their target, and nothing that keeps the run from going on.
pub(crate) fn is_of_target(kind: Kind) -> bool {
    matches!(kind, Kind::TargetIo | Kind::Verification)
}

/// What is said of a run between a cut of power and its next session.
pub(crate) fn goes_on_after_a_cut() -> Say {
    say!(
        "the power of its host was cut as planned; the next session has not begun",
        "питание его машины отключено по плану; следующая сессия ещё не начата"
    )
}

/// What is said of a run between two builds of its stand.
pub(crate) fn waits_for_its_stand() -> Say {
    say!("it waits for the next build of its stand", "он ждёт следующей сборки своего стенда")
}

/// The user ended the undo of a run that had measured everything.
pub(crate) fn clean_up_was_cut() -> Box<Error> {
    let error = Error::interrupted(say!(
        "everything was measured and is kept; the clean-up was aborted",
        "всё измерено и сохранено; уборка прервана"
    ));
    error.hint(say!(
        "files of the run may still be there: the next run in the same place removes them",
        "файлы прогона могли остаться: их уберёт следующий прогон в том же месте"
    ))
}

/// The user did not wait for the hypervisor.
pub(crate) fn machines_are_left() -> Box<Error> {
    Error::preflight(say!(
        "changes to virtual machines are not undone: the next run in these machines does that, and `stend vm down` removes them",
        "изменения виртуальных машин не отменены: это сделает следующий прогон в этих машинах, а `stend vm down` уберёт их"
    ))
}

/// Why a change to virtual machines could not be undone, with who does it later.
pub(crate) fn undone_later(error: Box<Error>) -> Box<Error> {
    let hint = machines_are_left().message;
    error.or_hint(hint)
}

/// The user, or the system, ended the run.
pub(crate) fn interrupted(kind: Kind) -> Box<Error> {
    Error::new(kind, say!("interrupted; what was measured is kept", "прервано; измеренное сохранено"))
}

/// The error, with the host that it is of.
pub(crate) fn named(host: &str, mut error: Box<Error>) -> Box<Error> {
    let Say { en, ru } = &error.message;
    error.message = say!("`{host}`: {en}", "`{host}`: {ru}");
    error
}
