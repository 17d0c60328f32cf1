//! Requests: limits, who may ask, and which answer goes back in which form. Must not compute answers.

use crate::answers::{Answer, Results};
use crate::clock::now_unix;
use crate::console;
use crate::guard::{Guard, Moment, Refused, SESSION};
use crate::live::Live;
use crate::login;
use crate::names::{Names, Way};
use crate::pages::{self, Asset};
use crate::run_file::RunFile;
use crate::stream::{self, Events};
use crate::token;
use crate::upload::Upload;
use crate::users::Sender;
use http_body_util::{BodyExt, Either, Full, Limited};
use hyper::body::{Bytes, Incoming};
use hyper::header::{self, HeaderName, HeaderValue};
use hyper::{Method, Request as HttpRequest, Response, StatusCode};
use std::sync::Arc;
use std::time::{Duration, Instant};
use stend_api::{Asked, Cursor, Failure, Request, Role};
use stend_base::{Code, Error, Lang, Result, say};
use tokio::sync::Semaphore;
use tokio::time::timeout;

/// Body of signing in.
const FORM_MAX: usize = 4 << 10;
/// Body of an order, the largest that is read.
const ORDER_MAX: usize = 8 << 20;
const BODY_TIME: Duration = Duration::from_secs(10);
/// Files that are uploaded at the same time: 256 MiB on disk.
pub const UPLOADS_MAX: usize = 4;
/// Answers at the same time for which other processes are waited for, which look at drives and read months of samples; more wait. If a drive
/// hangs they all do, and the rest of the server goes on.
pub const SLOW_MAX: usize = 4;
/// The cookie of a session. Over TLS it has a name that browsers take from the server itself alone, never from a neighbour in its domain.
//= RFC 6265bis, 4.1.3.2: "__Host-": with `Secure`, `Path=/`, and no `Domain`
const COOKIE: &str = "stend";
const SECURE_COOKIE: &str = "__Host-stend";
/// Pages of ours use files of ours and nothing else.
const OWN_PAGES: &str = "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";
/// Reports have their styles inside, and no script.
const REPORTS: &str = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; form-action 'none'; base-uri 'none'; frame-ancestors 'none'";

/// For files whose names change with their content.
const FOR_EVER: &str = "public, max-age=31536000, immutable";
/// For what a new version may change under the same name.
const ASK_AGAIN: &str = "private, no-cache";
const HTML: &str = "text/html; charset=utf-8";

type Body = Either<Full<Bytes>, Events>;
type Answered = std::result::Result<Response<Body>, Failure>;

/// What every connection asks.
pub struct Site {
    /// Who may ask.
    pub guard: Arc<Guard>,
    /// Under which names.
    pub names: Names,
    /// Whole answers.
    pub results: Arc<Results>,
    /// Runs that are watched.
    pub live: Arc<Live>,
    /// Places for files that are uploaded at the same time.
    pub uploads: Arc<Semaphore>,
    /// Places for answers that may take long.
    pub slow: Arc<Semaphore>,
}

impl Site {
    /// The answer to a request, whatever it is.
    pub async fn respond(&self, request: HttpRequest<Incoming>, way: Way) -> Response<Body> {
        let lang = Lang::from_locale(text_of(&request, &header::ACCEPT_LANGUAGE).unwrap_or_default());
        let mut response = match self.answer(request, way, lang).await {
            Ok(response) => response,
            Err(failure) => problem(&failure, lang),
        };
        let headers = response.headers_mut();
        for (name, value) in [
            (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
            (header::REFERRER_POLICY, "no-referrer"),
            (header::CACHE_CONTROL, "no-store"),
            (header::CONTENT_SECURITY_POLICY, OWN_PAGES),
        ] {
            headers.entry(name).or_insert(HeaderValue::from_static(value));
        }
        response
    }

    async fn answer(&self, request: HttpRequest<Incoming>, way: Way, lang: Lang) -> Answered {
        let host = host(&request).unwrap_or_default();
        if !self.names.fit(host, way) {
            return Err(misdirected(host));
        }
        let (method, path) = (request.method().clone(), request.uri().path().to_string());
        let reads = matches!(method, Method::GET | Method::HEAD);
        if let (true, Some(asset)) = (reads, pages::open_to_all(&path, lang)) {
            return Ok(page(asset));
        }
        let known = text_of(&request, &header::IF_NONE_MATCH).map(str::to_string);
        if let (true, Some((media, text))) = (reads, console::file(&path)) {
            return Ok(kept(media, text, known.as_deref(), FOR_EVER));
        }
        if (&method, path.as_str()) == (&Method::POST, "/login") {
            return self.sign_in(request, way, lang).await;
        }
        let cookie = cookie(&request, self.cookie());
        let moment = Moment { from: way.from, now: Instant::now(), now_unix: now_unix() };
        let sender = match self.guard.admit(bearer(&request), cookie.as_deref(), moment) {
            Ok(sender) => sender,
            // A person who opens a page of ours signs in; a program gets the error.
            Err(_) if reads && (console::is_page(&path) || path == "/api") => {
                return Ok(see(&login::address(request.uri())));
            }
            Err(refused) => return Err(refused.into()),
        };
        match (&method, path.as_str()) {
            (&Method::POST, "/logout") => {
                cookie.iter().for_each(|cookie| self.guard.sign_out(cookie));
                Ok(self.with_cookie(see("/login"), "", 0))
            }
            (_, "/api") if reads => Ok(page(pages::api(lang))),
            (_, path) if reads && console::is_page(path) => Ok(kept(HTML, console::PAGE, known.as_deref(), ASK_AGAIN)),
            _ => self.asked(request, sender, lang).await,
        }
    }

    /// A request of the table of routes.
    async fn asked(&self, request: HttpRequest<Incoming>, sender: Sender, lang: Lang) -> Answered {
        let target = request.uri().path_and_query().map_or("", |target| target.as_str());
        let asked = Asked::read(request.method().as_str(), target)?;
        if sender.role < asked.role() {
            return Err(role_missing(asked.role(), &sender));
        }
        let what = format!("{} {target}", request.method());
        if !asked.only_reads() && bearer(&request).is_none() {
            is_from_own_page(&request, self.names.tls.is_some())?;
        }
        let header = |name| text_of(&request, &name).map(String::from);
        let (last, known) = (header(HeaderName::from_static("last-event-id")), header(header::IF_NONE_MATCH));
        let admitted = self.admitted(&request);
        let (said, body) = match asked.has_text() {
            true => (text(request, ORDER_MAX).await?, None),
            false => (String::new(), Some(request.into_body())),
        };
        match asked.with(said) {
            Request::Import { name } => self.import(&name, body, sender, what).await,
            Request::Events { run, after } => {
                let after = last.map(|id| Cursor::of(&id).ok_or_else(wrong_id)).transpose()?.or(after);
                self.events(run, after.unwrap_or_default(), admitted).await
            }
            Request::TaskEvents { after } => {
                let after = last.map(|id| id.parse().map_err(|_| wrong_id())).transpose()?.or(after);
                let events = stream::tasks(self.results.tasks.clone(), after.unwrap_or_default(), admitted);
                Ok(streamed(events))
            }
            Request::RunFile { run } => self.run_file(run, known.as_deref()).await,
            asked => {
                let results = self.results.clone();
                // It is never closed. The place is taken as long as the thread is, even if the sender is gone by then.
                let place = if is_slow(&asked) { self.slow.clone().acquire_owned().await.ok() } else { None };
                let answered = move || {
                    let _place = place;
                    let answer = results.answer(&asked, &sender, &what, lang)?;
                    Ok(answer.map(|answer| results.logged(answer, &sender, &what)))
                };
                let answer = work(answered).await?.ok_or_else(|| lost("no answer"))?;
                Ok(whole(answer, known.as_deref()))
            }
        }
    }

    /// Whether the sender of a request would be let in now.
    fn admitted(&self, request: &HttpRequest<Incoming>) -> impl FnMut() -> bool + Send + 'static + use<> {
        let (guard, token) = (self.guard.clone(), bearer(request).map(String::from));
        let cookie = cookie(request, self.cookie());
        move || guard.holder(token.as_deref(), cookie.as_deref(), Instant::now(), now_unix()).is_some()
    }

    async fn events(&self, run: String, after: Cursor, admitted: impl FnMut() -> bool + Send + 'static) -> Answered {
        let (results, live) = (self.results.clone(), self.live.clone());
        let followed = move || {
            let run = results.catalogue.run(&run)?;
            Ok((live.follow(&run.path)?, run.name))
        };
        let (watched, name) = work(followed).await?;
        let mut response = match watched.is_over_at(after) {
            // A browser that gets this does not come again.
            true => status(204, Full::default()),
            false => streamed(stream::events(watched, after, admitted)),
        };
        // What `last` or a label means may be another run a moment later: who comes back asks for this one.
        set(&mut response, HeaderName::from_static("stend-run"), &name);
        Ok(response)
    }

    /// A file of results, which becomes a run.
    async fn import(&self, name: &str, body: Option<Incoming>, sender: Sender, what: String) -> Answered {
        let place = self.uploads.clone().try_acquire_owned().map_err(|_| too_many_uploads())?;
        let upload = Upload::begin(&self.results.scratch, name)?;
        if let Some(body) = body {
            upload.take(body).await?;
        }
        let results = self.results.clone();
        let answer = work(move || {
            let _place = place;
            Ok(results.logged(results.import(&upload)?, &sender, &what))
        });
        Ok(whole(answer.await?, None))
    }

    async fn run_file(&self, run: String, known: Option<&str>) -> Answered {
        let results = self.results.clone();
        let RunFile { file, size, tag, copy } = work(move || results.run_file(&run)).await?;
        let tag = format!("\"{tag}\"");
        let mut response = match has_it(&tag, known) {
            true => status(304, Full::default()),
            false => {
                let mut response = Response::new(Either::Right(stream::file(file, size, copy)));
                set(&mut response, header::CONTENT_LENGTH, &size.to_string());
                response
            }
        };
        let kept = [
            (header::CONTENT_TYPE, "application/vnd.sqlite3"),
            (header::ETAG, &tag),
            (header::CACHE_CONTROL, "private, no-cache"),
        ];
        kept.into_iter().for_each(|(name, value)| set(&mut response, name, value));
        Ok(response)
    }

    async fn sign_in(&self, request: HttpRequest<Incoming>, way: Way, lang: Lang) -> Answered {
        let wanted = login::wanted(request.uri());
        let form = text(request, FORM_MAX).await?;
        let token = form.split('&').find_map(|pair| pair.strip_prefix("token=")).unwrap_or_default().trim();
        let moment = Moment { from: way.from, now: Instant::now(), now_unix: now_unix() };
        let signed_in = self.guard.sign_in(token, moment).map_err(|error| lost(&error.to_string()))?;
        Ok(match signed_in {
            Ok(cookie) => self.with_cookie(see(&wanted), &cookie, SESSION.as_secs()),
            Err(refused) => {
                let mut response = page(pages::login(lang, Some(&refused.error.message)));
                *response.status_mut() = code(Failure::from(refused).status);
                response
            }
        })
    }

    /// Name of the cookie.
    fn cookie(&self) -> &'static str {
        if self.names.tls.is_some() { SECURE_COOKIE } else { COOKIE }
    }

    /// Not readable for scripts, not sent with what other sites ask for, and over TLS never sent without it.
    fn with_cookie(&self, mut response: Response<Body>, value: &str, seconds: u64) -> Response<Body> {
        let secure = if self.names.tls.is_some() { "; Secure" } else { "" };
        let cookie = format!("{}={value}; Path=/; Max-Age={seconds}; HttpOnly; SameSite=Strict{secure}", self.cookie());
        set(&mut response, header::SET_COOKIE, &cookie);
        response
    }
}

impl From<Refused> for Failure {
    fn from(refused: Refused) -> Failure {
        Failure { retry_after: refused.retry_after, ..Failure::from(refused.error) }
    }
}

/// Whether an answer waits for another process, or reads so much that a chart which is dragged would keep all threads busy.
fn is_slow(asked: &Request) -> bool {
    use Request::*;
    matches!(
        asked,
        Validate { .. }
            | DryRun { .. }
            | PutTask { .. }
            | PutSchedule { .. }
            | RunSchedule { .. }
            | Drives { .. }
            | Doctor
            | History(_)
            | Intervals { .. }
            | Audit { .. }
            | Recording { .. }
            | Journal { .. }
            | Acknowledge { .. }
            | Unacknowledge { .. }
            | Mute { .. }
            | Unmute { .. }
            | TestNotices { .. }
    )
}

/// Computes on a thread that may take its time.
async fn work<T: Send + 'static>(
    compute: impl FnOnce() -> Result<T> + Send + 'static,
) -> std::result::Result<T, Failure> {
    match tokio::task::spawn_blocking(compute).await {
        Ok(done) => done.map_err(Failure::from),
        Err(error) => Err(lost(&error.to_string())),
    }
}

/// A defect of ours.
fn lost(why: &str) -> Failure {
    Error::new(Code::Bug, say!("the server failed: {why}", "сбой сервера: {why}")).into()
}

fn too_many_uploads() -> Failure {
    Error::new(
        Code::ServerBusy,
        say!("{UPLOADS_MAX} files are being uploaded already", "уже загружается файлов: {UPLOADS_MAX}"),
    )
    .hint(say!("try again in a moment", "повторите чуть позже"))
    .into()
}

fn wrong_id() -> Failure {
    Error::usage(say!("`Last-Event-ID` is no id of an event", "`Last-Event-ID` — не номер события")).into()
}

/// The text of a body.
async fn text(request: HttpRequest<Incoming>, most: usize) -> std::result::Result<String, Failure> {
    let refused = |status, message| Failure::with(status, Error::usage(message));
    let body = timeout(BODY_TIME, Limited::new(request.into_body(), most).collect()).await;
    let body = body.map_err(|_| refused(408, say!("the request took too long", "запрос шёл слишком долго")))?;
    let body = body.map_err(|_| refused(413, say!("the request is too large", "запрос слишком велик")))?.to_bytes();
    String::from_utf8(body.into()).map_err(|_| refused(400, say!("the body is not UTF-8", "тело запроса не в UTF-8")))
}

/// Whether a change that comes with a cookie was asked for by a page of this server, and not by one of another site.
///
/// Without TLS of ours the scheme may be that of a proxy that encrypts.
fn is_from_own_page(request: &HttpRequest<Incoming>, tls: bool) -> std::result::Result<(), Failure> {
    let origin = text_of(request, &header::ORIGIN).and_then(|origin| origin.split_once("://"));
    let is_own = |(scheme, of): (&str, &str)| Some(of) == host(request) && (scheme == "https" || !tls);
    if origin.is_some_and(is_own) {
        return Ok(());
    }
    Err(Error::new(
        Code::NotAllowed,
        say!("the request comes from a page of another site", "запрос пришёл со страницы другого сайта"),
    )
    .hint(say!("programs send the token, not a cookie", "программы присылают токен, а не cookie"))
    .into())
}

fn misdirected(host: &str) -> Failure {
    let error =
        Error::new(Code::NotAllowed, say!("`{host}` is not a name of this server", "`{host}` — не имя этого сервера"));
    let hint = say!(
        "use a name of its certificate or the address where it listens; `stend serve --name NAME` adds a name",
        "используйте имя из его сертификата или адрес, где он слушает; имя добавляет `stend serve --name ИМЯ`"
    );
    Failure::with(421, error.hint(hint))
}

fn role_missing(needed: Role, sender: &Sender) -> Failure {
    let (needed, name, role) = (needed.word(), &sender.name, sender.role.word());
    Error::new(
        Code::NotAllowed,
        say!(
            "this needs the role `{needed}`, and `{name}` has `{role}`",
            "нужна роль `{needed}`, а у `{name}` — `{role}`"
        ),
    )
    .hint(say!("an admin makes a token with that role", "токен с этой ролью создаст администратор"))
    .into()
}

/// Host and port that a request is for.
fn host(request: &HttpRequest<Incoming>) -> Option<&str> {
    //= RFC 9112, 3.2.2: with a target in absolute form, Host is ignored
    request.uri().authority().map(|authority| authority.as_str()).or_else(|| text_of(request, &header::HOST))
}

/// A header that is text.
fn text_of<'a>(request: &'a HttpRequest<Incoming>, name: &HeaderName) -> Option<&'a str> {
    request.headers().get(name)?.to_str().ok()
}

fn bearer(request: &HttpRequest<Incoming>) -> Option<&str> {
    let (scheme, token) = text_of(request, &header::AUTHORIZATION)?.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}

fn cookie(request: &HttpRequest<Incoming>, named: &str) -> Option<String> {
    let all = request.headers().get_all(header::COOKIE).iter().filter_map(|header| header.to_str().ok());
    let mut pairs = all.flat_map(|header| header.split(';')).filter_map(|pair| pair.trim().split_once('='));
    pairs.find(|(name, _)| *name == named).map(|(_, value)| value.to_string())
}

fn streamed(events: Events) -> Response<Body> {
    let mut response = Response::new(Either::Right(events));
    set(&mut response, header::CONTENT_TYPE, "text/event-stream");
    response
}

fn status(number: u16, body: Full<Bytes>) -> Response<Body> {
    let mut response = Response::new(Either::Left(body));
    *response.status_mut() = code(number);
    response
}

fn code(number: u16) -> StatusCode {
    // Only codes of ours come here.
    StatusCode::from_u16(number).unwrap_or_default()
}

fn set(response: &mut Response<Body>, name: HeaderName, value: &str) {
    // What is set here has no line ends; a value that is no header is left out.
    if let Ok(value) = HeaderValue::from_str(value) {
        response.headers_mut().insert(name, value);
    }
}

fn problem(failure: &Failure, lang: Lang) -> Response<Body> {
    let mut response = status(failure.status, failure.json(lang).into_bytes().into());
    set(&mut response, header::CONTENT_TYPE, "application/problem+json");
    if let Some(methods) = &failure.allow {
        set(&mut response, header::ALLOW, methods);
    }
    if let Some(seconds) = failure.retry_after {
        set(&mut response, header::RETRY_AFTER, &seconds.to_string());
    }
    if failure.status == 401 {
        set(&mut response, header::WWW_AUTHENTICATE, "Bearer");
    }
    response
}

fn see(place: &str) -> Response<Body> {
    let mut response = status(303, Full::default());
    set(&mut response, header::LOCATION, place);
    response
}

fn page(asset: Asset) -> Response<Body> {
    let mut response = status(200, asset.text.into_bytes().into());
    set(&mut response, header::CONTENT_TYPE, asset.media);
    response
}

/// Whether a tag is among those that the asker knows.
fn has_it(tag: &str, known: Option<&str>) -> bool {
    let tags = known.into_iter().flat_map(|known| known.split(','));
    tags.map(|known| known.trim().trim_start_matches("W/")).any(|known| known == tag || known == "*")
}

/// A part of the program that a browser keeps, or that it has it already.
fn kept(media: &str, text: &'static str, known: Option<&str>, how_long: &str) -> Response<Body> {
    let tag = format!("\"{}\"", token::tag(text.as_bytes()));
    let mut response = match has_it(&tag, known) {
        true => status(304, Full::default()),
        false => status(200, text.as_bytes().into()),
    };
    for (name, value) in [(header::CONTENT_TYPE, media), (header::ETAG, &tag), (header::CACHE_CONTROL, how_long)] {
        set(&mut response, name, value);
    }
    response
}

/// An answer, or that the asker has it already.
fn whole(answer: Answer, known: Option<&str>) -> Response<Body> {
    let tag = answer.is_result.then(|| format!("\"{}\"", token::tag(&answer.body)));
    let mut response = match tag.as_ref().is_some_and(|tag| has_it(tag, known)) {
        true => status(304, Full::default()),
        false => status(answer.status, answer.body.into()),
    };
    set(&mut response, header::CONTENT_TYPE, answer.media);
    if answer.media.starts_with("text/html") {
        set(&mut response, header::CONTENT_SECURITY_POLICY, REPORTS);
    }
    if let Some(tag) = tag {
        set(&mut response, header::ETAG, &tag);
        set(&mut response, header::CACHE_CONTROL, "private, no-cache");
    }
    if let Some(confirmation) = answer.confirmation {
        set(&mut response, HeaderName::from_static("stend-confirmation"), &confirmation);
    }
    if !answer.is_logged {
        set(&mut response, HeaderName::from_static("stend-warning"), "not_logged");
    }
    if let Some(file) = answer.file {
        set(&mut response, header::CONTENT_DISPOSITION, &format!("attachment; filename=\"{file}\""));
    }
    response
}
