//! Run files of the host of a bundle: which are recordings, and the list of its runs.

use super::Making;
use super::facts::WIDTH;
use stend_analyse::listed::{Content, Listed};
use stend_base::{Result, Say, say};
use stend_record::redact::Redaction;
use stend_record::store::{self, KnownRun};
use stend_report::{BundlePart, Listing};
use stend_session::catalogue::look;

/// Run files that are looked at, the newest first: opening each takes about a millisecond.
const LOOKED_AT: usize = 2000;
/// Runs in the list: more than an engineer reads.
const RUNS_MAX: usize = 200;

/// Runs for the list.
pub(super) struct Runs {
    runs: Vec<Listed>,
    left_out: usize,
}

/// Recordings and runs of a host with these names, the newest first.
pub(super) fn of_host(names: &[String], making: &mut Making) -> (Vec<KnownRun>, Runs) {
    let (mut recordings, mut runs) = (Vec::new(), Runs { runs: Vec::new(), left_out: 0 });
    let known = store::directory().and_then(|directory| store::known_runs(&directory)).unwrap_or_else(|error| {
        making.leave_out(BundlePart::Runs, error.message);
        Vec::new()
    });
    let mut unreadable = 0;
    for file in known.iter().take(LOOKED_AT).filter(|file| file.is_there()) {
        match store::glance(&file.path) {
            Ok(seen) if !seen.host_names.iter().any(|name| names.contains(name)) => {}
            Ok(seen) if seen.header.recording.is_some() => recordings.push(file.clone()),
            Ok(_) if runs.runs.len() < RUNS_MAX => runs.runs.push(look(file)),
            Ok(_) => runs.left_out += 1,
            Err(_) => unreadable += 1,
        }
    }
    if unreadable > 0 {
        making.leave_out(
            BundlePart::Runs,
            say!(
                "run files that cannot be read: {unreadable}; `stend list` says why",
                "нечитаемых файлов прогонов: {unreadable}; причины покажет `stend list`"
            ),
        );
    }
    let older = known.len().saturating_sub(LOOKED_AT);
    if older > 0 {
        let older = say!(
            "the {older} oldest run files were not looked at",
            "самые старые файлы прогонов не просмотрены: {older}"
        );
        making.leave_out(BundlePart::Runs, older);
    }
    (recordings, runs)
}

/// Has a redaction learn where runs lie and what they were of.
pub(super) fn teach(runs: &Runs, redaction: &mut Redaction) -> Result<()> {
    for listed in &runs.runs {
        redaction.learn_path(&listed.path);
        if let Some(run) = listed.run() {
            run.targets.iter().for_each(|target| redaction.learn_path(target));
            redaction.scan(&run.state)?;
        }
    }
    Ok(())
}

/// Adds the list.
pub(super) fn add(runs: &mut Runs, making: &mut Making) -> Result<()> {
    let directory = store::directory()?.display().to_string();
    let (listed, left_out) = (std::mem::take(&mut runs.runs), runs.left_out);
    let mut listing = Listing { known: listed.len() + left_out, runs: listed, left_out, next: None, directory };
    if let Some(redaction) = &mut making.redaction {
        redaction.learn_path(&listing.directory);
        listing.directory = redaction.text(&listing.directory);
        listing.runs.iter_mut().try_for_each(|listed| mask(listed, redaction))?;
    }
    let about = say!("runs of this host, each with its headline", "прогоны этой машины и главное число каждого");
    making.in_both("", "runs.txt", &about, &|lang| stend_report::list_text(&listing, lang, WIDTH, false))?;
    making.file("data/runs.json".into(), about, &stend_report::list_json(&listing))
}

fn mask(listed: &mut Listed, redaction: &Redaction) -> Result<()> {
    match &mut listed.content {
        Content::Run(run) => {
            // The name of a file is as the user has it.
            listed.name = run.run.clone();
            run.targets.iter_mut().for_each(|target| *target = redaction.text(target));
            run.state = redaction.part(&run.state)?;
        }
        Content::Unreadable(error) => {
            let Say { en, ru } = &mut error.message;
            (*en, *ru) = (redaction.text(en), redaction.text(ru));
        }
        Content::Gone => {}
    }
    listed.path = redaction.text(&listed.path);
    Ok(())
}
