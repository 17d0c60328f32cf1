//! Sends the events of a run to one reader, as fast as it reads them: nothing is kept for one that does not.

use crate::live::{Next, Watched};
use http_body_util::channel::{Channel, Sender};
use hyper::body::Bytes;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;
use stend_api::Cursor;
use tokio::time::timeout;

/// Silence after which a comment is sent, so that both ends notice when the other is gone.
const HEARTBEAT: Duration = Duration::from_secs(15);
/// How long a reader may take nothing before it is given up.
const PATIENCE: Duration = Duration::from_secs(60);

/// Body of a stream.
pub type Events = Channel<Bytes, Infallible>;

/// Everything behind the cursor, then what comes, until the run ends.
pub fn events(watched: Arc<Watched>, cursor: Cursor) -> Events {
    let (sender, body) = Channel::new(1);
    tokio::spawn(send(watched, cursor, sender));
    body
}

async fn send(watched: Arc<Watched>, mut cursor: Cursor, mut sender: Sender<Bytes, Infallible>) {
    let mut changes = watched.changes();
    let (mut shown, mut ended) = (String::new(), false);
    loop {
        let piece = match watched.next(&mut cursor, &mut shown, &mut ended) {
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
