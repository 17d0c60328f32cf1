//! Who asked for an order: hears what happens, and is asked what only they know.

use std::path::Path;
use stend_base::{Error, Result, Say};
use stend_record::EventKind;
use stend_run::Update;

/// What happens while an order is carried out.
pub enum Progress<'a> {
    /// A line for people, which is not in the run file or will be hours later.
    Note(Say),
    /// What went wrong, where the order goes on in spite of it.
    Failed(&'a Error),
    /// Something that was done to the host of a stand.
    Done(&'a EventKind),
    /// The next side of a campaign.
    Next {
        /// Name of the stand, or the targets.
        name: &'a str,
        /// It is a stand, and put up now.
        stand: bool,
        /// Which of those that are left, from one.
        number: usize,
        /// How many are left.
        count: usize,
        /// The block that is measured, from one; `None`: all of them.
        block: Option<u32>,
    },
    /// A session of a run begins.
    Began {
        /// Id of the run.
        run: &'a str,
        /// Name of the suite.
        suite: &'a str,
        /// What is measured.
        on: &'a str,
    },
    /// How far it is.
    Update(&'a Update),
    /// The session of the run is over; the run itself may go on in another.
    Paused,
    /// Nothing more will be measured into this file by this order.
    Ended {
        /// The file.
        run_file: &'a Path,
    },
    /// The runs of a campaign, in the order of its sides, when all are over.
    Campaign {
        /// The files.
        run_files: &'a [&'a Path],
    },
}

/// Whether a person has done what the arm of this name and instruction asks for.
pub type Ready<'a> = dyn Fn(&str, &str) -> bool + 'a;

/// The side of a session that people or programs see.
pub struct Frontend<'a> {
    /// Hears everything.
    pub hears: &'a dyn Fn(Progress<'_>),
    /// Whether the results beside a run file could be written when it ends; asked before anything is built or measured.
    pub may_report: &'a dyn Fn(&Path) -> Result<()>,
    /// Waits for a person; `None`: nobody is there, and the run waits in its file.
    pub ready: Option<&'a Ready<'a>>,
    /// What was typed to ask for the order; kept in the run file.
    pub command_line: Vec<String>,
}

impl Frontend<'_> {
    pub(crate) fn tell(&self, progress: Progress<'_>) {
        (self.hears)(progress);
    }

    pub(crate) fn note(&self, text: Say) {
        self.tell(Progress::Note(text));
    }
}
