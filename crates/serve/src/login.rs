//! Where a browser goes before and after signing in. Leads to pages of this server and nowhere else. Pure.

use crate::console;
use hyper::Uri;
use stend_api::decoded;

/// The page for signing in, with the page that was asked for.
pub fn address(asked: &Uri) -> String {
    let target = asked.path_and_query().map_or("/", |target| target.as_str());
    match target {
        "/" => "/login".to_string(),
        target => format!("/login?next={}", escaped(target)),
    }
}

/// The page that is shown after signing in: the one that was asked for, if it is one of ours.
pub fn wanted(login: &Uri) -> String {
    let query = login.query().unwrap_or_default();
    let next = query.split('&').find_map(|pair| pair.strip_prefix("next=")).unwrap_or_default();
    let target = decoded(next, true).unwrap_or_default();
    let path = target.split('?').next().unwrap_or_default();
    let is_ours = console::is_page(path) || path == "/api";
    if is_ours && target.bytes().all(|byte| byte.is_ascii_graphic()) { target } else { "/".to_string() }
}

/// Every byte that could mean something in a query as an escape.
fn escaped(text: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~' | b'/');
    text.bytes().map(|byte| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn uri(text: &str) -> Uri {
        text.parse().unwrap()
    }

    #[test]
    fn the_page_that_was_asked_for_comes_after_signing_in() {
        for page in ["/runs/R-1", "/runs?text=%D0%B4&run=a&run=b", "/compare?run=A&run=B&margin=5%25", "/api"] {
            assert_eq!(wanted(&uri(&address(&uri(page)))), page);
        }
        assert_eq!((address(&uri("/")).as_str(), wanted(&uri("/login")).as_str()), ("/login", "/"));
    }

    #[test]
    fn no_link_leads_to_another_server() {
        for next in [
            "//example.org",
            "https://example.org/",
            "/%5Cexample.org",
            "/runs/%2F%2Fexample.org",
            "/runs/x%0D%0ASet-Cookie:a",
            "javascript:alert(1)",
            "/login",
            "/logout",
            "%zz",
        ] {
            assert_eq!(wanted(&uri(&format!("/login?next={next}"))), "/", "{next}");
        }
    }
}
