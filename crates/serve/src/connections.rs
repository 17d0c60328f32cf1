//! Connections: how many there may be, how long each may say nothing, and TLS. Must not know what is asked.

use crate::guard::machine;
use crate::http::{SLOW_MAX, Site, UPLOADS_MAX};
use crate::names::Way;
use crate::patient::Patient;
use crate::tls::Tls;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use std::collections::HashMap;
use std::convert::Infallible;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use stend_base::{Error, Result, say};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::time::timeout;
use tokio_rustls::TlsAcceptor;

/// Connections at the same time; more wait to be accepted.
const CONNECTIONS_MAX: usize = 256;
/// Connections of one other machine at the same time, so that no single one can take all. A browser opens six, a console that watches runs
/// some more.
const FROM_ONE_MAX: usize = 64;
/// Request line and headers together; more is answered with 431.
const HEAD_MAX: usize = 16 << 10;
const HEADERS_MAX: usize = 64;
/// How long a request line with its headers may take, also after the answer before.
const HEAD_TIME: Duration = Duration::from_secs(10);
/// How long a handshake may take: two round trips and little arithmetic.
const HANDSHAKE_TIME: Duration = Duration::from_secs(10);
/// How long a reader may take nothing of an answer.
const READER_PATIENCE: Duration = Duration::from_secs(60);
/// Threads that compute answers: four for those that wait for nothing, whatever the others wait for.
const WORKERS: usize = 4 + SLOW_MAX + UPLOADS_MAX;
/// Pause when no connection can be accepted, such as without free descriptors.
const PAUSE: Duration = Duration::from_millis(100);

/// First byte of a TLS handshake. Source: RFC 8446, 5.1, `handshake(22)`.
const HANDSHAKE: u8 = 22;
/// How long the end of a request is waited for that came without TLS, so that its sender gets the answer and not a broken connection.
const FAREWELL: Duration = Duration::from_secs(1);

/// Answers until the process ends.
///
/// Errors: `Preflight` if the system gives no event queue.
pub fn run(listener: std::net::TcpListener, site: Site, tls: Option<&Arc<Tls>>) -> Result<()> {
    let failed = |error: std::io::Error| {
        Error::preflight(say!("the server cannot begin: {error}", "сервер не может начать: {error}"))
    };
    let config = tls.map(Tls::config).transpose()?;
    tls.map_or(Ok(()), Tls::watch)?;
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    let runtime = runtime.enable_io().enable_time().max_blocking_threads(WORKERS).build().map_err(failed)?;
    runtime.block_on(async {
        let listener = TcpListener::from_std(listener).map_err(failed)?;
        let door = Door { site, acceptor: config.map(|config| TlsAcceptor::from(Arc::new(config))) };
        accept(&listener, &Arc::new(door)).await
    })
}

/// What every connection meets.
struct Door {
    site: Site,
    acceptor: Option<TlsAcceptor>,
}

async fn accept(listener: &TcpListener, door: &Arc<Door>) -> Result<()> {
    let (places, senders) = (Arc::new(Semaphore::new(CONNECTIONS_MAX)), Senders::default());
    // The semaphore is never closed.
    while let Ok(place) = places.clone().acquire_owned().await {
        match listener.accept().await {
            Ok((stream, from)) => {
                // One that has too many already is not worth an answer: each would cost a handshake.
                let Some(counted) = senders.count(from.ip()) else { continue };
                let door = door.clone();
                drop(tokio::spawn(async move {
                    connection(stream, from.ip(), &door).await;
                    drop((place, counted));
                }));
            }
            Err(_) => tokio::time::sleep(PAUSE).await,
        }
    }
    Ok(())
}

async fn connection(mut stream: TcpStream, from: IpAddr, door: &Door) {
    let Ok(to) = stream.local_addr() else { return };
    let way = Way { from, to: to.ip() };
    let Some(acceptor) = &door.acceptor else {
        return requests(stream, way, &door.site).await;
    };
    let encrypted = async {
        let mut first = [0];
        if stream.peek(&mut first).await.ok()? == 1 && first[0] != HANDSHAKE {
            answer_plainly(&mut stream).await;
            return None;
        }
        acceptor.accept(Patient::new(stream, READER_PATIENCE)).await.ok()
    };
    // What is no handshake, or takes too long, gets no further.
    if let Ok(Some(stream)) = timeout(HANDSHAKE_TIME, encrypted).await {
        serve(stream, way, &door.site).await;
    }
}

async fn requests(stream: TcpStream, way: Way, site: &Site) {
    serve(Patient::new(stream, READER_PATIENCE), way, site).await;
}

async fn serve(stream: impl AsyncRead + AsyncWrite + Unpin, way: Way, site: &Site) {
    let service = service_fn(|request| async move { Ok::<_, Infallible>(site.respond(request, way).await) });
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(HEAD_TIME).max_buf_size(HEAD_MAX).max_headers(HEADERS_MAX);
    // A connection that breaks off, or speaks no HTTP, has been answered as far as it can be.
    drop(http.serve_connection(TokioIo::new(stream), service).await);
}

/// An answer for a sender that speaks HTTP without TLS, such as a browser where `https://` was left out.
async fn answer_plainly(stream: &mut TcpStream) {
    let text = "This port speaks TLS: begin the address with https://\n";
    let length = text.len();
    let answer = format!(
        "HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{text}"
    );
    let said = async {
        stream.write_all(answer.as_bytes()).await?;
        stream.shutdown().await?;
        tokio::io::copy(&mut stream.take(HEAD_MAX as u64), &mut tokio::io::sink()).await
    };
    // What cannot be sent was for a sender that is gone.
    drop(timeout(FAREWELL, said).await);
}

/// How many connections other machines have.
#[derive(Clone, Default)]
struct Senders(Arc<Mutex<HashMap<IpAddr, usize>>>);

/// One of them, as long as it lasts.
struct Counted(Senders, IpAddr);

impl Senders {
    /// Counts one more; `None`: this machine has enough. Everything behind a proxy or a tunnel on this machine comes from its loopback.
    fn count(&self, from: IpAddr) -> Option<Counted> {
        let (is_here, from) = (from.to_canonical().is_loopback(), machine(from));
        let mut counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let count = counts.entry(from).or_default();
        if *count >= FROM_ONE_MAX && !is_here {
            return None;
        }
        *count += 1;
        Some(Counted(self.clone(), from))
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        let mut counts = self.0.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = counts.get_mut(&self.1) {
            *count -= 1;
            if *count == 0 {
                counts.remove(&self.1);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_machine_cannot_take_all_connections() {
        let senders = Senders::default();
        let (one, other): (IpAddr, IpAddr) = ("192.0.2.7".parse().unwrap(), "192.0.2.8".parse().unwrap());
        let mut taken: Vec<_> = (0..FROM_ONE_MAX).map(|_| senders.count(one).unwrap()).collect();
        assert!(senders.count(one).is_none() && senders.count("::ffff:192.0.2.7".parse().unwrap()).is_none());
        assert!(senders.count(other).is_some());
        taken.pop();
        assert!(senders.count(one).is_some());
        drop(taken);
        assert!(senders.0.lock().unwrap().is_empty(), "nothing is remembered of those that are gone");
        for local in ["127.0.0.1", "::1"] {
            let local: Vec<_> = (0..2 * FROM_ONE_MAX).map(|_| senders.count(local.parse().unwrap())).collect();
            assert!(local.iter().all(Option::is_some));
        }
    }

    #[test]
    fn a_machine_with_ipv6_takes_no_more_places_by_changing_its_address() {
        let senders = Senders::default();
        let of = |number: usize| senders.count(format!("2001:db8::{number:x}").parse().unwrap());
        let taken: Vec<_> = (1..=FROM_ONE_MAX).map(|number| of(number).unwrap()).collect();
        assert!(of(FROM_ONE_MAX + 1).is_none() && senders.count("2001:db8:0:1::1".parse().unwrap()).is_some());
        drop(taken);
    }
}
