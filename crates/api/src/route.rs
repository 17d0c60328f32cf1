//! What the table of routes is made of.

use crate::parameters::{Location, Parameter, Takes, Values};
use crate::request::Request;
use crate::users::Role;
use stend_base::{Say, say};

/// Most runs of a page.
pub(crate) const PAGE_MAX: usize = 200;

/// How an address is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// Read, and nothing changes. HEAD is answered, too.
    Get,
    /// Make what the address names, once.
    Put,
    /// Do it.
    Post,
    /// Take it away.
    Delete,
}

impl Method {
    /// The word of HTTP.
    pub fn word(self) -> &'static str {
        match self {
            Method::Get => "GET",
            Method::Put => "PUT",
            Method::Post => "POST",
            Method::Delete => "DELETE",
        }
    }

    /// The words of requests that mean it.
    pub(crate) fn words(self) -> &'static [&'static str] {
        match self {
            Method::Get => &["GET", "HEAD"],
            Method::Put => &["PUT"],
            Method::Post => &["POST"],
            Method::Delete => &["DELETE"],
        }
    }
}

/// What can be asked at an address.
pub struct Route {
    /// How.
    pub method: Method,
    /// Who may ask: holders of this role, and of those above it.
    pub role: Role,
    /// What its body is.
    pub body: Body,
    /// Path, with the names of its parameters between braces.
    pub path: &'static str,
    /// Name for programs that are generated of the document.
    pub operation: &'static str,
    /// What it answers, in one sentence.
    pub about: fn() -> Say,
    /// What may be given.
    pub parameters: &'static [Parameter],
    /// What comes back with status 200.
    pub answers: &'static [Answer],
    /// The command that prints the same; empty: there is none.
    pub command: &'static str,
    /// Makes the request of values that the parameters allow.
    pub(crate) make: fn(&Values, String) -> Request,
}

impl Route {
    /// What most routes are: every holder of a token reads an address that takes no parameters.
    pub(crate) const READ: Route = Route {
        method: Method::Get,
        role: Role::Viewer,
        body: Body::None,
        path: "",
        operation: "",
        about: || Say::same(""),
        parameters: &[],
        answers: &[],
        command: "",
        make: |_, _| Request::Health,
    };
}

/// What comes with a request.
#[derive(Debug, Clone, Copy)]
pub enum Body {
    /// Nothing.
    None,
    /// A file that people write, as JSON or YAML: the name of its schema.
    Format(&'static str),
    /// A file of any bytes, which is taken piece by piece, and what is in it.
    File(fn() -> Say),
    /// Text of this type, and what is in it.
    Text(&'static str, fn() -> Say),
}

/// A form of an answer.
pub struct Answer {
    /// Its type.
    pub media: &'static str,
    /// What is in it.
    pub schema: Schema,
}

/// What describes an answer.
pub enum Schema {
    /// The document that a verb prints with `--json`: its name in `docs/formats/schema`.
    Document(&'static str),
    /// The same, or an array of them.
    Documents(&'static str),
    /// A type of this crate, in that file of its sources.
    Type(&'static str, &'static str),
    /// Events, each of a type of this crate in that file: their names and types.
    Events(&'static str, &'static [(&'static str, &'static str)]),
    /// Not JSON of ours.
    Opaque,
}

/// Media type of most answers.
pub(crate) const JSON: &str = "application/json";

pub(crate) const fn query(name: &'static str, takes: Takes, about: fn() -> Say) -> Parameter {
    Parameter { name, place: Location::Query, takes, about }
}

/// A run that a path names.
pub(crate) const RUN: Parameter = Parameter {
    name: "run",
    place: Location::Path,
    takes: Takes::Text,
    about: || {
        say!(
            "name of the run in the list, its beginning if no other begins so, its label, or `last`",
            "имя прогона из списка, его однозначное начало, метка или `last`"
        )
    },
};

pub(crate) const IF_NONE_MATCH: Parameter = Parameter {
    name: "If-None-Match",
    place: Location::Header,
    takes: Takes::Text,
    about: || {
        say!(
            "`ETag` of an earlier answer: if nothing changed, 304 comes",
            "`ETag` прошлого ответа: если ничего не изменилось, придёт 304"
        )
    },
};

pub(crate) const LABEL: Parameter = query("label", Takes::Text, || say!("a part of the label", "часть метки"));
pub(crate) const TARGET: Parameter =
    query("target", Takes::Text, || say!("a part of the name of a target", "часть имени объекта"));
pub(crate) const WHERE: Parameter = query("where", Takes::Text, || {
    say!(
        "a condition on any facts, such as `model contains PM9A3 and block = 4k`",
        "условие на любые сведения, например `model contains PM9A3 and block = 4k`"
    )
});
pub(crate) const SUITE: Parameter =
    query("suite", Takes::Text, || say!("a part of the name of the suite", "часть имени набора"));
