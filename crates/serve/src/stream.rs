//! Sends the events of a run, or of all tasks, to one reader, as fast as it reads them: nothing is kept for one that does not.

use crate::live::{Next, Watched, event};
use crate::tasks::Tasks;
use http_body_util::channel::{Channel, Sender};
use hyper::body::Bytes;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;
use stend_api::Cursor;
use tokio::sync::watch;
use tokio::time::timeout;

/// Silence after which a comment is sent, so that both ends notice when the other is gone.
const HEARTBEAT: Duration = Duration::from_secs(15);
/// How long a reader may take nothing before it is given up.
const PATIENCE: Duration = Duration::from_secs(60);

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
