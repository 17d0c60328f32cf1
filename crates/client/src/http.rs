//! Requests to a server, one connection each, and over TLS only to the one that is trusted. The only file of this crate with a socket. Every wait and every size has a limit.

use crate::address::Address;
use crate::events::Stream as EventStream;
use crate::events::{Event, TooLong};
use crate::failure::{not_understood, sent, too_large, unreachable};
use crate::tls::{Tls, Trust};
use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes, Incoming};
use hyper::client::conn::http1;
use hyper::header::{self, HeaderMap, HeaderValue};
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use rustls::pki_types::ServerName;
use std::io::Write;
use std::time::Duration;
use stend_base::{Error, Lang, Result, Say, say};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;

const CONNECT_TIME: Duration = Duration::from_secs(10);
/// A server gives what it has other processes print 120 s.
const ANSWER_TIME: Duration = Duration::from_secs(150);
/// What an upload may take beside that: at 1 Mbit/s, as the server allows.
const UPLOAD_BYTES_PER_S: u64 = 125_000;
/// Bytes of a run file that is being written are copied before the first is sent; the largest recordings have tens of gigabytes.
const COPY_TIME: Duration = Duration::from_secs(1800);
/// Silence within an answer. The server sends something every 15 s, also where no event comes.
const SILENCE: Duration = Duration::from_secs(60);
/// Status line and headers.
const HEAD_MAX: usize = 32 << 10;
const HEADERS_MAX: usize = 64;
/// A whole answer in memory: as much as a server sends.
const ANSWER_MAX: u64 = 80 << 20;

/// A server, and who asks it.
#[derive(Clone)]
pub struct Server {
    address: Address,
    tls: Option<Tls>,
    token: HeaderValue,
    lang: Lang,
}

/// A connection, encrypted or not.
trait Stream: AsyncRead + AsyncWrite + Unpin + Send {}

impl<S: AsyncRead + AsyncWrite + Unpin + Send> Stream for S {}

/// An answer.
pub struct Reply {
    /// What was sent.
    pub body: Vec<u8>,
    headers: HeaderMap,
}

impl Reply {
    /// A header that is text.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }
}

impl Server {
    /// A server at this address, asked with this token. Over TLS it has to prove itself; `trust` counts for nothing else.
    ///
    /// Errors: `Usage` if the token is none, or the trusted file holds no certificate.
    pub fn new(address: Address, trust: Trust, token: &str, lang: Lang) -> Result<Server> {
        let fits = !token.is_empty() && token.bytes().all(|byte| byte.is_ascii_graphic());
        let value = HeaderValue::from_str(&format!("Bearer {token}")).ok().filter(|_| fits);
        let mut token = value.ok_or_else(|| {
            Error::usage(say!(
                "the token is empty or has other characters than letters, digits and signs",
                "токен пуст или содержит не только латинские буквы, цифры и знаки"
            ))
            .hint(say!(
                "it is what follows `token=` in the link that `stend serve` printed",
                "это то, что стоит после `token=` в ссылке, которую напечатал `stend serve`"
            ))
        })?;
        token.set_sensitive(true);
        let tls = if address.tls { Some(Tls::new(trust)?) } else { None };
        Ok(Server { address, tls, token, lang })
    }

    /// As messages name it.
    pub fn url(&self) -> &str {
        &self.address.url
    }

    /// The answer to a question.
    ///
    /// Errors: `ServerUnreachable`; what the server says.
    pub fn get(&self, target: &str) -> Result<Reply> {
        self.send("GET", target, Vec::new())
    }

    /// The answer to a request with a body.
    ///
    /// Errors: `ServerUnreachable`; what the server says.
    pub fn send(&self, method: &str, target: &str, body: impl Into<Bytes>) -> Result<Reply> {
        self.waiting(async {
            let body = body.into();
            let time = ANSWER_TIME + Duration::from_secs(body.len() as u64 / UPLOAD_BYTES_PER_S);
            let response = self.answered(method, target, body, time).await?;
            let headers = response.headers().clone();
            let mut body = Vec::new();
            self.read(response, target, ANSWER_MAX, &mut |piece| {
                body.extend_from_slice(piece);
                Ok(true)
            })
            .await?;
            Ok(Reply { body, headers })
        })
    }

    /// Writes an answer as it comes.
    ///
    /// Errors: as [`get`](Self::get); `Preflight` if it cannot be written; one that is larger than `most` bytes.
    pub fn fetch(&self, target: &str, most: u64, into: &mut dyn Write) -> Result<()> {
        self.waiting(async {
            let response = self.answered("GET", target, Bytes::new(), COPY_TIME).await?;
            let url = self.url();
            self.read(response, target, most, &mut |piece| match into.write_all(piece) {
                Ok(()) => Ok(true),
                Err(error) => Err(Error::preflight(say!(
                    "cannot keep what {url} sends: {error}",
                    "не удаётся сохранить ответ {url}: {error}"
                ))),
            })
            .await
        })
    }

    /// Hears events until the server sends no more, or `hear` has heard enough and returns `false`. Before them `begun` gets the answer, which has
    /// headers alone.
    ///
    /// Errors: as [`get`](Self::get), those of `hear`, and events that are longer than any of ours.
    pub fn follow(
        &self,
        target: &str,
        begun: &mut dyn FnMut(&Reply),
        hear: &mut dyn FnMut(Event) -> Result<bool>,
    ) -> Result<()> {
        let mut stream = EventStream::default();
        let too_long = |TooLong| not_understood(self.url(), target, &say!("an event has no end", "событие без конца"));
        self.waiting(async {
            let response = self.answered("GET", target, Bytes::new(), ANSWER_TIME).await?;
            begun(&Reply { body: Vec::new(), headers: response.headers().clone() });
            self.read(response, target, u64::MAX, &mut |piece| {
                for event in stream.take(piece).map_err(too_long)? {
                    if !hear(event)? {
                        return Ok(false);
                    }
                }
                Ok(true)
            })
            .await
        })
    }

    fn waiting<T>(&self, work: impl Future<Output = Result<T>>) -> Result<T> {
        let mut runtime = tokio::runtime::Builder::new_current_thread();
        let runtime = runtime.enable_io().enable_time().build();
        runtime.map_err(|error| unreachable(self.url(), &Say::same(error.to_string())))?.block_on(work)
    }

    /// The head of an answer that is none of an error.
    async fn answered(&self, method: &str, target: &str, body: Bytes, time: Duration) -> Result<Response<Incoming>> {
        let broken = |error: hyper::Error| self.broken(target, &error);
        let io = TokioIo::new(self.stream().await?);
        let mut builder = http1::Builder::new();
        builder.max_buf_size(HEAD_MAX).max_headers(HEADERS_MAX);
        let (mut sender, connection) = builder.handshake(io).await.map_err(broken)?;
        // It ends with the answer; what went wrong there is an error of the answer.
        drop(tokio::spawn(connection));
        let request = Request::builder()
            .method(method)
            .uri(target)
            .header(header::HOST, self.address.authority.as_str())
            .header(header::AUTHORIZATION, self.token.clone())
            .header(header::ACCEPT_LANGUAGE, self.lang.tag())
            .header(header::CONNECTION, "close")
            .body(Full::new(body));
        let request = request.map_err(|error| Error::bug(Say::same(format!("{target} is no address: {error}"))))?;
        let response = timeout(time, sender.send_request(request)).await;
        let response = response.map_err(|_| self.silent(time))?.map_err(broken)?;
        let status = response.status().as_u16();
        if response.status().is_success() {
            return Ok(response);
        }
        let mut body = Vec::new();
        self.read(response, target, 1 << 20, &mut |piece| {
            body.extend_from_slice(piece);
            Ok(true)
        })
        .await?;
        Err(sent(self.url(), target, status, &body))
    }

    /// A connection to who has to be the server.
    async fn stream(&self) -> Result<Box<dyn Stream>> {
        let stream = self.connected().await?;
        let Some(tls) = &self.tls else { return Ok(Box::new(stream)) };
        let name = ServerName::try_from(self.address.host.clone());
        let name = name.map_err(|_| unreachable(self.url(), &no_name()))?;
        let connected = timeout(CONNECT_TIME, TlsConnector::from(tls.config.clone()).connect(name, stream)).await;
        match connected.map_err(|_| self.silent(CONNECT_TIME))? {
            Ok(stream) => Ok(Box::new(stream)),
            Err(error) => Err(tls.refusal(self.url()).unwrap_or_else(|| unreachable(self.url(), &no_tls(&error)))),
        }
    }

    async fn connected(&self) -> Result<TcpStream> {
        let mut why = Say::same("");
        for socket in &self.address.sockets {
            match timeout(CONNECT_TIME, TcpStream::connect(socket)).await {
                Ok(Ok(stream)) => return Ok(stream),
                Ok(Err(error)) => why = Say::same(error.to_string()),
                Err(_) => why = after(CONNECT_TIME),
            }
        }
        Err(unreachable(self.url(), &why))
    }

    async fn read(
        &self,
        response: Response<Incoming>,
        target: &str,
        most: u64,
        take: &mut dyn FnMut(&[u8]) -> Result<bool>,
    ) -> Result<()> {
        let (mut body, mut bytes) = (response.into_body(), 0u64);
        loop {
            let frame = timeout(SILENCE, body.frame()).await.map_err(|_| self.silent(SILENCE))?;
            let Some(frame) = frame else { return Ok(()) };
            let frame = frame.map_err(|error| self.broken(target, &error))?;
            let Some(piece) = frame.data_ref() else { continue };
            bytes += piece.len() as u64;
            if bytes > most {
                return Err(too_large(self.url(), target, most));
            }
            if !take(piece)? {
                return Ok(());
            }
        }
    }

    fn silent(&self, time: Duration) -> Box<Error> {
        unreachable(self.url(), &after(time))
    }

    /// A connection that broke off, or an answer that is no HTTP.
    fn broken(&self, target: &str, error: &hyper::Error) -> Box<Error> {
        let why = Say::same(error.to_string());
        if error.is_parse() || error.is_parse_too_large() {
            not_understood(self.url(), target, &why)
        } else {
            unreachable(self.url(), &why)
        }
    }
}

fn no_tls(error: &std::io::Error) -> Say {
    say!("no TLS: {error}", "нет TLS: {error}")
}

fn no_name() -> Say {
    say!("no certificate can have this name", "такого имени в сертификате быть не может")
}

fn after(time: Duration) -> Say {
    let seconds = time.as_secs();
    say!("nothing came for {seconds} s", "ничего не пришло за {seconds} с")
}
