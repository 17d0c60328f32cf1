//! Writes what is left on a claimed device when it is let go. Must not know what that is.

use super::Claim;
use std::io;

impl Claim {
    /// Writes `bytes` at `offset` and makes them durable.
    pub fn write_durably(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        let refused = |why| io::Error::other(format!("{why:?}"));
        let file = self.open_write(false).map_err(refused)?;
        let mut done = 0;
        while done < bytes.len() {
            match file.write_at(&bytes[done..], offset + done as u64) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(written) => done += written,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        file.sync_data()
    }
}
