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
use std::time::Duration;
use stend_api::Cursor;
use tokio::sync::watch;
use tokio::time::timeout;

/// Silence after which a comment is sent, so that both ends notice when the other is gone.
const HEARTBEAT: Duration = Duration::from_secs(15);
/// How long a reader may take nothing before it is given up.
const PATIENCE: Duration = Duration::from_secs(60);

/// Bytes of a file that are read at a time.
const PIECE: u64 = 256 << 10;

/// Body of a stream.
pub type Events = Channel<Bytes, Infallible>;

/// Everything behind the cursor, then what comes, until the run ends.
pub fn events(watched: Arc<Watched>, mut cursor: Cursor) -> Events {
    let changes = watched.changes();
    let (mut shown, mut ended) = (String::new(), false);
    send(move || watched.next(&mut cursor, &mut shown, &mut ended), changes)
}

/// Tasks that changed after this change, then each as it changes.
pub fn tasks(tasks: Arc<Tasks>, mut after: u64) -> Events {
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
    send(next, changes)
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

fn send(next: impl FnMut() -> Next + Send + 'static, changes: watch::Receiver<()>) -> Events {
    let (sender, body) = Channel::new(1);
    tokio::spawn(pieces(next, changes, sender));
    body
}

async fn pieces(
    mut next: impl FnMut() -> Next + Send,
    mut changes: watch::Receiver<()>,
    mut sender: Sender<Bytes, Infallible>,
) {
    loop {
        let piece = match next() {
            Next::End => return,
            Next::Piece(piece) => piece,
            Next::Wait => match timeout(HEARTBEAT, changes.changed()).await {
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
