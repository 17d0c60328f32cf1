//! Sends the events of a run or of all tasks, or a file, to one reader, as fast as it reads: nothing is kept for one that does not.

use crate::live::{Next, Watched, event};
use crate::run_file::Copy;
use crate::tasks::Tasks;
use http_body_util::channel::{Channel, Sender};
use hyper::body::Bytes;
use std::convert::Infallible;
use std::fs::File;
use std::io::Read;
use std::sync::Arc;
use std::time::{Duration, Instant};
use stend_api::Cursor;
use tokio::sync::watch;
use tokio::time::timeout;

/// Silence after which a comment is sent, so that both ends notice when the other is gone; and how often it is asked whether the token of the
/// reader still lets in.
const HEARTBEAT: Duration = Duration::from_secs(15);
/// How long a reader may take nothing before it is given up.
const PATIENCE: Duration = Duration::from_secs(60);

/// Bytes of a file that are read at a time.
const PIECE: u64 = 256 << 10;

/// Body of a stream.
pub type Events = Channel<Bytes, Infallible>;

/// Everything behind the cursor, then what comes, until the run ends or its reader is not admitted any more.
pub fn events(watched: Arc<Watched>, mut cursor: Cursor, admitted: impl FnMut() -> bool + Send + 'static) -> Events {
    let changes = watched.changes();
    let (mut shown, mut ended) = (String::new(), false);
    send(move || watched.next(&mut cursor, &mut shown, &mut ended), changes, admitted)
}

/// Tasks that changed after this change, then each as it changes, as long as the reader is admitted.
pub fn tasks(tasks: Arc<Tasks>, mut after: u64, admitted: impl FnMut() -> bool + Send + 'static) -> Events {
    let changes = tasks.changes();
    let next = move || {
        let mut piece = String::new();
        for task in tasks.since(after) {
            after = task.change;
            // Numbers, strings and words: there is no case in which they cannot be written.
            event(&mut piece, Some(&after.to_string()), "task", &serde_json::to_string(&task).unwrap_or_default());
        }
        if piece.is_empty() { Next::Wait } else { Next::Piece(piece) }
    };
    send(next, changes, admitted)
}

/// A file, piece by piece, up to this size. Its space, if it is a copy, is free again when the last piece has gone.
pub fn file(file: File, size: u64, copy: Option<Copy>) -> Events {
    let (sender, body) = Channel::new(1);
    tokio::spawn(async move {
        pieces_of(file, size, sender).await;
        drop(copy);
    });
    body
}

/// A thread is needed for each piece only, not while a slow reader takes it.
async fn pieces_of(mut file: File, size: u64, mut sender: Sender<Bytes, Infallible>) {
    let mut left = size;
    while left > 0 {
        let read = move || {
            let mut piece = vec![0; PIECE.min(left) as usize];
            let count = file.read(&mut piece)?;
            piece.truncate(count);
            Ok::<_, std::io::Error>((file, piece))
        };
        // A file that ends early, or cannot be read, ends the connection before all bytes that were promised.
        let Ok(Ok((same, piece))) = tokio::task::spawn_blocking(read).await else { return };
        if piece.is_empty() {
            return;
        }
        (file, left) = (same, left - piece.len() as u64);
        let sent = timeout(PATIENCE, sender.send_data(piece.into())).await;
        if !matches!(sent, Ok(Ok(()))) {
            return;
        }
    }
}

fn send(
    next: impl FnMut() -> Next + Send + 'static,
    changes: watch::Receiver<()>,
    admitted: impl FnMut() -> bool + Send + 'static,
) -> Events {
    let (sender, body) = Channel::new(1);
    tokio::spawn(pieces(next, changes, (admitted, HEARTBEAT), sender));
    body
}

async fn pieces(
    mut next: impl FnMut() -> Next + Send,
    mut changes: watch::Receiver<()>,
    (mut admitted, heartbeat): (impl FnMut() -> bool + Send, Duration),
    mut sender: Sender<Bytes, Infallible>,
) {
    let mut asked = Instant::now();
    loop {
        // Also of a stream that is never silent.
        if asked.elapsed() >= heartbeat {
            if !admitted() {
                return;
            }
            asked = Instant::now();
        }
        let piece = match next() {
            Next::End => return,
            Next::Piece(piece) => piece,
            Next::Wait => match timeout(heartbeat, changes.changed()).await {
                Ok(_) => continue,
                Err(_) => ":\n\n".to_string(),
            },
        };
        let sent = timeout(PATIENCE, sender.send_data(piece.into())).await;
        if !matches!(sent, Ok(Ok(()))) {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use http_body_util::BodyExt;

    /// What a reader gets whose token lets in so many times more.
    fn sent(next: impl FnMut() -> Next + Send + 'static, mut times: u32) -> Bytes {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        runtime.block_on(async {
            let (changed, changes) = watch::channel(());
            let (sender, body) = Channel::new(1);
            let admitted = move || {
                times = times.saturating_sub(1);
                times > 0
            };
            tokio::spawn(pieces(next, changes, (admitted, Duration::from_millis(1)), sender));
            let sent = body.collect().await.unwrap().to_bytes();
            drop(changed);
            sent
        })
    }

    #[test]
    fn a_stream_ends_with_the_token_that_it_was_asked_with_whether_it_is_silent_or_not() {
        assert!(sent(|| Next::Wait, 3).starts_with(b":\n\n:\n\n:\n\n"));
        assert!(sent(|| Next::Piece("data: x\n\n".into()), 3).starts_with(b"data: x"));
    }
}
