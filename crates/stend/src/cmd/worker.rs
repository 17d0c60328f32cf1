//! `stend worker`: the other end of a coordinator's two byte streams.

use stend_base::{Error, Kind, Result, say};

/// Serves until the coordinator's stream ends.
pub fn worker() -> Result<()> {
    let (from, to) = stend_sys::process::own_streams().map_err(|e| {
        Error::new(Kind::HostLost, say!("cannot take over the streams: {e}", "не удаётся занять потоки: {e}"))
    })?;
    stend_host::worker::serve(std::io::BufReader::new(from), std::io::BufWriter::new(to))
}
