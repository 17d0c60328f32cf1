//! Reads a request from method and address by the table of routes. Must not look at what it is about: whether a run exists is said by who has
//! the runs.

use crate::parameters::{self, TARGET_MAX, Values, decoded};
use crate::problem::Failure;
use crate::request::Request;
use crate::route::{Body, Method, Route};
use crate::routes::ROUTES;
use crate::users::Role;
use stend_base::{Error, Result, say};

/// What a request line asks for; the body is still to come.
pub struct Asked {
    route: &'static Route,
    values: Values,
}

impl Asked {
    /// What a request line asks for, by the table of routes.
    ///
    /// Errors: 404 for an address that is none, 405 for another method, 400 for parameters that the route does not have.
    pub fn read(method: &str, target: &str) -> std::result::Result<Asked, Failure> {
        if target.len() > TARGET_MAX {
            let error = Error::usage(say!("the address is too long", "слишком длинный адрес"));
            return Err(Failure::with(414, error));
        }
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let at_path: Vec<_> = ROUTES.iter().filter_map(|route| Some((route, fitting(route.path, path)?))).collect();
        if at_path.is_empty() {
            let error = Error::usage(say!("there is nothing at this address", "по этому адресу ничего нет"))
                .hint(say!("`/api` lists what there is", "что есть, перечислено на `/api`"));
            return Err(Failure::with(404, error));
        }
        let words = |route: &Route| route.method.words();
        let Some((route, in_path)) = at_path.iter().find(|(route, _)| words(route).contains(&method)) else {
            let allow: Vec<&str> = at_path.iter().flat_map(|(route, _)| words(route).iter().copied()).collect();
            let allow = allow.join(", ");
            let error = Error::usage(say!("`{method}` is not possible here", "`{method}` здесь невозможен"))
                .hint(say!("this address takes {allow}", "этот адрес принимает {allow}"));
            return Err(Failure { allow: Some(allow), ..Failure::with(405, error) });
        };
        let in_path = in_path.iter().map(|(name, part)| Ok((*name, decoded(part, false)?)));
        let in_path = in_path.collect::<Result<Vec<_>>>()?;
        Ok(Asked { route, values: parameters::read(route.parameters, &in_path, query)? })
    }

    /// Whether the body is a text that says more.
    pub fn has_text(&self) -> bool {
        !matches!(self.route.body, Body::None | Body::File(_))
    }

    /// Who may ask.
    pub fn role(&self) -> Role {
        self.route.role
    }

    /// Whether nothing is changed by it.
    pub fn only_reads(&self) -> bool {
        self.route.method == Method::Get
    }

    /// The request with the text of its body; without one the text is empty.
    pub fn with(self, body: String) -> Request {
        (self.route.make)(&self.values, body)
    }
}

/// The parts of a path that stand where a route has names between braces; `None`: another path.
fn fitting<'a>(route: &'static str, path: &'a str) -> Option<Vec<(&'static str, &'a str)>> {
    let (mut names, mut parts) = (route.split('/'), path.split('/'));
    let mut found = Vec::new();
    loop {
        match (names.next(), parts.next()) {
            (None, None) => return Some(found),
            (Some(name), Some(part)) => match name.strip_prefix('{').and_then(|name| name.strip_suffix('}')) {
                Some(name) if !part.is_empty() => found.push((name, part)),
                None if name == part => {}
                _ => return None,
            },
            _ => return None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::filter::StateFilter;
    use crate::intervals::Stretch;
    use crate::live::Cursor;
    use crate::request::Format;
    use proptest::prelude::*;
    use stend_base::{Lang, Nanos};

    fn read(target: &str) -> Request {
        Asked::read("GET", target).map_err(|failure| failure.error).unwrap().with(String::new())
    }

    fn refused(method: &str, target: &str) -> u16 {
        failure(method, target).status
    }

    fn failure(method: &str, target: &str) -> Failure {
        Asked::read(method, target).err().unwrap()
    }

    #[test]
    fn an_address_is_read_as_the_table_says() {
        assert_eq!(read("/api/v1/health"), Request::Health);
        assert_eq!(read("/api/v1/runs/R-1?redact=true"), Request::Run { run: "R-1".into(), redact: true });
        let Request::Runs(filter) = read("/api/v1/runs?state=running&label=%D0%B4%D0%BE&limit=3") else { panic!() };
        assert_eq!((filter.state, filter.label.as_deref(), filter.limit), (Some(StateFilter::Running), Some("до"), 3));
        let Request::Report { format, lang, .. } = read("/api/v1/runs/last/report?format=md&lang=ru") else { panic!() };
        assert_eq!((format, lang), (Format::Markdown, Some(Lang::Ru)));
        let Request::Comparison { runs, margin, .. } = read("/api/v1/comparisons?run=A&run=B&margin=5%25") else {
            panic!()
        };
        assert_eq!((runs, margin.as_deref()), (vec!["A".to_string(), "B".into()], Some("5%")));
        let Request::Intervals { run, stretch } = read("/api/v1/runs/R-1/intervals?from=1.5&to=2&case=0") else {
            panic!()
        };
        let expected = Stretch { from: Nanos::millis(1500), to: Some(Nanos::secs(2)), points: 600, case: Some(0) };
        assert_eq!((run.as_str(), stretch), ("R-1", expected));
        let Request::Events { after, .. } = read("/api/v1/runs/R-1/events?after=1.2.3") else { panic!() };
        assert_eq!(after, Cursor::of("1.2.3"));
    }

    #[test]
    fn the_method_decides_what_an_address_means() {
        let put = Asked::read("PUT", "/api/v1/tasks/a").map_err(|failure| failure.error).unwrap();
        assert!(put.has_text() && !put.only_reads());
        assert_eq!(
            put.with("o".into()),
            Request::PutTask { id: "a".into(), order: "o".into(), confirmation: None, devices: Vec::new() }
        );
        assert_eq!(read("/api/v1/tasks/a"), Request::Task { id: "a".into() });
    }

    #[test]
    fn what_no_route_has_is_refused_with_the_status_that_says_why() {
        for target in ["/api/v1/", "/api/v1/runs/", "/api/v1/runs//report", "/api/v1/runs/a/b", "/api/v2/runs", "", "*"]
        {
            assert_eq!(refused("GET", target), 404, "{target}");
        }
        for method in ["POST", "PUT", "DELETE", "get", "TRACE"] {
            let failure = failure(method, "/api/v1/runs");
            assert_eq!((failure.status, failure.allow.as_deref()), (405, Some("GET, HEAD")), "{method}");
        }
        assert_eq!(failure("POST", "/api/v1/tasks/a").allow.as_deref(), Some("PUT, GET, HEAD"));
        for target in ["/api/v1/tasks/..", "/api/v1/tasks/a%2Fb", "/api/v1/tasks/%00"] {
            assert_eq!(refused("PUT", target), 400, "{target}");
        }
        for target in
            ["/api/v1/runs?x=1", "/api/v1/runs?limit=0", "/api/v1/comparisons", "/api/v1/runs/%ff", "/api/v1/health?a"]
        {
            assert_eq!(refused("GET", target), 400, "{target}");
        }
        assert_eq!(refused("GET", &format!("/api/v1/runs?label={}", "x".repeat(TARGET_MAX))), 414);
    }

    proptest! {
        #[test]
        fn no_request_line_makes_it_panic(method in "[A-Z]{0,8}", target in "(/api/v1/(runs|comparisons)[/?&=%a-z0-9.]{0,40})|.{0,60}") {
            drop(Asked::read(&method, &target));
        }
    }
}
