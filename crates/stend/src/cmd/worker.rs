//! `stend worker`: the other end of a coordinator's two byte streams.

use clap::ArgMatches;
use stend_base::{Error, Result, say};
use stend_sys::process::Heard;

/// Serves until the coordinator's stream ends; with `--far` also until it is silent for too long.
pub fn worker(arguments: &ArgMatches) -> Result<()> {
    let (from, to) = stend_sys::process::own_streams()
        .map_err(|e| Error::host_lost(say!("cannot take over the streams: {e}", "не удаётся занять потоки: {e}")))?;
    let to = std::io::BufWriter::new(to);
    match arguments.get_flag("far") {
        true => stend_worker::serve(std::io::BufReader::new(Heard::new(from, stend_wire::SILENCE)), to),
        false => stend_worker::serve(std::io::BufReader::new(from), to),
    }
}
