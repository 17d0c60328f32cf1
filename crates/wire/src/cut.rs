//! Ends the reading of a stream from another thread, whatever is still sent. Must not end what sends.

use std::io::{self, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether a stream is read no more.
#[derive(Clone, Default)]
pub(crate) struct Cut(Arc<AtomicBool>);

impl Cut {
    /// From now on the stream has ended for its reader, at the latest with what arrives next.
    pub fn cut(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// The stream until it is cut.
    pub fn over<R>(&self, from: R) -> UntilCut<R> {
        UntilCut { from, cut: self.clone() }
    }
}

/// See [`Cut::over`].
pub(crate) struct UntilCut<R> {
    from: R,
    cut: Cut,
}

impl<R: Read> Read for UntilCut<R> {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        if self.cut.0.load(Ordering::Relaxed) { Ok(0) } else { self.from.read(to) }
    }
}

#[cfg(test)]
mod tests {
    use crate::protocol::{Reply, read_hello, write_frame, write_hello};
    use crate::{FromHost, Host};
    use std::io::{self, Write};
    use std::sync::mpsc::channel;
    use std::time::Duration;

    #[test]
    fn what_a_host_sends_after_it_was_cut_off_is_not_read() {
        let (from, mut theirs) = io::pipe().unwrap();
        let (mut heard, to) = io::pipe().unwrap();
        write_hello(&mut theirs).unwrap();
        let mut host = Host::over(from, to, Duration::from_secs(60)).unwrap();
        read_hello(&mut heard).unwrap();
        let (sender, receiver) = channel();
        host.listen(move |message| drop(sender.send(message))).unwrap();
        host.cut();
        let mut frame = Vec::new();
        write_frame(&mut frame, &Reply::Prepared).unwrap();
        // It goes on sending until nothing reads any more.
        (0..100_000).take_while(|_| theirs.write_all(&frame).is_ok()).for_each(drop);
        drop(theirs);
        let heard: Vec<FromHost> = receiver.iter().collect();
        assert!(heard.len() <= 2 && matches!(heard.last(), Some(FromHost::Lost(_))), "{heard:?}");
    }
}
