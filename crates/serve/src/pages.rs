//! The few pages of the server itself: signing in, and the API for people. Reports come from `report`, the console from `console`.

use stend_api::{Location, Method, Parameter, ROUTES, Route, Takes};
use stend_base::{Lang, Say, say};

/// A page or a file of one.
pub struct Asset {
    /// Media type.
    pub media: &'static str,
    /// The content.
    pub text: String,
}

const HTML: &str = "text/html; charset=utf-8";

/// What is shown before signing in: nothing of it depends on a run.
pub fn open_to_all(path: &str, lang: Lang) -> Option<Asset> {
    let file = |media, text: &str| Asset { media, text: text.to_string() };
    match path {
        "/login" => Some(login(lang, None)),
        "/assets/page.css" => Some(file("text/css; charset=utf-8", include_str!("../assets/page.css"))),
        "/assets/icon.svg" => Some(file("image/svg+xml", include_str!("../assets/icon.svg"))),
        "/assets/login.js" => Some(file("text/javascript; charset=utf-8", include_str!("../assets/login.js"))),
        _ => None,
    }
}

/// Where the token is typed in, with why the last one was refused. One that stands in the link behind `#` signs in by itself, and is sent to
/// no log.
pub fn login(lang: Lang, refused: Option<&Say>) -> Asset {
    let title = say!("Sign in", "Вход");
    let label = say!("Token", "Токен");
    let hint = say!(
        "The first start of <code>stend serve</code> printed it. Lost? <code>stend serve --new-token</code> makes another.",
        "Его напечатал первый запуск <code>stend serve</code>. Потеряли? <code>stend serve --new-token</code> сделает новый."
    );
    let (label, title_text, hint) = (label.get(lang), title.get(lang), hint.get(lang));
    let refused =
        refused.map(|why| format!("<p role=\"alert\"><strong>{}</strong></p>\n", why.get(lang))).unwrap_or_default();
    let body = format!(
        "{refused}<form method=\"post\"><label>{label} <input name=\"token\" type=\"password\" required autofocus \
         autocomplete=\"current-password\"></label> <button>{title_text}</button></form>\n<p>{hint}</p>\n\
         <script src=\"/assets/login.js\"></script>"
    );
    page(&title, &body, lang)
}

/// What can be asked, from the table of routes.
pub fn api(lang: Lang) -> Asset {
    let intro = say!(
        "Every address takes the token (<code>Authorization: Bearer TOKEN</code>) or a browser that is signed in. \
         For programs: <a href=\"/api/v1/openapi.json\">OpenAPI 3.1</a>. Errors are <code>application/problem+json</code> with a stable <code>code</code>.",
        "Каждый адрес принимает токен (<code>Authorization: Bearer ТОКЕН</code>) или запросы из браузера, где выполнен вход. \
         Для программ: <a href=\"/api/v1/openapi.json\">OpenAPI 3.1</a>. Ошибки — <code>application/problem+json</code> с постоянным кодом <code>code</code>."
    );
    let routes: String = ROUTES.iter().map(|route| of_route(route, lang)).collect();
    let out = lang.pick("Sign out", "Выйти");
    let intro = intro.get(lang);
    let console = lang.pick("To the console", "В консоль");
    let body = format!(
        "<p><a href=\"/\">{console}</a></p>\n<p>{intro}</p>\n{routes}<form method=\"post\" action=\"/logout\"><button>{out}</button></form>"
    );
    page(&Say::same("API"), &body, lang)
}

fn of_route(route: &Route, lang: Lang) -> String {
    let about = (route.about)();
    // What needs nothing can be looked at by a click.
    let is_link = route.method == Method::Get && !route.path.contains('{');
    let path =
        match !is_link || route.parameters.iter().any(|p| matches!(p.place, Location::Required | Location::Repeated)) {
            true => format!("<code>{} {}</code>", route.method.word(), route.path),
            false => format!("<a href=\"{0}\"><code>{0}</code></a>", route.path),
        };
    let command = match route.command {
        "" => String::new(),
        command => format!("<p>{} <code>{command}</code></p>\n", lang.pick("Command line:", "Командная строка:")),
    };
    let rows: String = route.parameters.iter().map(|parameter| of_parameter(parameter, lang)).collect();
    let parameters = if rows.is_empty() { rows } else { format!("<table>{rows}</table>\n") };
    format!("<section><h2>{path}</h2>\n<p>{}</p>\n{command}{parameters}</section>\n", marked(about.get(lang)))
}

fn of_parameter(parameter: &Parameter, lang: Lang) -> String {
    let takes = match parameter.takes {
        Takes::Text
        | Takes::Cursor
        | Takes::TaskId
        | Takes::Cron
        | Takes::Time
        | Takes::Seconds
        | Takes::Count(usize::MAX) => String::new(),
        Takes::Flag => "true, false".to_string(),
        Takes::Choice(words) => words.join(", "),
        Takes::Count(most) => format!("1–{most}"),
        Takes::Between(least, most) => format!("{least}–{most}"),
    };
    let about = (parameter.about)();
    format!("<tr><th><code>{}</code></th><td>{}</td><td>{takes}</td></tr>", parameter.name, marked(about.get(lang)))
}

/// Backquotes as code; the texts are ours and hold nothing else.
fn marked(text: &str) -> String {
    let parts = text.split('`').enumerate();
    parts.map(|(index, part)| if index % 2 == 1 { format!("<code>{part}</code>") } else { part.to_string() }).collect()
}

fn page(title: &Say, body: &str, lang: Lang) -> Asset {
    let (tag, title, name) = (lang.tag(), title.get(lang), lang.pick("Stend", "Стенд"));
    let text = format!(
        "<!doctype html>\n<html lang=\"{tag}\"><head><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\
         <title>{title} · {name}</title><link rel=\"icon\" href=\"/assets/icon.svg\"><link rel=\"stylesheet\" href=\"/assets/page.css\"></head>\n\
         <body><main><h1>{name}: {title}</h1>\n{body}\n</main></body></html>\n"
    );
    Asset { media: HTML, text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_of_the_api_has_every_route_and_parameter_in_both_languages() {
        for lang in [Lang::En, Lang::Ru] {
            let page = api(lang).text;
            for route in ROUTES {
                assert!(page.contains(route.path) && page.contains(route.command), "{}", route.path);
                for parameter in route.parameters {
                    assert!(page.contains(&format!("<code>{}</code>", parameter.name)), "{}", parameter.name);
                }
            }
        }
        assert!(api(Lang::Ru).text.contains("lang=\"ru\""));
    }

    #[test]
    fn no_page_has_a_script_or_a_style_inside_or_asks_elsewhere() {
        for page in [api(Lang::En), login(Lang::Ru, Some(&say!("no", "нет")))] {
            assert!(!page.text.contains("style=") && !page.text.contains("<style") && !page.text.contains("://"));
            assert!(!page.text.contains("<script>") && !page.text.contains(" onclick"));
        }
    }
}
