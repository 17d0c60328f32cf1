//! As much of HTTP/1.1 as a bench needs: requests one after the other on a connection that stays open.

use crate::Outcome;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

/// Longest wait for a byte.
const PATIENCE: Duration = Duration::from_secs(30);

/// Where the server is, and the token of its owner.
pub struct Address {
    host: String,
    token: String,
}

impl Address {
    /// The server of an address such as `http://127.0.0.1:8421/`.
    pub fn new(url: &str, token: &str) -> Address {
        Address { host: url.trim_start_matches("http://").trim_end_matches('/').into(), token: token.into() }
    }
}

/// A connection.
pub struct Connection<'a> {
    address: &'a Address,
    stream: BufReader<TcpStream>,
}

impl<'a> Connection<'a> {
    /// Connects.
    pub fn open(address: &'a Address) -> Outcome<Connection<'a>> {
        let cannot = |e: std::io::Error| format!("cannot reach {}: {e}", address.host);
        let stream = TcpStream::connect(&address.host).map_err(cannot)?;
        stream.set_read_timeout(Some(PATIENCE)).and_then(|()| stream.set_nodelay(true)).map_err(cannot)?;
        Ok(Connection { address, stream: BufReader::new(stream) })
    }

    /// The body of an answer, which must be 200.
    pub fn get(&mut self, path: &str) -> Outcome<String> {
        let broken = |e: std::io::Error| format!("{path}: {e}");
        self.ask(path)?;
        let head = self.head(path)?;
        let mut body = Vec::new();
        match header(&head, "content-length").and_then(|length| length.parse::<u64>().ok()) {
            Some(length) => drop((&mut self.stream).take(length).read_to_end(&mut body).map_err(broken)?),
            None => self.chunks(path, &mut body)?,
        }
        String::from_utf8(body).map_err(|e| format!("{path}: {e}"))
    }

    /// The stream of events of an answer, which must be 200.
    pub fn stream(mut self, path: &str) -> Outcome<BufReader<TcpStream>> {
        self.ask(path)?;
        self.head(path)?;
        Ok(self.stream)
    }

    fn ask(&mut self, path: &str) -> Outcome<()> {
        let Address { host, token } = self.address;
        let head = format!("GET {path} HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {token}\r\n\r\n");
        self.stream.get_mut().write_all(head.as_bytes()).map_err(|e| format!("{path}: {e}"))
    }

    fn head(&mut self, path: &str) -> Outcome<String> {
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            let count = self.stream.read_line(&mut head).map_err(|e| format!("{path}: {e}"))?;
            if count == 0 {
                return Err(format!("{path}: the server closed the connection: {head}"));
            }
        }
        match head.starts_with("HTTP/1.1 200 ") {
            true => Ok(head),
            false => Err(format!("{path}: {}", head.lines().next().unwrap_or_default())),
        }
    }

    fn chunks(&mut self, path: &str, body: &mut Vec<u8>) -> Outcome<()> {
        let broken = |e: std::io::Error| format!("{path}: {e}");
        loop {
            let mut line = String::new();
            self.stream.read_line(&mut line).map_err(broken)?;
            let length =
                u64::from_str_radix(line.trim(), 16).map_err(|e| format!("{path}: a chunk of `{line}`: {e}"))?;
            (&mut self.stream).take(length).read_to_end(body).map_err(broken)?;
            self.stream.read_line(&mut line).map_err(broken)?;
            if length == 0 {
                return Ok(());
            }
        }
    }
}

/// A header by its name in small letters.
fn header<'a>(head: &'a str, name: &str) -> Option<&'a str> {
    let mut lines = head.lines().filter_map(|line| line.split_once(':'));
    lines.find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| value.trim())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;

    #[test]
    fn answers_with_a_length_and_in_chunks_come_whole_on_one_connection_and_others_are_errors() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = Address::new(&format!("http://{}/", listener.local_addr().unwrap()), "t");
        let server = std::thread::spawn(move || {
            let mut stream = BufReader::new(listener.accept().unwrap().0);
            let answers = [
                "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\none",
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\ntw\r\n1\r\no\r\n0\r\n\r\n",
                "HTTP/1.1 429 Too Many Requests\r\nContent-Length: 0\r\n\r\n",
            ];
            for answer in answers {
                let mut head = String::new();
                while !head.ends_with("\r\n\r\n") {
                    assert!(stream.read_line(&mut head).unwrap() > 0);
                }
                assert!(head.contains("Authorization: Bearer t\r\n"));
                stream.get_mut().write_all(answer.as_bytes()).unwrap();
            }
        });
        let mut connection = Connection::open(&address).unwrap();
        assert_eq!((connection.get("/a").unwrap(), connection.get("/b").unwrap()), ("one".into(), "two".into()));
        assert_eq!(connection.get("/c").unwrap_err(), "/c: HTTP/1.1 429 Too Many Requests");
        server.join().unwrap();
    }
}
