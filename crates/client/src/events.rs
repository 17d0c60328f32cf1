//! Server-sent events, read from pieces of any size. Pure.

/// Most bytes of one event: the largest of ours, an event of a run file with its texts, has some KiB.
const EVENT_MAX: usize = 4 << 20;

/// An event.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Event {
    /// What happened.
    pub name: String,
    /// Where the stream goes on behind it, if the server says that.
    pub id: Option<String>,
    /// What the server tells of it.
    pub data: String,
}

/// A stream that arrives in pieces.
#[derive(Default)]
pub(crate) struct Stream {
    /// The line that is not whole yet.
    line: Vec<u8>,
    event: Event,
    bytes: usize,
}

/// An event is longer than any that a server sends.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct TooLong;

impl Stream {
    /// The events that are whole with this piece.
    pub(crate) fn take(&mut self, piece: &[u8]) -> Result<Vec<Event>, TooLong> {
        let mut whole = Vec::new();
        for byte in piece {
            self.bytes += 1;
            if self.bytes > EVENT_MAX {
                return Err(TooLong);
            }
            match byte {
                b'\n' => whole.extend(self.line_ends()),
                b'\r' => {}
                byte => self.line.push(*byte),
            }
        }
        Ok(whole)
    }

    fn line_ends(&mut self) -> Option<Event> {
        let line = String::from_utf8_lossy(&std::mem::take(&mut self.line)).into_owned();
        if line.is_empty() {
            self.bytes = 0;
            let event = std::mem::take(&mut self.event);
            // Comments keep a connection open; they are no events.
            return (!event.name.is_empty()).then_some(event);
        }
        let (field, value) = line.split_once(':').unwrap_or((&line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "event" => self.event.name = value.to_string(),
            "id" => self.event.id = Some(value.to_string()),
            "data" if self.event.data.is_empty() => self.event.data = value.to_string(),
            "data" => self.event.data.extend(["\n", value]),
            _ => {}
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_the_same_however_the_stream_is_cut() {
        let text = ":\n\nid: 1.2.3\nevent: second\ndata: {\"a\":\ndata: 1}\n\nevent: finished\ndata: ё\n\n".as_bytes();
        let expected = vec![
            Event { name: "second".into(), id: Some("1.2.3".into()), data: "{\"a\":\n1}".into() },
            Event { name: "finished".into(), id: None, data: "ё".into() },
        ];
        for size in [1, 2, 3, 7, text.len()] {
            let mut stream = Stream::default();
            let events: Vec<Event> = text.chunks(size).flat_map(|piece| stream.take(piece).unwrap()).collect();
            assert_eq!(events, expected, "{size}");
        }
    }

    #[test]
    fn an_event_without_an_end_is_given_up() {
        let mut stream = Stream::default();
        assert_eq!((0..).find_map(|_| stream.take(&[b'x'; 1 << 20]).err()), Some(TooLong));
    }
}
