//! Answers Prometheus while a recording goes on or a run is watched: one page, on one thread, on an address that the user named. Must not read the host itself.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use stend_base::{Error, Result, say};

/// How long a caller may take in all: one that is slow keeps the next one waiting.
const PATIENCE: Duration = Duration::from_secs(2);
/// Longest request that is read: Prometheus sends some 300 bytes.
const REQUEST_MAX: usize = 8 << 10;

/// The page that is given out, and where.
pub struct MetricsServer {
    /// Where it answers: the port that the system chose, if none was named.
    pub address: SocketAddr,
    page: Arc<Mutex<String>>,
}

impl MetricsServer {
    /// Listens; the thread ends with the process. `at` is a port of this machine alone, or an address and a port.
    ///
    /// Errors: kind `Usage` if that is no address, `Preflight` if nothing can listen there.
    pub fn open(at: &str, content_type: &'static str) -> Result<MetricsServer> {
        let asked = address(at)?;
        let failed = |error: io::Error| {
            let stend_base::Say { en, ru } = stend_sys::regular::why(&error);
            Error::preflight(say!("cannot answer at {asked}: {en}", "не удаётся отвечать на {asked}: {ru}"))
                .hint(say!("name another port", "укажите другой порт"))
        };
        let listener = TcpListener::bind(asked).map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        let page = Arc::new(Mutex::new(String::new()));
        let given = page.clone();
        let serve = move || {
            for stream in listener.incoming().flatten() {
                // A caller that goes away or sends nonsense gets nothing, and the next one is answered.
                drop(answer(stream, &given, content_type));
            }
        };
        std::thread::Builder::new().name("metrics".into()).spawn(serve).map_err(failed)?;
        Ok(MetricsServer { address, page })
    }

    /// What callers get from now on.
    pub fn show(&self, page: String) {
        *self.page.lock().unwrap_or_else(PoisonError::into_inner) = page;
    }
}

/// `9101` is of this machine alone; others are named with their address.
fn address(at: &str) -> Result<SocketAddr> {
    let local = at.parse::<u16>().ok().map(|port| SocketAddr::from(([127, 0, 0, 1], port)));
    local.or_else(|| at.parse().ok()).ok_or_else(|| {
        Error::usage(say!("`--metrics {at}` is neither a port nor an address", "`--metrics {at}` — ни порт, ни адрес"))
            .hint(say!(
                "for example `--metrics 9101`, or `--metrics 0.0.0.0:9101` for everybody in the network",
                "например `--metrics 9101` или `--metrics 0.0.0.0:9101` для всех в сети"
            ))
    })
}

fn answer(mut stream: TcpStream, page: &Mutex<String>, content_type: &str) -> io::Result<()> {
    let request = request(&mut stream)?;
    stream.set_write_timeout(Some(PATIENCE))?;
    let (status, body) = match request.split(' ').collect::<Vec<_>>().as_slice() {
        ["GET", "/metrics", ..] => ("200 OK", page.lock().unwrap_or_else(PoisonError::into_inner).clone()),
        ["GET", ..] => ("404 Not Found", "the metrics are at /metrics\n".to_string()),
        _ => ("405 Method Not Allowed", "only GET is answered\n".to_string()),
    };
    let length = body.len();
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: {content_type}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n"
    );
    stream.write_all(head.as_bytes())?;
    stream.write_all(body.as_bytes())
}

/// The first line of a request whose head was read to its end.
fn request(stream: &mut TcpStream) -> io::Result<String> {
    let deadline = Instant::now() + PATIENCE;
    let mut bytes = Vec::new();
    while !bytes.windows(4).any(|four| four == b"\r\n\r\n") {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() || bytes.len() > REQUEST_MAX {
            return Err(io::ErrorKind::InvalidData.into());
        }
        stream.set_read_timeout(Some(left))?;
        let mut piece = [0; 1024];
        match stream.read(&mut piece)? {
            0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            count => bytes.extend(&piece[..count]),
        }
    }
    Ok(String::from_utf8_lossy(&bytes).lines().next().unwrap_or_default().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use stend_base::Kind;

    fn asked(server: &MetricsServer, request: &[u8]) -> String {
        let mut stream = TcpStream::connect(server.address).unwrap();
        stream.write_all(request).unwrap();
        let mut text = String::new();
        // A connection that is closed at once may be reset.
        drop(stream.read_to_string(&mut text));
        text
    }

    #[test]
    fn the_newest_page_is_given_to_who_asks_for_it_and_nonsense_stops_nothing() {
        let server = MetricsServer::open("0", "text/plain").unwrap();
        assert!(server.address.ip().is_loopback());
        server.show("a 1\n".into());
        let page = asked(&server, b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n");
        assert!(page.starts_with("HTTP/1.1 200 OK\r\n") && page.ends_with("\r\n\r\na 1\n"), "{page}");
        let long = [b'x'; 2 * REQUEST_MAX];
        assert_eq!(asked(&server, &long), "");
        assert!(asked(&server, b"POST /metrics HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 405"));
        assert!(asked(&server, b"GET / HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 404"));
        server.show("a 2\n".into());
        assert!(asked(&server, b"GET /metrics HTTP/1.0\r\n\r\n").ends_with("a 2\n"));
    }

    #[test]
    fn a_port_alone_is_of_this_machine_and_what_is_no_address_is_refused() {
        assert_eq!(address("9101").unwrap().to_string(), "127.0.0.1:9101");
        assert_eq!(address("0.0.0.0:9101").unwrap().to_string(), "0.0.0.0:9101");
        for at in ["", "70000", "localhost", "nas:9101"] {
            assert_eq!(address(at).unwrap_err().kind, Kind::Usage, "{at}");
        }
    }
}
