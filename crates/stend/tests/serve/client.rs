//! A client of HTTP/1.1 that can also do what no decent client does.

use crate::support::*;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

/// A server that ends with the test.
pub struct Server {
    pub _running: Running,
    /// Address and port.
    pub address: String,
    /// If it was shown.
    pub token: Option<String>,
}

/// What came back.
pub struct Reply {
    pub status: u16,
    headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

impl Reply {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    pub fn is_stream(&self) -> bool {
        self.header("content-type") == Some("text/event-stream")
    }

    pub fn json(&self) -> serde_json::Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|error| panic!("{error}: {}", self.text()))
    }
}

/// Lines of the standard output up to the first that begins so, which is among them.
pub fn lines_until(running: &mut Running, begin: &str) -> String {
    let mut stdout = BufReader::new(running.child.stdout.take().expect("a stream"));
    let mut text = String::new();
    while !text.lines().last().is_some_and(|line| line.starts_with(begin)) {
        assert!(stdout.read_line(&mut text).expect("a line") > 0, "{text}");
    }
    text
}

impl Server {
    pub fn start(scratch: &Scratch, more: &[&str]) -> Server {
        let words = [&["serve", "--listen", "127.0.0.1:0", "--json"], more].concat();
        let mut running = Running::new(&mut stend(scratch, &words));
        let told: serde_json::Value = serde_json::from_str(&lines_until(&mut running, "}")).expect("JSON");
        let address = told["url"].as_str().expect("an address").trim_start_matches("http://").trim_end_matches('/');
        Server { address: address.to_string(), token: told["token"].as_str().map(String::from), _running: running }
    }

    /// A request of the token's owner.
    pub fn get(&self, path: &str) -> Reply {
        self.with_token(&format!("GET {path}"), &[])
    }

    /// The same with another method and more headers.
    pub fn with_token(&self, request: &str, headers: &[&str]) -> Reply {
        let token = format!("Authorization: Bearer {}", self.token.as_deref().expect("a token"));
        self.ask(request, &[&[token.as_str()], headers].concat(), "")
    }

    /// Any request.
    pub fn ask(&self, request: &str, headers: &[&str], body: &str) -> Reply {
        let mut stream = self.sent(request, headers, body);
        let mut bytes = Vec::new();
        // One that is closed early has been answered before.
        drop(stream.read_to_end(&mut bytes));
        parsed(&bytes, request)
    }

    /// A stream, left when all of these have come.
    pub fn until(&self, request: &str, words: &[&str]) -> Reply {
        let token = format!("Authorization: Bearer {}", self.token.as_deref().expect("a token"));
        let mut stream = self.sent(request, &[&token], "");
        let (mut bytes, mut piece) = (Vec::new(), [0; 4096]);
        while !words.iter().all(|word| String::from_utf8_lossy(&bytes).contains(word)) || !bytes.ends_with(b"\n\n\r\n")
        {
            let count = stream.read(&mut piece).expect("more of the stream");
            assert!(count > 0, "{}", String::from_utf8_lossy(&bytes));
            bytes.extend(&piece[..count]);
        }
        parsed(&bytes, request)
    }

    /// The answer with its body, which is left out of a stream: that may never end.
    pub fn begun(&self, request: &str, headers: &[&str], body: &str) -> Reply {
        let mut stream = self.sent(request, headers, body);
        let (mut bytes, mut piece) = (Vec::new(), [0; 4096]);
        // One that is closed early has been answered before.
        while let Ok(count @ 1..) = stream.read(&mut piece) {
            bytes.extend(&piece[..count]);
            let end = bytes.windows(4).position(|four| four == b"\r\n\r\n");
            if let Some(end) = end.filter(|end| parsed(&bytes[..end + 4], request).is_stream()) {
                bytes.truncate(end + 4);
                break;
            }
        }
        parsed(&bytes, request)
    }

    fn sent(&self, request: &str, headers: &[&str], body: &str) -> TcpStream {
        let mut stream = TcpStream::connect(&self.address).expect("a connection");
        stream.set_read_timeout(Some(Duration::from_secs(60))).expect("a limit");
        let headers: String = headers.iter().map(|header| format!("{header}\r\n")).collect();
        let head = format!("{request} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n{headers}\r\n", self.address);
        // A server that refuses what is too long need not read all of it.
        drop(stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(body.as_bytes())));
        stream
    }
}

fn parsed(bytes: &[u8], request: &str) -> Reply {
    let end = bytes.windows(4).position(|four| four == b"\r\n\r\n").unwrap_or_else(|| panic!("no answer to {request}"));
    let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
    let mut lines = head.lines();
    let status = lines.next().and_then(|line| line.split(' ').nth(1)?.parse().ok()).expect("a status");
    let headers = lines.filter_map(|line| line.split_once(':'));
    let headers: Vec<(String, String)> =
        headers.map(|(name, value)| (name.to_lowercase(), value.trim().to_string())).collect();
    let is_chunked = headers.iter().any(|(name, value)| name == "transfer-encoding" && value == "chunked");
    let body = if is_chunked { unchunked(&bytes[end + 4..]) } else { bytes[end + 4..].to_vec() };
    Reply { status, headers, body }
}

/// Chunks without their lengths, as far as they came.
fn unchunked(mut bytes: &[u8]) -> Vec<u8> {
    let mut body = Vec::new();
    while let Some(end) = bytes.windows(2).position(|two| two == b"\r\n") {
        let length = std::str::from_utf8(&bytes[..end]).ok().and_then(|text| usize::from_str_radix(text, 16).ok());
        let Some(chunk) = length.filter(|length| *length > 0).and_then(|length| bytes.get(end + 2..end + 2 + length))
        else {
            break;
        };
        body.extend(chunk);
        bytes = &bytes[(end + 4 + chunk.len()).min(bytes.len())..];
    }
    body
}
