//! How files of jobs import, for a table over many of them. Pure.

use super::{ImportContext, Imported, files};
use crate::jobs::Weight;
use stend_base::{Error, Result, Say};

/// What becomes of a file.
#[derive(Debug)]
pub enum Outcome {
    /// A suite that means the same.
    Whole,
    /// A suite with `lenient`, and what means something else in it, or nothing, with its places.
    Losses(Vec<Say>),
    /// None, with a reason that names its place.
    Refused(Box<Error>),
    /// None, and nobody can tell by the reason what to change: a fault of Stend.
    Unclear(Box<Error>),
}

impl Outcome {
    /// The word for programs.
    pub fn word(&self) -> &'static str {
        match self {
            Outcome::Whole => "whole",
            Outcome::Losses(_) => "losses",
            Outcome::Refused(_) => "refused",
            Outcome::Unclear(_) => "unclear",
        }
    }
}

/// Imports a file strictly, and with `lenient` where that fails.
pub fn assess(name: &str, bytes: &[u8], context: &ImportContext) -> Outcome {
    let import = |lenient| -> Result<Imported> {
        files(&[(name.to_string(), bytes.to_vec())], &ImportContext { lenient, ..*context })
    };
    let error = match import(false) {
        Ok(_) => return Outcome::Whole,
        Err(error) => error,
    };
    match import(true) {
        Ok(imported) => {
            let changed = imported.notes.into_iter().filter(|note| note.weight == Weight::Changed);
            Outcome::Losses(changed.map(|note| note.said()).collect())
        }
        // Why it fails even so is what has to be changed.
        Err(lenient) if lenient.place.is_some() && error.place.is_some() => Outcome::Refused(lenient),
        Err(lenient) if lenient.place.is_some() => Outcome::Unclear(error),
        Err(lenient) => Outcome::Unclear(lenient),
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::context;
    use super::*;

    #[test]
    fn a_file_is_whole_or_has_losses_or_is_refused_with_its_place() {
        let of = |text: &str| assess("x.fio", text.as_bytes(), &context(false));
        assert!(matches!(of("[a]\nfilename=/dev/x\nrw=randread\n"), Outcome::Whole));
        let Outcome::Losses(notes) = of("[a]\nfilename=/dev/x\nrw=randread\nnice=5\n") else { panic!("losses") };
        assert!(notes.len() == 1 && notes[0].en.starts_with("x.fio:4: `nice`") && notes[0].ru.starts_with("x.fio:4: "));
        let Outcome::Refused(error) = of("[a]\nrw=randread\n") else { panic!("refused") };
        assert!(error.message.en.starts_with("x.fio:1: no `size`"), "{error}");
    }

    #[test]
    fn what_no_suite_allows_is_refused_at_the_place_of_the_job_that_asks_for_it() {
        for (option, why) in [
            ("runtime=640000", "x.fio:4: `trial` of the suite: a trial lasts at least 200 ms and at most 7 days"),
            ("ramp_time=640000", "x.fio:4: `ramp` of the suite: a ramp lasts 7 days at most"),
            (
                "ioengine=libaio\ndirect=1\niodepth=5000",
                "x.fio:4: `queue_depth` of the suite: 5000 is outside 1 to 4096",
            ),
            ("rate_iops=99999999", "x.fio:4: `rate` of the suite: a rate is 0.001/s to 10 000 000/s"),
        ] {
            let text =
                format!("[a]\nfilename=/dev/x\nrw=randread\n[b]\nstonewall\nfilename=/dev/x\nrw=randread\n{option}\n");
            let Outcome::Refused(error) = assess("x.fio", text.as_bytes(), &context(false)) else { panic!("{option}") };
            assert!(error.message.en.replace('\u{a0}', " ").starts_with(why), "{error}");
        }
    }
}
